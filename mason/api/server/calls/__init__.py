"""Calls behind the API: queued, claimed, run in the background, and answered."""
