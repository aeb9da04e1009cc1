"""Aggregates: what the tables of a run come to, for its end, for its page and for a gate."""
