"""Types of columns and the values that they hold: what text shows, what files agree on, how values are written."""
