"""Site: converts our docstrings for the documentation site.

In numpydoc's sections a line is "name : type". Ours is "name : description", as types are in the
annotations. So the description is moved to the line below, where numpydoc expects it.
"""

from __future__ import annotations

import re

from griffe import Extension, Object

NAMED = re.compile(r"^([\w*`, ]+?) : (.+)$")
TITLE = re.compile(r"^(Parameters|Other Parameters|Attributes)$")
ROLE = re.compile(r":\w+:`(?:~[\w.]*\.)?([\w.]+)`")


def described(docstring: str) -> str:
    """Return a docstring with the description of each name on the line below it."""
    lines, inside = docstring.split("\n"), False
    made: list[str] = []
    for number, line in enumerate(lines):
        if number + 1 < len(lines) and re.fullmatch("-+", lines[number + 1]):
            inside = TITLE.match(line) is not None
        named = NAMED.match(line) if inside else None
        made += [named[1], f"    {named[2]}"] if named else [line]
    return ROLE.sub(r"`\1`", "\n".join(made))


class Described(Extension):  # type: ignore[misc]
    """Converts the docstrings of all objects."""

    def on_object(self, *, obj: Object, **_: object) -> None:
        """Convert one docstring."""
        if obj.docstring is not None:
            obj.docstring.value = described(obj.docstring.value)
