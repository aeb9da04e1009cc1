"""Items: the parts of the input that hold groups, and how they become rows of groups."""

from __future__ import annotations

import gzip
from io import BytesIO
from itertools import groupby
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from compare.fleet.tables import TABLES, row_keys
from groups.documents.json_files import is_json_lines, split_documents
from groups.documents.snapshot import BEGINNING, names_in
from groups.documents.texts import beginning, unpacking, without_gz
from groups.errors import BadInput, Failure
from groups.files import holds_snapshots, is_other_format, is_parquet
from groups.group import Group
from groups.importers import import_each
from groups.table.batch import each_of
from groups.table.key import canonical, keys_of
from groups.table.layout import LAYOUT, joined
from groups.table.rows import decode

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from groups.arrays import Bools

# A worker solves at most this many groups at once.
BATCH_GROUPS = 2_048
# A longer line or document is no snapshot.
MOST_BYTES = 2**26
_GZIP = b"\x1f\x8b"
# The format stands in the first bytes of a line.
_FORMAT_BYTES = 64
_MARK = b"\xef\xbb\xbf"


class Printed(NamedTuple):
    """Texts that tools printed, together the views of some groups: names, bytes and times."""

    names: tuple[str, ...]
    data: tuple[bytes, ...]
    times: tuple[str | None, ...]


class Item(NamedTuple):
    """A part of the input that holds one or several groups, with its source and place.

    `content` is JSON, texts that tools printed, or rows of the layout; `number` is the number of
    the first row in its file, from 0.
    """

    source: str
    place: str
    content: bytes | str | Printed | pa.RecordBatch
    number: int = 0

    @property
    def size(self) -> int:
        """Bytes to decode, roughly."""
        content = self.content
        if isinstance(content, (bytes, str)):
            return len(content)
        if isinstance(content, Printed):
            return sum(map(len, content.data))
        return int(content.nbytes)

    @property
    def groups(self) -> int:
        """How many groups there are if that is known before decoding, else 1."""
        return len(self.content) if isinstance(self.content, pa.RecordBatch) else 1


class Rows(NamedTuple):
    """Rows of the layout, the source and place of each, and the failures of what became no row."""

    rows: pa.RecordBatch
    places: list[tuple[str, str]]
    failures: list[Failure]


def items_in_lines(
    texts: Iterable[tuple[str, int, bytes]], *, in_folder: bool = False
) -> Iterator[Item | Failure]:
    """Yield an item or a failure for each line that is not blank.

    Where a file is one document over several lines, the failure is about the file, and its other
    lines are skipped.

    Parameters
    ----------
    texts : (name of the file, number of the line from 1, line)
    in_folder : whether files are from a folder; then lines of other formats of ours are skipped
    """
    skipped: set[str] = set()
    for source, number, line in texts:
        if source in skipped:
            continue
        text = line.removeprefix(_MARK) if number == 1 else line
        place = f"{source}:{number}"
        if number == 1 and text.strip() in (b"{", b"["):
            reason = "a document over several lines, expected one a line; name the file .json"
            skipped.add(source)
            yield Failure(source, source, reason, None)
        elif len(text) > MOST_BYTES:
            reason = f"a line of {len(text):,} bytes, more than the {MOST_BYTES:,} that are read"
            yield _failure(source, place, reason, text)
        elif in_folder and is_other_format(text[:_FORMAT_BYTES].decode("utf-8", "replace")):
            continue
        elif text and not text.isspace():
            yield Item(source, place, text)


def is_of_lines(name: str) -> bool:
    """Return whether a file is read line by line by Spark.

    Gzip files are not: we unpack them, so that the lines before a cut-off end are still read.
    """
    return is_json_lines(name) and without_gz(name) == name


def items_in_stream(
    name: str, stream: Iterable[bytes], *, in_folder: bool = False
) -> Iterator[Item | Failure]:
    """Yield the items and failures in the lines of one file, from its first line on."""
    lines = ((name, n, text.rstrip(b"\r\n")) for n, text in enumerate(stream, start=1))
    return items_in_lines(lines, in_folder=in_folder)


def items_in_files(
    files: Iterable[tuple[str, str, str | None, bytes]], *, in_folder: bool
) -> Iterator[Item | Failure]:
    """Yield the items and failures in whole files: snapshots, and texts as views of groups.

    Parameters
    ----------
    files : (key, name, time, content), sorted by key; texts with the same key may be views of the
        same groups
    in_folder : whether the files are from a folder; then other formats of ours are skipped
    """
    for _, files_of_key in groupby(files, lambda file: file[0]):
        texts: list[tuple[str, bytes, str | None]] = []
        for _, name, time, content in files_of_key:
            for item in items_in_file(name, content, in_folder=in_folder):
                if item is None:
                    texts.append((name, content, time))
                else:
                    yield item
        if texts:
            yield item_of_texts(texts)


