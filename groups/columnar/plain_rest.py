"""Plain rests: those that say only of logs and of details, checked without a group."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from msgspec import UNSET, MsgspecError, Struct, UnsetType, structs
from msgspec.json import Decoder, Encoder

from groups.arrays import UNKNOWN
from groups.columns.member_details import MemberDetails
from groups.documents.assay_group import Generation, Log, Name, Rate, Topic
from groups.documents.topics import offsets_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from groups.arrays import Int64
    from groups.columns.offsets import Offsets


class _Topic(Struct, forbid_unknown_fields=True):
    offsets: list[Log]


class _Member(Struct, forbid_unknown_fields=True):
    instance_id: Name | UnsetType = UNSET
    client_id: Name | UnsetType = UNSET
    host: Name | UnsetType = UNSET
    assignors: list[Name] | UnsetType = UNSET
    capacity: Rate | UnsetType = UNSET
    epoch: Generation | UnsetType = UNSET
    subscription_regex: Name | UnsetType = UNSET


class _Rest(Struct, forbid_unknown_fields=True):
    members: dict[Name, _Member] | UnsetType = UNSET
    topics: dict[Name, _Topic] | UnsetType = UNSET


_NOTHING = _Member()
_NO_DETAILS = MemberDetails()
_DECODER = Decoder(_Rest)
_ENCODER = Encoder(order="sorted")


def is_plain(
    text: str,
    topics: Sequence[str],
    partitions: Sequence[int],
    members: Sequence[str],
    lag: Int64 | None,
    reset: str | None,
) -> bool:
    """Return whether a rest is good beside these columns, written as `assay` does, and plain.

    Where it is not, it may be good or bad.
    """
    try:
        rest = _DECODER.decode(text)
        # Written again it would be another text if a key were there twice.
        if _ENCODER.encode(rest) != text.encode():
            return False
    except (MsgspecError, UnicodeError, RecursionError):
        return False
    if rest.members is UNSET and rest.topics is UNSET:
        return False
    said = {} if isinstance(rest.members, UnsetType) else rest.members
    if not said.keys() <= set(members) or not all(map(_is_written, said.values())):
        return False
    logs = {} if isinstance(rest.topics, UnsetType) else rest.topics
    if not logs.keys() <= set(topics):
        return False
    if any(
        UNSET in (log.beginning, log.end, log.committed)
        for one in logs.values()
        for log in one.offsets
    ):
        return False
    return _is_followed(_topics(logs, topics, partitions), lag, reset)


def _topics(
    logs: Mapping[str, _Topic], topics: Sequence[str], partitions: Sequence[int]
) -> list[Topic]:
    return [
        Topic(count, offsets=logs[name].offsets) if name in logs else Topic(count)
        for name, count in zip(topics, partitions, strict=True)
    ]


def said_in(
    text: str, topics: Sequence[str], partitions: Int64, members: Sequence[str]
) -> tuple[Offsets | None, tuple[MemberDetails, ...]]:
    """Return the offsets and the details of a rest that is plain."""
    rest = _DECODER.decode(text)
    said = {} if isinstance(rest.members, UnsetType) else rest.members
    given = {} if isinstance(rest.topics, UnsetType) else rest.topics
    details = tuple(_details(said[name]) if name in said else _NO_DETAILS for name in members)
    return offsets_of(_topics(given, topics, partitions.tolist())), details


def _details(member: _Member) -> MemberDetails:
    known = {key: value for key, value in structs.asdict(member).items() if value is not UNSET}
    if "assignors" in known:
        known["assignors"] = tuple(known["assignors"])
    return MemberDetails(**known)


def _is_written(member: _Member) -> bool:
    """Return whether a row of ours would have this of a member."""
    assignors = () if isinstance(member.assignors, UnsetType) else member.assignors
    return member != _NOTHING and len(set(assignors)) == len(assignors)


def _is_followed(topics: Sequence[Topic], lag: Int64 | None, reset: str | None) -> bool:
    """Return whether the lag follows from the offsets of topics, all of which are there."""
    if any(t.offsets is not UNSET and len(t.offsets) != t.partitions for t in topics):
        return False
    offsets = offsets_of(topics)
    if offsets is None:
        return True
    given = np.repeat(offsets.given, [topic.partitions for topic in topics])
    known = np.full(len(given), UNKNOWN) if lag is None else lag
    return np.array_equal(known[given], offsets.lag(reset)[given])
