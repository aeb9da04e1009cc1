"""Consumers: real clients in processes of their own, which lead groups through the probe."""
