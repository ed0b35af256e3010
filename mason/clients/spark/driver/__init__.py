"""What runs Spark in a process of a job's own: scripts, whose folder Python puts first on its path."""
