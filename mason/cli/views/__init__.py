"""What people see at a terminal: results by their shape, and bars and tables that are drawn anew in between."""
