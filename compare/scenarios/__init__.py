"""Scenarios: a group through many rebalances, or through a rolling upgrade."""
