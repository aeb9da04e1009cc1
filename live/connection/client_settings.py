"""Client settings: from a properties file and ``KEY=VALUE`` texts to kafka-python's settings."""

from __future__ import annotations

import os
import re
import ssl
from contextlib import contextmanager
from difflib import get_close_matches
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from groups.errors import BadInput
from live.connection.kafka_client import Secret, fixed_token
from live.connection.properties import filled_in, login_of, properties_in, text_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

PROTOCOLS = ("PLAINTEXT", "SSL", "SASL_PLAINTEXT", "SASL_SSL")
MECHANISMS = (
    "PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512", "GSSAPI", "OAUTHBEARER", "AWS_MSK_IAM",
)  # fmt: skip
LOOKUPS = ("use_all_dns_ips", "resolve_canonical_bootstrap_servers_only")
JAAS = "sasl.jaas.config"
CLIENT_ID = "assay"
_WITH_PASSWORD = ("PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512")
# Packages that kafka-python needs for a mechanism.
_PACKAGES = {"GSSAPI": "gssapi", "AWS_MSK_IAM": "botocore"}
_FILES = ("ssl_cafile", "ssl_cadata", "ssl_certfile", "ssl_certdata", "ssl_keyfile")
_YES, _NO = ("true", "1", "yes", "https"), ("false", "0", "no", "none", "")
_PLACEHOLDER = re.compile(r"\s*\$\{[^}]*\}\s*")


def _number(value: str) -> int:
    if not re.fullmatch(r"[0-9]{1,15}", value.strip()):
        raise BadInput("expected a whole number of 0 or more")
    return int(value)


def _truth(value: str) -> bool:
    if value.strip().lower() in _YES:
        return True
    if value.strip().lower() in _NO:
        return False
    raise BadInput("expected true or false")


def _version(value: str) -> tuple[int, ...]:
    if not re.fullmatch(r"[0-9]{1,3}([.,][0-9]{1,3}){1,3}", value.strip()):
        raise BadInput("expected a version as in 3.9")
    return tuple(int(part) for part in re.split(r"[.,]", value))


def _one_of(names: Sequence[str], value: str) -> str:
    found = next((name for name in names if name.lower() == value.strip().lower()), None)
    if found is None:
        raise BadInput(f"expected one of {', '.join(names)}")
    return found


