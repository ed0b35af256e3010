"""A storage for tests: files below `shelf://room/…`, with conditional writes and no exchange of folders."""
