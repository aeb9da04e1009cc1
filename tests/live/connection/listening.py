"""Servers on loopback that are not Kafka."""

import socket
import struct
from contextlib import contextmanager
from threading import Thread


def only_versions(request: bytes) -> bytes:
    """Answer as a broker that supports ApiVersions version 0 and no other request."""
    _, _, version, correlation = struct.unpack(">ihhi", request[:12])
    unsupported, itself = (35 if version else 0), (18, 0, 0)
    body = struct.pack(">ihihhh", correlation, unsupported, 1, *itself)
    return struct.pack(">i", len(body)) + body


@contextmanager
def answering(answer):
    """Run a server, and give its address.

    answer : bytes to send to any first request, before the server closes the connection; a
        function from each request to its answer; None for a server that never answers
    """
    with socket.create_server(("127.0.0.1", 0)) as server:
        kept = []

        def serve() -> None:
            while True:
                try:
                    connection, _ = server.accept()
                except OSError:
                    return
                kept.append(connection)
                if callable(answer):
                    while request := connection.recv(4096):
                        connection.sendall(answer(request))
                elif answer is not None:
                    connection.recv(4096)
                    connection.sendall(answer)
                    connection.close()

        Thread(target=serve, daemon=True).start()
        yield f"127.0.0.1:{server.getsockname()[1]}"
        server.shutdown(socket.SHUT_RDWR)
        for connection in kept:
            connection.close()


def closed_port() -> str:
    with socket.create_server(("127.0.0.1", 0)) as server:
        return f"127.0.0.1:{server.getsockname()[1]}"
