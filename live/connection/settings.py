"""Settings: from a properties file and ``KEY=VALUE`` to what kafka-python is told."""

from __future__ import annotations

import re
from importlib.util import find_spec
from typing import TYPE_CHECKING

from groups.errors import BadInput
from live.connection.jaas import login_of
from live.connection.names import (
    IDENTIFICATION,
    JAAS,
    KNOWN,
    LOOKUPS,
    MECHANISMS,
    NUMBERS,
    PROTOCOLS,
    SECRET,
    is_without_effect,
    unknown,
)
from live.connection.placeholders import filled_in, text_of
from live.connection.properties import properties_in
from live.connection.secrets import Secret
from live.connection.tls import tls_context

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

_WITH_PASSWORD = ("PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512")
# What kafka-python itself needs besides.
_PACKAGES = {"GSSAPI": "gssapi", "AWS_MSK_IAM": "botocore"}
_FILES = ("ssl_cafile", "ssl_cadata", "ssl_certfile", "ssl_certdata", "ssl_keyfile")
_YES, _NO = ("true", "1", "yes", "https"), ("false", "0", "no", "none", "")
_PLACEHOLDER = re.compile(r"\s*\$\{[^}]*\}\s*")
CLIENT_ID = "assay"


def settings_of(
    command_config: str | None, given: Sequence[str]
) -> tuple[dict[str, object], tuple[Secret, ...]]:
    """Return what kafka-python is told: by a properties file, then by ``KEY=VALUE`` texts.

    The second value are the secrets in it, also those that only an object holds. Keys are those
    of Java's console tools, of librdkafka or of kafka-python. What stands later wins. Messages
    name keys and places, and never a value that could be a secret.

    Raises
    ------
    BadInput
        Where a key is not known, a value is none of its kind, or something is missing.
    """
    told: dict[str, object] = {"client_id": CLIENT_ID}
    implied: dict[str, object] = {}
    for place, key, value in _entries(command_config, given):
        try:
            said, follows = _meant(key, value)
        except BadInput as error:
            raise error.within(place) from None
        told |= said
        implied |= follows
    secrets = tuple(value for value in told.values() if isinstance(value, Secret))
    return _whole(implied | told, command_config or "--config"), secrets


def _entries(file: str | None, given: Sequence[str]) -> Iterator[tuple[str, str, str]]:
    if file is not None:
        for line, key, value in properties_in(text_of(file)):
            yield f"{file}:{line}", key, value
    for text in given:
        key, equals, value = text.partition("=")
        if not equals:
            raise BadInput("--config: expected KEY=VALUE, but there is no = in it")
        yield "--config", key.strip(), value


def _meant(key: str, value: str) -> tuple[dict[str, object], dict[str, object]]:
    """Return what a setting says, in kafka-python's names, and what follows if nobody says it."""
    if is_without_effect(key):
        return {}, {}
    if key not in KNOWN and key not in (JAAS, IDENTIFICATION):
        raise BadInput(unknown(key))
    try:
        if key == JAAS:
            # What a placeholder stands for is taken as it is, whatever it looks like.
            if _PLACEHOLDER.fullmatch(value):
                parts = login_of(filled_in(value))
            else:
                parts = {name: filled_in(part) for name, part in login_of(value).items()}
            login = {name: _read(name, part) for name, part in parts.items()}
            mechanism = login.pop("sasl_mechanism", None)
            return login, {} if mechanism is None else {"sasl_mechanism": mechanism}
        if key == IDENTIFICATION:
            return {"ssl_check_hostname": _truth(filled_in(value))}, {}
        return {KNOWN[key]: _read(KNOWN[key], filled_in(value))}, {}
    except BadInput as error:
        raise error.within(key) from None


def _read(name: str, value: str) -> object:
    """Return the value of a setting, in kafka-python's name for it, as the client wants it."""
    if name in SECRET:
        return Secret(value)
    if name in NUMBERS:
        if not re.fullmatch(r"[0-9]{1,15}", value.strip()):
            raise BadInput("expected a whole number of 0 or more")
        return int(value)
    if name == "ssl_check_hostname":
        return _truth(value)
    if name == "api_version":
        if not re.fullmatch(r"[0-9]{1,3}([.,][0-9]{1,3}){1,3}", value.strip()):
            raise BadInput("expected a version as in 3.9")
        return tuple(int(part) for part in re.split(r"[.,]", value))
    if name == "security_protocol":
        return _one_of(value, PROTOCOLS)
    if name == "sasl_mechanism":
        return _one_of(value, MECHANISMS)
    if name == "client_dns_lookup":
        return _one_of(value, LOOKUPS)
    return value


def _truth(value: str) -> bool:
    if value.strip().lower() in _YES:
        return True
    if value.strip().lower() in _NO:
        return False
    raise BadInput("expected true or false")


def _one_of(value: str, names: Iterable[str]) -> str:
    found = next((name for name in names if name.lower() == value.strip().lower()), None)
    if found is None:
        raise BadInput(f"expected one of {', '.join(names)}")
    return found


def _whole(told: dict[str, object], place: str) -> dict[str, object]:
    """Return settings that are complete, with the objects that the client takes for some."""
    security = told.get("security_protocol")
    if security is None:
        for names, protocol in ((("sasl_mechanism", "sasl_plain_username", "sasl_plain_password"),
                                 "SASL_SSL"), (_FILES, "SSL")):  # fmt: skip
            if any(name in told for name in names):
                raise BadInput(f"{place}: security.protocol is missing: add {protocol}")
    if str(security).startswith("SASL_"):
        _with_login(told, place)
    if str(security).endswith("SSL"):
        told["ssl_context"] = tls_context(told)
    token = told.pop("sasl_oauth_token", None)
    if token is not None and told.get("sasl_mechanism") == "OAUTHBEARER":
        from live.connection.token import fixed_token

        told["sasl_oauth_token_provider"] = fixed_token(token)
    return {
        name: value
        for name, value in told.items()
        if name == "ssl_context" or not name.startswith("ssl_")
    }


def _with_login(told: Mapping[str, object], place: str) -> None:
    mechanism = told.get("sasl_mechanism")
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
        if not told.get(name):
            hint = "" if name == "sasl_oauth_token" else f" or {JAAS}"
            raise BadInput(f"{place}: {mechanism} needs {what}: add {name}{hint}")
