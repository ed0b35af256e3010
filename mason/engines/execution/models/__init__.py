"""What clients of the execution role speak about."""
