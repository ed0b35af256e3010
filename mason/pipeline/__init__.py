"""What Mason does with data, whichever engine does the work: type rules, formats, schema inference. No Spark here."""
