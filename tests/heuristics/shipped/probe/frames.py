"""Requests of Kafka's protocol as bytes, and the probe's answers to them."""

import socket
import struct

from heuristics.shipped.probe.metadata import HOST

DEADLINE = 120
HEADER = struct.Struct(">hhi")


def connected(probe):
    return socket.create_connection((HOST, probe.port), timeout=DEADLINE)


def exchange(probe, *parts):
    """Send bytes on a new connection; return all that the probe answers until it closes."""
    with connected(probe) as connection:
        for part in parts:
            connection.sendall(part)
        connection.shutdown(socket.SHUT_WR)
        try:
            return b"".join(iter(lambda: connection.recv(1 << 16), b""))
        except ConnectionResetError:
            return b""


def frame(*parts):
    body = b"".join(parts)
    return struct.pack(">i", len(body)) + body


def string(text):
    return struct.pack(">h", len(text)) + text.encode()


METADATA = frame(HEADER.pack(3, 1, 1), string("x"), struct.pack(">i", -1))
JOIN = frame(
    *(HEADER.pack(11, 0, 1), string("x"), string("g"), struct.pack(">i", 10_000)),
    *(string(""), string("consumer"), struct.pack(">i", 1), string("range")),
    struct.pack(">i", 0),
)


def sync(generation):
    """Return member a's SyncGroup request with no assignments."""
    return frame(
        *(HEADER.pack(14, 0, 2), string("x"), string("g"), struct.pack(">i", generation)),
        *(string("a"), struct.pack(">i", 0)),
    )


def sync_all(generation, topic):
    """Return member a's SyncGroup request that assigns it partition 0 of a topic."""
    given = struct.pack(">hi", 0, 1) + string(topic) + struct.pack(">iii", 1, 0, -1)
    return frame(
        *(HEADER.pack(14, 0, 2), string("x"), string("g"), struct.pack(">i", generation)),
        *(string("a"), struct.pack(">i", 1), string("a"), struct.pack(">i", len(given)), given),
    )


def join_as(*topics, version=0, assignor="range", client="x"):
    """Return a JoinGroup request of a member that subscribes to these topics."""
    names = b"".join(map(string, topics))
    metadata = struct.pack(">hi", version, len(topics)) + names + struct.pack(">i", -1)
    return frame(
        *(HEADER.pack(11, 0, 1), string(client), string("g"), struct.pack(">i", 10_000)),
        *(string(""), string("consumer"), struct.pack(">i", 1), string(assignor)),
        *(struct.pack(">i", len(metadata)), metadata),
    )
