"""Site: how our docstrings are shown on the site.

In numpydoc's sections a line is "name : type". Ours is "name : what it is", as the types are in
the annotations. So the words go below the name, where numpydoc has the description.
"""

from __future__ import annotations

import re

from griffe import Extension, Object

NAMED = re.compile(r"^([\w*`, ]+?) : (.+)$")
TITLE = re.compile(r"^(Parameters|Other Parameters|Attributes)$")
ROLE = re.compile(r":\w+:`(?:~[\w.]*\.)?([\w.]+)`")


def described(docstring: str) -> str:
    """Return a docstring in which the words after each name stand below it."""
    lines, inside = docstring.split("\n"), False
    made: list[str] = []
    for number, line in enumerate(lines):
        if number + 1 < len(lines) and re.fullmatch("-+", lines[number + 1]):
            inside = TITLE.match(line) is not None
        named = NAMED.match(line) if inside else None
        made += [named[1], f"    {named[2]}"] if named else [line]
    return ROLE.sub(r"`\1`", "\n".join(made))


class Described(Extension):  # type: ignore[misc]
    """Shows the docstrings of all objects as ours are meant."""

    def on_object(self, *, obj: Object, **_: object) -> None:
        """Change one docstring."""
        if obj.docstring is not None:
            obj.docstring.value = described(obj.docstring.value)
