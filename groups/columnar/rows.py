"""Rows: groups as rows of the layout, and back."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
import pyarrow as pa
from msgspec import ValidationError, convert

from groups.arrays import NO_GENERATION, UNKNOWN, frozen
from groups.columnar.layout import LAYOUT, MAY_BE_NULL
from groups.columns.claims import Claims
from groups.columns.member_details import MemberDetails
from groups.columns.offsets import Offsets, is_latest
from groups.columns.racks import Racks
from groups.columns.topic_lists import numbered
from groups.documents.assay_group import Member, Names, told, without_repeats
from groups.documents.members import NO_DETAILS, details_of
from groups.errors import BadInput
from groups.group import Group
from groups.wording import counted

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from groups.arrays import Bools, Int64, Ints
    from groups.documents.snapshot import Snapshot

Row = dict[str, Any]
Said = tuple[Racks | None, tuple[MemberDetails, ...]]
T = TypeVar("T")


def row_of(group: Group) -> Row:
    """Return the row of a group, the same for any two groups whose documents are the same."""
    if not _is_in_order(group):
        group = Group.from_dict(group.to_dict())
    indptr, listed, row = numbered(
        group.subscription_indptr, group.subscription_topics, group.subscription_row
    )
    lag, offsets, claims = group.lag_records, group.offsets, group.raw_claims
    if offsets is not None:
        latest = is_latest(group.auto_offset_reset)
        lag = offsets.lag_beside(lag, latest, group.partitions)
    born = group.generation
    return {
        "group": group.name,
        "captured_at": group.captured_at,
        "auto_offset_reset": group.auto_offset_reset,
        "assumed": group.assumed,
        "topics": group.topics,
        "partitions": group.partitions,
        "members": group.members,
        "subscription_indptr": indptr,
        "subscription_topics": listed,
        "subscription_row": row,
        "subscription_known": None if group.subscription_known.all() else group.subscription_known,
        "owner": group.owner,
        "generation": born if (born != NO_GENERATION).any() else None,
        "lag": _known(lag),
        "weight": _known(group.weight),
        "offsets": None if offsets is None or not offsets.given.any() else vars(offsets),
        "claims": None if claims is None or claims.equal(group.owned_claims) else vars(claims),
        "absent_topics": group.absent_topics or None,
        "absent_subscriptions": [
            {"member": member, "topic": topic} for member, topic in group.absent_subscriptions
        ]
        or None,
        "replicas": None if group.racks is None else group.racks.named_replicas(),
        "details": _details(group),
    }


def batch_of(groups: Sequence[Group]) -> pa.RecordBatch:
    """Return the rows of some groups, in their order."""
    rows = [row_of(group) for group in groups]
    columns = [pa.array([row[field.name] for row in rows], field.type) for field in LAYOUT]
    return pa.RecordBatch.from_arrays(columns, schema=LAYOUT)


def of_row(row: Mapping[str, Any]) -> Group:
    """Return the group of a row.

    Parameters
    ----------
    row : the columns of `LAYOUT`, lists as lists or, where they hold numbers, as arrays; others
        are ignored

    Raises
    ------
    BadInput
        Where a rule is broken; the message names the column.
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
            is_latest(group.auto_offset_reset),
            group.partitions,
        )
    return group


def columns_of(row: Mapping[str, Any]) -> Snapshot:
    """Return the columns of the group of a row.

    Where the row is good, and its arrays are of the types of the layout and frozen, they are as a
    group keeps them.

    Raises
    ------
    BadInput
        Where what is said in names breaks a rule.
    """
    topics, members = tuple(row["topics"]), tuple(row["members"])
    known, born, lag = row["subscription_known"], row["generation"], row["lag"]
    offsets = None if row["offsets"] is None else Offsets(**row["offsets"])
    if offsets is not None and lag is None:
        lag = frozen(np.full(len(offsets.end), UNKNOWN))
    sizes = len(members), len(row["owner"])
    racks, details = said_in_names(row["details"], row["replicas"], *sizes)
    return {
        "name": row["group"],
        "topics": topics,
        "partitions": row["partitions"],
        "members": members,
        "subscription_indptr": row["subscription_indptr"],
        "subscription_topics": row["subscription_topics"],
        "subscription_row": row["subscription_row"],
        "subscription_known": frozen(np.ones(len(members), bool)) if known is None else known,
        "owner": row["owner"],
        "generation": frozen(np.full(len(members), NO_GENERATION)) if born is None else born,
        "lag_records": lag,
        "weight": row["weight"],
        "racks": racks,
        "offsets": offsets,
        "raw_claims": None if row["claims"] is None else Claims(**row["claims"]),
        "absent_topics": tuple(row["absent_topics"] or ()),
        "absent_subscriptions": tuple(
            (one["member"], one["topic"]) for one in row["absent_subscriptions"] or ()
        ),
        "details": details,
        "assumed": tuple(row["assumed"] or ()),
        "captured_at": row["captured_at"],
        "auto_offset_reset": row["auto_offset_reset"],
    }


