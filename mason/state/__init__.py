"""What outlives a process: registrations, configurations, jobs, runs, schedules, leases."""
