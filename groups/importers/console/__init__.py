"""Readers of what Kafka's console tools print, in all versions."""
