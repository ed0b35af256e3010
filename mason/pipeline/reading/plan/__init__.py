"""Which files are read, how each of them is read, and what they say of the columns together."""
