"""Offsets: beginning, end and commit of each partition's log, and the lag that follows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from groups.arrays import UNKNOWN, column, constructor_call, flags

if TYPE_CHECKING:
    from collections.abc import Sequence

    from groups.arrays import Bools, Int64

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
            object.__setattr__(self, name, values)
        given = flags(self.given, "offsets.given", len(np.asarray(self.given)))
        object.__setattr__(self, "given", given)

    __reduce__ = constructor_call

    def lag(self, latest: bool | Bools) -> Int64:
        """Return how many records are not read yet, as KIP-169 defines it: -1 where unknown.

        Without a commit the lag is 0 under ``latest``, the default; otherwise it counts from the
        beginning to the end. A negative lag counts as 0.

        Parameters
        ----------
        latest : whether partitions without a commit are read from the end: (all partitions,) bool,
            or one for all

        Returns
        -------
        (all partitions,) int64; meaningless for topics without given offsets
        """
        no_commit = self.committed < 0
        since = np.where(no_commit, self.beginning, self.committed)
        behind = np.maximum(self.end - since, 0)
        lag = np.where((self.end >= 0) & (since >= 0), behind, UNKNOWN)
        return np.where(no_commit & latest, 0, lag)

    def lag_beside(self, lag: Int64 | None, latest: bool | Bools, partitions: Int64) -> Int64:
        """Return the lag of all topics: from these offsets if the topic has some, otherwise `lag`.

        Parameters
        ----------
        lag : (all partitions,) int64 or None, of the other topics, -1 where unknown
        latest : as in `lag`
        partitions : (topics,) int64, how many each topic has
        """
        given = np.repeat(self.given, partitions)
        return np.where(given, self.lag(latest), UNKNOWN if lag is None else lag)


def is_latest(reset: str | None) -> bool:
    """Return whether a group's ``auto_offset_reset`` is ``latest``, which is Kafka's default."""
    return reset in (None, "latest")


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
