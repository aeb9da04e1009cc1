"""Contact: one address is tried once, with no second attempt behind it."""

from __future__ import annotations

import socket
import ssl
import struct
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from threading import Thread
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from kafka.net.manager import KafkaConnectionManager
    from kafka.net.selector import NetworkSelector

# A request of ten bytes: ApiVersions, version 0, correlation 1, no client id.
_API_VERSIONS = struct.pack(">ihhih", 10, 18, 0, 1, -1)
_LONGEST_ANSWER = 1 << 16


@dataclass(frozen=True)
class Missed:
    """Why no broker was reached at an address.

    Attributes
    ----------
    error : what the client raised, None where nothing came in time
    greeted : a Kafka broker answered the first request, which needs no login
    """

    error: BaseException | None
    greeted: bool


def contact(
    net: NetworkSelector, manager: KafkaConnectionManager, seconds: float
) -> Missed | None:
    """Reach the one bootstrap address of a manager; None where a broker told what cluster it is.

    kafka-python's own bootstrap tries again until its time is over, and a wrong password with it.
    """
    greeted = []
    (broker,) = manager.cluster.bootstrap_brokers()

    async def reach() -> None:
        connection = manager.get_connection(
            broker.node_id,
            timeout_ms=seconds * 1000,
            pop_on_close=False,
            refresh_metadata_on_err=False,
        )
        await connection
        greeted.append(True)
        await manager.cluster.refresh_metadata(broker.node_id)

    future = manager.call_soon(reach)
    net.poll(timeout_ms=seconds * 1000, future=future)
    if future.is_done and future.exception is None:
        return None
    return Missed(future.exception if future.is_done else None, bool(greeted))


def at(host: str, port: int) -> str:
    """Return ``HOST:PORT``; the host in brackets where it has colons itself."""
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


def tried(address: str, settings: Mapping[str, object], seconds: float) -> Missed | None:
    """Reach an address with a client of its own, which is closed again."""
    with _opened(address, settings, seconds) as (net, manager):
        return contact(net, manager, seconds)


def mechanisms_at(
    host: str, port: int, context: ssl.SSLContext | None, mechanism: str, seconds: float
) -> tuple[str, ...]:
    """Return the SASL mechanisms that a broker takes, nothing where it does not say.

    It is asked for one, without showing any login. kafka-python drops the answer, which comes
    with the end of the connection.

    Parameters
    ----------
    context : how TLS is spoken; None where it is not
    """
    from kafka.protocol.sasl import SaslHandshakeRequest, SaslHandshakeResponse

    body = SaslHandshakeRequest(mechanism=mechanism).encode(version=1)
    asked = struct.pack(">ihhih", 10 + len(body), 17, 1, 1, -1) + body
    try:
        with ExitStack() as stack:
            end = stack.enter_context(socket.create_connection((host, port), seconds))
            if context is not None:
                name = host.rstrip(".")
                end = stack.enter_context(context.wrap_socket(end, server_hostname=name))
            end.sendall(asked)
            with end.makefile("rb") as answer:
                (length,) = struct.unpack(">i", answer.read(4))
                said = answer.read(min(max(length, 0), _LONGEST_ANSWER))
        found = SaslHandshakeResponse.decode(said[4:], version=1)
        return tuple(sorted(str(one) for one in found.mechanisms))
    except (OSError, struct.error, ValueError, TypeError, IndexError, AttributeError):
        return ()


@contextmanager
def _opened(
    address: str, settings: Mapping[str, object], seconds: float
) -> Iterator[tuple[NetworkSelector, KafkaConnectionManager]]:
    from kafka.net.manager import KafkaConnectionManager
    from kafka.net.selector import NetworkSelector

    net = NetworkSelector()
    milliseconds = int(seconds * 1000)
    manager = KafkaConnectionManager(
        net,
        bootstrap_servers=[address],
        request_timeout_ms=milliseconds,
        socket_connection_setup_timeout_ms=milliseconds,
        **settings,
    )
    try:
        yield net, manager
    finally:
        manager.close()
        net.close()


def unresolved(host: str, seconds: float) -> str | None:
    """Return why a name has no address, where it has none."""
    found: list[bool] = []

    def look_up() -> None:
        try:
            socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)
        except (OSError, UnicodeError):
            found.append(False)
        else:
            found.append(True)

    # A look-up cannot be bounded, and the client would wait for it.
    thread = Thread(target=look_up, daemon=True)
    thread.start()
    thread.join(seconds)
    if not found:
        return f"the name is not resolved within {seconds:.2g} s: does name resolution work here?"
    return None if found[0] else "the name has no address: is it spelled right, and known here?"


def first_bytes(host: str, port: int, seconds: float) -> bytes:
    """Return the four bytes with which an address answers a Kafka request, nothing where none.

    kafka-python drops an answer that comes with the end of the connection.
    """
    try:
        with socket.create_connection((host, port), seconds) as plain:
            plain.settimeout(seconds)
            plain.sendall(_API_VERSIONS)
            return plain.recv(4, socket.MSG_WAITALL)
    except OSError:
        return b""


def knock(host: str, port: int, context: ssl.SSLContext | None, seconds: float) -> Missed | None:
    """Connect to an address and leave; None where that went well.

    kafka-python hands on what goes wrong in TLS as a text, waits for it without a bound, and
    leaves the connection open.

    Parameters
    ----------
    context : how TLS is spoken; None where it is not
    """
    try:
        with socket.create_connection((host, port), seconds) as plain:
            if context is not None:
                context.wrap_socket(plain, server_hostname=host.rstrip(".")).close()
            return None
    except TimeoutError:
        return Missed(None, greeted=False)
    except OSError as error:
        return Missed(error, greeted=False)


def speaks_tls(host: str, port: int, seconds: float) -> bool:
    """Return whether TLS is spoken at an address, whoever it is."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    missed = knock(host, port, context, seconds)
    # An alert is TLS too: it wants another version, or a certificate.
    reason = getattr(missed.error, "reason", None) if missed else "ALERT"
    return "ALERT" in (reason or "")
