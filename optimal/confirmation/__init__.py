"""From what a method answers to a solution that was checked against the raw data."""
