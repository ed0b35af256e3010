"""Writes a table in another format: chosen columns, rows that meet a condition, or a sample of them."""
