"""Loops: what clients' own classes do, move by move, on groups on which they never end."""
