"""Fleet: reads, solves and scores any number of groups with Spark, and writes tables."""
