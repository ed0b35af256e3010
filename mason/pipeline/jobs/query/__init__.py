"""A query as a job: its inputs, its plan, its outcome."""
