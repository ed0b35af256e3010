"""What people see of jobs and runs at a terminal: bars and tables that are drawn anew while something changes."""
