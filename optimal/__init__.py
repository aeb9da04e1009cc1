"""PROOF: the best assignment of a group and its certificate."""
