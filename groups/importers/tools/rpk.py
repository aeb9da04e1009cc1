"""What ``rpk group describe`` prints: text, or JSON with ``--format json``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from groups.importers.tools import rpk_json, rpk_text

if TYPE_CHECKING:
    from collections.abc import Iterator

    from groups.importers.seen import Finding


def read(source: str, content: str) -> Iterator[Finding]:
    """Yield what the text or the JSON shows of each of its groups.

    Raises
    ------
    BadInput
        Where what begins like JSON is none.
    """
    as_json = content.lstrip()[:1] in ("{", "[")
    yield from (rpk_json if as_json else rpk_text).read(source, content)
