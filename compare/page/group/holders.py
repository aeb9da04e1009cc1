"""Holders: loads by topic, now and in the best assignment, and the moves between members."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from compare.page.drawing import as_csv
from compare.page.group.line import labels_of
from groups.arrays import UNKNOWN
from groups.tiers import load_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from compare.moves import Move
    from groups.arrays import Int64
    from groups.assignment import Assignment

# Most characters of a download, or of a group's documents together.
LONGEST_DATA = 120_000
MOST_DRAWN = 60
COLOURS = 11
MOST_LISTED = 200
MOST_IN_GRID = 40


@dataclass(frozen=True)
class Part:
    """A member's partitions of one topic; `colour` is the number of the topic's colour."""

    topic: str
    colour: int
    count: int


@dataclass(frozen=True)
class Holder:
    """A member's partitions by topic, and its lag in records, now and in the best assignment."""

    name: str
    short: str
    now: Sequence[Part]
    best: Sequence[Part]
    load_now: int
    load_best: int | None
    lag_now: int | None = None
    lag_best: int | None = None


@dataclass(frozen=True)
class MoveGrid:
    """Moves as a grid: a row for each member that gives, a column for each that gets.

    Attributes
    ----------
    gives, gets : (name, short name) of the members
    left_out : number of moved partitions of members that the grid has no room for
    """

    gives: tuple[tuple[str, str], ...]
    gets: tuple[tuple[str, str], ...]
    counts: tuple[tuple[int, ...], ...]
    most: int
    left_out: int


def short(data: str) -> str | None:
    """Return the data of a download; None if too long for a page."""
    return data if len(data) <= LONGEST_DATA else None


class Holdings:
    """The loads now and at best, as they are drawn.

    Attributes
    ----------
    topics : names of the topics that have a colour of their own, those with most partitions first
    other_topics : number of topics that share the last colour
    drawn : indices of the members to draw, ascending: all, or those with the greatest change or
        load
    lag : None if it is not known, or nobody holds anything
    """

    def __init__(self, now: Assignment, best: Assignment | None, least: int = 0) -> None:
        """Take the assignments to draw; the scale reaches at least the load `least`."""
        self.group, self.now, self.best, self._least = now.group, now, best, least
        lag = now.group.lag_records
        self.lag = None if lag is None or not len(now.holdings[0]) else Lag(now, best, lag)
        self._now = _by_topic(now)
        self._best = None if best is None else _by_topic(best)
        held = np.bincount(self._now[1], self._now[2], minlength=len(self.group.topics))
        if self._best is not None:
            held += np.bincount(self._best[1], self._best[2], minlength=len(self.group.topics))
        ranked = sorted(np.flatnonzero(held).tolist(), key=lambda t: (-held[t], t))
        own = ranked if len(ranked) <= COLOURS + 1 else ranked[:COLOURS]
        self.colour = dict.fromkeys(ranked, COLOURS) | {t: i for i, t in enumerate(own)}
        self.topics = tuple(self.group.topics[t] for t in own)
        self.other_topics = len(ranked) - len(own)
        members = len(self.group.members)
        change = np.zeros(members) if best is None else np.abs(now.loads - best.loads)
        order = np.lexsort((np.arange(members), -now.loads, -change))
        self.drawn = sorted(order[:MOST_DRAWN].tolist())

    @property
    def scale(self) -> int:
        """The greatest load to draw, at least 1."""
        loads = [self.now.loads, *([] if self.best is None else [self.best.loads])]
        return max(1, self._least, *(int(load.max(initial=0)) for load in loads))

    @property
    def more(self) -> int:
        """Number of members that are not drawn, which are those whose load changes least."""
        return len(self.group.members) - len(self.drawn)

    @cached_property
    def holders(self) -> tuple[Holder, ...]:
        """The members to draw, the fullest first."""
        names, lag = self.group.members, self.lag
        labels = labels_of(self.group)
        now = self._parts(self._now)
        best = {} if self._best is None else self._parts(self._best)
        return tuple(
            Holder(
                name=names[m],
                short=labels[m],
                now=now.get(m, []),
                best=best.get(m, []),
                load_now=int(self.now.loads[m]),
                load_best=None if self.best is None else int(self.best.loads[m]),
                lag_now=None if lag is None else lag.now[m],
                lag_best=None if lag is None or lag.best is None else lag.best[m],
            )
            for m in sorted(self.drawn, key=lambda m: (-self.now.loads[m], m))
        )

    def _parts(self, column: tuple[Int64, Int64, Int64]) -> dict[int, list[Part]]:
        drawn, counts = set(self.drawn), Counter[tuple[int, int]]()
        for m, t, count in zip(*(part.tolist() for part in column), strict=True):
            if m in drawn:
                counts[m, self.colour[t]] += count
        names = [*self.topics, f"{self.other_topics:,} other topics"]
        found: dict[int, list[Part]] = {}
        for (m, colour), count in sorted(counts.items()):
            found.setdefault(m, []).append(Part(names[colour], colour, count))
        return found

    @cached_property
    def csv(self) -> str | None:
        """CSV of (member, topic, now, best) for all members; None if too long for a page."""
        counts: dict[tuple[int, int], list[int]] = {}
        sides = [self._now] if self._best is None else [self._now, self._best]
        for side, columns in enumerate(sides):
            for m, t, count in zip(*(column.tolist() for column in columns), strict=True):
                counts.setdefault((m, t), [0] * len(sides))[side] = count
        names, topics = self.group.members, self.group.topics
        rows = [[names[m], topics[t], *found] for (m, t), found in sorted(counts.items())]
        idle = sorted(set(range(len(names))) - {m for m, _ in counts})
        rows += [[names[m], "", *[0] * len(sides)] for m in idle]
        return short(as_csv(["member", "topic", "now", "best"][: 2 + len(sides)], rows))


