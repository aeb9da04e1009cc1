"""Offsets: beginning, end and commit of each partition's log, and the lag that follows."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from groups.arrays import UNKNOWN, column, constructor_call, flags
from groups.errors import BadInput

if TYPE_CHECKING:
    from collections.abc import Sequence

    from groups.arrays import Bools, Int64

# The values of ``auto.offset.reset`` that Kafka knows (KIP-1106 added durations).
RESETS = "^(latest|earliest|none|by_duration:.+)$"
# Where a member starts in a partition without a commit; -1 where that is unknown.
AT_END, AT_BEGINNING = 0, 1
_LATEST = "auto.offset.reset: latest, so "


@dataclass(frozen=True, eq=False)
class Offsets:
    """Log offsets per partition, (all partitions,) int64 each, -1 where null.

    `given` says for which topics the snapshot gave offsets: (topics,) bool.
    """

    beginning: Int64
    end: Int64
    committed: Int64
    given: Bools

    def __post_init__(self) -> None:
        """Check the columns and replace them by immutable ones.

        Raises
        ------
        BadInput
            If a column has the wrong length, type or values; the message names the place.
        """
        length = None
        for name in ("beginning", "end", "committed"):
            values = column(
                getattr(self, name), f"offsets.{name}", np.int64, length=length, least=UNKNOWN
            )
            length = len(values)
            vars(self)[name] = values
        vars(self)["given"] = flags(self.given, "offsets.given", len(np.asarray(self.given)))

    __reduce__ = constructor_call

    def lag(self, start: int | Int64) -> Int64:
        """Return how many records are not read yet, as KIP-169 defines it: -1 where unknown.

        Without a commit the lag is 0 from `AT_END`, and all records of the log from
        `AT_BEGINNING`. A negative lag counts as 0.

        Parameters
        ----------
        start : where members start in partitions without a commit, as `start_under` returns it:
            (all partitions,) int64, or one for all

        Returns
        -------
        (all partitions,) int64; meaningless for topics without given offsets
        """
        no_commit = self.committed < 0
        first = np.where(start == AT_BEGINNING, self.beginning, UNKNOWN)
        since = np.where(no_commit, first, self.committed)
        behind = np.maximum(self.end - since, 0)
        lag = np.where((self.end >= 0) & (since >= 0), behind, UNKNOWN)
        return np.where(no_commit & (start == AT_END), 0, lag)

    def lag_beside(self, lag: Int64 | None, start: int | Int64, partitions: Int64) -> Int64:
        """Return the lag of all topics: from these offsets if the topic has some, otherwise `lag`.

        Parameters
        ----------
        lag : (all partitions,) int64 or None, of the other topics, -1 where unknown
        start : as in `lag`
        partitions : (topics,) int64, how many each topic has
        """
        given = np.repeat(self.given, partitions)
        return np.where(given, self.lag(start), UNKNOWN if lag is None else lag)


def start_under(reset: str | None) -> int:
    """Return where a member starts in a partition without a commit: -1 if that is unknown.

    ``latest``, which is Kafka's default, gives `AT_END` and ``earliest`` `AT_BEGINNING`. Under
    ``none`` a member fails, and no snapshot says which offset a duration leads to.
    """
    return {"latest": AT_END, "earliest": AT_BEGINNING}.get(reset or "latest", UNKNOWN)


def require_reset(reset: str | None) -> None:
    """Raise BadInput if an ``auto_offset_reset`` is given that Kafka does not know."""
    if reset is not None and not (isinstance(reset, str) and re.fullmatch(RESETS, reset)):
        raise BadInput(
            f"auto_offset_reset: {reset!r}, expected latest, earliest, none or "
            "by_duration:DURATION"
        )


def reset_noted(assumed: Sequence[str], count: int) -> tuple[str, ...]:
    """Return the lines of what was assumed, with one on `count` partitions of lag 0, none if 0."""
    others = [line for line in assumed if not line.startswith(_LATEST)]
    if not count:
        return tuple(others)
    at = next((n for n, line in enumerate(assumed) if line.startswith(_LATEST)), len(others))
    what = (
        "1 partition without a commit has"
        if count == 1
        else f"{count} partitions without a commit have"
    )
    return (*others[:at], f"{_LATEST}{what} lag 0", *others[at:])
