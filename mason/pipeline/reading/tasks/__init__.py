"""Tasks as data and what runs in them: batches of records out of files, fitted to the schema, into a sink."""
