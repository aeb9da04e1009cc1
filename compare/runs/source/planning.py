"""Planning: the input, cut into splits without reading more of it than that takes."""

from __future__ import annotations

import os
import stat
import zlib
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from compare.runs.source.lines import line_starts, lines_of, opened
from compare.runs.source.split import (
    Document,
    File,
    Lines,
    PackedLines,
    Refused,
    RowGroup,
    Seeds,
    Split,
    Texts,
)
from groups.documents.json_files import is_json_lines, parse_json
from groups.documents.texts import START, beginning, is_utf8, read_bytes
from groups.errors import BadInput, Failure
from groups.extras import require
from groups.files import holds_snapshots, is_other_format, is_parquet
from groups.folders import is_folder, may_hold_groups, nothing_in
from groups.importers.times import file_time
from groups.portions import in_portions

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from compare.runs.source.split import Part
    from compare.samples.families import Family

SPLIT_BYTES = 2**24
LINE_BYTES = 2**26
MOST_PARTS = 4096
_GZIP = b"\x1f\x8b"


def splits(
    paths: Sequence[str],
    *,
    split_bytes: int | Callable[[int], int] = SPLIT_BYTES,
    line_bytes: int = LINE_BYTES,
) -> list[Split]:
    """Return the splits of some files and folders.

    What is a snapshot, what other tools printed, and which texts are the views of one group is as
    :func:`groups.files.find` has it; Parquet in the columnar layout is read besides. What a folder
    holds but cannot be read is a part too: it becomes a failure.

    Parameters
    ----------
    split_bytes : how much a split has to read, roughly, or what says it of the bytes of all; what
        cannot be cut may be more
    line_bytes : a longer line is no snapshot

    Raises
    ------
    BadInput
        Where a file that is named itself cannot be read, or a folder holds no file that could be
        used.
    """
    parts = list(_parts(paths, line_bytes))
    most = split_bytes
    if not isinstance(most, int):
        most = most(sum(part.size for part in parts))
    return packed((some for part in parts for some in _cut(part, most)), most)


