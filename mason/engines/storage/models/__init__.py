"""What clients of the storage role speak about."""
