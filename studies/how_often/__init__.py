"""HOW OFTEN: what goes wrong in a million rebalances of ordinary services, by assignor."""
