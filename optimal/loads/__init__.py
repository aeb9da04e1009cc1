"""The exchange search: lag and weight evened out within what the earlier tiers leave open."""
