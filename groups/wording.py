"""Wording: counts with their nouns, and lists of which the first few are named."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

MOST_NAMED = 3


def counted(number: int, noun: str) -> str:
    """Return ``1 partition``, ``2 partitions`` or ``1,000 partitions``.

    Examples
    --------
    >>> counted(1, "member"), counted(0, "member")
    ('1 member', '0 members')
    """
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def few(names: Sequence[str]) -> str:
    """Return the first three of some names, and how many more there are.

    Examples
    --------
    >>> few(["a", "b"]), few(["a", "b", "c", "d", "e"])
    ('a, b', 'a, b, c and 2 more')
    """
    more = len(names) - MOST_NAMED
    return ", ".join(names[:MOST_NAMED]) + (f" and {more} more" if more > 0 else "")
