"""This machine: files are the storage, folders are the databases. No server, no JVM."""
