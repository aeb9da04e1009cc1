"""Promises: what the proposals say of their assignors, and the groups on which it is not so."""
