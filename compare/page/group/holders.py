"""Holders: who holds what now and in the best assignment, and what goes from whom to whom."""

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

# Characters of a download; of documents all together.
LONGEST_DATA = 120_000
MOST_DRAWN = 60
COLOURS = 11
MOST_LISTED = 200
MOST_IN_GRID = 40


@dataclass(frozen=True)
class Part:
    """Partitions of one topic with one member: `colour` numbers the topic's colour."""

    topic: str
    colour: int
    count: int


@dataclass(frozen=True)
class Holder:
    """A member: partitions by topic and records of lag, now and in the best assignment."""

    name: str
    short: str
    now: tuple[Part, ...]
    best: tuple[Part, ...]
    load_now: int
    load_best: int | None
    lag_now: int | None = None
    lag_best: int | None = None


@dataclass(frozen=True)
class MoveGrid:
    """Moves as a grid: of who gives, a row each, of who gets, a column each; short names.

    `left_out` says how many partitions move between members that the grid has no room for.
    """

    gives: tuple[tuple[str, str], ...]
    gets: tuple[tuple[str, str], ...]
    counts: tuple[tuple[int, ...], ...]
    most: int
    left_out: int


def short(data: str) -> str | None:
    """Return what can be downloaded from a page; None where that is too long for one."""
    return data if len(data) <= LONGEST_DATA else None


class Holdings:
    """What members hold now and at best, and how much of it is drawn.

    Attributes
    ----------
    topics : names of the topics that have a colour of their own, those of most partitions first
    other_topics : how many share the last colour
    drawn : members to draw, ascending indices: all, or those whose load changes or is greatest
    lag : None where it is not known, or nobody holds anything
    """

    def __init__(self, now: Assignment, best: Assignment | None, least: int = 0) -> None:
        """Take the loads to draw, and a load that the scale reaches at least."""
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
        self.drawn = self._drawn()

    @property
    def scale(self) -> int:
        """The greatest load to draw; 1 where nobody holds anything."""
        loads = [self.now.loads, *([] if self.best is None else [self.best.loads])]
        return max(1, self._least, *(int(load.max(initial=0)) for load in loads))

    def _drawn(self) -> list[int]:
        members = len(self.group.members)
        if members <= MOST_DRAWN:
            return list(range(members))
        change = np.zeros(members, np.int64)
        if self.best is not None:
            change = np.abs(self.now.loads - self.best.loads)
        order = np.lexsort((np.arange(members), -self.now.loads, -change))
        return sorted(order[:MOST_DRAWN].tolist())

    @property
    def more(self) -> int:
        """How many members are not drawn: those whose load changes least."""
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
                now=now.get(m, ()),
                best=best.get(m, ()),
                load_now=int(self.now.loads[m]),
                load_best=None if self.best is None else int(self.best.loads[m]),
                lag_now=None if lag is None else lag.now[m],
                lag_best=None if lag is None or lag.best is None else lag.best[m],
            )
            for m in sorted(self.drawn, key=lambda m: (-self.now.loads[m], m))
        )

    def _parts(self, column: tuple[Int64, Int64, Int64]) -> dict[int, tuple[Part, ...]]:
        drawn = set(self.drawn)
        found: dict[int, dict[int, int]] = {}
        other: dict[tuple[int, int], str] = {}
        for m, t, count in zip(*(part.tolist() for part in column), strict=True):
            if m in drawn:
                colour = self.colour[t]
                mine = found.setdefault(m, {})
                mine[colour] = mine.get(colour, 0) + count
                other[m, colour] = self.group.topics[t]
        last = f"{self.other_topics:,} other topics"
        return {
            m: tuple(
                Part(last if self.other_topics and c == COLOURS else other[m, c], c, mine[c])
                for c in sorted(mine)
            )
            for m, mine in found.items()
        }

    @cached_property
    def csv(self) -> str | None:
        """Member, topic and partitions now and at best as CSV, of every member, if `short`."""
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
    """Records of lag per member, now and in the best assignment.

    Attributes
    ----------
    now, best : records of each member; `best` None where nothing is best, or nothing moves
    unknown : partitions held now whose lag is not known; they count as 0
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
        """The most records that a member has."""
        return max([*self.now, *(self.best or ())], default=0)

    @cached_property
    def csv(self) -> str | None:
        """Member and records now and at best as CSV, if it is short."""
        columns = {"member": self._members, "lag_records_now": self.now}
        columns |= {} if self.best is None else {"lag_records_best": self.best}
        return short(as_csv([*columns], zip(*columns.values(), strict=True)))


def _by_topic(assignment: Assignment) -> tuple[Int64, Int64, Int64]:
    """(member, topic, count) of what is held, by member and topic: three int64 columns."""
    group, (member, partition) = assignment.group, assignment.holdings
    width = max(len(group.topics), 1)
    pairs, counts = np.unique(member * width + group.topic[partition], return_counts=True)
    return pairs // width, pairs % width, counts.astype(np.int64)


def grid_of(moves: Sequence[Move], best: Assignment) -> MoveGrid | None:
    """Return the moves from each who gives, a row, to each who gets, a column, most first.

    None where there is at most one of them, which the list says as well.
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
    labels = dict(zip(best.group.members, labels_of(best.group), strict=True))
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
