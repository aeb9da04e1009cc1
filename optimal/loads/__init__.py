"""The exchange search: evens out lag and weight within what earlier tiers leave open."""
