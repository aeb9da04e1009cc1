"""What if: a group after a change of members, subscriptions or partitions."""

from __future__ import annotations

from dataclasses import replace
from itertools import count as numbers
from itertools import islice
from typing import TYPE_CHECKING

import numpy as np

from compare.lag.behind import rates_of
from compare.members import member_meant
from groups.arguments import require_whole
from groups.arrays import NO_GENERATION, NOBODY, Int32, check_total
from groups.columns.claims import BY_CLAIMS
from groups.columns.places import MemberDetails
from groups.columns.subscriptions import in_use
from groups.errors import BadInput
from groups.wording import counted, nearest_or_some

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from groups.group import Group
    from optimal.time_left import TimeLeft

# Seconds that each of several changes gets: later than that a proof rarely comes.
TURN = 1.0
EVERY_TOPIC = "New members read every topic that somebody reads"


def what_if(
    group: Group,
    *,
    members: int | None = None,
    like: str | None = None,
    reads: Mapping[str, Sequence[str]] | None = None,
    partitions: Mapping[str, int] | None = None,
) -> Group:
    """Return the group as it would be with other members, subscriptions or partitions.

    Members keep the partitions that they hold; `judge`, `solve` or `score` the result to see the
    effect.

    Parameters
    ----------
    members : how many members there are then, 1 or more. New members hold nothing and have no
        rack. Those that hold least leave, which is allowed only if all members are alike
    like : a member whose topics and rate new members have; None: they read every topic that has a
        reader (all, if there are no members), at the members' rate if that is one and the same
    reads : topics that members read in addition: ``{"c1": ["t2"]}``
    partitions : how many partitions topics have then: ``{"t0": 12}``. New partitions are empty,
        and repeat the racks of the old ones in order

    Raises
    ------
    BadInput
        If a member or topic does not exist, a topic has more partitions already, or members that
        differ would have to leave.

    Examples
    --------
    >>> from assay import Group, solve, what_if
    >>> document = {"format": "assay-group/1", "group": "orders", "topics": {"t0": 6, "t1": 2}}
    >>> document["members"] = {
    ...     "c0": {"subscription": ["t0"], "owned": {"t0": [0, 1, 2, 3, 4, 5]}},
    ...     "c1": {"subscription": ["t1"], "owned": {"t1": [0, 1]}},
    ... }
    >>> group = Group.from_dict(document)
    >>> def loads(group):
    ...     return solve(group).assignment.loads.tolist()
    >>> loads(group), loads(what_if(group, members=3)), loads(what_if(group, reads={"c1": ["t0"]}))
    ([6, 2], [3, 2, 3], [4, 4])
    >>> loads(what_if(group, partitions={"t1": 5}))
    [6, 5]
    """
    for topic, count in (partitions or {}).items():
        group = _with_partitions(group, _topic_named(group, topic, "partitions"), count)
    for member, topics in (reads or {}).items():
        m = member_meant(group, member, "reads")
        more = [_topic_named(group, topic, f"reads.{member}") for topic in topics]
        row = np.union1d(group.subscription(m), more).astype(np.int64)
        group = group.with_reads([row], np.array([m]))
    return group if members is None else _with_members(group, members, like)


def unassigned(group: Group) -> Group:
    """Return the group without any owner, claim or rack."""
    return replace(
        group,
        owner=np.full(group.n_partitions, NOBODY, np.int32),
        generation=np.full(len(group.members), NO_GENERATION, np.int64),
        racks=None,
        raw_claims=None,
        absent_subscriptions=(),
    )


def all_alike(group: Group) -> bool:
    """Return whether all members read the same topics, and at the same rate or all at unknown."""
    rows = np.unique(group.subscription_row).tolist()
    starts, listed = group.subscription_indptr, group.subscription_topics
    lists = {tuple(listed[starts[row] : starts[row + 1]].tolist()) for row in rows}
    return len(lists) <= 1 and len(set(rates_of(group))) <= 1


def reading(group: Group, like: str | None = None) -> str:
    """Return the sentence on what new members are assumed to read."""
    if like is not None:
        return f"New members read what {like} reads."
    topics = counted(len(_topics_read(group)), "topic")
    if not group.members:
        return f"Members are taken to read all that there is: {topics}."
    if all_alike(group):
        return f"New members read what the others read: {topics}."
    return f"{EVERY_TOPIC}: {topics}."


