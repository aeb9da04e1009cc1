"""Parquet: files whose rows are groups, with the columns of the layout."""

from __future__ import annotations

from io import BytesIO
from itertools import chain
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.parquet as pq

from groups.errors import BadInput, Unreadable, writing_whole
from groups.portions import in_portions
from groups.table.batch import each_of
from groups.table.layout import LAYOUT, BadRow, in_layout
from groups.table.rows import batch_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from groups.group import Group

ROWS_AT_ONCE = 1024
# The most rows and partitions in one row group, which is the unit of reading and of work.
MOST_ROWS, MOST_PARTITIONS = 4096, 2_000_000


def read_groups(data: bytes) -> Iterator[Group | BadRow]:
    """Yield the group of each row of a file, or why it holds none; rows are numbered from 0.

    Raises
    ------
    BadInput
        If it is not Parquet, is damaged, or lacks columns of the layout.
    """
    before = 0
    for rows in read_rows(data):
        for found in each_of(rows):
            yield found._replace(row=before + found.row) if isinstance(found, BadRow) else found
        before += len(rows)


def read_rows(data: bytes) -> Iterator[pa.RecordBatch]:
    """Yield the rows of a file unchecked, in batches, with only the columns of the layout.

    Raises
    ------
    BadInput
        If it is not Parquet, is damaged, or lacks columns of the layout.
    """
    try:
        file = pq.ParquetFile(BytesIO(data), page_checksum_verification=True)
        in_layout(pa.RecordBatch.from_pylist([], file.schema_arrow))
        names = [name for name in LAYOUT.names if name in file.schema_arrow.names]
        yield from file.iter_batches(ROWS_AT_ONCE, columns=names, use_threads=False)
    except BadInput:
        raise
    except (pa.ArrowException, OSError, ValueError) as error:
        first = (str(error).splitlines() or [type(error).__name__])[0]
        if isinstance(error, MemoryError):
            raise Unreadable(f"cannot be read: {first}") from None
        raise BadInput(f"not Parquet, or damaged: {first}") from None


def write_groups(groups: Iterable[Group], path: str) -> int:
    """Write groups to a file, all or nothing; return how many. Without groups there is no file.

    Raises
    ------
    BadInput
        If the file cannot be written.
    """
    portions = in_portions(
        groups, lambda group: group.n_partitions, most=MOST_PARTITIONS, count=MOST_ROWS
    )
    first = next(portions, None)
    if first is None:
        return 0
    count = 0
    with (
        writing_whole(path) as part,
        pq.ParquetWriter(part, LAYOUT, compression="zstd", write_page_checksum=True) as file,
    ):
        for portion in chain([first], portions):
            file.write_batch(batch_of(portion))
            count += len(portion)
    return count
