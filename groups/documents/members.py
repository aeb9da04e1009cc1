"""What a snapshot says of its members: subscriptions, what they own, and details."""

from __future__ import annotations

from itertools import chain, pairwise
from typing import TYPE_CHECKING

import numpy as np
from msgspec import UNSET

from groups.arrays import NOBODY, frozen
from groups.columns.claims import Claims
from groups.columns.member_details import MemberDetails
from groups.documents.assay_group import told, without_repeats
from groups.documents.fields import refuse

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from groups.arrays import Int32
    from groups.documents.assay_group import Member, Partitions

NO_DETAILS = MemberDetails()
_NOTHING = (UNSET,) * 8
# Lists take more memory than the arrays of greater groups.
MOST_LISTED = 2**24


def details_of(member: Member, place: str) -> MemberDetails:
    """Return what a document says of a member that is no column of a group.

    Raises
    ------
    BadInput
        Where an assignor, or a partition of the target, is named twice.
    """
    texts = member.instance_id, member.client_id, member.host, member.subscription_regex
    others = member.assignors, member.capacity, member.epoch, member.target
    if (*texts, *others) == _NOTHING:
        return NO_DETAILS
    assignors, target = told(member.assignors), told(member.target)
    instance_id, client_id, host, regex = map(told, texts)
    return MemberDetails(
        instance_id=instance_id,
        client_id=client_id,
        host=host,
        assignors=None
        if assignors is None
        else tuple(without_repeats(assignors, f"{place}.assignors")),
        capacity=told(member.capacity),
        epoch=told(member.epoch),
        target=None
        if target is None
        else {t: tuple(_ascending(n, f"{place}.target.{t}")) for t, n in target.items()},
        subscription_regex=regex,
    )


def index_of(
    topics: Sequence[str],
    listed: Sequence[Sequence[str] | None],
    owned: Sequence[Partitions],
) -> tuple[dict[str, int], tuple[str, ...]]:
    """Return the index of each topic, then of those that only members name; and these, sorted."""
    mentioned: set[str] = set().union(*filter(None, listed), *owned)
    absent = tuple(sorted(mentioned.difference(topics)))
    return dict(zip((*topics, *absent), range(len(topics) + len(absent)), strict=True)), absent


def rows_of(
    listed: Sequence[Sequence[str] | None], index: Mapping[str, int], members: Sequence[str]
) -> tuple[list[tuple[int, ...]], list[int]]:
    """Return the distinct topic lists, ascending by the index of topics, and which each reads.

    Raises
    ------
    BadInput
        Where a list names a topic twice.
    """
    number: dict[tuple[int, ...], int] = {}
    row: list[int] = []
    before: object = None
    for member, topics in zip(members, listed, strict=True):
        # Mostly members read what the one before them reads.
        if topics != before or not row:
            before = topics
            found = without_repeats(topics or (), f"members.{member}.subscription")
            at = number.setdefault(tuple(sorted([index[topic] for topic in found])), len(number))
        row.append(at)
    return list(number), row


def undoubted_owner(
    owned: Sequence[Partitions],
    index: Mapping[str, int],
    first: Sequence[int],
    rows: Sequence[Sequence[int]],
    row: Sequence[int],
) -> Int32 | None:
    """(all partitions,) int32: who says that it owns each, -1 where nobody; None in doubt.

    In doubt are claims on what does not exist or is not read, and two on one partition: they take
    :class:`Claims`, which takes 70 microseconds more of a group of 10 members and 60 partitions.

    Parameters
    ----------
    first : (topics + 1,) number of each topic's first partition, then the total
    rows, row : the distinct topic lists, and which each member reads
    """
    if first[-1] > MOST_LISTED:
        return None
    owner = [NOBODY] * first[-1]
    claims = 0
    topics = range(len(first) - 1)
    everything = len(topics)
    for member, held in enumerate(owned):
        read = rows[row[member]]
        mine = topics if len(read) == everything else set(read)
        for topic, numbers in held.items():
            at = index[topic]
            if at not in mine:
                return None
            start, end = first[at], first[at + 1]
            for number in numbers:
                partition = start + number
                if partition >= end:
                    return None
                owner[partition] = member
            claims += len(numbers)
    if claims != len(owner) - owner.count(NOBODY):
        return None
    return frozen(np.array(owner, np.int32))


def claims_of(
    owned: Sequence[Partitions], index: Mapping[str, int], members: Sequence[str]
) -> Claims:
    """Return the claims of the members, by the index of each topic, absent ones included.

    Raises
    ------
    BadInput
        Where a member names a partition twice.
    """
    said = [(m, topic, n) for m, held in enumerate(owned) for topic, n in held.items()]
    lengths = [len(numbers) for _, _, numbers in said]
    who = np.array([m for m, _, _ in said], np.int32).repeat(lengths)
    what = np.array([index[topic] for _, topic, _ in said], np.int32).repeat(lengths)
    partition = np.array(list(chain.from_iterable(n for _, _, n in said)), np.int64)
    order = np.lexsort((partition, what, who))
    who, what, partition = who[order], what[order], partition[order]
    again = (who[1:] == who[:-1]) & (what[1:] == what[:-1]) & (partition[1:] == partition[:-1])
    if again.any():
        at = int(np.argmax(again))
        topic = next(t for t, i in index.items() if i == what[at])
        place = f"members.{members[who[at]]}.owned.{topic}"
        refuse(place, f"partition {partition[at]} appears twice")
    return Claims.ascending(frozen(who), frozen(what), frozen(partition))


def _ascending(numbers: Sequence[int], place: str) -> list[int]:
    found = sorted(numbers)
    if len(set(found)) < len(found):
        twice = next(n for n, after in pairwise(found) if n == after)
        refuse(place, f"partition {twice} appears twice")
    return found
