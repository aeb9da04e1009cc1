"""Reading: what stands in a split, cut by bytes, each thing with its place."""

from __future__ import annotations

import gzip
import json
import re
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from compare.runs.source.lines import MARK, TooLong, lines_of, opened
from compare.runs.source.planning import LINE_BYTES
from compare.runs.source.split import (
    Document,
    Lines,
    OutOfReach,
    PackedLines,
    Refused,
    RowGroup,
    Seeds,
    Texts,
)
from groups.documents.json_files import split_documents
from groups.documents.texts import read_bytes, unpacking
from groups.errors import BadInput, Failure, Unreadable
from groups.portions import in_portions

if TYPE_CHECKING:
    from collections.abc import Iterator

    import pyarrow as pa

    from compare.runs.source.split import File, Part, Split

PORTION_BYTES = 2**22
PORTION_ITEMS = 4096
_LOOKED_AT = 2**16


class Printed(NamedTuple):
    """What tools printed, together the views of some groups: names, bytes and times."""

    names: tuple[str, ...]
    data: tuple[bytes, ...]
    times: tuple[str | None, ...]


class Item(NamedTuple):
    """Something that holds one group, or some: what it is, and where it stands.

    `content` is JSON, texts, rows of the layout, or seeds; `number` is that of its first row.
    """

    source: str
    place: str
    content: bytes | str | Printed | Seeds | pa.RecordBatch
    number: int = 0

    @property
    def size(self) -> int:
        """How many bytes there are to decode, roughly."""
        content = self.content
        if isinstance(content, (bytes, str)):
            return len(content)
        if isinstance(content, Printed):
            return sum(map(len, content.data))
        return content.size if isinstance(content, Seeds) else int(content.nbytes)


def portions(split: Split, *, line_bytes: int = LINE_BYTES) -> Iterator[list[Item | Failure]]:
    """Return what stands in a split, some at once: no more than fits the memory with ease.

    Parameters
    ----------
    line_bytes : a line, or a document, that is longer is not read, and is a failure
    """
    items = (item for part in split.parts for item in _items(part, line_bytes))
    return in_portions(items, size_of, most=PORTION_BYTES, count=PORTION_ITEMS)


def size_of(item: Item | Failure) -> int:
    """Return how many bytes there are to decode, roughly."""
    return 0 if isinstance(item, Failure) else item.size


def halves(item: Item | Failure) -> list[Item]:
    """Return two halves of what holds several groups; nothing for what cannot be cut."""
    if isinstance(item, Failure) or isinstance(item.content, (bytes, str, Printed)):
        return []
    content = item.content
    if isinstance(content, Seeds):
        middle = content.count // 2
        first = replace(content, count=middle)
        second = replace(content, first=content.first + middle, count=content.count - middle)
        return [item._replace(content=one) for one in (first, second)] if middle else []
    middle = len(content) // 2
    rest = item._replace(content=content.slice(middle), number=item.number + middle)
    return [item._replace(content=content.slice(0, middle)), rest] if middle else []


def _items(part: Part, line_bytes: int) -> Iterator[Item | Failure]:
    if isinstance(part, Refused):
        yield part.failure
    elif isinstance(part, Seeds):
        yield from _seeds(part)
    elif isinstance(part, Texts):
        yield from _texts(part)
    elif isinstance(part, Lines):
        yield from _lines(part, line_bytes)
    else:
        name = part.file.name
        read = {PackedLines: _packed_lines, Document: _document, RowGroup: _rows}[type(part)]
        try:
            yield from read(part, line_bytes)  # type: ignore[operator]
        except BadInput as error:
            yield _failure(error, name, str(error).removeprefix(f"{name}: "))


def _failure(error: BadInput, name: str, reason: str, time: str | None = None) -> Failure:
    kind = OutOfReach if isinstance(error, Unreadable) else Failure
    return kind(name, name, reason, None, captured_at=time)


