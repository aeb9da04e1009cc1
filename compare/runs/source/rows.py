"""Rows: what was read of the input, as rows of the layout, and why a part of it holds none."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc

from compare.runs.source.planning import LINE_BYTES
from compare.runs.source.reading import Printed, portions
from compare.runs.source.split import Seeds
from groups.columnar.canonical import canonical
from groups.columnar.decode import decode
from groups.columnar.key import keys_of
from groups.columnar.layout import LAYOUT, joined
from groups.columnar.rows import batch_of
from groups.columnar.side_by_side import each_of
from groups.errors import BadInput, Failure
from groups.group import Group
from groups.importers import import_each

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from compare.runs.source.reading import Item
    from compare.runs.source.split import Split

INPUT = pa.schema(
    [
        *(field.with_nullable(True) for field in LAYOUT),
        ("key", pa.string()),
        ("source", pa.string()),
        ("place", pa.string()),
        ("reason", pa.string()),  # why there is no group; null where there is one
    ]
)


@dataclass(frozen=True)
class Given:
    """What is taken as given where a snapshot does not say it.

    Attributes
    ----------
    reset : ``auto.offset.reset``
    assume_equal : unknown subscriptions are all topics of the group
    """

    reset: str | None = None
    assume_equal: bool = False

    def of(self, group: Group) -> Group:
        """Return the group with that."""
        group = group.with_reset(self.reset)
        return group.with_equal_subscriptions() if self.assume_equal else group


@dataclass(frozen=True)
class Rows:
    """Groups as rows of the layout, where each stands, and what could not become one.

    Attributes
    ----------
    places : (rows,) source and place
    """

    rows: pa.RecordBatch
    places: list[tuple[str, str]]
    failures: list[Failure]

    def columns(self) -> dict[str, pa.Array]:
        """Return the columns of the groups, with their keys, sources and places."""
        found = {name: self.rows.column(name) for name in LAYOUT.names}
        found["key"] = pa.array(keys_of(self.rows), pa.string())
        found["source"] = pa.array([source for source, _ in self.places], pa.string())
        found["place"] = pa.array([place for _, place in self.places], pa.string())
        return found

    def as_input(self) -> pa.RecordBatch:
        """Return all as rows of `INPUT`, first the groups."""
        columns = self.columns() | {"reason": pa.nulls(len(self.rows), pa.string())}
        good = pa.RecordBatch.from_arrays([columns[f.name] for f in INPUT], schema=INPUT)
        if not self.failures:
            return good
        said = ("group", "captured_at", "source", "place", "reason")
        bad = [{name: getattr(failure, name) for name in said} for failure in self.failures]
        return joined([good, pa.RecordBatch.from_pylist(bad, INPUT)], INPUT)


NOTHING = Given()


def read_split(
    split: Split, *, given: Given = NOTHING, line_bytes: int = LINE_BYTES
) -> Iterator[pa.RecordBatch]:
    """Yield the rows of a split, of the columns of `INPUT`."""
    for items in portions(split, line_bytes=line_bytes):
        for rows in rows_in(items, given):
            yield rows.as_input()


def rows_of(items: Sequence[Item | Failure], given: Given = NOTHING) -> Rows:
    """Return the groups that some items hold, and why the others hold none."""
    found = list(rows_in(items, given))
    return Rows(
        joined([one.rows for one in found], LAYOUT),
        [place for one in found for place in one.places],
        [failure for one in found for failure in one.failures],
    )


def rows_in(items: Sequence[Item | Failure], given: Given = NOTHING) -> Iterator[Rows]:
    """Yield the groups that some items hold, and why others hold none, in batches."""
    known = [item for item in items if isinstance(item, Failure)]
    if known:
        yield Rows(joined([], LAYOUT), [], known)
    kinds = groupby((item for item in items if not isinstance(item, Failure)), _is_text)
    for is_text, some in kinds:
        if is_text:
            texts = list(some)
            at = [(item.source, item.place) for item in texts]
            yield from _decoded([item.content for item in texts], at, given)
        else:
            for item in some:
                yield from _unpacked(item, given)


def _is_text(item: Item) -> bool:
    return isinstance(item.content, (bytes, str))


def _unpacked(item: Item, given: Given) -> Iterator[Rows]:
    if isinstance(item.content, Printed):
        yield from _printed(item.content, given)
    elif isinstance(item.content, Seeds):
        yield _seeded(item.content, given)
    else:
        yield _stored(item, item.content, given)


def _decoded(
    contents: Sequence[Any], at: Sequence[tuple[str, str]], given: Given
) -> Iterator[Rows]:
    start = 0
    for some in decode(contents, reset=given.reset, assume_equal=given.assume_equal):
        bad = {one.row for one in some.failures}
        places = [at[index] for index in range(start, some.end) if index not in bad]
        failures = [
            Failure(*at[one.row], one.reason, one.group, captured_at=one.captured_at)
            for one in some.failures
            if not _is_blank(contents[one.row])
        ]
        yield Rows(some.rows, places, failures)
        start = some.end


def _is_blank(content: object) -> bool:
    """Return whether a text is a line of blanks that ASCII does not know."""
    if isinstance(content, bytes):
        try:
            content = content.decode()
        except UnicodeDecodeError:
            return False
    return isinstance(content, str) and not content.strip()


def _printed(printed: Printed, given: Given) -> Iterator[Rows]:
    pairs = zip(printed.names, printed.times, strict=True)
    times = {name: time for name, time in pairs if time is not None}
    views = list(zip(printed.names, printed.data, strict=True))
    imported, refused = import_each(views, times=times)
    places = [(source, source) for source in (", ".join(made.sources) for made in imported)]
    if refused:
        yield Rows(joined([], LAYOUT), [], refused)
    yield from _decoded([made.snapshot for made in imported], places, given)


def _seeded(seeds: Seeds, given: Given) -> Rows:
    groups, places, failures = [], [], []
    for seed in range(seeds.first, seeds.first + seeds.count):
        place = (seeds.family.name, f"{seeds.family.name}-{seed}")
        try:
            groups.append(given.of(seeds.family.group(seed)))
            places.append(place)
        except BadInput as error:
            failures.append(Failure(*place, str(error), place[1]))
    return Rows(batch_of(groups), places, failures)


def _stored(item: Item, rows: pa.RecordBatch, given: Given) -> Rows:
    """Return the rows of a Parquet file that hold a group."""
    try:
        good, place, bad = canonical(rows)
    except BadInput as error:
        return Rows(joined([], LAYOUT), [], [Failure(item.source, item.place, str(error), None)])
    places = [(item.source, f"{item.source}:{item.number + n + 1}") for n in range(len(rows))]
    failures = [
        Failure(*places[one.row], one.reason, one.group, captured_at=one.captured_at)
        for one in bad
    ]
    return Rows(_given(good, given), [places[at] for at in place.tolist()], failures)


def _given(rows: pa.RecordBatch, given: Given) -> pa.RecordBatch:
    asked = pa.nulls(len(rows), pa.bool_()).fill_null(False)
    if given.reset is not None:
        asked = pc.or_(asked, pc.is_null(rows.column("auto_offset_reset")))
    if given.assume_equal:
        asked = pc.or_(asked, pc.is_valid(rows.column("subscription_known")))
    if not pc.any(asked).as_py():
        return rows
    batches, start = [], 0
    for at in pc.indices_nonzero(asked).to_pylist():
        group = next(each_of(rows.slice(at, 1)))
        assert isinstance(group, Group)
        batches += [rows.slice(start, at - start), batch_of([given.of(group)])]
        start = at + 1
    return joined([*batches, rows.slice(start)], LAYOUT)
