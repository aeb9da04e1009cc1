"""Wording: counts with their nouns."""

from __future__ import annotations


def counted(number: int, noun: str) -> str:
    """Return ``1 partition``, ``2 partitions`` or ``1,000 partitions``.

    Examples
    --------
    >>> counted(1, "member"), counted(0, "member")
    ('1 member', '0 members')
    """
    return f"{number:,} {noun}{'' if number == 1 else 's'}"
