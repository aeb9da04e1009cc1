"""Plain snapshots: those in which nothing is unusual, from JSON to columns without a detour."""
