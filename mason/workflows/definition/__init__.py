"""What a workflow says, read and checked as a whole: its steps, conditions, references, parameters and graph."""
