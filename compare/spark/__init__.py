"""The same comparison over Spark; pyspark is imported here and nowhere else."""
