"""Java: Kafka's own assignors, called in a JVM."""
