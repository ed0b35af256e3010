"""Operators: from `operator.yaml` and a class to a registration, and from there to a run."""
