"""Runs: many groups scored over Spark, stored as tables, shown on a page; pyspark only here."""
