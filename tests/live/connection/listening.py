"""Servers on loopback that are no Kafka."""

import socket
import struct
from contextlib import contextmanager
from threading import Thread


def only_versions(request: bytes) -> bytes:
    """The answer of a Kafka that tells which requests it knows, and knows no other one."""
    _, _, version, correlation = struct.unpack(">ihhi", request[:12])
    unsupported, itself = (35 if version else 0), (18, 0, 0)
    body = struct.pack(">ihihhh", correlation, unsupported, 1, *itself)
    return struct.pack(">i", len(body)) + body


@contextmanager
def answering(answer):
    """Gives the address of one that answers so whatever it is asked; of None, with nothing.

    A function makes answers of requests, as long as there are any.
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
