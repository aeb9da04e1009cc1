"""The optimal assignor of kafka-python's eager consumers, as a consumer in a child names it."""

from live.kafka_python import OptimalAssignor

EagerOptimalAssignor = OptimalAssignor.with_(protocol="eager")
