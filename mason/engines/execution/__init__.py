"""The execution role."""
