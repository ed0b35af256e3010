"""Diff: what one table has that another has not, by row or by key."""
