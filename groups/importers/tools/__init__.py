"""What other tools print of consumer groups: rpk, kafka-python, Kafka UI, AKHQ, and plans."""
