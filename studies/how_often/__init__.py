"""HOW OFTEN: how many of a million rebalances of typical services go wrong, by assignor."""
