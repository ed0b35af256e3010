"""How a job is accepted, driven to its end, watched, followed and found again, in this process or another."""
