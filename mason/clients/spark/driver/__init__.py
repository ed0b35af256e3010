"""What runs Spark in a process of a job's own. The folder has a script in it, so Python puts it first on its path."""