class Lag:
    """Lag per member in records, now and in the best assignment.

    Attributes
    ----------
    now, best : records of each member; `best` is None if there is none, or it is the same as now
    unknown : number of held partitions whose lag is not known; they count as 0
    """

    def __init__(self, now: Assignment, best: Assignment | None, lag: Int64) -> None:
        self.now = load_of(now, lag)
        self.best = None if best is None else load_of(best, lag)
        if self.best == self.now:
            self.best = None
        self.unknown = int((lag[now.holdings[1]] == UNKNOWN).sum())
        self._members = now.group.members

    @property
    def most(self) -> int:
        """The greatest lag of a member."""
        return max([*self.now, *(self.best or ())], default=0)

    @cached_property
    def csv(self) -> str | None:
        """CSV of members with their lag now and at best; None if too long for a page."""
        columns = {"member": self._members, "lag_records_now": self.now}
        columns |= {} if self.best is None else {"lag_records_best": self.best}
        return short(as_csv([*columns], zip(*columns.values(), strict=True)))


def _by_topic(assignment: Assignment) -> tuple[Int64, Int64, Int64]:
    """Return (member, topic, number of partitions): int64 columns, sorted by member and topic."""
    group, (member, partition) = assignment.group, assignment.holdings
    width = max(len(group.topics), 1)
    pairs, counts = np.unique(member * width + group.topic[partition], return_counts=True)
    return pairs // width, pairs % width, counts.astype(np.int64)


def grid_of(moves: Sequence[Move], best: Assignment) -> MoveGrid | None:
    """Return the moves as a grid, members with most moves first.

    None for less than two moves, for which the list is enough.
    """
    if len(moves) < 2:
        return None
    given, got = Counter[str](), Counter[str]()
    for move in moves:
        given[str(move.origin)] += move.count
        got[str(move.target)] += move.count
    gives, gets = (
        sorted(side, key=lambda name: (-side[name], name))[:MOST_IN_GRID] for side in (given, got)
    )
    labels = dict(zip(best.group.called, labels_of(best.group), strict=True))
    count = {(move.origin, move.target): move.count for move in moves}
    counts = tuple(tuple(count.get((a, b), 0) for b in gets) for a in gives)
    return MoveGrid(
        gives=tuple((name, labels[name]) for name in gives),
        gets=tuple((name, labels[name]) for name in gets),
        counts=counts,
        most=max(move.count for move in moves),
        left_out=sum(move.count for move in moves) - sum(map(sum, counts)),
    )


def moves_csv(best: Assignment) -> str:
    """Return CSV of the moved partitions, with their old and new members."""
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