# By kafka-python's name of a setting: the function that parses it, and its names in Java's and
# librdkafka's clients besides the same name with dots. Names of certificate data and of the token
# are our own, as kafka-python takes objects for them.
SETTINGS: Mapping[str, tuple[Callable[[str], object], tuple[str, ...]]] = {
    "api_version": (_version, ()),
    "client_dns_lookup": (partial(_one_of, LOOKUPS), ()),
    "client_id": (str, ()),
    "connections_max_idle_ms": (_number, ()),
    "max_in_flight_requests_per_connection": (_number, ()),
    "metadata_max_age_ms": (_number, ()),
    "proxy_url": (Secret, ("socks5_proxy",)),
    "receive_buffer_bytes": (_number, ()),
    "receive_message_max_bytes": (_number, ()),
    "reconnect_backoff_max_ms": (_number, ()),
    "reconnect_backoff_ms": (_number, ()),
    "retry_backoff_ms": (_number, ()),
    "sasl_kerberos_domain_name": (str, ()),
    "sasl_kerberos_name": (str, ()),
    "sasl_kerberos_service_name": (str, ()),
    "sasl_mechanism": (partial(_one_of, MECHANISMS), ("sasl.mechanisms",)),
    "sasl_oauth_token": (Secret, ()),
    "sasl_plain_password": (Secret, ("sasl.password",)),
    "sasl_plain_username": (str, ("sasl.username",)),
    "security_protocol": (partial(_one_of, PROTOCOLS), ()),
    "send_buffer_bytes": (_number, ()),
    "ssl_cadata": (str, ("ssl.truststore.certificates", "ssl.ca.pem")),
    "ssl_cafile": (str, ("ssl.truststore.location", "ssl.ca.location")),
    "ssl_certdata": (str, ("ssl.keystore.certificate.chain", "ssl.certificate.pem")),
    "ssl_certfile": (str, ("ssl.keystore.location", "ssl.certificate.location")),
    "ssl_check_hostname": (_truth, ("ssl.endpoint.identification.algorithm",)),
    "ssl_crlfile": (str, ("ssl.crl.location",)),
    "ssl_keydata": (Secret, ("ssl.keystore.key", "ssl.key.pem")),
    "ssl_keyfile": (str, ("ssl.key.location",)),
    "ssl_password": (Secret, ("ssl.key.password",)),
}
SECRET = frozenset(name for name, (read, _) in SETTINGS.items() if read is Secret)
KNOWN = {
    key: name
    for name, (_, others) in SETTINGS.items()
    for key in (name, name.replace("_", "."), *others)
}
# Settings of Java's clients that are ignored, as they do not matter for a few requests. Address
# and timeouts are options of the command.
WITHOUT_EFFECT = (
    "auto.offset.reset",
    "bootstrap.controllers",
    "bootstrap.servers",
    "bootstrap_servers",
    "bootstrap_timeout_ms",
    "client.rack",
    "config.providers",
    "default.api.timeout.ms",
    "enable.auto.commit",
    "enable.metrics.push",
    "group.id",
    "group.instance.id",
    "isolation.level",
    "key.deserializer",
    "metadata.recovery.rebootstrap.trigger.ms",
    "metadata.recovery.strategy",
    "metric.reporters",
    "metrics.num.samples",
    "metrics.recording.level",
    "metrics.sample.window.ms",
    "request.timeout.ms",
    "request_timeout_ms",
    "retries",
    "retry.backoff.max.ms",
    "sasl.client.callback.handler.class",
    "sasl.login.connect.timeout.ms",
    "sasl.login.read.timeout.ms",
    "sasl.login.refresh.buffer.seconds",
    "sasl.login.refresh.min.period.seconds",
    "sasl.login.refresh.window.factor",
    "sasl.login.refresh.window.jitter",
    "sasl.login.retry.backoff.max.ms",
    "sasl.login.retry.backoff.ms",
    "socket.connection.setup.timeout.max.ms",
    "socket.connection.setup.timeout.ms",
    "ssl.enabled.protocols",
    "ssl.keystore.password",
    "ssl.keystore.type",
    "ssl.protocol",
    "ssl.truststore.password",
    "ssl.truststore.type",
    "value.deserializer",
)


def is_without_effect(key: str) -> bool:
    """Return whether a setting is ignored."""
    return key in WITHOUT_EFFECT or key.startswith("config.providers.")


def without_secret(text: str) -> str | None:
    """Return ``KEY=VALUE`` with dots for a secret value; None if the setting is ignored.

    Keys decide which values are secret, as a password cannot be recognised by its look.
    """
    key, _, value = text.partition("=")
    name = key.strip()
    if is_without_effect(name):
        return None
    return f"{name}={'...' if name == JAAS or KNOWN.get(name) in SECRET else value}"


def settings_of(
    command_config: str | None, given: Sequence[str]
) -> tuple[dict[str, object], tuple[Secret, ...]]:
    """Return kafka-python's settings, from a properties file and then from ``KEY=VALUE`` texts.

    The second value has the secrets among them, also those that are inside of objects. Keys are
    those of Java's console tools, of librdkafka or of kafka-python. The last value of a key wins.
    Messages name keys and places, never a value that could be a secret.

    Raises
    ------
    BadInput
        If a key is unknown, a value is malformed, or a setting is missing.
    """
    settings: dict[str, object] = {"client_id": CLIENT_ID}
    implied: dict[str, object] = {}
    for place, key, value in _entries(command_config, given):
        if is_without_effect(key):
            continue
        try:
            parsed = _parsed(key, value)
        except BadInput as error:
            raise error.within(place) from None
        if key == JAAS and "sasl_mechanism" in parsed:
            implied["sasl_mechanism"] = parsed.pop("sasl_mechanism")
        settings |= parsed
    secrets = tuple(value for value in settings.values() if isinstance(value, Secret))
    return _completed(implied | settings, command_config or "--config"), secrets


