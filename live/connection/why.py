"""Why no broker was reached, in one sentence that says what to do."""

from __future__ import annotations

import os
import re
import ssl
from typing import TYPE_CHECKING

from live.connection.contact import at, first_bytes, mechanisms_at, speaks_tls, tried
from live.waiting import LOOK_SECONDS

if TYPE_CHECKING:
    from collections.abc import Mapping

    from live.connection.contact import Missed

# As OpenSSL numbers what is wrong with a certificate.
_EXPIRED, _OTHER_NAME, _OTHER_ADDRESS = 10, 62, 64
_TLS_RECORD = b"\x15\x03"
_SPEAKS_TLS = "TLS is spoken there: give security.protocol=SSL, or SASL_SSL with a login"


def why(
    missed: Missed, host: str, port: int, settings: Mapping[str, object], seconds: float
) -> str:
    """Return why an address was missed, and what to do.

    Where the connection was just closed, the address is asked again in other ways, without any
    login, to tell what is spoken there.
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
    """Return why a connection was closed without a word."""
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
    if protocol.startswith("SASL_") and _answers(address, _without_login(settings), seconds):
        return _not_enabled(host, port, settings, seconds) or _refused(settings)
    return "it closed the connection: it is no Kafka broker, or one older than 0.10"


def _without_tls(address: str, *, with_login: bool, seconds: float) -> str:
    """Return what is to be done where no TLS is spoken, and whether a login is asked for there.

    To go without TLS is never the first thing to do: a login is read by everybody on the way.
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
    """Return which SASL mechanisms to take instead, None where the one that is set is enabled."""
    mechanism = str(settings["sasl_mechanism"])
    context = settings.get("ssl_context")
    tls = context if isinstance(context, ssl.SSLContext) else None
    offered = mechanisms_at(host, port, tls, mechanism, seconds)
    if mechanism in offered:
        return None
    instead = f"the broker offers {', '.join(offered)}" if offered else "give another"
    return f"sasl.mechanism={mechanism} is not enabled there: {instead}"


def _answers(address: str, settings: Mapping[str, object], seconds: float) -> bool:
    """Return whether a Kafka broker answers the first request, which needs no login."""
    missed = tried(address, settings, seconds)
    return missed is None or missed.greeted


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
    """Return what went wrong in TLS, which kafka-python hands on inside of an error of its own."""
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
    """Return who answered, by a length that no answer of Kafka has."""
    number = re.search(r"-?\d+", said)
    start = (int(number[0]) & 0xFFFFFFFF).to_bytes(4) if number else b""
    return _other_than_kafka(start) or "what answers there is not Kafka"


def _other_than_kafka(start: bytes) -> str | None:
    """Return who answered, by the four bytes that would be a length if it were Kafka."""
    if start == b"HTTP":
        return "an HTTP server answers there, not Kafka"
    if start.startswith(_TLS_RECORD):
        return _SPEAKS_TLS
    return "what answers there is not Kafka" if len(start) == 4 and start[0] > 5 else None
