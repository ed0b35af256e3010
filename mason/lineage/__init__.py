"""What became of data, told to others: OpenLineage events of jobs, and of workflows with their steps."""
