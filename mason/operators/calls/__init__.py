"""Calls of operators that outlive or leave the process that made them, their records, and what a token allows."""
