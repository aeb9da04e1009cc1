"""Ordinary groups: members join a balanced group, or all members are new."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING

import numpy as np

from compare.samples.drawn import drawn
from compare.samples.families import placed
from compare.samples.kinds import place_in_racks
from groups import Assignment, Group

if TYPE_CHECKING:
    from collections.abc import Iterator

    from groups.arrays import Bools

BATCH = 200


def is_ordinary(group: Group) -> bool:
    """Return whether the group was balanced before its new members joined.

    Everybody reads something, and each topic has a partition. Either nobody owns anything; or the
    members that own something own everything that they read, without rival claims, in one
    generation, and balanced as KIP-54 defines it. The others are new.
    """
    if (group.reads == 0).any() or (group.partitions == 0).any():
        return False
    if not len(group.claims.member):
        return True
    current = Assignment.current(group)
    settled = np.asarray(current.loads > 0)
    if current.strays or (current.owner != group.owner).any():
        return False
    if len(set(group.generation[settled].tolist())) > 1:
        return False
    before = group.only(np.flatnonzero(settled))
    held = Assignment.current(before)
    return held.is_valid and held.balanced()


def ordinary(seed: int) -> Iterator[Group]:
    """Yield random ordinary groups without end: up to 8 members, 6 topics, 36 partitions.

    Subscriptions are those of :func:`compare.samples.drawn.drawn`. One or two members are new; the
    others own an assignment that is optimal for them, in generation 1. In one group out of eight
    nobody owns anything.
    """
    rng = np.random.default_rng(seed)
    groups = drawn(seed)
    while True:
        batch = list(islice(groups, BATCH))
        settled = []
        for group in batch:
            size = len(group.members)
            stays = np.ones(size, bool)
            stays[rng.permutation(size)[: int(rng.integers(1, 3))]] = False
            settled.append(stays if rng.random() > 1 / 8 else np.zeros(size, bool))
        before = [
            group.only(np.flatnonzero(stays)).with_claims([], [])
            for group, stays in zip(batch, settled, strict=True)
        ]
        for group, stays, part, owner in zip(batch, settled, before, placed(before), strict=True):
            yield _with_owned(group, stays, Assignment(part, owner))


def ordinary_in_racks(seed: int) -> Iterator[Group]:
    """Yield the groups of :func:`ordinary`, with racks.

    Most members have one of three racks, and each partition has replicas in one or two of them.
    """
    rng = np.random.default_rng(seed)
    for group in ordinary(seed):
        document = group.to_dict()
        place_in_racks(rng, document)
        yield Group.from_dict(document)


def _with_owned(group: Group, settled: Bools, held: Assignment) -> Group:
    """Return the group in which the settled members own an assignment, in generation 1."""
    document = group.to_dict()
    owned = held.to_dict()
    for name, stays in zip(group.members, settled.tolist(), strict=True):
        said = document["members"][name]
        said["owned"] = owned.get(name, {})
        said.pop("generation", None)
        if stays:
            said["generation"] = 1
    return Group.from_dict(document)
