"""Properties: the text files that Kafka's console tools take with ``--command-config``."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

# As java.util.Properties has them: a key ends at the first of these that is not escaped.
_KEY = re.compile(r"((?:\\.|[^\\=:\s])*)[ \t\f]*(?:[=:][ \t\f]*)?(.*)", re.DOTALL)
_ESCAPE = re.compile(r"\\(u[0-9a-fA-F]{4}|.)", re.DOTALL)
_ESCAPED = {"t": "\t", "n": "\n", "r": "\r", "f": "\f"}
_CONTINUED = re.compile(r"(?<!\\)(?:\\\\)*\\$")


def properties_in(text: str) -> Iterator[tuple[int, str, str]]:
    """Yield the line, the key and the value of every property of a text, in order.

    Comments begin with ``#`` or ``!``; a line that ends with a backslash goes on in the next.
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
    found = _KEY.fullmatch(line)
    assert found is not None
    return _unescaped(found[1]), _unescaped(found[2])


def _unescaped(text: str) -> str:
    return _ESCAPE.sub(lambda found: _meant(found[1]), text)


def _meant(escape: str) -> str:
    if len(escape) > 1:
        return chr(int(escape[1:], 16))
    return _ESCAPED.get(escape, escape)
