"""Loops: what clients' own classes do, move by move, where they do not come to an end."""
