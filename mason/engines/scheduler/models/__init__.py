"""What clients of the scheduler role speak about."""
