"""How a cluster is reached: its address, what the client is told, and why it could not be reached.

`Connection` is the one door. Passwords stand in `Secret`, which shows none.
"""

from live.connection.connection import Connection
from live.connection.loading import load_kafka_python
from live.connection.secrets import Secret

__all__ = ["Connection", "Secret", "load_kafka_python"]
