"""The formats of files: what a file shows of its columns, and how its values come out of it and go into it."""
