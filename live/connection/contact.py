"""Contact: tries an address once, and says in a sentence why that failed and what to do."""

from __future__ import annotations

import os
import re
import socket
import ssl
import struct
from contextlib import ExitStack
from dataclasses import dataclass
from threading import Thread
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from kafka.net.manager import KafkaConnectionManager
    from kafka.net.selector import NetworkSelector


# Time limit for further attempts that find out why an address was not reached.
LOOK_SECONDS = 2.0
# A request of ten bytes: ApiVersions, version 0, correlation 1, no client id.
_API_VERSIONS = struct.pack(">ihhih", 10, 18, 0, 1, -1)
_LONGEST_ANSWER = 1 << 16


@dataclass(frozen=True)
class Missed:
    """Why no broker was reached at an address.

    Attributes
    ----------
    error : what the client raised; None if the time was up
    greeted : whether a Kafka broker answered the first request, which needs no login
    """

    error: BaseException | None
    greeted: bool


def contact(
    net: NetworkSelector, manager: KafkaConnectionManager, seconds: float
) -> Missed | None:
    """Connect to the bootstrap address of a manager; None if a broker sent the cluster's metadata.

    kafka-python's own bootstrap would try again until its time is over, even a wrong password.
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
    """Return ``HOST:PORT``; a host with colons is put in brackets."""
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


def tried(address: str, settings: Mapping[str, object], seconds: float) -> Missed | None:
    """Connect to an address with a temporary client; None if that works."""
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
        return contact(net, manager, seconds)
    finally:
        manager.close()
        net.close()


def mechanisms_at(
    host: str, port: int, context: ssl.SSLContext | None, mechanism: str, seconds: float
) -> tuple[str, ...]:
    """Return the SASL mechanisms that a broker accepts; empty if it does not say.

    Only a handshake for `mechanism` is sent, no credentials. kafka-python drops the answer, which
    comes as the broker closes the connection.

    Parameters
    ----------
    context : TLS settings; None: without TLS
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


def unresolved(host: str, seconds: float) -> str | None:
    """Return why a host name has no address; None if it has one."""
    found: list[bool] = []

    def look_up() -> None:
        try:
            socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)
        except (OSError, UnicodeError):
            found.append(False)
        else:
            found.append(True)

    # A look-up has no time limit, so it runs in a thread.
    thread = Thread(target=look_up, daemon=True)
    thread.start()
    thread.join(seconds)
    if not found:
        return f"the name is not resolved within {seconds:.2g} s: does name resolution work here?"
    return None if found[0] else "the name has no address: is it spelled right, and known here?"


def first_bytes(host: str, port: int, seconds: float) -> bytes:
    """Return the first four bytes of the answer to a Kafka request; empty if there are none.

    kafka-python drops an answer that comes as the other end closes the connection.
    """
    try:
        with socket.create_connection((host, port), seconds) as plain:
            plain.settimeout(seconds)
            plain.sendall(_API_VERSIONS)
            return plain.recv(4, socket.MSG_WAITALL)
    except OSError:
        return b""


def knock(host: str, port: int, context: ssl.SSLContext | None, seconds: float) -> Missed | None:
    """Connect to an address and close the connection; None if that works.

    kafka-python is not used, as it gives TLS errors as text, waits for TLS without a time limit,
    and leaves the connection open.

    Parameters
    ----------
    context : TLS settings; None: without TLS
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
    """Return whether an address speaks TLS, with any certificate."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    missed = knock(host, port, context, seconds)
    # An alert is TLS too: the other end wants another version, or a client certificate.
    reason = getattr(missed.error, "reason", None) if missed else "ALERT"
    return "ALERT" in (reason or "")


# OpenSSL's codes of certificate errors.
_EXPIRED, _OTHER_NAME, _OTHER_ADDRESS = 10, 62, 64
_TLS_RECORD = b"\x15\x03"
_SPEAKS_TLS = "TLS is spoken there: give security.protocol=SSL, or SASL_SSL with a login"


def why(
    missed: Missed, host: str, port: int, settings: Mapping[str, object], seconds: float
) -> str:
    """Return why an address was not reached, and what to do.

    If the other end just closed the connection, the address is asked again in other ways, without
    any login, to find out what it speaks.
    """
    from kafka import errors

    error, in_tls = missed.error, _tls_error(missed.error)
    if error is None or isinstance(error, errors.KafkaTimeoutError | errors.RequestTimedOutError):
        return f"no answer within {seconds:.2g} s: is it a Kafka broker, and is it well?"
    if in_tls is not None and not isinstance(in_tls, ssl.SSLEOFError):
        return _of_tls(in_tls)
    if isinstance(error, errors.InvalidReceiveError):
        return _of_length(str(error))
    if isinstance(error, errors.IllegalSaslStateError):
        plain = _without_login(settings)["security_protocol"]
        return f"no login is asked for there: give security.protocol={plain}"
    if isinstance(error, errors.IncompatibleBrokerVersion):
        return "what answers there does not tell about its cluster: a controller, or far too old"
    if isinstance(error, errors.UnsupportedSaslMechanismError):
        few = min(seconds, LOOK_SECONDS)
        return _not_enabled(host, port, settings, few) or _refused(settings)
    if isinstance(error, errors.SaslAuthenticationFailedError):
        return _refused(settings)
    if "proxy_url" in settings:
        return f"it is not reached through the proxy: {error}"
    if isinstance(error, errors.KafkaConnectionError | ssl.SSLEOFError | ConnectionResetError):
        return _closed(missed, host, port, settings, min(seconds, LOOK_SECONDS))
    if isinstance(error, OSError) and error.errno:
        said = os.strerror(error.errno).lower()
        return f"{said}: is a broker running there, at that host and port?"
    return f"the client failed: {error}"


