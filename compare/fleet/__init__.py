"""Fleet: any number of groups on Spark, from whatever it reads to tables that it writes."""
