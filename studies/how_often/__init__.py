"""HOW OFTEN: what goes wrong in a million rebalances of typical services, by assignor."""
