"""Parquet: files whose rows are groups, with the columns of the layout."""

from __future__ import annotations

import errno
import os
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

import pyarrow as pa
import pyarrow.parquet as pq

from groups.columnar.batch import each_of
from groups.columnar.layout import LAYOUT, BadRow, in_layout
from groups.columnar.rows import batch_of
from groups.errors import BadInput, Unreadable
from groups.portions import in_portions

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from groups.group import Group

ROWS_AT_ONCE = 1024
# So much is one row group, which is what is read, and shared out, at once.
MOST_ROWS, MOST_PARTITIONS = 4096, 2_000_000


def read_groups(source: str | bytes) -> Iterator[Group | BadRow]:
    """Yield the group of each row, or why it holds none; rows are numbered through from 0.

    Parameters
    ----------
    source : the path of a file, or what is in one

    Raises
    ------
    BadInput
        Where it cannot be read, is not Parquet, is damaged, or has not the columns of the layout.
    """
    before = 0
    for rows in read_rows(source):
        for found in each_of(rows):
            yield found._replace(row=before + found.row) if isinstance(found, BadRow) else found
        before += len(rows)


def read_rows(
    source: str | bytes, row_groups: Sequence[int] | None = None
) -> Iterator[pa.RecordBatch]:
    """Yield the rows as they stand in a file, some at once, with columns of the layout alone.

    Parameters
    ----------
    source : the path of a file, or what is in one
    row_groups : which of them; None: all

    Raises
    ------
    BadInput
        Where it cannot be read, is not Parquet, is damaged, or has not the columns of the layout.
    """
    with _opened(source) as stream, _as_bad_input():
        file = _file_of(stream)
        names = [name for name in LAYOUT.names if name in file.schema_arrow.names]
        yield from file.iter_batches(ROWS_AT_ONCE, row_groups, names, use_threads=False)


def _file_of(stream: BinaryIO) -> pq.ParquetFile:
    file = pq.ParquetFile(stream, page_checksum_verification=True)
    in_layout(pa.RecordBatch.from_pylist([], file.schema_arrow))
    return file


@contextmanager
def _as_bad_input() -> Iterator[None]:
    try:
        yield
    except BadInput:
        raise
    except (pa.ArrowException, OSError, ValueError) as error:
        first = (str(error).splitlines() or [type(error).__name__])[0]
        # Of what is damaged Arrow says so without a number, or looks for bytes before the first.
        if isinstance(error, OSError) and error.errno not in (None, errno.EINVAL):
            raise Unreadable(f"cannot be read: {error.strerror}") from None
        if isinstance(error, MemoryError):
            raise Unreadable(f"cannot be read: {first}") from None
        raise BadInput(f"not Parquet, or damaged: {first}") from None


def _opened(source: str | bytes) -> BinaryIO:
    if isinstance(source, bytes):
        return BytesIO(source)
    try:
        return Path(source).open("rb")
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else error
        raise Unreadable(f"cannot be read: {reason}") from None


def write_groups(groups: Iterable[Group], path: str) -> int:
    """Write groups to a file, whole or not at all; return how many. None leave no file.

    Raises
    ------
    BadInput
        Where it cannot be written.
    """
    unfinished = Path(f"{path}.{os.getpid()}.unfinished")
    count = 0
    try:
        try:
            with pq.ParquetWriter(
                unfinished, LAYOUT, compression="zstd", write_page_checksum=True
            ) as file:
                for portion in in_portions(
                    groups, lambda group: group.n_partitions, most=MOST_PARTITIONS, count=MOST_ROWS
                ):
                    file.write_batch(batch_of(portion))
                    count += len(portion)
            if count:
                unfinished.replace(path)
        finally:
            unfinished.unlink(missing_ok=True)
    except OSError as error:
        reason = os.strerror(error.errno) if error.errno else str(error).splitlines()[0]
        raise BadInput(f"{path}: cannot be written: {reason}") from None
    return count
