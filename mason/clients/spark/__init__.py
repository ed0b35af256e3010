"""Apache Spark through PySpark: the same tasks on a warm local Spark, over Spark Connect, or on a cluster."""
