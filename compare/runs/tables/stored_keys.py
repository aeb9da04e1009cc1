"""Stored keys: which rows of a table are there, looked up by their keys alone."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from compare.runs.tables.keys import HEXADECIMAL_DIGITS

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    from groups.arrays import Bools

Keys = np.ndarray[tuple[int], np.dtype[np.bytes_]]


class StoredKeys:
    """The keys of a table's rows, in order, so that to look some up takes no look at all of them.

    Parameters
    ----------
    files : of the table
    """

    def __init__(self, files: Iterable[Path]) -> None:
        found = [_bytes_of(pq.read_table(file, columns=["key"])["key"]) for file in files]
        # Each run is ascending, and at most half as long as the one before it.
        self._runs: list[Keys] = []
        if found:
            self._add(np.sort(np.concatenate(found)))

    def __len__(self) -> int:
        """Count them, with repeats."""
        return sum(map(len, self._runs))

    def hold(self, keys: Sequence[str] | pa.Array) -> Bools:
        """Return for each key whether it is there: (keys,) bool."""
        return self._hold(_bytes_of(keys))

    def take_in(self, keys: Sequence[str] | pa.Array) -> Bools:
        """Return for each key whether it was not there, at its first place: (keys,) bool.

        They are there from now on.
        """
        asked = _bytes_of(keys)
        ascending, first = np.unique(asked, return_index=True)
        is_new = ~self._hold(ascending)
        self._add(ascending[is_new])
        found = np.zeros(len(asked), bool)
        found[first[is_new]] = True
        return found

    def _hold(self, asked: Keys) -> Bools:
        found = np.zeros(len(asked), bool)
        for run in self._runs:
            at = np.minimum(np.searchsorted(run, asked), len(run) - 1)
            found |= run[at] == asked
        return found

    def _add(self, ascending: Keys) -> None:
        if not len(ascending):
            return
        self._runs.append(ascending)
        while len(self._runs) > 1 and len(self._runs[-2]) < 2 * len(self._runs[-1]):
            self._runs[-2:] = [np.sort(np.concatenate(self._runs[-2:]))]


def _bytes_of(keys: Sequence[str] | pa.Array | pa.ChunkedArray) -> Keys:
    """(keys,) bytes: keys that are equally long."""
    if isinstance(keys, pa.ChunkedArray):
        keys = keys.combine_chunks()
    wide = pa.array(keys, pa.string()).cast(pa.binary()).cast(pa.binary(HEXADECIMAL_DIGITS))
    if not len(wide):
        return np.empty(0, f"S{HEXADECIMAL_DIGITS}")
    every = np.frombuffer(wide.buffers()[1], f"S{HEXADECIMAL_DIGITS}")
    return every[wide.offset : wide.offset + len(wide)]
