"""Budgets: the best assignment among those that keep some tiers at or below given values."""