def item_of_texts(texts: Iterable[tuple[str, bytes, str | None]]) -> Item:
    """Return the item of texts (name, content, time) that are views of the same groups."""
    names, data, times = zip(*texts, strict=True)
    source = ", ".join(names)
    return Item(source, source, Printed(names, data, times))


def items_in_file(name: str, data: bytes, *, in_folder: bool) -> Iterator[Item | Failure | None]:
    """Yield the items and failures in a file, or only None if it is a text that a tool printed.

    Parameters
    ----------
    in_folder : whether the file is from a folder; then other formats of ours are skipped
    """
    try:
        if is_parquet(name, data):
            yield from _parquet(name, data)
            return
        if data.startswith(_GZIP):
            if is_json_lines(name):
                yield from _gzipped_lines(name, data)
                return
            with unpacking():
                data = gzip.decompress(data)
        if in_folder and is_other_format(beginning(data)):
            return
        if not holds_snapshots(name, data):
            yield None
        elif len(data) > MOST_BYTES and not is_json_lines(name):
            size = f"a document of {len(data):,} bytes"
            raise BadInput(f"{size}, more than the {MOST_BYTES:,} that are read")
        else:
            for place, text in split_documents(data, name):
                yield Item(name, place, text)
    except BadInput as error:
        yield Failure(name, name, str(error).removeprefix(f"{name}: "), None)


def decoded(
    items: Sequence[Item], reset: str | None = None, *, assume_equal: bool = False
) -> tuple[pa.RecordBatch, list[Failure]]:
    """Return the rows of ``groups`` that the items hold, and the failures of the rest.

    Parameters
    ----------
    reset : ``auto.offset.reset`` where a snapshot does not say it
    assume_equal : whether unknown subscriptions are going to be taken as all topics of the group;
        the rows keep what is known, but such a group has another key
    """
    found = list(_rows_in(items, reset))
    rows = joined([one.rows for one in found], LAYOUT)
    places = [place for one in found for place in one.places]
    keys = keys_of(rows)
    is_unknown = pc.is_valid(rows.column("subscription_known"))
    of_assumed = row_keys("assume_equal", keys) if assume_equal else keys
    columns = {name: rows.column(name) for name in LAYOUT.names} | {
        "key": pc.if_else(is_unknown, *(pa.array(one, pa.string()) for one in (of_assumed, keys))),
        "source": pa.array([source for source, _ in places], pa.string()),
        "place": pa.array([place for _, place in places], pa.string()),
        "n_members": _count(rows, "members"),
        "n_topics": _count(rows, "topics"),
        "n_partitions": _count(rows, "owner"),
        "equal_subscriptions": pc.less_equal(_count(rows, "subscription_indptr"), 2),
    }
    schema = TABLES["groups"]
    made = pa.RecordBatch.from_arrays([columns[name] for name in schema.names], schema=schema)
    return made, [failure for one in found for failure in one.failures]


def failure_of(item: Item, reason: str) -> Failure:
    """Return the failure of an item that kills or hangs the process that reads it."""
    content = item.content
    if isinstance(content, Printed):
        at = max((time for time in content.times if time is not None), default=None)
        return Failure(item.source, item.place, reason, None, captured_at=at)
    text = content if isinstance(content, (bytes, str)) else b""
    return _failure(item.source, item.place, reason, text)


def single_rows(item: Item) -> Iterator[Item]:
    """Yield an item for each row of an item of several rows."""
    rows = item.content
    assert isinstance(rows, pa.RecordBatch)
    for at in range(len(rows)):
        yield item._replace(content=rows.slice(at, 1), number=item.number + at)


def _failure(source: str, place: str, reason: str, text: bytes | str) -> Failure:
    """Return a failure, with the group and the time that the beginning of its text states."""
    group, at = names_in(text[:BEGINNING])
    return Failure(source, place, reason, group, captured_at=at)


def _gzipped_lines(name: str, data: bytes) -> Iterator[Item | Failure]:
    is_empty = True
    try:
        with unpacking(), gzip.GzipFile(fileobj=BytesIO(data)) as stream:
            for item in items_in_stream(name, stream):
                is_empty = False
                yield item
    except BadInput as error:
        yield Failure(name, name, str(error), None)
        return
    if is_empty:
        yield Failure(name, name, "empty, expected a snapshot", None)


