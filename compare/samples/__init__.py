"""Samples: the groups on which assignors are tried."""
