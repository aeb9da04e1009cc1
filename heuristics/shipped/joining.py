"""Joining: what each member of a group says when it joins, for clients that want it in lists."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from groups import Group


@dataclass(frozen=True)
class Joining:
    """One member, as it joins.

    Attributes
    ----------
    member_id : its id
    instance_id, rack : None where it has none
    subscription : topic names, those that do not exist last
    owned : partition numbers that it claims by topic, raw: of any topic, ascending
    generation : of its claims, -1 where it has none
    """

    member_id: str
    instance_id: str | None
    rack: str | None
    subscription: tuple[str, ...]
    owned: dict[str, list[int]]
    generation: int


def joining(group: Group) -> list[Joining]:
    """Return the members of a group in its order, each as it joins."""
    names = group.topics + group.absent_topics
    members = range(len(group.members))
    rows = [[group.topics[t] for t in group.subscription(m).tolist()] for m in members]
    for member, absent in group.absent_subscriptions:
        rows[member].append(group.absent_topics[absent])
    owned: list[dict[str, list[int]]] = [{} for _ in group.members]
    claims = group.claims
    columns = (claims.member.tolist(), claims.topic.tolist(), claims.partition.tolist())
    for m, t, number in zip(*columns, strict=True):
        owned[m].setdefault(names[t], []).append(number)
    racks = racks_of_members(group)
    details = group.details or [None] * len(group.members)
    return [
        Joining(
            name,
            None if said is None else said.instance_id,
            racks[m],
            tuple(rows[m]),
            owned[m],
            int(group.generation[m]),
        )
        for m, (name, said) in enumerate(zip(group.members, details, strict=True))
    ]


def racks_of_members(group: Group) -> list[str | None]:
    """Return the rack of each member, None where it has none."""
    if group.racks is None:
        return [None] * len(group.members)
    names = group.racks.names
    return [None if rack < 0 else names[rack] for rack in group.racks.member.tolist()]
