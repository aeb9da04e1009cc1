"""Plain rests: those that say only of logs and of details, checked without a group."""

from __future__ import annotations

from itertools import accumulate
from typing import TYPE_CHECKING

import numpy as np
from msgspec import UNSET, MsgspecError, Struct, UnsetType, structs
from msgspec.json import Decoder, Encoder

from groups.arrays import UNKNOWN
from groups.columns.member_details import MemberDetails
from groups.columns.offsets import Offsets
from groups.documents.assay_group import Generation, Log, Name, Rate, Topic
from groups.documents.topics import lag_of, offsets_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from groups.arrays import Int64


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
    """Say whether a rest is good beside these columns, written as `assay` does, and plain.

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
    first = [0, *accumulate(partitions)]
    return all(
        _is_followed(logs[name].offsets, first[t], partitions[t], lag, reset)
        for t, name in enumerate(topics)
        if name in logs
    )


def said_in(
    text: str, topics: Sequence[str], partitions: Int64, members: Sequence[str]
) -> tuple[Offsets | None, tuple[MemberDetails, ...]]:
    """Return the offsets and the details of a rest that is plain."""
    rest = _DECODER.decode(text)
    said = {} if isinstance(rest.members, UnsetType) else rest.members
    given = {} if isinstance(rest.topics, UnsetType) else rest.topics
    details = tuple(_details(said[name]) if name in said else _NO_DETAILS for name in members)
    if not given:
        return None, details
    columns = np.full((3, int(partitions.sum())), UNKNOWN)
    ends = np.cumsum(partitions)
    for name, until in zip(topics, ends.tolist(), strict=True):
        if name in given:
            logs = [(one.beginning, one.end, one.committed) for one in given[name].offsets]
            for number, log in enumerate(logs, start=until - len(logs)):
                columns[:, number] = [UNKNOWN if value is None else value for value in log]
    beginning, end, committed = columns
    is_given = np.array([name in given for name in topics], bool)
    return Offsets(beginning, end, committed, is_given), details


def _details(member: _Member) -> MemberDetails:
    known = {key: value for key, value in structs.asdict(member).items() if value is not UNSET}
    if "assignors" in known:
        known["assignors"] = tuple(known["assignors"])
    return MemberDetails(**known)


def _is_written(member: _Member) -> bool:
    """Say whether a row of ours would have this of a member."""
    assignors = () if isinstance(member.assignors, UnsetType) else member.assignors
    return member != _NOTHING and len(set(assignors)) == len(assignors)


def _is_followed(
    offsets: list[Log], first: int, count: int, lag: Int64 | None, reset: str | None
) -> bool:
    """Say whether the lag is what follows from the offsets of a topic, all of which are there."""
    if any(UNSET in (one.beginning, one.end, one.committed) for one in offsets):
        return False
    if len(offsets) != count:
        return False
    topic = [Topic(count, offsets=offsets)]
    found = lag_of(topic, offsets_of(topic), reset)
    given = np.full(count, UNKNOWN) if lag is None else lag[first : first + count]
    return found is not None and np.array_equal(given, found)
