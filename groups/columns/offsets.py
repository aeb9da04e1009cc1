"""Offsets: where logs begin and end, what is committed, and how far behind that is."""

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
        """Check the columns and make them the offsets' own.

        Raises
        ------
        BadInput
            If a column is not what it is to be; the message names the place.
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
        """Return how many records are not read yet, as KIP-169 has it: -1 where unknown.

        Without a commit nothing is behind under ``latest``, the default, whatever the end is;
        otherwise all from the beginning to the end is. A negative lag counts as 0.

        Parameters
        ----------
        latest : whether members without a commit begin at the end: (all partitions,) bool, or
            one for all

        Returns
        -------
        (all partitions,) int64; what it says of topics without given offsets means nothing
        """
        no_commit = self.committed < 0
        since = np.where(no_commit, self.beginning, self.committed)
        behind = np.maximum(self.end - since, 0)
        lag = np.where((self.end >= 0) & (since >= 0), behind, UNKNOWN)
        return np.where(no_commit & latest, 0, lag)

    def lag_beside(self, lag: Int64 | None, latest: bool | Bools, partitions: Int64) -> Int64:
        """Return the lag of all topics: of those with offsets from these, else as given.

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
    """Return what was assumed, with a line on `count` partitions of lag 0; none on 0."""
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
