"""Moves: what goes from whom to whom on the way to the best assignment."""

from __future__ import annotations

from typing import TYPE_CHECKING

from compare.page.csv_text import as_csv
from compare.page.group.contents import Move, MoveGrid
from compare.page.group.short_names import labels_of

if TYPE_CHECKING:
    from groups.assignment import Assignment

MOST_LISTED = 200
MOST_IN_GRID = 40
LONGEST = 300


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


def grid_of(moves: list[Move], best: Assignment) -> MoveGrid | None:
    """Return the moves from each who gives, a row, to each who gets, a column, most first.

    None where there is at most one of them, which the list says as well.
    """
    if len(moves) < 2:
        return None
    given: dict[str, int] = {}
    got: dict[str, int] = {}
    for move in moves:
        given[move.origin] = given.get(move.origin, 0) + move.count
        got[move.target] = got.get(move.target, 0) + move.count
    gives, gets = (
        sorted(side, key=lambda name: (-side[name], name))[:MOST_IN_GRID] for side in (given, got)
    )
    short = dict(zip(best.group.members, labels_of(best.group), strict=True))
    count = {(move.origin, move.target): move.count for move in moves}
    counts = tuple(tuple(count.get((a, b), 0) for b in gets) for a in gives)
    return MoveGrid(
        gives=tuple((name, short[name]) for name in gives),
        gets=tuple((name, short[name]) for name in gets),
        counts=counts,
        most=max(move.count for move in moves),
        left_out=sum(move.count for move in moves) - sum(map(sum, counts)),
    )


def moves_csv(best: Assignment) -> str:
    """Return each partition that moves, from whom and to whom, as CSV."""
    group, moved = best.group, best.moved
    rows = (
        (
            group.topics[group.topic[p]],
            int(group.number[p]),
            group.members[group.owner[p]],
            group.members[best.owner[p]],
        )
        for p in moved.tolist()
    )
    return as_csv(["topic", "partition", "from", "to"], rows)


def _cut(text: str) -> str:
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 1]}…"
