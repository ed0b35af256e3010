"""What every type of job is made of: its request, its work and outcome, its tasks, and the sums that must hold."""
