"""Configurations: which client fills which role."""
