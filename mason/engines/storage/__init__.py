"""The storage role."""
