"""What the columns of a table hold, found out in one pass: sketches that tasks make and a driver merges."""
