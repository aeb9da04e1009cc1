"""Properties: the files that Kafka's console tools take, with placeholders and logins."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import TYPE_CHECKING

from groups.errors import BadInput

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping


# The syntax of java.util.Properties: a key ends at the first separator that is not escaped.
_KEY = re.compile(r"((?:\\.|[^\\=:\s])*)[ \t\f]*(?:[=:][ \t\f]*)?(.*)", re.DOTALL)
_ESCAPE = re.compile(r"\\(u[0-9a-fA-F]{4}|.)", re.DOTALL)
_ESCAPED = {"t": "\t", "n": "\n", "r": "\r", "f": "\f"}
_CONTINUED = re.compile(r"(?<!\\)(?:\\\\)*\\$")


def properties_in(text: str) -> Iterator[tuple[int, str, str]]:
    """Yield (line number, key, value) of every property of a text, in order.

    Comments begin with ``#`` or ``!``; a line that ends with a backslash continues in the next.
    """
    number, begun, parts = 0, 1, list[str]()
    for number, line in enumerate(re.split(r"\r\n|\n|\r", text), start=1):
        stripped = line.lstrip(" \t\f")
        if not parts:
            begun = number
            if not stripped or stripped[0] in "#!":
                continue
        if _CONTINUED.search(stripped):
            parts.append(stripped[:-1])
            continue
        yield begun, *_property("".join([*parts, stripped]))
        parts = []
    if parts:
        yield begun, *_property("".join(parts))


def _property(line: str) -> tuple[str, str]:
    def meant(escape: re.Match[str]) -> str:
        said = escape[1]
        return chr(int(said[1:], 16)) if len(said) > 1 else _ESCAPED.get(said, said)

    found = _KEY.fullmatch(line)
    assert found is not None
    return _ESCAPE.sub(meant, found[1]), _ESCAPE.sub(meant, found[2])


_PLACEHOLDER = re.compile(r"\$\{(env|file|directory):([^}]*)\}")


def filled_in(value: str) -> str:
    """Return a value with its placeholders replaced.

    ``${env:NAME}`` is a variable of the environment, ``${file:PATH}`` the text of a file,
    ``${file:PATH:KEY}`` a key of a properties file and ``${directory:PATH:NAME}`` the text of a
    file in a folder. Line ends at the end of a file are dropped.

    Raises
    ------
    BadInput
        If a variable, file or key does not exist; the message never shows a value.
    """
    return _PLACEHOLDER.sub(lambda found: _value(found[1], found[2]), value)


def _value(provider: str, name: str) -> str:
    if provider == "env":
        if name not in os.environ:
            raise BadInput(f"${{env:{name}}}: no such variable in the environment")
        return os.environ[name]
    path, _, key = name.rpartition(":")
    if provider == "directory":
        return text_of(os.path.join(path, key)).rstrip("\r\n")
    if not path or os.path.exists(name):
        return text_of(name).rstrip("\r\n")
    found = {k: v for _, k, v in properties_in(text_of(path))}
    if key not in found:
        raise BadInput(f"${{file:{name}}}: no key {key} in that file")
    return found[key]


def text_of(path: str) -> str:
    """Return the text of a file: UTF-8, or else Latin-1 as in Java.

    Raises
    ------
    BadInput
        If it cannot be read.
    """
    try:
        data = Path(path).read_bytes()
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or "no path"
        raise BadInput(f"{path}: cannot be read: {reason}") from None
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError:
        return data.decode("latin-1")


_TOKEN = re.compile(
    r"""\s*(?://[^\n]*|/\*.*?\*/|"((?:\\.|[^"\\])*)"|'((?:\\.|[^'\\])*)'|([\w.$-]+)|([=;]))""",
    re.DOTALL,
)
EXPECTED = 'expected MODULE required username="..." password="...";'


def login_of(text: str) -> Mapping[str, str]:
    """Return the options of a JAAS login module by kafka-python's names.

    Errors never show the text, as there is a password in it.

    Raises
    ------
    BadInput
        If it is no JAAS text, or Python clients do not have the module.
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
    if name == "IAMLoginModule":
        if options:
            raise BadInput(
                f"{name} with {next(iter(options))}: say it in the environment, as in AWS_PROFILE"
            )
        return {"sasl_mechanism": "AWS_MSK_IAM"}
    if name == "OAuthBearerLoginModule":
        raise BadInput(
            "OAuthBearerLoginModule is Java's: give sasl_mechanism=OAUTHBEARER and "
            "sasl_oauth_token with a token"
        )
    raise BadInput(
        "the login module is none of PlainLoginModule, ScramLoginModule, Krb5LoginModule and "
        "IAMLoginModule"
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
            # Java's tokeniser allows escapes; a leading quote tells a quoted "=" from the sign.
            words.append('"' + re.sub(r"\\(.)", r"\1", quoted, flags=re.DOTALL))
        elif word or sign:
            words.append(word or sign)
        at = found.end()
    if len(words) < 2:
        raise BadInput(EXPECTED)
    return words


def _options(words: list[str]) -> Mapping[str, str]:
    _, *rest = words
    if rest and rest[-1] == ";":
        rest.pop()
    names, signs, values = rest[::3], rest[1::3], rest[2::3]
    if len(rest) % 3 or any(sign != "=" for sign in signs):
        raise BadInput(EXPECTED)
    return {name: value.removeprefix('"') for name, value in zip(names, values, strict=True)}
