"""Budgets: the best assignment among those that keep tiers at or below a number."""
