"""Placeholders: values that stand elsewhere, in the syntax of Kafka's configuration providers."""

from __future__ import annotations

import os
import re
from pathlib import Path

from groups.errors import BadInput
from live.connection.properties import properties_in

_PLACEHOLDER = re.compile(r"\$\{(env|file|directory):([^}]*)\}")
MOST_BYTES = 1 << 20


def filled_in(value: str) -> str:
    """Return a value with what its placeholders stand for.

    ``${env:NAME}`` is a variable of the environment, ``${file:PATH}`` the text of a file,
    ``${file:PATH:KEY}`` a key of a properties file and ``${directory:PATH:NAME}`` the text of a
    file in a folder. A line end at the end of a file is no part of its text.

    Raises
    ------
    BadInput
        Where what it stands for is not there; the message never shows a value.
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
    """Return the text of a small file: UTF-8, or else Latin-1 as Java has it.

    Raises
    ------
    BadInput
        Where it cannot be read.
    """
    try:
        with Path(path).open("rb") as file:
            data = file.read(MOST_BYTES + 1)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or "no path"
        raise BadInput(f"{path}: cannot be read: {reason}") from None
    if len(data) > MOST_BYTES:
        raise BadInput(f"{path}: more than {MOST_BYTES:,} bytes, expected settings")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError:
        return data.decode("latin-1")
