"""Holdings: what each member of a mixed group holds, and what one round gives it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import chain
from typing import TYPE_CHECKING

import numpy as np

from groups import BadInput, Group
from groups.columns.member_details import MemberDetails
from heuristics import WRITTEN
from heuristics.protocol import AS_WRITTEN, Choice, Protocol
from heuristics.written import kip54

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from heuristics import Plan

Partitions = frozenset[int]
NONE: Partitions = frozenset()


@dataclass
class Holder:
    """A member as it sees itself."""

    assignors: tuple[str, ...]
    protocol: Protocol
    holds: Partitions = NONE
    remembers: Partitions = NONE
    may_commit: bool = True
    away: bool = False
    fenced: bool = False


def give_out(
    group: Group, choice: Choice, present: Mapping[str, Holder]
) -> tuple[dict[str, Partitions], int]:
    """Return what each member gets in one round, and how many partitions nobody gets.

    The latter are partitions that a member reads which is there.

    Raises
    ------
    BadInput
        Where the assignor that was chosen is not one that can be played.
    """
    names = sorted(present)
    cooperative = choice.protocol is Protocol.COOPERATIVE
    held = {m: present[m].holds for m in names}
    known = {m: present[m].remembers for m in names} if choice.assignor == "sticky" else held
    now = _as_group(group, names, known)
    written = kip54.sticky if cooperative else _written(choice.assignor)
    member, partition = written(now).assignment.holdings
    given = {m: frozenset(partition[member == i].tolist()) for i, m in enumerate(names)}
    if cooperative:
        owners = {p: m for m, mine in held.items() for p in mine}
        given = {m: frozenset(p for p in given[m] if owners.get(p, m) == m) for m in names}
    read = np.flatnonzero(now.readers[now.topic] > 0).tolist()
    return given, len(set(read) - set(chain.from_iterable(given.values())))


def _written(assignor: str) -> Callable[[Group], Plan]:
    if assignor not in AS_WRITTEN:
        raise BadInput(f"rollout: assignor {assignor!r}, expected one of {', '.join(AS_WRITTEN)}")
    return WRITTEN[AS_WRITTEN[assignor]].function


def _as_group(group: Group, names: Sequence[str], held: Mapping[str, Partitions]) -> Group:
    """Return the group of those members that are present, with what they own."""
    every = list(range(len(group.topics)))
    index = {member: i for i, member in enumerate(group.members)}
    rows = [group.subscription(index[m]).tolist() if m in index else every for m in names]
    built = Group.from_arrays(
        group=group.name,
        topics=group.topics,
        partitions=group.partitions,
        members=names,
        subscription_indptr=np.cumsum([0, *map(len, rows)]),
        subscription_topics=np.array([t for row in rows for t in row], np.int64),
    )
    known = dict(zip(group.members, group.details, strict=False))
    ids = [known.get(m, MemberDetails()).instance_id for m in names]
    built = replace(built, details=tuple(MemberDetails(instance_id=one) for one in ids))
    pairs = [(i, p) for i, m in enumerate(names) for p in sorted(held[m])]
    return built.with_claims(*np.array(pairs, np.int64).reshape(-1, 2).T)
