"""Sketches of columns: small summaries that tasks make of their rows, and that merge into one of the whole column."""
