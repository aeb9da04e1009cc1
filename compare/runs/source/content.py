"""Content: a digest of all that a split comes to, so that the same is not read a second time."""

from __future__ import annotations

import hashlib
import os
from typing import TYPE_CHECKING

from compare.runs.source.lines import PIECE_BYTES
from compare.runs.source.planning import LINE_BYTES
from compare.runs.source.split import Document, Lines, PackedLines, RowGroup, Seeds, Texts

if TYPE_CHECKING:
    from collections.abc import Iterator

    from compare.runs.source.split import Part, Split

# The bytes of a file from one place to another; None: to its end.
Stretch = tuple[str, int, int | None]
Stands = tuple[tuple[int, int, int], ...]


def content_of(split: Split) -> str:
    """Return a digest of a split, in hexadecimal digits.

    It is of every byte that is read, and of the names, numbers and times that go into what is made
    of them: where it is the same, so are the groups and failures, and their places.

    Raises
    ------
    OSError
        Where a file cannot be read.
    """
    digest = hashlib.sha256(repr(LINE_BYTES).encode())
    for part in split.parts:
        said, stretches = _said(part)
        digest.update(f"{type(part).__name__} {said!r}".encode())
        for path, start, end in stretches:
            with open(path, "rb") as stream:
                stream.seek(start)
                left = os.fstat(stream.fileno()).st_size - start if end is None else end - start
                digest.update(left.to_bytes(8, "little", signed=True))
                while left > 0 and (piece := stream.read(min(left, PIECE_BYTES))):
                    digest.update(piece)
                    left -= len(piece)
    return digest.hexdigest()


def standing(split: Split) -> Stands:
    """Return of each file of a split its size, when it was changed and which one it is.

    Raises
    ------
    OSError
        Where a file cannot be looked at.
    """
    found = map(os.stat, dict.fromkeys(_paths(split)))
    return tuple((status.st_size, status.st_mtime_ns, status.st_ino) for status in found)


def _paths(split: Split) -> Iterator[str]:
    for part in split.parts:
        if isinstance(part, Texts):
            yield from (file.path for file in part.files)
        elif isinstance(part, (Lines, PackedLines, Document, RowGroup)):
            yield part.file.path


def _said(part: Part) -> tuple[object, list[Stretch]]:
    """Return what is known of a part without its files, and which bytes of them are read."""
    if isinstance(part, Lines):
        # A mark of UTF-8 is one only where a file begins.
        known = (part.file.name, part.start == 0, part.first, part.whole)
        return known, [(part.file.path, part.start, part.end)]
    if isinstance(part, (PackedLines, Document)):
        return part.file.name, [(part.file.path, 0, None)]
    if isinstance(part, Texts):
        names = [file.name for file in part.files]
        return (names, part.times), [(file.path, 0, None) for file in part.files]
    if isinstance(part, RowGroup):
        return _row_group(part)
    return (part if isinstance(part, Seeds) else part.failure), []


def _row_group(part: RowGroup) -> tuple[object, list[Stretch]]:
    import pyarrow.parquet as pq

    about = pq.read_metadata(part.file.path)
    group = about.row_group(part.number)
    columns = [group.column(number) for number in range(group.num_columns)]
    starts = [
        min(one.data_page_offset, one.dictionary_page_offset or one.data_page_offset)
        for one in columns
    ]
    ends = [at + one.total_compressed_size for at, one in zip(starts, columns, strict=True)]
    known = (part.file.name, part.first, str(about.schema.to_arrow_schema()), group.to_dict())
    return known, [(part.file.path, *both) for both in zip(starts, ends, strict=True)]
