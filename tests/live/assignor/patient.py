"""Assignors with a long time limit, for a busy machine, for the consumers of a test."""

import live.aiokafka
import live.kafka_python

Optimal = live.kafka_python.OptimalAssignor.with_(time_limit=30)
Eager = Optimal.with_(protocol="eager")
AsyncOptimal = live.aiokafka.OptimalAssignor.with_(time_limit=30)
