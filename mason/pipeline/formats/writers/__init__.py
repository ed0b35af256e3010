"""The formats that a table can be written in, each with what becomes of the types that it does not have."""
