"""Readers of what other tools print: rpk, kafka-python, Kafka UI, AKHQ, and plans."""
