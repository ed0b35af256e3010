"""SQL over tables: what needs a shuffle. Spark runs it, or DuckDB where the execution engine is this process."""
