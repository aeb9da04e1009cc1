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
    origin, target : members; in a diff None is nobody
    shared : whether several members hold the partitions before or after; then None may be a
        member that keeps them or that is in another move
    """

    origin: str | None
    target: str | None
    partitions: dict[str, list[int]]
    shared: bool = False

    @property
    def count(self) -> int:
        """Number of partitions."""
        return sum(map(len, self.partitions.values()))

    def to_dict(self) -> dict[str, object]:
        """Return the move as in JSON documents."""
        ends = {"from": self.origin, "to": self.target}
        return {**ends, "count": self.count, "partitions": self.partitions}

    def told(self, nouns: Nouns) -> str:
        """Return the partitions as ``t0: 0-3, t1: 2``, cut after 300 characters."""
        text = nouns.held(self.partitions)
        return text if len(text) <= LONGEST else f"{text[: LONGEST - 1]}…"


def moves_to(best: Assignment) -> tuple[Move, ...]:
    """Return the moves of partitions from their valid owner to another one, largest first.

    Members are named for people, as `Group.called` has them.
    """
    group, moved = best.group, best.moved
    columns = (group.owner[moved], best.owner[moved], group.topic[moved], group.number[moved])
    return by_pair(
        (group.called[a], group.called[b], group.topics[t], number)
        for a, b, t, number in zip(*(column.tolist() for column in columns), strict=True)
    )


def by_pair(handed: Iterable[tuple[str, str, str, int]]) -> tuple[Move, ...]:
    """Return a move for each pair of members, largest first.

    Parameters
    ----------
    handed : (origin, target, topic, number) of each partition
    """
    found: dict[tuple[str, str], dict[str, list[int]]] = {}
    for origin, target, topic, number in handed:
        found.setdefault((origin, target), {}).setdefault(topic, []).append(number)
    moves = (Move(origin, target, held) for (origin, target), held in found.items())
    return most_first(moves)


def most_first(moves: Iterable[Move]) -> tuple[Move, ...]:
    """Return moves sorted: largest first, then by names."""
    return tuple(sorted(moves, key=lambda m: (-m.count, m.origin or "", m.target or "")))
