"""From the files of a definition to a registration: read, checked without running them, copied, and loaded again."""
