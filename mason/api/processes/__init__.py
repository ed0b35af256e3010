"""Calls in processes of their own: what becomes of one, the server lives on."""
