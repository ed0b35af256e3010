"""Spark SQL in the words of DuckDB, with the rows and the types that Spark would give, or a refusal."""