def _closed(
    missed: Missed, host: str, port: int, settings: Mapping[str, object], seconds: float
) -> str:
    """Return why the other end closed a connection without an error."""
    protocol = str(settings.get("security_protocol", "PLAINTEXT"))
    address, tls = at(host, port), protocol.endswith("SSL")
    if missed.greeted:
        give = "SASL_SSL" if tls else "SASL_PLAINTEXT"
        return f"it wants a login: give security.protocol={give}"
    if not tls and speaks_tls(host, port, seconds):
        return _SPEAKS_TLS
    other = None if tls else _other_than_kafka(first_bytes(host, port, seconds))
    if other is not None:
        return other
    if _tls_error(missed.error) is not None:
        return _without_tls(address, with_login=protocol.startswith("SASL_"), seconds=seconds)
    if protocol.startswith("SASL_"):
        # The first request needs no login.
        plain = tried(address, _without_login(settings), seconds)
        if plain is None or plain.greeted:
            return _not_enabled(host, port, settings, seconds) or _refused(settings)
    return "it closed the connection: it is no Kafka broker, or one older than 0.10"


def _without_tls(address: str, *, with_login: bool, seconds: float) -> str:
    """Return what to do if an address does not speak TLS, and whether it wants a login.

    Going without TLS is never the first advice, because a login could be read on the way.
    """
    missed = tried(address, {}, seconds)
    if missed is not None and not missed.greeted:
        return "it closed the connection instead of speaking TLS: is it a Kafka broker?"
    here = "is this the right port?"
    if missed is not None:
        clear = "(without TLS the login would go in the clear)"
        wants = "" if with_login else ", and a login is asked for"
        return f"no TLS is spoken there{wants}: {here} {clear}"
    asks = ", and no login is asked for" if with_login else ""
    return f"no TLS is spoken there{asks}: {here} (if so: security.protocol=PLAINTEXT)"


def _not_enabled(
    host: str, port: int, settings: Mapping[str, object], seconds: float
) -> str | None:
    """Return which SASL mechanisms to use instead; None if the configured one is enabled."""
    mechanism = str(settings["sasl_mechanism"])
    context = settings.get("ssl_context")
    tls = context if isinstance(context, ssl.SSLContext) else None
    offered = mechanisms_at(host, port, tls, mechanism, seconds)
    if mechanism in offered:
        return None
    instead = f"the broker offers {', '.join(offered)}" if offered else "give another"
    return f"sasl.mechanism={mechanism} is not enabled there: {instead}"


def _without_login(settings: Mapping[str, object]) -> dict[str, object]:
    protocol = str(settings.get("security_protocol", "PLAINTEXT"))
    kept = {name: value for name, value in settings.items() if not name.startswith("sasl_")}
    return kept | {"security_protocol": protocol.removeprefix("SASL_")}


def _refused(settings: Mapping[str, object]) -> str:
    mechanism = settings["sasl_mechanism"]
    if "sasl_plain_password" in settings:
        return f"login refused by {mechanism}: check the user and the password"
    return f"login refused by {mechanism}: check what it is told"


def _tls_error(error: BaseException | None) -> ssl.SSLError | None:
    """Return the TLS error, which kafka-python may wrap in an error of its own; else None."""
    for found in (error, *(error.args if error else ())):
        if isinstance(found, ssl.SSLError):
            return found
    return None


def _of_tls(error: ssl.SSLError) -> str:
    if isinstance(error, ssl.SSLCertVerificationError):
        said = error.verify_message.rstrip(".")
        if error.verify_code in (_OTHER_NAME, _OTHER_ADDRESS):
            return f"its certificate is of another host ({said}): give an address that it names"
        if error.verify_code == _EXPIRED:
            return "its certificate has expired"
        signer = "give the certificate of who signed it as ssl.truststore.location, in PEM"
        return f"its certificate is not trusted ({said}): {signer}"
    reason = error.reason or ""
    if "CERTIFICATE" in reason and "ALERT" in reason:
        return "it wants a client certificate that it trusts: give ssl.keystore.location, in PEM"
    if reason in ("WRONG_VERSION_NUMBER", "HTTP_REQUEST"):
        return "no TLS is spoken there: is it a Kafka broker? Else give another security.protocol"
    return f"TLS failed: {reason.replace('_', ' ').lower() or 'nobody says why'}"


def _of_length(said: str) -> str:
    """Return what answered, from a frame length that Kafka never sends."""
    number = re.search(r"-?\d+", said)
    start = (int(number[0]) & 0xFFFFFFFF).to_bytes(4) if number else b""
    return _other_than_kafka(start) or "what answers there is not Kafka"


def _other_than_kafka(start: bytes) -> str | None:
    """Return what answered, from the four bytes that are a length in Kafka; None if it fits."""
    if start == b"HTTP":
        return "an HTTP server answers there, not Kafka"
    if start.startswith(_TLS_RECORD):
        return _SPEAKS_TLS
    return "what answers there is not Kafka" if len(start) == 4 and start[0] > 5 else None
