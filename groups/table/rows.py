"""Rows: groups and documents as rows of the layout, and back."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import numpy as np
import pyarrow as pa
from msgspec import ValidationError, convert

from groups.arrays import UNKNOWN
from groups.columns.offsets import Offsets, start_under
from groups.columns.places import MemberDetails
from groups.columns.racks import Racks
from groups.documents.assay_group import Document, Member, Names, or_none
from groups.documents.assay_streams import StreamsDocument, of_mapping, of_text
from groups.documents.fields import without_repeats
from groups.documents.snapshot import columns_of_row, names_in
from groups.documents.snapshots import NO_DETAILS, Snapshots, details_of
from groups.errors import BadInput
from groups.group import Group
from groups.table.layout import LAYOUT, MAY_BE_NULL, SAME_AS_NULL, BadRow
from groups.unknown import settled
from groups.wording import counted

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from groups.arrays import Int64, Ints
    from groups.columns.lists import Lists


Row = dict[str, Any]
RacksAndDetails = tuple[Racks | None, tuple[MemberDetails, ...]]
T = TypeVar("T")


def batch_of(groups: Iterable[Group]) -> pa.RecordBatch:
    """Return the rows of some groups, in their order.

    Raises
    ------
    BadInput
        If one is of Kafka Streams: rows have no columns for its standbys and its state.
    """
    found = Snapshots()
    for group in groups:
        if group.streams is not None:
            raise BadInput(f"group {group.name!r} is of Kafka Streams, and no row of a table")
        found.add(group.document())
    return rows_of(found)


def rows_of(snapshots: Snapshots) -> pa.RecordBatch:
    """Return the rows of some snapshots; equal groups get equal rows, however they are written."""
    columns = snapshots.columns()
    others = [
        one
        | {
            "absent_topics": one["absent_topics"] or None,
            "absent_subscriptions": [
                {"member": member, "topic": topic} for member, topic in one["absent_subscriptions"]
            ]
            or None,
            "replicas": one["replicas"] and [racks and sorted(racks) for racks in one["replicas"]],
            "details": _details(one["details"], one["racks"], members),
        }
        for one, members in zip(snapshots.fields, columns["members"].length.tolist(), strict=True)
    ]
    return pa.RecordBatch.from_arrays(
        [_array(field, columns, others) for field in LAYOUT], schema=LAYOUT
    )


def of_row(row: Mapping[str, Any]) -> Group:
    """Return the group of a row.

    Parameters
    ----------
    row : the columns of `LAYOUT`; lists of numbers may be arrays; other columns are ignored

    Raises
    ------
    BadInput
        If a rule is broken; the message names the column.
    """
    given: Row = {name: row.get(name) for name in LAYOUT.names}
    for name, values in given.items():
        if values is None and name not in MAY_BE_NULL:
            raise BadInput(f"{name}: null")
        if name not in ("replicas", "details"):
            _require_no_nulls(values, name)
    for name in ("topics", "members", "absent_topics"):
        _require_ascending(given[name] or (), name)
    group = Group(**columns_of(given))
    _require_ascending(group.absent_subscriptions, "absent_subscriptions")
    if group.raw_claims is not None:
        made = group.raw_claims.valid_owner(
            group.generation, group.partitions, group.subscriptions
        )
        _require_equal(made, group.owner, "owner", "the claims")
    if group.offsets is not None:
        require_lag(
            group.offsets,
            group.lag_records,
            start_under(group.auto_offset_reset),
            group.partitions,
        )
    return group


def columns_of(row: Mapping[str, Any]) -> dict[str, Any]:
    """Return the columns of the group of a row.

    If the row is valid, and its arrays are frozen and of the layout's types, the columns need no
    further check.

    Raises
    ------
    BadInput
        If racks or member details break a rule.
    """
    sizes = len(row["members"]), len(row["owner"])
    absent = [(one["member"], one["topic"]) for one in row["absent_subscriptions"] or ()]
    named = racks_and_details_of(row["details"], row["replicas"], *sizes)
    return columns_of_row({**row, "absent_subscriptions": absent}, *named)


def racks_and_details_of(
    details: Sequence[Row | None] | None,
    replicas: Sequence[Sequence[str] | None] | None,
    members: int,
    partitions: int,
) -> RacksAndDetails:
    """Return the racks and the members' details of a row, checked by the rules of documents.

    Parameters
    ----------
    details, replicas : the columns of a row
    members, partitions : how many the group has

    Raises
    ------
    BadInput
        If a rule of the format is broken.
    """
    if details is None and replicas is None:
        return None, ()
    listed = [{}] * members if details is None else [_by_topic(one) for one in details]
    given = _convert(listed, list[Member], "details")
    if len(given) != members:
        raise BadInput(f"details: {counted(len(given), 'value')}, expected {members}")
    named = _convert(replicas or [None] * partitions, list[Names | None], "replicas")
    if len(named) != partitions:
        raise BadInput(f"replicas: {counted(len(named), 'value')}, expected {partitions}")
    for at, racks in enumerate(named):
        without_repeats(racks or (), f"replicas[{at}]")
    found = tuple(details_of(one, f"details[{at}]") for at, one in enumerate(given))
    return (
        Racks.named([or_none(member.rack) for member in given], named),
        found if any(one != NO_DETAILS for one in found) else (),
    )


def _by_topic(details: Mapping[str, Any] | None) -> Mapping[str, Any] | None:
    """Return the details of a member with its target as a dict by topic, as in a document."""
    if details is None or details["target"] is None:
        return details
    target = details["target"]
    return {**details, "target": {one["topic"]: one["partitions"] for one in target}}


def _array(field: pa.Field, columns: Mapping[str, Lists], others: Sequence[Row]) -> pa.Array:
    """Return a column of the layout, from `columns` if it is there, otherwise from `others`."""
    if pa.types.is_struct(field.type):
        names = [f"{field.name}.{part.name}" for part in field.type]
        if names[0] not in columns:
            return pa.nulls(len(others), field.type)
        parts = [
            _lists(columns[name], part.type) for name, part in zip(names, field.type, strict=True)
        ]
        mask = pa.array(~columns[names[0]].given)
        return pa.StructArray.from_arrays(parts, fields=[*field.type], mask=mask)
    if field.name not in columns:
        return pa.array([row.get(field.name) for row in others], field.type)
    lists = columns[field.name]
    if field.name in SAME_AS_NULL:
        lists = lists.null_if_all(SAME_AS_NULL[field.name])
    return _lists(lists, field.type)


def _lists(lists: Lists, kind: pa.DataType) -> pa.Array:
    mask = None if lists.given.all() else pa.array(~lists.given)
    made = pa.ListArray.from_arrays(
        pa.array(lists.start, pa.int32()), pa.array(lists.values), mask=mask
    )
    return made if made.type == kind else made.cast(kind)


def _details(
    details: Sequence[MemberDetails], racks: Sequence[str | None] | None, members: int
) -> list[Row] | None:
    """Return the `details` column of a row, None if nothing is known of any member."""
    if racks is None and not any(one != NO_DETAILS for one in details):
        return None
    return [
        {
            **vars(one),
            "rack": rack,
            "target": None
            if one.target is None
            else [{"topic": t, "partitions": n} for t, n in sorted(one.target.items())],
        }
        for rack, one in zip(
            racks or [None] * members, details or (NO_DETAILS,) * members, strict=True
        )
    ]


def _convert(values: object, kind: type[T], name: str) -> T:
    try:
        return convert(values, kind)
    except ValidationError as error:
        raise BadInput(f"{name}: {error}") from None


def _require_ascending(values: Sequence[Any], place: str) -> None:
    for at, (before, value) in enumerate(pairwise(values), start=1):
        if not before < value:
            raise BadInput(f"{place}[{at}]: {value!r} does not come after {before!r}")


def _require_no_nulls(values: object, place: str) -> None:
    if isinstance(values, dict):
        for name, inner in values.items():
            if inner is None:
                raise BadInput(f"{place}.{name}: null")
            _require_no_nulls(inner, f"{place}.{name}")
    elif isinstance(values, (list, tuple)):
        if None in values:
            raise BadInput(f"{place}[{values.index(None)}]: null")
        if values and isinstance(values[0], dict):
            for at, inner in enumerate(values):
                _require_no_nulls(inner, f"{place}[{at}]")


def require_lag(
    offsets: Offsets, lag: Int64 | None, start: int | Int64, partitions: Int64
) -> None:
    """Raise BadInput if lag and offsets disagree.

    Parameters
    ----------
    lag : (all partitions,) int64; None: unknown
    start : as in :meth:`Offsets.lag`
    partitions : (topics,) int64, how many each topic has
    """
    given = np.full(len(offsets.end), UNKNOWN) if lag is None else lag
    _require_equal(offsets.lag_beside(given, start, partitions), given, "lag", "the offsets")


def _require_equal(made: Ints, given: Ints, place: str, of: str) -> None:
    if not np.array_equal(made, given):
        at = int(np.argmax(made != given))
        raise BadInput(f"{place}[{at}]: {given[at]}, but {of} make it {made[at]}")


# A batch ends with the group that brings it to so many partitions.
PARTITIONS_AT_ONCE = 4_000_000
Content = str | bytes | Mapping[str, Any] | Document


class Decoded(NamedTuple):
    """The rows of some contents, the failures of others, and the number of contents so far."""

    rows: pa.RecordBatch
    failures: list[BadRow]
    end: int


def decode(
    contents: Iterable[Content],
    *,
    reset: str | None = None,
) -> Iterator[Decoded]:
    """Yield the rows of valid snapshots and the reasons why others are not, in batches.

    A row is that of the group which :meth:`Group.from_json` returns, :func:`settled
    <groups.unknown.settled>`; a reason is the error that it raises. `BadRow.row` counts all
    contents; rows are those of the valid ones, in order. Batches limit the memory, since a short
    text may hold many partitions.

    Parameters
    ----------
    contents : JSON texts, or documents; bytes are UTF-8
    reset : see :meth:`Group.with_reset`
    """
    found, failures = Snapshots(), list[BadRow]()
    end = partitions = 0
    for index, content in enumerate(contents):
        end = index + 1
        try:
            partitions += found.add(_document(content, reset))
        except BadInput as error:
            failures.append(BadRow(index, str(error), *names_in(content)))
        if partitions >= PARTITIONS_AT_ONCE:
            yield Decoded(rows_of(found), failures, end)
            found, failures, partitions = Snapshots(), [], 0
    if found or failures:
        yield Decoded(rows_of(found), failures, end)


def _on_the_way(member: Member) -> bool:
    """Return whether a member has a target other than what it holds."""
    target, owned = or_none(member.target), or_none(member.owned) or {}
    return target is not None and target != owned


def _document(content: Content, reset: str | None) -> Document:
    if isinstance(content, (str, bytes)):
        document = of_text(content)
    elif isinstance(content, Document | StreamsDocument):
        document = content
    else:
        document = of_mapping(content)
    if isinstance(document, StreamsDocument):
        raise BadInput("a Kafka Streams group: assay score judges it")
    members = document.members.values()
    unknown = any(or_none(one.subscription) is None for one in members)
    lacks_reset = reset and or_none(document.auto_offset_reset) is None
    if unknown or lacks_reset or any(map(_on_the_way, members)):
        document = settled(Group.of_document(document).with_reset(reset)).document()
    return document