def _with_members(group: Group, members: int, like: str | None) -> Group:
    present = len(group.members)
    require_whole("members", members, least=1)
    if members < present and not all_alike(group):
        raise BadInput(
            f"members: {members}, but which of the {present} would leave matters, since they do "
            f"not read the same topics at the same rate; expected {present} or more"
        )
    model = None if like is None else member_meant(group, like, "like")
    if members <= present:
        return group.only(np.sort(np.argsort(-group.owned, kind="stable")[:members]))
    new = members - present
    read = group.subscription(model) if model is not None else _topics_read(group)
    indptr = np.append(group.subscription_indptr, group.subscription_indptr[-1] + len(read))
    indptr, listed, row = in_use(
        indptr,
        np.concatenate((group.subscription_topics, read)).astype(np.int32),
        np.append(group.subscription_row, np.full(new, len(indptr) - 2)).astype(np.int32),
    )
    rates, racks = rates_of(group), group.racks
    rate = rates[model] if model is not None else rates[0] if len(set(rates)) == 1 else None
    if racks is not None:
        racks = replace(racks, member=np.append(racks.member, np.full(new, NOBODY, np.int32)))
    details = group.details or (MemberDetails(),) * present
    return replace(
        group,
        members=(*group.members, *new_names(group, new)),
        subscription_indptr=indptr,
        subscription_topics=listed,
        subscription_row=row,
        subscription_known=np.append(group.subscription_known, np.ones(new, bool)),
        owner=group.owner if group.raw_claims is None else BY_CLAIMS,
        generation=np.append(group.generation, np.full(new, NO_GENERATION)),
        racks=racks,
        copies=None,
        details=(*details, *(MemberDetails(capacity=rate),) * new),
    )


def _with_partitions(group: Group, topic: int, count: int) -> Group:
    place = f"partitions.{group.topics[topic]}"
    count = require_whole(place, count)
    new, at = count - int(group.partitions[topic]), int(group.first[topic + 1])
    if new < 0:
        raise BadInput(f"{place}: {count}, but it has {count - new} already")
    check_total([group.n_partitions, new])
    lag, weight, racks, counts = group.lag_records, group.weight, group.racks, group.partitions
    counts = np.where(np.arange(len(counts)) == topic, count, counts)
    if racks is not None:
        old_sets = racks.replicas[group.first[topic] : at]
        sets = np.resize(old_sets if len(old_sets) else np.full(1, NOBODY), new)
        racks = replace(racks, replicas=np.insert(racks.replicas, at, sets))
    return replace(
        group,
        partitions=counts,
        owner=np.insert(group.owner, at, np.full(new, NOBODY, np.int32)),
        lag_records=None if lag is None else np.insert(lag, at, np.zeros(new, np.int64)),
        weight=None if weight is None else np.insert(weight, at, np.zeros(new, np.int64)),
        racks=racks,
        copies=None,
        offsets=None,
        raw_claims=None,
    )


def _topics_read(group: Group) -> Int32:
    """(topics that have a reader,) int32, ascending; all topics if there are no members."""
    wanted = group.readers > 0 if group.members else np.ones(len(group.topics), bool)
    return np.flatnonzero(wanted).astype(np.int32)


def _topic_named(group: Group, name: str, place: str) -> int:
    if name not in group.topics:
        raise BadInput(f"{place}: no topic {name!r}{nearest_or_some(name, group.topics)}")
    return group.topics.index(name)


def new_names(group: Group, count: int) -> tuple[str, ...]:
    """Return names for `count` new members: ``new-1`` and so on, except names in use."""
    every, taken = (f"new-{number}" for number in numbers(1)), set(group.members)
    return tuple(islice((name for name in every if name not in taken), count))


def turn_seconds(time_left: TimeLeft, parts: int = 2) -> float | None:
    """Return the seconds that one change gets: at most one of `parts` parts of the time left."""
    share = time_left.share(parts)
    return None if share is None else max(0.01, min(TURN, share))


def fewest(low: int, high: int, will_do: Callable[[int], bool], time_left: TimeLeft) -> int:
    """Return the least number above `low` that will do, by bisection; `high` is known to do.

    If a number will do, so must all greater ones. If the time is up, it is the least one found.
    """
    while high - low > 1 and not time_left.is_up:
        middle = (low + high) // 2
        low, high = (low, middle) if will_do(middle) else (middle, high)
    return high