def _entries(file: str | None, given: Sequence[str]) -> Iterator[tuple[str, str, str]]:
    if file is not None:
        for line, key, value in properties_in(text_of(file)):
            yield f"{file}:{line}", key, value
    for text in given:
        key, equals, value = text.partition("=")
        if not equals:
            raise BadInput("--config: expected KEY=VALUE, but there is no = in it")
        yield "--config", key.strip(), value


def _parsed(key: str, value: str) -> dict[str, object]:
    """Return a setting by kafka-python's names; a login text gives several."""
    if key != JAAS and key not in KNOWN:
        # A key that does not look like one is not shown, as it could be a password.
        near = get_close_matches(key, (*KNOWN, JAAS, *WITHOUT_EFFECT), n=1, cutoff=0.7)
        looks = key.islower() and ("." in key or "_" in key)
        what = f"{key}: " if near or looks else ""
        nearest = f"; nearest: {near[0]}" if near else ""
        raise BadInput(f"{what}no setting of a connection{nearest}")
    try:
        if key != JAAS:
            parts: Mapping[str, str] = {KNOWN[key]: filled_in(value)}
        elif _PLACEHOLDER.fullmatch(value):
            # The replaced text is the whole login, in which no further placeholder is replaced.
            parts = login_of(filled_in(value))
        else:
            parts = {name: filled_in(part) for name, part in login_of(value).items()}
        return {name: SETTINGS[name][0](part) for name, part in parts.items()}
    except BadInput as error:
        raise error.within(key) from None


def _completed(settings: dict[str, object], place: str) -> dict[str, object]:
    """Return settings that are checked, with the objects that kafka-python takes for some."""
    security = settings.get("security_protocol")
    if security is None:
        for names, protocol in ((("sasl_mechanism", "sasl_plain_username", "sasl_plain_password"),
                                 "SASL_SSL"), (_FILES, "SSL")):  # fmt: skip
            if any(name in settings for name in names):
                raise BadInput(f"{place}: security.protocol is missing: add {protocol}")
    if str(security).startswith("SASL_"):
        _require_login(settings, place)
    if str(security).endswith("SSL"):
        settings["ssl_context"] = tls_context(settings)
    token = settings.pop("sasl_oauth_token", None)
    if token is not None and settings.get("sasl_mechanism") == "OAUTHBEARER":
        settings["sasl_oauth_token_provider"] = fixed_token(token)
    return {
        name: value
        for name, value in settings.items()
        if name == "ssl_context" or not name.startswith("ssl_")
    }


def _require_login(settings: Mapping[str, object], place: str) -> None:
    mechanism = settings.get("sasl_mechanism")
    if mechanism is None:
        raise BadInput(f"{place}: sasl.mechanism is missing: one of {', '.join(MECHANISMS)}")
    package = _PACKAGES.get(str(mechanism))
    if package is not None and find_spec(package) is None:
        raise BadInput(f"{place}: {mechanism} needs {package}: pip install {package}")
    needed = {"sasl_plain_username": "a user", "sasl_plain_password": "a password"}
    if mechanism == "OAUTHBEARER":
        needed = {"sasl_oauth_token": "a token"}
    elif mechanism not in _WITH_PASSWORD:
        needed = {}
    for name, what in needed.items():
        if not settings.get(name):
            hint = "" if name == "sasl_oauth_token" else f" or {JAAS}"
            raise BadInput(f"{place}: {mechanism} needs {what}: add {name}{hint}")


_PEM = b"-----BEGIN "
# First bytes of Java's keystores: JKS, and PKCS12, which is DER and begins with a sequence.
_JKS, _DER = b"\xfe\xed\xfe\xed", b"\x30"
_TRUSTED = "keytool -list -rfc -keystore {file} > ca.pem, then give ssl.truststore.location=ca.pem"
_OWN = (
    "openssl pkcs12 -in {file} -out client.pem (of JKS first: keytool -importkeystore "
    "-srckeystore {file} -destkeystore client.p12 -deststoretype pkcs12), "
    "then give ssl.keystore.location=client.pem and ssl.key.password"
)


