"""The REST face of Mason."""
