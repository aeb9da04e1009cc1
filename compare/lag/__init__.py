"""Lag: how far behind members are, how far behind they need to be, and what moves buy."""
