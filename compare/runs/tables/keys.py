"""Keys: what made a row, as 32 hexadecimal digits; one key, one row."""

from __future__ import annotations

import hashlib
import json
from functools import cache
from importlib.metadata import version
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

HEXADECIMAL_DIGITS = 32
# A package's version stands in its files: what looks it up for every row does little else.
version_of = cache(version)


def content_key(parts: Mapping[str, object]) -> str:
    """Return the content hash of what made a row."""
    return _digits(json.dumps(parts, sort_keys=True, ensure_ascii=False, separators=(",", ":")))


def row_keys(made_by: str, group_keys: Iterable[str]) -> list[str]:
    """Return the keys of rows on groups, in order.

    Parameters
    ----------
    made_by : the content key of all that made the rows but the groups
    """
    return [_digits(f"{made_by}{key}") for key in group_keys]


def _digits(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:HEXADECIMAL_DIGITS]
