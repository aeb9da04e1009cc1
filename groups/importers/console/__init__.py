"""What Kafka's console tools print, in all their dialects."""