def seeded_splits(
    families: Sequence[Family], seeds: int, *, first: int = 1, split_bytes: int = SPLIT_BYTES
) -> list[Split]:
    """Return the splits of the groups of some families, each of so many seeds."""
    parts = []
    for family in families:
        one = max(Seeds(family, first, 1).size, 1)
        step = max(split_bytes // one, 1)
        parts += [
            Seeds(family, start, min(step, first + seeds - start))
            for start in range(first, first + seeds, step)
        ]
    return packed(parts, split_bytes)


def packed(parts: Iterable[Part], split_bytes: int) -> list[Split]:
    """Put parts together, in their order, up to so many bytes a split."""
    some = in_portions(parts, lambda part: part.size, most=split_bytes, count=MOST_PARTS)
    return [Split(tuple(portion)) for portion in some]


def _parts(paths: Sequence[str], line_bytes: int) -> Iterator[Part]:
    together: dict[str | None, list[File]] = {}
    for path in paths:
        in_folder = is_folder(path)
        for file in _files(path) if in_folder else [File(os.path.abspath(path), path)]:
            if isinstance(file, Failure):
                yield Refused(file)
                continue
            try:
                parts = list(_parts_of(file, in_folder, line_bytes))
            except BadInput as error:
                if not in_folder:
                    raise error.within(path) from None
                yield Refused(Failure(file.name, file.name, str(error), None))
                continue
            if parts == [None]:
                beside = os.path.dirname(file.name) if in_folder else None
                together.setdefault(beside, []).append(file)
            else:
                yield from (part for part in parts if part is not None)
    for files in together.values():
        times = tuple(file_time(file.path) for file in files)
        yield Texts(tuple(files), times, sum(_size(file) for file in files))


def _files(folder: str) -> Iterator[File | Failure]:
    """Yield the files of a folder and of those in it, and what of it cannot be looked into."""
    found: list[Path] = []
    failures: list[Failure] = []

    def refuse(error: OSError) -> None:
        name = str(error.filename)
        failures.append(Failure(name, name, f"cannot be read: {error.strerror}", None))

    for inside, _, names in os.walk(folder, onerror=refuse):
        paths = (Path(inside, name) for name in names)
        found += (path for path in paths if may_hold_groups(path, folder))
    if not found and not failures:
        raise nothing_in(folder)
    yield from failures
    for path in sorted(found):
        yield File(os.path.abspath(path), str(path))


def _parts_of(file: File, in_folder: bool, line_bytes: int) -> Iterator[Part | None]:
    """Yield the parts of a file, its lines uncut; None alone: it is a text that a tool printed."""
    size, raw, start = _beginning(file)
    if is_parquet(file.name, raw):
        yield from _row_groups(file)
        return
    if in_folder and is_other_format(beginning(start)):
        return
    is_packed = raw.startswith(_GZIP)
    if is_json_lines(file.name) and is_utf8(start):
        yield PackedLines(file, size) if is_packed else Lines(file, 0, size, 1, whole=True)
    elif is_json_lines(file.name):
        yield Document(file, size)
    elif _is_snapshot(file, start, line_bytes):
        if size > line_bytes and not is_packed and _has_lines(file, line_bytes):
            yield Lines(file, 0, size, 1, whole=True)
        else:
            yield Document(file, size)
    else:
        yield None


def _beginning(file: File) -> tuple[int, bytes, bytes]:
    """Return the size of a file, its first bytes, and those unpacked."""
    try:
        status = os.stat(file.path)
        # To open a pipe is to wait for whoever writes to it.
        raw = b""
        if stat.S_ISREG(status.st_mode):
            with open(file.path, "rb") as stream:
                raw = stream.read(START)
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else error
        raise BadInput(f"cannot be read: {reason}") from None
    if not stat.S_ISREG(status.st_mode):
        raise BadInput("cannot be read: not a regular file")
    if not raw.startswith(_GZIP):
        return status.st_size, raw, raw
    try:
        return status.st_size, raw, zlib.decompressobj(wbits=31).decompress(raw, START)
    except zlib.error:
        # Whoever reads it says what is wrong.
        return status.st_size, raw, b"{" if is_json_lines(file.name) else b""


def _is_snapshot(file: File, start: bytes, line_bytes: int) -> bool:
    """Return whether a file is meant as snapshots; what is read of it fits the memory."""
    said = beginning(start)
    if not said.startswith("{") or '"assay-' in said or _size(file) > line_bytes:
        return said.startswith("{")
    return holds_snapshots(file.name, read_bytes(file.path))


def _has_lines(file: File, line_bytes: int) -> bool:
    """Return whether the first line of a file is a document, and not the only line."""
    try:
        with opened(file.path) as stream:
            lines = lines_of(stream, None, first=1, most=line_bytes)
            _, line = next(lines, (0, b""))
            if not isinstance(line, bytes) or next(lines, None) is None:
                return False
        parse_json(line.decode("utf-8-sig"))
    except OSError as error:
        raise BadInput(f"cannot be read: {error.strerror}") from None
    except (BadInput, UnicodeDecodeError):
        return False
    return True


def _cut(part: Part, most: int) -> Iterator[Part]:
    """Yield a part, where it is lines in stretches of so many bytes, or a line more.

    What cannot be read any more stays whole: whoever reads it says why.
    """
    if not isinstance(part, Lines) or part.size <= most:
        yield part
        return
    start, first = 0, 1
    with suppress(OSError), opened(part.file.path) as stream:
        # If it is empty is said by one who reads all of it.
        if stream.peek(START)[:START].strip():
            for place, number in line_starts(stream, most):
                yield Lines(part.file, start, place, first, whole=False)
                start, first = place, number
    if start < part.size:
        yield Lines(part.file, start, part.size, first, whole=start == 0)


def _row_groups(file: File) -> Iterator[RowGroup]:
    require("pyarrow", extra="spark")
    from groups.columnar.parquet import row_groups_in

    before = 0
    for number, (rows, size) in enumerate(row_groups_in(file.path)):
        yield RowGroup(file, number, before, size)
        before += rows


def _size(file: File) -> int:
    try:
        return os.path.getsize(file.path)
    except OSError:
        return 0
