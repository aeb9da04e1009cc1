"""Connections: a cluster's address, the client's settings, and why it could not be reached.

Use `Connection`. Passwords are kept in `Secret`, which prints as stars.
"""

from live.connection.connection import Connection
from live.connection.kafka_client import Secret, load_kafka_python

__all__ = ["Connection", "Secret", "load_kafka_python"]