def tls_context(settings: Mapping[str, object]) -> ssl.SSLContext:
    """Return the TLS context of settings by kafka-python's names.

    Raises
    ------
    BadInput
        If a file cannot be read, has no certificate or key, or its password is wrong.
    """
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    context.check_hostname = bool(settings.get("ssl_check_hostname", True))
    _load_trusted(context, settings)
    certificate, key = settings.get("ssl_certfile"), settings.get("ssl_keyfile")
    password = settings.get("ssl_password")
    if certificate is not None:
        path = _pem(str(certificate), _OWN)
        _load_own(context, path, None if key is None else _pem(str(key), _OWN), password)
    elif "ssl_certdata" in settings or "ssl_keydata" in settings:
        if not ("ssl_certdata" in settings and "ssl_keydata" in settings):
            raise BadInput("ssl.keystore.certificate.chain and ssl.keystore.key go together")
        key_text = str.__str__(settings["ssl_keydata"])
        with _in_memory(f"{key_text}\n{settings['ssl_certdata']}\n") as path:
            _load_own(context, path, None, password, "ssl.keystore.key")
    elif key is not None:
        raise BadInput(f"ssl_keyfile {key}: a key without a certificate; add ssl_certfile")
    return context


def _load_trusted(context: ssl.SSLContext, settings: Mapping[str, object]) -> None:
    file, data, revoked = (settings.get(f"ssl_{name}") for name in ("cafile", "cadata", "crlfile"))
    if file is None and data is None:
        context.load_default_certs()
    if data is not None:
        try:
            context.load_verify_locations(cadata=str(data))
        except (ssl.SSLError, ValueError):
            raise BadInput("ssl.truststore.certificates: no certificate in it") from None
    if revoked is not None:
        context.verify_flags |= ssl.VERIFY_CRL_CHECK_LEAF
    for given, what in ((file, "certificate in it"), (revoked, "list of revoked certificates")):
        if given is None:
            continue
        path = _pem(str(given), _TRUSTED)
        try:
            context.load_verify_locations(path)
        except ssl.SSLError:
            raise BadInput(f"{path}: no {what}") from None


def _load_own(
    context: ssl.SSLContext, path: str, key: str | None, password: object, name: str = ""
) -> None:
    """Load the client's certificate and key.

    Parameters
    ----------
    name : what messages name instead of a temporary path
    """
    # Without a password function, OpenSSL would ask on the terminal.
    plain = "" if password is None else str.__str__(password)
    try:
        context.load_cert_chain(path, key, lambda: plain)
    except ssl.SSLError as error:
        place = name or key or path
        if error.reason == "KEY_VALUES_MISMATCH":
            raise BadInput(f"{place}: the key is not that of the certificate") from None
        wrong = password is not None or b"ENCRYPTED" in Path(key or path).read_bytes()
        hint = "; is ssl.key.password right?" if wrong else ""
        raise BadInput(f"{place}: no certificate with its private key{hint}") from None


def _pem(path: str, instead: str) -> str:
    """Return the path of a PEM file; refuse others, and say how to convert a Java keystore."""
    try:
        data = Path(path).read_bytes()
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or "no path"
        raise BadInput(f"{path}: cannot be read: {reason}") from None
    if _PEM in data:
        return path
    if data.startswith((_JKS, _DER)):
        how = instead.format(file=path)
        raise BadInput(f"{path}: a Java keystore, and a Python client reads PEM: {how}")
    raise BadInput(f"{path}: not PEM: expected -----BEGIN CERTIFICATE----- in it")


@contextmanager
def _in_memory(text: str) -> Iterator[str]:
    """Yield the path of a file in memory, because OpenSSL reads keys only from files."""
    if not hasattr(os, "memfd_create"):
        raise BadInput("ssl.keystore.key: needs Linux; give ssl_certfile and ssl_keyfile instead")
    number = os.memfd_create("key")
    try:
        os.write(number, text.encode())
        yield f"/proc/self/fd/{number}"
    finally:
        os.close(number)
