"""How a cluster is reached: its address, what the client is told, and why it could not be reached.

`Connection` is the one door. Passwords stand in `Secret`, which shows none.
"""

from live.connection.connection import Connection
from live.connection.kafka_client import Secret, load_kafka_python

__all__ = ["Connection", "Secret", "load_kafka_python"]
