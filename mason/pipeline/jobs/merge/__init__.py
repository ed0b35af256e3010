"""Merging files into one table: column by name, no row lost."""
