"""Scores of many groups at once, by columns, and the rows of tables that they make."""