def _lines(part: Lines, line_bytes: int) -> Iterator[Item | Failure]:
    name = part.file.name
    some = False
    try:
        with opened(part.file.path) as stream:
            stream.seek(part.start)
            size = part.size
            if not part.start and stream.peek(len(MARK)).startswith(MARK):
                size -= len(stream.read(len(MARK)))
            for number, line in lines_of(stream, size, first=part.first, most=line_bytes):
                some = True
                yield _line(name, number, line, line_bytes)
    except OSError as error:
        yield OutOfReach(name, name, f"cannot be read: {error.strerror}", None)
        return
    if part.whole and not some:
        yield Failure(name, name, "empty, expected a snapshot", None)


def _packed_lines(part: PackedLines, line_bytes: int) -> Iterator[Item | Failure]:
    name = part.file.name
    some = False
    try:
        with unpacking(), gzip.open(part.file.path, "rb") as stream:
            if stream.peek(len(MARK)).startswith(MARK):
                stream.read(len(MARK))
            for number, line in lines_of(stream, None, first=1, most=line_bytes):
                some = True
                yield _line(name, number, line, line_bytes)
    except OSError as error:
        raise Unreadable(f"cannot be read: {error.strerror}") from None
    if not some:
        raise BadInput("empty, expected a snapshot")


def _line(name: str, number: int, line: bytes | TooLong, most: int) -> Item | Failure:
    place = f"{name}:{number}"
    if isinstance(line, bytes):
        return Item(name, place, line)
    group, at = (said_in(line.beginning, key) for key in ("group", "captured_at"))
    reason = f"a line of {line.size:,} bytes, more than the {most:,} that are read"
    return Failure(name, place, reason, group, captured_at=at)


def said_in(text: bytes | str, key: str) -> str | None:
    """Return the text that a snapshot has under a key, where its beginning says it.

    The rest may be missing, or no JSON.
    """
    start = text[:_LOOKED_AT]
    start = start if isinstance(start, str) else start.decode(errors="replace")
    found = re.search(rf'"{key}"\s*:\s*("(?:[^"\\]|\\.)+")', start)
    try:
        return None if found is None else str(json.loads(found[1]))
    except json.JSONDecodeError:
        return None


def _document(part: Document, line_bytes: int) -> Iterator[Item]:
    name = part.file.name
    if part.size > line_bytes:
        raise BadInput(
            f"a document of {part.size:,} bytes, more than the {line_bytes:,} that are read"
        )
    for place, text in split_documents(_bytes_of(part.file), name):
        yield Item(name, place, text)


def _rows(part: RowGroup, _: int) -> Iterator[Item]:
    from groups.columnar.parquet import read_rows

    number = part.first
    for rows in read_rows(part.file.path, [part.number]):
        step = max(len(rows) * PORTION_BYTES // max(int(rows.nbytes), 1), 1)
        for start in range(0, len(rows), step):
            some = rows.slice(start, step)
            yield Item(part.file.name, part.file.name, some, number)
            number += len(some)


def _texts(part: Texts) -> Iterator[Item | Failure]:
    names, data, times = [], [], []
    for file, time in zip(part.files, part.times, strict=True):
        try:
            data.append(_bytes_of(file))
        except BadInput as error:
            yield _failure(error, file.name, str(error), time)
            continue
        names.append(file.name)
        times.append(time)
    if names:
        source = ", ".join(names)
        yield Item(source, source, Printed(tuple(names), tuple(data), tuple(times)))


def _seeds(part: Seeds) -> Iterator[Item]:
    step = max(PORTION_BYTES // max(replace(part, count=1).size, 1), 1)
    end = part.first + part.count
    for first in range(part.first, end, step):
        some = replace(part, first=first, count=min(step, end - first))
        yield Item(part.family.name, part.family.name, some)


def _bytes_of(file: File) -> bytes:
    try:
        return read_bytes(file.path)
    except BadInput as error:
        raise type(error)(str(error).removeprefix(f"{file.path}: ")) from None
