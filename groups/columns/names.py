"""Names: of groups, topics, members and racks; any text that is not empty, none twice."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import numpy as np

from groups.errors import BadInput

if TYPE_CHECKING:
    from collections.abc import Iterable


def names(given: Iterable[str], place: str) -> tuple[str, ...]:
    """Return distinct non-empty names of valid Unicode.

    Raises
    ------
    BadInput
        Where one is not; the message names it.
    """
    listed = tuple(given.tolist() if isinstance(given, np.ndarray) else given)
    bad = [] if set(map(type, listed)) <= {str} else [n for n in listed if not isinstance(n, str)]
    distinct = set() if bad else set(listed)
    if bad or "" in distinct:
        raise BadInput(f"{place}: {bad[0] if bad else ''!r}, expected a non-empty string")
    if len(distinct) < len(listed):
        twice = next(name for name, times in Counter(listed).items() if times > 1)
        raise BadInput(f"{place}: {twice!r} appears twice")
    try:
        "".join(listed).encode()
    except UnicodeEncodeError as error:
        raise BadInput(f"{place}: {error.object[error.start]!r} is not valid Unicode") from None
    return listed


def numbers(count: int) -> tuple[str, ...]:
    """Return the names that the members, topics and racks of a fleet have."""
    return tuple(map(str, range(count)))
