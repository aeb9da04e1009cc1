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

# A worker solves at most this many groups at once.
BATCH_GROUPS = 2_048
# A longer line or document is no snapshot.
MOST_BYTES = 2**26
_GZIP = b"\x1f\x8b"
# The format stands in the first bytes of a line.
_FORMAT_BYTES = 64
_MARK = b"\xef\xbb\xbf"


# A text that a tool printed: its name, its bytes, and the time of its file.
Text = tuple[str, bytes, str | None]


class Item(NamedTuple):
    """A part of the input that holds one or several groups, with its source and place.

    `content` is JSON, texts that together are the views of some groups, or rows of the layout;
    `number` is the number of the first row in its file, from 0.
    """

    source: str
    place: str
    content: bytes | str | tuple[Text, ...] | pa.RecordBatch
    number: int = 0

    @property
    def size(self) -> int:
        """Bytes to decode, roughly."""
        content = self.content
        if isinstance(content, (bytes, str)):
            return len(content)
        if isinstance(content, tuple):
            return sum(len(data) for _, data, _ in content)
        return int(content.nbytes)

    @property
    def groups(self) -> int:
        """How many groups there are if that is known before decoding, else 1."""
        return len(self.content) if isinstance(self.content, pa.RecordBatch) else 1


# Rows of the layout, the source and place of each, and the failures of what became no row.
Rows = tuple[pa.RecordBatch, list[tuple[str, str]], list[Failure]]


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
            yield failure_of(Item(source, place, text), reason)
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


def item_of_texts(texts: Sequence[Text]) -> Item:
    """Return the item of texts that may be views of the same groups."""
    source = ", ".join(name for name, *_ in texts)
    return Item(source, source, tuple(texts))


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
    found = [*_rows_in(items, reset)]
    rows = joined([rows for rows, _, _ in found], LAYOUT)
    places = [place for _, places, _ in found for place in places]
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
    return made, [failure for _, _, failures in found for failure in failures]


def failure_of(item: Item, reason: str) -> Failure:
    """Return the failure of an item, with the group and the time that its beginning states."""
    content, group, at = item.content, None, None
    if isinstance(content, tuple):
        at = max((time for _, _, time in content if time is not None), default=None)
    elif isinstance(content, (bytes, str)):
        group, at = names_in(content[:BEGINNING])
    return Failure(item.source, item.place, reason, group, captured_at=at)


def single_rows(item: Item) -> Iterator[Item]:
    """Yield an item for each row of an item of several rows."""
    rows = item.content
    assert isinstance(rows, pa.RecordBatch)
    for at in range(len(rows)):
        yield item._replace(content=rows.slice(at, 1), number=item.number + at)


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
            if isinstance(item.content, tuple):
                yield from _rows_of_texts(item.content, reset)
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
        yield batch.rows, good, failures
        start = batch.end


def _rows_of_texts(texts: Sequence[Text], reset: str | None) -> Iterator[Rows]:
    times = {name: time for name, _, time in texts if time is not None}
    imported, refused = import_each([(name, data) for name, data, _ in texts], times=times)
    places = [(source, source) for source in (", ".join(made.sources) for made in imported)]
    yield joined([], LAYOUT), [], refused
    yield from _rows_of_documents([made.snapshot for made in imported], places, reset)


def _rows_of_batch(item: Item, rows: pa.RecordBatch, reset: str | None) -> Iterator[Rows]:
    """Yield the groups among rows of a Parquet file or a table.

    Rows with an unknown subscription, without a known `reset`, or whose members have a target are
    decoded again.
    """
    try:
        good, place, bad = canonical(rows)
    except BadInput as error:
        yield joined([], LAYOUT), [], [Failure(item.source, item.place, str(error), None)]
        return
    places = [(item.source, f"{item.source}:{item.number + n + 1}") for n in range(len(rows))]
    failures = [
        Failure(*places[one.row], one.reason, one.group, captured_at=one.captured_at)
        for one in bad
    ]
    to_decode = _needs_decoding(good, reset)
    kept = place[~np.asarray(to_decode)]
    yield good.filter(pc.invert(to_decode)), [places[at] for at in kept.tolist()], failures
    # A canonical row always is a group: the check is for the type.
    groups = [
        group.document() for group in each_of(good.filter(to_decode)) if isinstance(group, Group)
    ]
    decoded_at = [places[at] for at in place[np.asarray(to_decode)].tolist()]
    yield from _rows_of_documents(groups, decoded_at, reset)


def _needs_decoding(rows: pa.RecordBatch, reset: str | None) -> pa.BooleanArray:
    """(rows,) whether members have a target, a subscription is unknown, or `reset` is needed."""
    details = rows.column("details")
    of_member = pc.is_valid(pc.struct_field(details.flatten(), "target"))
    # A target may differ from what the member holds.
    has_target = np.zeros(len(rows), bool)
    has_target[np.asarray(pc.list_parent_indices(details).filter(of_member))] = True
    found = pc.or_(pa.array(has_target), pc.is_valid(rows.column("subscription_known")))
    if reset is not None:
        found = pc.or_(found, pc.is_null(rows.column("auto_offset_reset")))
    return found


def _count(rows: pa.RecordBatch, name: str) -> pa.Array:
    return pc.list_value_length(rows.column(name)).cast(pa.int64())