def _parquet(name: str, data: bytes) -> Iterator[Item]:
    import pyarrow.parquet as pq

    try:
        batches = [*pq.ParquetFile(pa.BufferReader(data)).iter_batches(BATCH_GROUPS)]
    except (pa.ArrowInvalid, OSError) as error:
        raise BadInput(f"cannot be read as Parquet: {str(error).splitlines()[0]}") from None
    number = 0
    for rows in batches:
        yield Item(name, name, rows, number)
        number += len(rows)


def _rows_in(items: Sequence[Item], reset: str | None) -> Iterator[Rows]:
    for is_json, same in groupby(items, lambda item: isinstance(item.content, (bytes, str))):
        if is_json:
            texts = list(same)
            places = [(item.source, item.place) for item in texts]
            yield from _rows_of_documents([item.content for item in texts], places, reset)
            continue
        for item in same:
            if isinstance(item.content, Printed):
                yield from _rows_of_printed(item.content, reset)
            elif isinstance(item.content, pa.RecordBatch):
                yield from _rows_of_batch(item, item.content, reset)


def _rows_of_documents(
    contents: Sequence[Any], places: Sequence[tuple[str, str]], reset: str | None
) -> Iterator[Rows]:
    start = 0
    for batch in decode(contents, reset=reset):
        bad = {one.row for one in batch.failures}
        good = [places[index] for index in range(start, batch.end) if index not in bad]
        failures = [
            Failure(*places[one.row], one.reason, one.group, captured_at=one.captured_at)
            for one in batch.failures
        ]
        yield Rows(batch.rows, good, failures)
        start = batch.end


def _rows_of_printed(printed: Printed, reset: str | None) -> Iterator[Rows]:
    pairs = zip(printed.names, printed.times, strict=True)
    times = {name: time for name, time in pairs if time is not None}
    views = list(zip(printed.names, printed.data, strict=True))
    imported, refused = import_each(views, times=times)
    places = [(source, source) for source in (", ".join(made.sources) for made in imported)]
    if refused:
        yield Rows(joined([], LAYOUT), [], refused)
    yield from _rows_of_documents([made.snapshot for made in imported], places, reset)


def _rows_of_batch(item: Item, rows: pa.RecordBatch, reset: str | None) -> Iterator[Rows]:
    """Yield the groups among rows of a Parquet file or a table.

    Rows with an unknown subscription, without a known `reset`, or whose members have a target are
    decoded again.
    """
    try:
        good, place, bad = canonical(rows)
    except BadInput as error:
        yield Rows(joined([], LAYOUT), [], [Failure(item.source, item.place, str(error), None)])
        return
    places = [(item.source, f"{item.source}:{item.number + n + 1}") for n in range(len(rows))]
    failures = [
        Failure(*places[one.row], one.reason, one.group, captured_at=one.captured_at)
        for one in bad
    ]
    to_decode = _needs_decoding(good, reset)
    kept = place[~np.asarray(to_decode)]
    yield Rows(good.filter(pc.invert(to_decode)), [places[at] for at in kept.tolist()], failures)
    # A canonical row always is a group: the check is for the type.
    groups = [
        group.document() for group in each_of(good.filter(to_decode)) if isinstance(group, Group)
    ]
    decoded_at = [places[at] for at in place[np.asarray(to_decode)].tolist()]
    yield from _rows_of_documents(groups, decoded_at, reset)


def _needs_decoding(rows: pa.RecordBatch, reset: str | None) -> pa.BooleanArray:
    """(rows,) whether members have a target, a subscription is unknown, or `reset` is needed."""
    found = pc.or_(pa.array(_has_target(rows)), pc.is_valid(rows.column("subscription_known")))
    if reset is not None:
        found = pc.or_(found, pc.is_null(rows.column("auto_offset_reset")))
    return found


def _has_target(rows: pa.RecordBatch) -> Bools:
    """(rows,) whether a member has a target, which may differ from what it holds."""
    details = rows.column("details")
    of_member = pc.is_valid(pc.struct_field(details.flatten(), "target"))
    of_row = np.zeros(len(rows), bool)
    of_row[np.asarray(pc.list_parent_indices(details).filter(of_member))] = True
    return of_row


def _count(rows: pa.RecordBatch, name: str) -> pa.Array:
    return pc.list_value_length(rows.column(name)).cast(pa.int64())
