"""Lag: how far behind members are, the least possible lag, and the gain of moves."""
