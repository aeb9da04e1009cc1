"""Lag-aware assignors as a user's program would configure them, for the consumers of a test."""

import os

import live.aiokafka
import live.kafka_python
from live.connection import Connection

GROUP, BOOTSTRAP = "ASSAY_TEST_GROUP", "ASSAY_TEST_BOOTSTRAP"
SETTINGS = {
    "group_id": os.environ.get(GROUP, "g"),
    "connection": Connection(os.environ.get(BOOTSTRAP, "127.0.0.1:1")),
    "auto_offset_reset": "earliest",
    "time_limit": 10,
}
LagAware = live.kafka_python.LagAwareAssignor.with_(**SETTINGS)
AsyncLagAware = live.aiokafka.LagAwareAssignor.with_(**SETTINGS)
