"""Sizes: how many members a group needs, by the best assignment for each number of members."""
