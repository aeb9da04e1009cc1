"""JAAS: who logs in, as ``sasl.jaas.config`` has it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from groups.errors import BadInput

if TYPE_CHECKING:
    from collections.abc import Mapping

_TOKEN = re.compile(
    r"""\s*(?://[^\n]*|/\*.*?\*/|"((?:\\.|[^"\\])*)"|'((?:\\.|[^'\\])*)'|([\w.$-]+)|([=;]))""",
    re.DOTALL,
)
EXPECTED = 'expected MODULE required username="..." password="...";'


def login_of(text: str) -> Mapping[str, str]:
    """Return what a login module is told, in the names of kafka-python.

    Errors never show the text: there is a password in it.

    Raises
    ------
    BadInput
        Where it is no JAAS text, or the module is none that a Python client has.
    """
    module, *rest = _words(text)
    options = _options(rest)
    name = module.rpartition(".")[2]
    if name in ("PlainLoginModule", "ScramLoginModule"):
        missing = [option for option in ("username", "password") if option not in options]
        if missing:
            raise BadInput(f"{name} without {missing[0]}: {EXPECTED}")
        login = {
            "sasl_plain_username": options["username"],
            "sasl_plain_password": options["password"],
        }
        return login | ({"sasl_mechanism": "PLAIN"} if name == "PlainLoginModule" else {})
    if name == "Krb5LoginModule":
        service = options.get("serviceName")
        told = {"sasl_kerberos_service_name": service} if service else {}
        return {"sasl_mechanism": "GSSAPI"} | told
    if name == "OAuthBearerLoginModule":
        raise BadInput(
            "OAuthBearerLoginModule is Java's: give sasl_mechanism=OAUTHBEARER and "
            "sasl_oauth_token with a token"
        )
    raise BadInput(
        "the login module is none of PlainLoginModule, ScramLoginModule and Krb5LoginModule"
    )


def _words(text: str) -> list[str]:
    words, at = list[str](), 0
    text = text.strip()
    while at < len(text):
        found = _TOKEN.match(text, at)
        if found is None:
            raise BadInput(EXPECTED)
        double, single, word, sign = found.groups()
        quoted = double if double is not None else single
        if quoted is not None:
            # Java's tokeniser takes escapes; a leading quote marks what is no sign.
            words.append('"' + re.sub(r"\\(.)", r"\1", quoted, flags=re.DOTALL))
        elif word or sign:
            words.append(word or sign)
        at = found.end()
    if len(words) < 2:
        raise BadInput(EXPECTED)
    return words


def _options(words: list[str]) -> Mapping[str, str]:
    flag, *rest = words
    if flag.lower() not in ("required", "requisite", "sufficient", "optional"):
        raise BadInput(EXPECTED)
    if rest and rest[-1] == ";":
        rest.pop()
    names, signs, values = rest[::3], rest[1::3], rest[2::3]
    if len(rest) % 3 or any(sign != "=" for sign in signs):
        raise BadInput(EXPECTED)
    return {name: value.removeprefix('"') for name, value in zip(names, values, strict=True)}
