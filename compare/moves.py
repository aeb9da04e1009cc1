"""Moves: which partitions go from which member to which."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from groups.assignment import Assignment

LONGEST = 300


@dataclass(frozen=True)
class Move:
    """Partitions that go from one member to another; `partitions` as ``t0: 0-3, t1: 2``."""

    origin: str
    target: str
    count: int
    partitions: str


def moves_to(best: Assignment) -> list[Move]:
    """Return the partitions that a valid owner gives to somebody else, most first."""
    group, moved = best.group, best.moved
    found: dict[tuple[int, int], dict[int, list[int]]] = {}
    columns = (group.owner[moved], best.owner[moved], group.topic[moved], group.number[moved])
    for a, b, t, number in zip(*(column.tolist() for column in columns), strict=True):
        found.setdefault((a, b), {}).setdefault(t, []).append(number)
    moves = [
        Move(
            origin=group.members[a],
            target=group.members[b],
            count=sum(map(len, topics.values())),
            partitions=_cut(group.nouns.held({group.topics[t]: n for t, n in topics.items()})),
        )
        for (a, b), topics in found.items()
    ]
    return sorted(moves, key=lambda move: (-move.count, move.origin, move.target))


def _cut(text: str) -> str:
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 1]}…"
