"""Columns: the columns of a group, and the check of every rule that they obey."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from groups.arrays import NO_GENERATION, NOBODY, UNKNOWN, check_total, column, names
from groups.columns.claims import BY_CLAIMS
from groups.columns.offsets import require_reset
from groups.columns.subscriptions import Subscriptions
from groups.errors import BadInput
from groups.times import in_utc
from groups.wording import counted

if TYPE_CHECKING:
    from groups.arrays import Bools, Int32, Int64
    from groups.columns.claims import Claims
    from groups.columns.offsets import Offsets
    from groups.columns.places import MemberDetails
    from groups.columns.racks import Racks
    from groups.documents.assay_streams import StreamsDocument


@dataclass(frozen=True, eq=False)
class Columns:
    """The columns of a group; `groups.group.Group` describes each."""

    name: str
    topics: tuple[str, ...]
    partitions: Int64
    members: tuple[str, ...]
    subscription_indptr: Int64
    subscription_topics: Int32
    subscription_row: Int32
    subscription_known: Bools
    owner: Int32
    generation: Int64
    lag_records: Int64 | None = None
    weight: Int64 | None = None
    racks: Racks | None = None
    copies: Racks | None = None
    offsets: Offsets | None = None
    raw_claims: Claims | None = None
    absent_topics: tuple[str, ...] = ()
    absent_subscriptions: tuple[tuple[int, int], ...] = ()
    details: tuple[MemberDetails, ...] = ()
    assumed: tuple[str, ...] = ()
    captured_at: str | None = None
    auto_offset_reset: str | None = None
    streams: StreamsDocument | None = None


def valid(given: Columns) -> dict[str, object]:
    """Check the columns of a group and return them as immutable arrays of their types.

    Writable arrays are copied, and owners that are `BY_CLAIMS` are derived from the claims. The
    result includes `subscriptions`, which the check builds.

    Raises
    ------
    BadInput
        If a rule is broken; the message names the place.
    """
    names([given.name], "group")
    require_reset(given.auto_offset_reset)
    kept: dict[str, object] = {
        "captured_at": in_utc(given.captured_at),
        "topics": names(given.topics, "topics"),
        "members": names(given.members, "members"),
        "absent_topics": names(given.absent_topics, "absent_topics"),
    }
    members, topics = len(given.members), len(given.topics)
    counts = column(given.partitions, "partitions", np.int64, length=topics)
    every = check_total(counts.tolist())
    row = given.subscription_row
    if np.size(row) != members:
        found = counted(int(np.size(row)), "value")
        raise BadInput(f"subscription_row: {found}, expected {members}")
    subscriptions = Subscriptions(
        given.subscription_indptr, given.subscription_topics, row, given.subscription_known, topics
    )
    born = column(given.generation, "generation", np.int64, length=members, least=NO_GENERATION)
    _require_lengths(given, every)
    _require_absent_topics(given, subscriptions)
    claims, owner = given.raw_claims, given.owner
    if claims is not None and owner is BY_CLAIMS:
        owner = claims.valid_owner(born, counts, subscriptions)
    else:
        who = (members, "members")
        owner = column(owner, "owner", np.int32, length=every, least=NOBODY, below=who)
        _require_readers(given, subscriptions, owner, counts)
    kept |= {
        "partitions": counts,
        "subscriptions": subscriptions,
        "subscription_indptr": subscriptions.indptr,
        "subscription_topics": subscriptions.listed,
        "subscription_row": subscriptions.row,
        "subscription_known": subscriptions.known,
        "owner": owner,
        "generation": born,
        "absent_subscriptions": tuple(map(tuple, given.absent_subscriptions)),
        "details": tuple(given.details),
        "assumed": tuple(given.assumed),
    }
    for name, values in (("lag_records", given.lag_records), ("weight", given.weight)):
        if values is not None:
            place = name.removesuffix("_records")
            kept[name] = column(values, place, np.int64, length=every, least=UNKNOWN)
    return kept


def _require_lengths(given: Columns, every: int) -> None:
    members, offsets = len(given.members), given.offsets
    lengths = {"details": (len(given.details) or members, members)}
    for name, racks in (("racks", given.racks), ("copies", given.copies)):
        if racks is not None:
            lengths[f"{name}.member"] = len(racks.member), members
            lengths[f"{name}.replicas"] = len(racks.replicas), every
    if offsets is not None:
        lengths["offsets"] = len(offsets.end), every
        lengths["offsets.given"] = len(offsets.given), len(given.topics)
    for place, (found, expected) in lengths.items():
        if found != expected:
            raise BadInput(f"{place}: {counted(found, 'value')}, expected {expected}")


def _require_absent_topics(given: Columns, subscriptions: Subscriptions) -> None:
    """Raise BadInput if absent topics or claims name members or topics that do not exist."""
    members, topics, absent = len(given.members), given.topics, given.absent_topics
    if absent and not set(absent).isdisjoint(topics):
        raise BadInput("absent_topics: one of them is among the topics")
    for at, (member, topic) in enumerate(given.absent_subscriptions):
        if not (0 <= member < members and 0 <= topic < len(absent)):
            raise BadInput(f"absent_subscriptions[{at}]: no such member, or no such topic")
        if not subscriptions.known[member]:
            raise BadInput(f"absent_subscriptions[{at}]: of a member whose others are unknown")
    claims = given.raw_claims
    if claims is not None and len(claims.member):
        # Claims ascend by member: the last is the greatest.
        greatest, topic = int(claims.member[-1]), int(claims.topic.max())
        if greatest >= members:
            raise BadInput(f"claims.member: {greatest}, but there are {members} members")
        if topic >= len(topics) + len(absent):
            named = len(topics) + len(absent)
            raise BadInput(f"claims.topic: {topic}, but {named} topics are named")


def _require_readers(
    given: Columns, subscriptions: Subscriptions, owner: Int32, partitions: Int64
) -> None:
    """Raise BadInput if an owner does not read the topic."""
    if subscriptions.hold_all(partitions) or not (owner >= 0).any():
        return
    topic = np.repeat(np.arange(len(partitions), dtype=np.int32), partitions)
    reads = subscriptions.include(owner, topic) | (owner < 0)
    if not reads.all():
        at = int(np.argmin(reads))
        member, name = given.members[owner[at]], given.topics[topic[at]]
        raise BadInput(f"owner[{at}]: {member} owns a partition of {name} but does not subscribe")
