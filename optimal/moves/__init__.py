"""Moves: lag and weight evened out within so many moves, and the fewest moves that do."""
