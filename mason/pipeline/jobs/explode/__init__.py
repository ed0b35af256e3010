"""Nested records as flat tables."""
