"""What clients of several technologies have in common: catalogs of folders, and how Hive reads files."""
