"""Work: what the tasks of a run do, and what becomes of a group that does harm."""
