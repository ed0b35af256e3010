"""Delimited text as it is found: its dialect, its header, its shape, and what stands around its records."""
