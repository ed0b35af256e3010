"""Checks: whether the rows of a table are what they should be, found out in one pass."""
