"""Chosen rows of a table, file by file: only those with certain keys, each once."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from compare.runs.tables.files import good

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

ROWS_AT_ONCE = 65_536
KEY = "key"


def chosen(
    folder: Path, name: str, keys: Sequence[str], columns: Sequence[str], *, by: str = KEY
) -> Iterator[pa.Table]:
    """Return the rows of some keys, in portions; memory does not depend on the table.

    Of rows with one key, the row of the run that started first. Where no row of a row group is
    chosen, only the column of its keys is read.

    Parameters
    ----------
    by : the column that `keys` are of; a row that was written twice is there twice, unless that is
        the key
    """
    wanted = pa.array(keys, pa.string())
    seen = np.zeros(len(wanted), bool) if by == KEY else None
    for file in good(folder, name)[0] if len(wanted) else ():
        with pq.ParquetFile(file) as opened:
            for number in range(opened.num_row_groups):
                column = opened.read_row_group(number, columns=[by])[by]
                at = pc.index_in(column, value_set=wanted)
                here = np.flatnonzero(np.asarray(at.is_valid()))
                if seen is not None:
                    which, first = np.unique(np.asarray(at.drop_null()), return_index=True)
                    new = ~seen[which]
                    seen[which] = True
                    here = np.sort(here[first[new]])
                if not len(here):
                    continue
                rows = opened.read_row_group(number, columns=list(columns))
                for start in range(0, len(here), ROWS_AT_ONCE):
                    yield rows.take(pa.array(here[start : start + ROWS_AT_ONCE]))
