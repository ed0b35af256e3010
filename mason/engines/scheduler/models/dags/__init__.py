"""DAGs: steps that depend on each other, and what becomes of a step when it is run."""
