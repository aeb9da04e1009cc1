"""Nearest: suggestions for an unknown name."""

from __future__ import annotations

from difflib import SequenceMatcher
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

MOST = 3


def nearest(name: str, known: Iterable[str]) -> str:
    """Return the three names most like one, nearest first, as in ``sticky, range, uniform``.

    Case is ignored, and so is the package of a class name. Ties keep the order of `known`.

    Examples
    --------
    >>> nearest("rnage", ["sticky", "roundrobin", "range", "uniform"])
    'range, roundrobin, uniform'
    """
    asked = name if "/" in name else name.partition("@")[0].rpartition(".")[2]
    matcher = SequenceMatcher(b=asked.lower()[:200], autojunk=False)

    def likeness(one: str) -> float:
        matcher.set_seq1(one.lower())
        return matcher.ratio()

    return ", ".join(sorted(dict.fromkeys(known), key=likeness, reverse=True)[:MOST])
