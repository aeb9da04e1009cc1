"""Seed of the random searches: one for all, so that the same input gives the same answer."""

SEED = 1
