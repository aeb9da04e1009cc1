"""Patterns of KIP-848 subscriptions, which the broker matches against whole names of topics.

The broker uses RE2/J and does not tell what a pattern matched. Python's patterns mean the same
as long as they keep to what is common to both; of any other the answer is not known.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

# Topic names are letters, digits, dot, underscore and dash.
_ONE = r"(?:[A-Za-z0-9_.-]|\\[._dw-]|\[\^?(?:\\[._dw-]|[A-Za-z0-9_.](?:-[A-Za-z0-9_.])?)+-?\])"
_PIECE = rf"(?:[\^$]|{_ONE}[*+?]?)"


def _nested(inner: str) -> str:
    return rf"(?:{inner}|\((?:\?:)?{inner}*(?:\|{inner}*)*\)\??)"


# librdkafka puts each of its patterns in brackets.
_PART = _nested(_nested(_nested(_PIECE)))
_SURE = re.compile(rf"{_PART}*(?:\|{_PART}*)*")
_BRANCH = re.compile(r"\\.|\[[^\]]*\]|([*+])|([?|])(?<!\(\?)")
_LONGEST = 300
_LONGEST_NAME = 249
_MOST_WAYS = 20_000_000


def matching(pattern: str, names: Sequence[str]) -> tuple[str, ...] | None:
    r"""Return the names that a pattern matches whole, None where Python's answer is not sure.

    Sure are literals, the dot, ``[a-z]``, ``\d`` and ``\w``, ``*``, ``+`` and ``?`` behind one of
    these, and choices in brackets, as long as there are few of them: RE2 reads them the same
    way, and Python, which tries one way after the other, is done soon.

    Examples
    --------
    >>> matching("orders[.].*|audit", ["audit", "orders", "orders.eu"])
    ('audit', 'orders.eu')
    >>> matching(r"\p{L}+", ["orders"]) is None
    True
    """
    if len(pattern) > _LONGEST or not _SURE.fullmatch(pattern):
        return None
    branches = _BRANCH.findall(pattern)
    repeats = sum(bool(repeat) for repeat, _ in branches)
    if 2 ** sum(bool(two) for _, two in branches) * _LONGEST_NAME**repeats > _MOST_WAYS:
        return None
    try:
        found = re.compile(pattern, re.ASCII)
    except re.error:
        return None
    return tuple(name for name in names if found.fullmatch(name))
