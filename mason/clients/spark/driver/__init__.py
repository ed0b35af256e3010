"""What runs Spark in a process of a job's own. The folder holds a script, whose folder Python puts first on its path."""
