"""Readers of what tools that are not Kafka's own print, and of plans."""
