"""The technologies that Mason works with: one folder each, one file per role that it fills."""
