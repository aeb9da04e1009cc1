"""Changed: a group as it is after one change, with what its members hold now."""

from __future__ import annotations

from dataclasses import replace
from math import gcd
from typing import TYPE_CHECKING

import numpy as np

from compare.sizes.resized import resized
from groups.arrays import NO_GENERATION, NOBODY
from groups.columns.claims import BY_CLAIMS
from groups.unknown import with_reads

if TYPE_CHECKING:
    from groups.group import Group


def with_members(group: Group, members: int, like: str | None = None) -> Group:
    """Return the group after some have joined, or after those that hold least have left.

    Parameters
    ----------
    members : how many there are then, 1 or more
    like : new ones read what this one reads; None: every topic that somebody reads
    """
    there = len(group.members)
    if members <= there:
        return group.only(np.sort(np.argsort(-group.owned, kind="stable")[:members]))
    generation = np.append(group.generation, np.full(members - there, NO_GENERATION))
    return replace(
        resized(group, members, like),
        owner=group.owner if group.raw_claims is None else BY_CLAIMS,
        generation=generation,
        raw_claims=group.raw_claims,
        absent_subscriptions=group.absent_subscriptions,
    )


def with_partitions(group: Group, topic: int, count: int) -> tuple[Group, int]:
    """Return the group whose topic has so many partitions, and how many parts one of today has.

    The weight of a partition is what it has of the records, if those of each topic are spread
    evenly over its partitions: that of a partition of today is the second value.
    """
    was = int(group.partitions[topic])
    counts = group.partitions.copy()
    counts[topic] = count
    at = int(group.first[topic + 1])
    common = gcd(was, count)
    weight = np.full(group.n_partitions + count - was, count // common, np.int64)
    weight[at - was : at + count - was] = was // common
    grown = replace(
        group,
        partitions=counts,
        owner=np.insert(group.owner, at, np.full(count - was, NOBODY, np.int32)),
        lag_records=None,
        weight=weight,
        racks=None,
        offsets=None,
        raw_claims=None,
    )
    return grown, count // common


def with_reader(group: Group, member: int, topic: int) -> Group:
    """Return the group in which a member reads a topic besides."""
    row = np.union1d(group.subscription(member), [topic]).astype(np.int64)
    return with_reads(group, [row], np.array([member]), np.zeros(1, np.int64))
