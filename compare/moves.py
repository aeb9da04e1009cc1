"""Moves: which partitions go from which member to which."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from groups.assignment import Assignment
    from groups.wording import Nouns

LONGEST = 300


@dataclass(frozen=True)
class Move:
    """Partitions that go from one member to another, by topic and number.

    Attributes
    ----------
    origin, target : in a diff None stands for nobody, or if `shared` for a member that is in a
        move of its own or keeps them: several members hold them before or after
    """

    origin: str | None
    target: str | None
    partitions: dict[str, list[int]]
    shared: bool = False

    @property
    def count(self) -> int:
        """How many partitions that are."""
        return sum(map(len, self.partitions.values()))

    def to_dict(self) -> dict[str, object]:
        """Return the move as documents have it."""
        ends = {"from": self.origin, "to": self.target}
        return {**ends, "count": self.count, "partitions": self.partitions}

    def told(self, nouns: Nouns) -> str:
        """Return the partitions as ``t0: 0-3, t1: 2``, cut after 300 characters."""
        text = nouns.held(self.partitions)
        return text if len(text) <= LONGEST else f"{text[: LONGEST - 1]}…"


def moves_to(best: Assignment) -> tuple[Move, ...]:
    """Return the partitions that a valid owner gives to somebody else, most first."""
    group, moved = best.group, best.moved
    columns = (group.owner[moved], best.owner[moved], group.topic[moved], group.number[moved])
    return by_pair(
        (group.members[a], group.members[b], group.topics[t], number)
        for a, b, t, number in zip(*(column.tolist() for column in columns), strict=True)
    )


def by_pair(handed: Iterable[tuple[str, str, str, int]]) -> tuple[Move, ...]:
    """Return a move for each pair of members, most first.

    Parameters
    ----------
    handed : from whom, to whom, topic and number of each partition
    """
    found: dict[tuple[str, str], dict[str, list[int]]] = {}
    for origin, target, topic, number in handed:
        found.setdefault((origin, target), {}).setdefault(topic, []).append(number)
    moves = (Move(origin, target, held) for (origin, target), held in found.items())
    return most_first(moves)


def most_first(moves: Iterable[Move]) -> tuple[Move, ...]:
    """Return moves in order: most partitions first, then by names."""
    return tuple(sorted(moves, key=lambda m: (-m.count, m.origin or "", m.target or "")))
