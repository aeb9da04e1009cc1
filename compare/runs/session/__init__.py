"""Session: the Spark that a run is on, how it starts, how it ends, and what it leaves: nothing."""