def said_in_names(
    details: Sequence[Row | None] | None,
    replicas: Sequence[Sequence[str] | None] | None,
    members: int,
    partitions: int,
) -> Said:
    """Return where members and replicas stand, and the details, checked as those of a document.

    Parameters
    ----------
    details, replicas : the columns of a row
    members, partitions : how many it has

    Raises
    ------
    BadInput
        Where a rule of the format is broken.
    """
    if details is None and replicas is None:
        return None, ()
    listed = [{}] * members if details is None else [_by_topic(one) for one in details]
    said = _converted(listed, list[Member], "details")
    if len(said) != members:
        raise BadInput(f"details: {counted(len(said), 'value')}, expected {members}")
    named = _converted(replicas or [None] * partitions, list[Names | None], "replicas")
    if len(named) != partitions:
        raise BadInput(f"replicas: {counted(len(named), 'value')}, expected {partitions}")
    for at, racks in enumerate(named):
        without_repeats(racks or (), f"replicas[{at}]")
    found = tuple(details_of(one, f"details[{at}]") for at, one in enumerate(said))
    return (
        Racks.named([told(member.rack) for member in said], named),
        found if any(one != NO_DETAILS for one in found) else (),
    )


def _by_topic(details: Mapping[str, Any] | None) -> Mapping[str, Any] | None:
    """Return the details of a member as a document has them."""
    if details is None or details["target"] is None:
        return details
    target = details["target"]
    return {**details, "target": {one["topic"]: one["partitions"] for one in target}}


def _details(group: Group) -> list[Row] | None:
    """Return what a row says of each member, None where it says nothing."""
    racks = [None] * len(group.members)
    if group.racks is not None:
        racks = [group.racks.names[r] if r >= 0 else None for r in group.racks.member.tolist()]
    details = group.details or (NO_DETAILS,) * len(group.members)
    if not any(racks) and all(one == NO_DETAILS for one in details):
        return None
    return [
        {
            **vars(one),
            "rack": rack,
            "target": None
            if one.target is None
            else [{"topic": t, "partitions": n} for t, n in sorted(one.target.items())],
        }
        for rack, one in zip(racks, details, strict=True)
    ]


def _converted(values: object, kind: type[T], name: str) -> T:
    try:
        return convert(values, kind)
    except ValidationError as error:
        raise BadInput(f"{name}: {error}") from None


def _known(values: Int64 | None) -> Int64 | None:
    return None if values is None or (values < 0).all() else values


def _is_in_order(group: Group) -> bool:
    """Return whether names ascend, and what does not exist is named only where it is meant."""
    if not all(map(_ascends, (group.topics, group.members, group.absent_topics))):
        return False
    if not group.absent_topics:
        return True
    named = {topic for _, topic in group.absent_subscriptions}
    named |= set((group.claims.topic - len(group.topics)).tolist())
    return named >= set(range(len(group.absent_topics))) and _ascends(group.absent_subscriptions)


def _ascends(values: Sequence[Any]) -> bool:
    return all(a < b for a, b in pairwise(values))


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
    offsets: Offsets, lag: Int64 | None, latest: bool | Bools, partitions: Int64
) -> None:
    """Raise BadInput where a lag is not the one that follows from the offsets.

    Parameters
    ----------
    lag : (all partitions,) int64; None: unknown
    latest : as in :meth:`Offsets.lag`
    partitions : (topics,) int64, how many each topic has
    """
    given = np.full(len(offsets.end), UNKNOWN) if lag is None else lag
    _require_equal(offsets.lag_beside(given, latest, partitions), given, "lag", "the offsets")


def _require_equal(made: Ints, given: Ints, place: str, of: str) -> None:
    if not np.array_equal(made, given):
        at = int(np.argmax(made != given))
        raise BadInput(f"{place}[{at}]: {given[at]}, but {of} make it {made[at]}")
