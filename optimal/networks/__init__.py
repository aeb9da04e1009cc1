"""Cheapest flows in any network, whatever its arcs stand for."""
