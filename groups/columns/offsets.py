"""Offsets: where logs begin and end, what is committed, and how far behind that is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from groups.arrays import UNKNOWN, column, flags, made_again

if TYPE_CHECKING:
    from groups.arrays import Bools, Int64


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
            Where a column is not what it is to be; the message names the place.
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

    __reduce__ = made_again

    def lag(self, auto_offset_reset: str | None) -> Int64:
        """Return how many records are not read yet, as KIP-169 has it: -1 where unknown.

        Without a commit nothing is behind under ``latest``, the default, whatever the end is;
        otherwise all from the beginning to the end is. A negative lag counts as 0.

        Returns
        -------
        (all partitions,) int64; what it says of topics without given offsets means nothing
        """
        is_latest = auto_offset_reset in (None, "latest")
        no_commit = self.committed < 0
        since = np.where(no_commit, self.beginning, self.committed)
        behind = np.maximum(self.end - since, 0)
        lag = np.where((self.end >= 0) & (since >= 0), behind, UNKNOWN)
        return np.where(no_commit, 0, lag) if is_latest else lag
