"""Lists: the columns of a plain snapshot, before they are arrays.

In a plain one every topic that is read or claimed exists, no partition is claimed twice or past
the end of its topic, and whoever claims one reads it: owners are what the members say.
"""

from __future__ import annotations

from itertools import accumulate, chain
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from msgspec import UNSET, UnsetType

from groups.arrays import NO_GENERATION, NOBODY, UNKNOWN
from groups.columns.member_details import MemberDetails
from groups.columns.offsets import reset_noted
from groups.plain.topics import lags_of, logs_of, weights_of
from groups.plain.typed import TypedTopic, Unusual

if TYPE_CHECKING:
    from collections.abc import Sequence

    from groups.plain.topics import Log
    from groups.plain.typed import TypedDocument, TypedMember

T = TypeVar("T")
_NO_DETAILS = MemberDetails()
# Lists take more memory than the arrays of greater groups.
MOST_PLAIN = 2**24
# As many as `_details` looks at.
_NOTHING = (UNSET,) * 7


class Plain(NamedTuple):
    """The columns of a plain snapshot as lists, as :class:`groups.group.Group` has them.

    Attributes
    ----------
    known, generation : (members,), None where all are known, or none is given
    lag, weight : (all partitions,), -1 where unknown; None where nothing is said of any
    logs : (topics,) (beginning, end, committed) of each partition, None where not given; or None
    details : (members,), or None without any
    """

    name: str
    captured_at: str | None
    reset: str | None
    assumed: tuple[str, ...]
    topics: list[str]
    partitions: list[int]
    members: list[str]
    indptr: list[int]
    listed: list[int]
    row: list[int]
    known: list[bool] | None
    owner: list[int]
    generation: list[int] | None
    lag: list[int] | None
    weight: list[int] | None
    logs: list[Log | None] | None
    details: list[MemberDetails] | None


def plain(document: TypedDocument | None) -> Plain | None:
    """Return the columns of a typed document, None where it is not plain, or not typed at all."""
    try:
        return None if document is None else _plain(document)
    except Unusual:
        return None


def _plain(document: TypedDocument) -> Plain:
    topics, members = sorted(document.topics), sorted(document.members)
    described = [document.topics[name] for name in topics]
    said = [document.members[name] for name in members]
    captured_at, reset = document.captured_at or None, document.auto_offset_reset or None
    assumed = tuple(document.assumed or ())
    lag = weight = logs = None
    counts = [topic if isinstance(topic, int) else topic.partitions for topic in described]
    first = list(accumulate(counts, initial=0))
    if first[-1] > MOST_PLAIN:
        raise Unusual
    if not all(isinstance(topic, int) for topic in described):
        full = [TypedTopic(topic) if isinstance(topic, int) else topic for topic in described]
        logs = logs_of(full)
        lag, weight = lags_of(full, logs, reset), weights_of(full)
    if assumed or logs:
        without = sum(log[2].count(UNKNOWN) for log in logs or () if log is not None)
        assumed = reset_noted(assumed, 0 if reset else without)
    index = dict(zip(topics, range(len(topics)), strict=True))
    rows, row, known = _rows(said, index)
    born = [m.generation if type(m.generation) is int else NO_GENERATION for m in said]
    details = [_details(m) for m in said]
    _require_unicode(document.group, captured_at or "", reset or "", *assumed, *topics, *members)
    return Plain(
        document.group,
        captured_at,
        reset,
        assumed,
        topics,
        counts,
        members,
        list(accumulate(map(len, rows), initial=0)),
        list(chain.from_iterable(rows)),
        row,
        known,
        _owner(said, index, first, rows, row),
        born if any(generation != NO_GENERATION for generation in born) else None,
        lag,
        weight,
        logs,
        details if any(one is not _NO_DETAILS for one in details) else None,
    )


def _rows(
    said: Sequence[TypedMember], index: dict[str, int]
) -> tuple[list[tuple[int, ...]], list[int], list[bool] | None]:
    """Return the distinct topic lists, which of them each member reads, and who is known."""
    number: dict[tuple[int, ...], int] = {}
    row: list[int] = []
    before: object = None
    at = 0
    for member in said:
        # Mostly members read what the one before them reads.
        if member.subscription != before or not row:
            before = member.subscription
            try:
                topics = tuple(sorted([index[topic] for topic in before or ()]))
            except KeyError:
                raise Unusual from None
            if len(set(topics)) < len(topics):
                raise Unusual
            at = number.setdefault(topics, len(number))
        row.append(at)
    known = [type(member.subscription) is list for member in said]
    return list(number), row, None if all(known) else known


def _owner(
    said: Sequence[TypedMember],
    index: dict[str, int],
    first: list[int],
    rows: Sequence[tuple[int, ...]],
    row: Sequence[int],
) -> list[int]:
    owner = [NOBODY] * first[-1]
    claims = 0
    everything = [len(listed) == len(index) for listed in rows]
    for m, member in enumerate(said):
        if not member.owned:
            continue
        mine = None
        if member.subscription is not UNSET and member.subscription is not None:
            mine = None if everything[row[m]] else set(rows[row[m]])
        for topic, numbers in member.owned.items():
            t = index.get(topic)
            if t is None or (mine is not None and t not in mine):
                raise Unusual
            start, end = first[t], first[t + 1]
            for number in numbers:
                partition = start + number
                if partition >= end:
                    raise Unusual
                owner[partition] = m
            claims += len(numbers)
    if claims != len(owner) - owner.count(NOBODY):
        raise Unusual
    return owner


def _details(member: TypedMember) -> MemberDetails:
    values = (
        member.instance_id,
        member.client_id,
        member.host,
        member.assignors,
        member.capacity,
        member.epoch,
        member.subscription_regex,
    )
    if values == _NOTHING:
        return _NO_DETAILS
    assignors = _told(member.assignors)
    details = MemberDetails(
        instance_id=_told(member.instance_id),
        client_id=_told(member.client_id),
        host=_told(member.host),
        assignors=None if assignors is None else tuple(assignors),
        capacity=_told(member.capacity),
        epoch=_told(member.epoch),
        subscription_regex=_told(member.subscription_regex),
    )
    if assignors is not None and len(set(assignors)) < len(assignors):
        raise Unusual
    texts = (details.instance_id, details.client_id, details.host, details.subscription_regex)
    _require_unicode(*(text or "" for text in texts), *(assignors or ()))
    return details


def _told(value: T | UnsetType | None) -> T | None:
    return None if isinstance(value, UnsetType) else value


def _require_unicode(*texts: str) -> None:
    try:
        "".join(texts).encode()
    except UnicodeEncodeError:
        raise Unusual from None
