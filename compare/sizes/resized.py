"""Resized: a group as it would be with another number of members, who hold nothing yet."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from compare.lag.behind import rates_of
from compare.members import members_named
from groups.arrays import NO_GENERATION, NOBODY
from groups.columns.member_details import MemberDetails
from groups.columns.subscriptions import in_use
from groups.errors import BadInput
from groups.wording import counted
from heuristics.nearest import nearest

if TYPE_CHECKING:
    from groups.arrays import Int32
    from groups.group import Group


def resized(group: Group, members: int, like: str | None = None) -> Group:
    """Return the group with so many members, of whom nobody holds anything.

    Those that are there come first, in their order. New ones read what the member `like` reads,
    else every topic that somebody reads; of a group without members, all topics. They read at the
    rate of `like`, else at that of the others where it is the same for all.

    Parameters
    ----------
    members : 1 or more; fewer than there are only where they are all alike

    Raises
    ------
    BadInput
        Where no member has that name, or members that differ would have to leave.
    """
    there = len(group.members)
    if members < there and not all_alike(group):
        raise BadInput(
            f"members: {members}, but which of the {there} would leave matters, since they do not "
            f"read the same topics at the same rate; expected {there} or more"
        )
    model = None if like is None else _member_named(group, like)
    kept, new = min(members, there), max(0, members - there)
    indptr = np.append(group.subscription_indptr, 0)
    read = group.subscription(model) if model is not None else topics_read(group)
    indptr[-1] = indptr[-2] + len(read)
    listed = np.concatenate((group.subscription_topics, read)).astype(np.int32)
    row = np.append(group.subscription_row[:kept], np.full(new, len(indptr) - 2)).astype(np.int32)
    indptr, listed, row = in_use(indptr, listed, row)
    details = (group.details or (MemberDetails(),) * there)[:kept]
    added = MemberDetails(capacity=_rate_of_new(group, model))
    return replace(
        group,
        members=(*group.members[:kept], *_new_names(group, new)),
        subscription_indptr=indptr,
        subscription_topics=listed,
        subscription_row=row,
        subscription_known=np.ones(members, bool),
        owner=np.full(group.n_partitions, NOBODY, np.int32),
        generation=np.full(members, NO_GENERATION, np.int64),
        racks=None,
        raw_claims=None,
        absent_subscriptions=(),
        details=(*details, *(added,) * new),
    )


def all_alike(group: Group) -> bool:
    """Return whether all members read the same topics, at the same rate where it is known."""
    rows = np.unique(group.subscription_row).tolist()
    starts, listed = group.subscription_indptr, group.subscription_topics
    lists = {tuple(listed[starts[row] : starts[row + 1]].tolist()) for row in rows}
    return len(lists) <= 1 and len(set(rates_of(group))) <= 1


def topics_read(group: Group) -> Int32:
    """(topics that somebody reads,) int32, ascending; all of a group without members."""
    wanted = group.readers > 0 if group.members else np.ones(len(group.topics), bool)
    return np.flatnonzero(wanted).astype(np.int32)


def reading(group: Group, like: str | None = None) -> str:
    """Return what new members are taken to read."""
    if like is not None:
        return f"New members read what {like} reads."
    topics = counted(len(topics_read(group)), "topic")
    if not group.members:
        return f"Members are taken to read all that there is: {topics}."
    if all_alike(group):
        return f"New members read what the others read: {topics}."
    return (
        f"New members read every topic that somebody reads: {topics}. "
        "Say which member they are like to change that."
    )


def _member_named(group: Group, name: str) -> int:
    meant = members_named(group, name)
    if not meant:
        raise BadInput(f"like: no member {name!r}; nearest: {nearest(name, group.members)}")
    if len(meant) > 1:
        raise BadInput(f"like: {len(meant):,} members have client id {name!r}; name one of them")
    return meant[0]


def _rate_of_new(group: Group, model: int | None) -> int | None:
    rates = rates_of(group)
    if model is not None:
        return rates[model]
    return rates[0] if len(set(rates)) == 1 else None


def _new_names(group: Group, count: int) -> tuple[str, ...]:
    names: list[str] = []
    taken, number = set(group.members), 0
    while len(names) < count:
        number += 1
        if f"new-{number}" not in taken:
            names.append(f"new-{number}")
    return tuple(names)
