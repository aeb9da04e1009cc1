"""Explanation: an optimum, the current assignment, and counts that show why none is better.

The levels of a certificate (docs/explanation/proof.md) sort members and topics into blocks: the
members of a block share the only topics that could make their loads more even. A block and the
fuller ones are the only readers of their topics, so in every assignment they hold at least those
partitions. In a balanced assignment they hold just those.

The prices of a certificate say where to count moves. Members at or above a price own partitions
and have room for some; members below it need partitions, and some are available to them. Each
owned partition is counted once, by the price of its owner, so the counts can be added up. With
the prices of an optimum their sum is the number of its moves.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Literal

import numpy as np

from compare.sentences import spread
from groups.assignment import Assignment
from groups.errors import ProofError
from groups.tiers import values
from groups.wording import names_or_count
from optimal.proof import ProofKind
from optimal.solution import Solution, Status

if TYPE_CHECKING:
    from groups.arrays import Bools, Int64
    from groups.group import Group

NO_PRICE = np.iinfo(np.int64).max


@dataclass(frozen=True, eq=False)
class Explanation:
    """Why a solution cannot be better.

    Attributes
    ----------
    solution : the optimum
    best : its assignment
    now : the current assignment, with the raw claims
    blocks : fullest first; empty if there is no certificate on loads
    moves : why partitions must move; None unless the certificate is on balance and moves alone
    """

    solution: Solution
    best: Assignment
    now: Assignment
    blocks: tuple[Block, ...]
    moves: Moves | None

    @property
    def group(self) -> Group:
        """The group of the solution."""
        return self.solution.group

    @property
    def is_there(self) -> bool:
        """Whether the current assignment is as good as the optimum."""
        found = values(self.now, self.solution.objective)
        return self.now.is_valid and found == tuple(term.value for term in self.solution.terms)


def explain(solution: Solution) -> Explanation | None:
    """Return why a solution cannot be better; None if that is not proved.

    There are blocks only if the certificate's objective begins with balance, and moves only for
    ``balance > stickiness``. `optimal.check` checks the certificate itself against the group.
    """
    best = solution.assignment
    if best is None or solution.status is not Status.OPTIMAL:
        return None
    tiers = solution.objective
    certified = solution.proof.kind is ProofKind.CERTIFICATE and solution.proof.level is not None
    levelled = certified and tiers[0] == "balance" and not solution.at_most
    return Explanation(
        solution=solution,
        best=best,
        now=Assignment.current(solution.group),
        blocks=blocks_of(solution) if levelled else (),
        moves=moves_of(solution) if levelled and tiers == ("balance", "stickiness") else None,
    )


@dataclass(frozen=True)
class Block:
    """The members and the topics of one level.

    Attributes
    ----------
    members, topics : ascending indices; topics without partitions are left out
    partitions : number of partitions of the topics together
    floor, ceiling : the least and the most that a member of the block holds in any assignment of
        the same balance
    least, most : the least and the most that members of the block hold in this one
    """

    members: tuple[int, ...]
    topics: tuple[int, ...]
    partitions: int
    floor: int
    ceiling: int
    least: int
    most: int


def blocks_of(solution: Solution) -> tuple[Block, ...]:
    """Return the blocks of a solution whose certificate has levels, fullest first."""
    group, level, assignment = solution.group, solution.proof.columns()[0], solution.assignment
    if assignment is None:
        return ()
    loads, of_topic = assignment.loads, group.subscriptions.least_of_readers(level)
    counted = (group.partitions > 0) & (group.readers > 0)
    blocks = []
    for value in np.unique(level)[::-1].tolist():
        members = np.flatnonzero(level == value)
        topics = np.flatnonzero(counted & (of_topic == value))
        blocks.append(
            Block(
                members=tuple(members.tolist()),
                topics=tuple(topics.tolist()),
                partitions=int(group.partitions[topics].sum()),
                floor=max(value, 0),
                ceiling=value + 1,
                least=int(loads[members].min()),
                most=int(loads[members].max()),
            )
        )
    return tuple(blocks)


@dataclass(frozen=True)
class Count:
    """Why some members must give away partitions, or get some, in assignments of equal balance.

    "room": the members hold at most `limit`. The `fixed` partitions, those of `topics`, can be
    with no other member. The `owners` among the members own `others` besides, and at least
    `moves` of these must go.

    "need": the members hold at least `limit`. They may hold `fixed` partitions of `topics`, and
    `others` that `owners` elsewhere own. At least `moves` of the others must come.

    The `members` own `owned` of the fixed and the other partitions together.
    """

    kind: Literal["room", "need"]
    members: tuple[int, ...]
    limit: int
    fixed: int
    topics: tuple[int, ...]
    others: int
    owners: tuple[int, ...]
    owned: int
    moves: int


@dataclass(frozen=True)
class Downward:
    """Partitions that must move, as their owner is in a fuller block than their topic."""

    owner: int
    topic: int
    partitions: int


@dataclass(frozen=True)
class Moves:
    """Why partitions must move: down to another block, or inside one."""

    downward: tuple[Downward, ...]
    counts: tuple[Count, ...]

    @property
    def total(self) -> int:
        """The least number of partitions that must move."""
        return sum(d.partitions for d in self.downward) + sum(c.moves for c in self.counts)


@dataclass(frozen=True)
class Lines:
    """A line of the table of blocks: one block, or several in short."""

    number: str
    members: str
    topics: str
    partitions: int
    holds: str


def lines_of(explanation: Explanation, *, most: int, longest: int) -> tuple[Lines, ...]:
    """Return the lines of the table of blocks; empty if there is only one block.

    Parameters
    ----------
    most : lines; if there are more blocks, all but the first ones and the last share a line
    longest : letters for names of members or topics; longer lists become a number
    """
    many = len(explanation.blocks)
    ends = [*range(1, many + 1)] if many <= most else [*range(1, most - 1), many - 1, many]
    if many < 2:
        return ()
    return tuple(_line(explanation, at, end, longest) for at, end in pairwise((0, *ends)))


def _line(explanation: Explanation, start: int, end: int, longest: int) -> Lines:
    group, blocks = explanation.group, explanation.blocks[start:end]
    members = [group.members[m] for one in blocks for m in one.members]
    topics = [group.topics[t] for one in blocks for t in one.topics]
    return Lines(
        number=f"{start + 1}{f' to {end}' if len(blocks) > 1 else ''}",
        members=names_or_count(members, group.nouns.member, longest),
        topics=names_or_count(topics, group.nouns.topic, longest),
        partitions=sum(one.partitions for one in blocks),
        holds=spread([load for one in blocks for load in (one.least, one.most)]),
    )


def moves_of(solution: Solution) -> Moves:
    """Return why partitions must move in every assignment of the same balance.

    Raises
    ------
    ProofError
        If the counts do not add up to the solution's moves.
    """
    holders = _Holders(solution)
    prices = np.unique(holders.price)
    counts: list[Count] = []
    for price in prices[prices >= 1].tolist():
        counts += _rooms(holders, price)
    for price in prices[1:][prices[1:] <= 0].tolist():
        counts += _needs(holders, price)
    leaving = ~holders.at_home
    columns = (
        column[leaving].tolist() for column in (holders.owner, holders.topic, holders.count)
    )
    found = Moves(
        downward=tuple(Downward(*one) for one in sorted(zip(*columns, strict=True))),
        counts=tuple(sorted(counts, key=lambda c: (-c.moves, c.members))),
    )
    moved = next(term.value for term in solution.terms if term.name == "stickiness")
    if found.total != moved:
        raise ProofError(f"the counts add up to {found.total} moves, but {moved} are proved")
    return found


class _Holders:
    """Which topics each member may hold, and who owns what, by the certificate of a solution.

    A member may hold a topic that it reads if no reader of the topic has a lower level. Members
    with the same subscription and level are of one kind, and may hold the same topics.

    Attributes
    ----------
    kind : (members,) the kind of each member
    pairs : (kind, topic) of the topics that a kind may hold, as two int64 columns sorted by kind;
        topics without partitions are left out
    cheapest : (topics,) least price of the members that may hold the topic, `NO_PRICE` if none may
    topic, owner, count : (classes,) int64, number of owned partitions by topic and owner
    at_home : (classes,) bool, whether the owner may hold the topic
    """

    def __init__(self, solution: Solution) -> None:
        self.group = group = solution.group
        self.level, self.price = solution.proof.columns()
        of_topic = group.subscriptions.least_of_readers(self.level)
        size = max(len(group.members), 1)

        keys = np.stack((group.subscription_row, self.level))
        (rows, levels), self.kind = np.unique(keys, axis=1, return_inverse=True)
        self.kind = self.kind.reshape(-1)
        lengths = np.diff(group.subscription_indptr)[rows]
        kinds = np.repeat(np.arange(len(rows)), lengths)
        starts = np.cumsum(lengths) - lengths
        at = np.arange(lengths.sum()) - np.repeat(starts, lengths)
        topics = group.subscription_topics[group.subscription_indptr[rows[kinds]] + at]
        may = (levels[kinds] == of_topic[topics]) & (group.partitions[topics] > 0)
        self.pairs = kinds[may], topics[may].astype(np.int64)

        of_kind = np.full(len(rows), NO_PRICE)
        np.minimum.at(of_kind, self.kind, self.price)
        self.cheapest = np.full(len(group.topics), NO_PRICE)
        np.minimum.at(self.cheapest, self.pairs[1], of_kind[self.pairs[0]])

        held = np.flatnonzero(group.owner >= 0)
        classes = group.topic[held].astype(np.int64) * size + group.owner[held]
        found, self.count = np.unique(classes, return_counts=True)
        self.topic, self.owner = found // size, found % size
        self.at_home = self.level[self.owner] == of_topic[self.topic]

    def counted_at(self, price: int) -> Bools:
        """(classes,) bool: whether a class is counted at this price, which is its owner's."""
        at_price = self.price[self.owner] == price
        counted: Bools = at_price & self.at_home & (self.cheapest[self.topic] < price)
        return counted

    def parts(self, inside: Bools, joining: Bools) -> tuple[Int64, Int64]:
        """Return the connected parts of members: two that may hold the same topic are connected.

        Parameters
        ----------
        inside : (members,) the members to connect
        joining : (topics,) the topics that connect; each has a holder inside

        Returns
        -------
        (members,) number of the part, -1 outside; (topics,) that of the joining topics, else -1
        """
        has_inside = np.bincount(self.kind[inside], minlength=self.kind.max(initial=-1) + 1) > 0
        kept = joining[self.pairs[1]] & has_inside[self.pairs[0]]
        kinds, topics = (column[kept] for column in self.pairs)
        label = np.arange(len(has_inside))
        before, least = label - 1, np.zeros(len(joining), np.int64)
        while not np.array_equal(label, before):
            before, least = label.copy(), np.full(len(joining), len(label))
            np.minimum.at(least, topics, label[kinds])
            np.minimum.at(label, kinds, least[topics])
        alone = len(label) + np.arange(len(inside))
        of_member = np.where(np.isin(self.kind, kinds), label[self.kind], alone)
        names, part = np.unique(of_member[inside], return_inverse=True)
        of_member[~inside], of_member[inside] = -1, part
        of_topic, listed = np.full(len(joining), -1, np.int64), np.unique(topics)
        of_topic[listed] = np.searchsorted(names, least[listed])
        return of_member, of_topic


def _rooms(holders: _Holders, price: int) -> list[Count]:
    """Return what must leave the members at or above a price, a count for each separate part."""
    inside, cheapest = holders.price >= price, holders.cheapest
    part, of_topic = holders.parts(inside, (cheapest >= price) & (cheapest < NO_PRICE))
    at_price = holders.counted_at(price)
    limit = _sums(part, holders.level + 1)
    fixed = _sums(of_topic, holders.group.partitions, like=limit)
    others = _sums(part[holders.owner[at_price]], holders.count[at_price], like=limit)
    stays = holders.at_home & (of_topic[holders.topic] >= 0)
    stays &= part[holders.owner] == of_topic[holders.topic]
    owned = others + _sums(part[holders.owner[stays]], holders.count[stays], like=limit)
    moves = fixed + others - limit
    return [
        Count(
            "room",
            members=_where(part == one),
            limit=int(limit[one]),
            fixed=int(fixed[one]),
            topics=_where(of_topic == one),
            others=int(others[one]),
            owners=_distinct(holders.owner[at_price & (part[holders.owner] == one)]),
            owned=int(owned[one]),
            moves=int(moves[one]),
        )
        for one in np.flatnonzero(moves).tolist()
    ]


def _needs(holders: _Holders, price: int) -> list[Count]:
    """Return what must come to the members below a price, a count for each separate part."""
    inside, group = holders.price < price, holders.group
    at_price = holders.counted_at(price)
    elsewhere = _sums(holders.topic[at_price], holders.count[at_price], like=group.partitions)
    rest = np.where(holders.cheapest < price, group.partitions - elsewhere, 0)
    part, of_topic = holders.parts(inside, rest > 0)
    limit = _sums(part, np.maximum(holders.level, 0))
    fixed = _sums(of_topic, rest, like=limit)
    inner = holders.at_home & inside[holders.owner]
    owned = _sums(part[holders.owner[inner]], holders.count[inner], like=limit)
    found = []
    for one in np.flatnonzero(limit - fixed).tolist():
        kinds = np.unique(holders.kind[part == one])
        topics = np.unique(holders.pairs[1][np.isin(holders.pairs[0], kinds)])
        theirs = at_price & np.isin(holders.topic, topics)
        found.append(
            Count(
                "need",
                members=_where(part == one),
                limit=int(limit[one]),
                fixed=int(fixed[one]),
                topics=_where(of_topic == one),
                others=int(holders.count[theirs].sum()),
                owners=_distinct(holders.owner[theirs]),
                owned=int(owned[one]),
                moves=int(limit[one] - fixed[one]),
            )
        )
    return found


def _sums(place: Int64, amount: Int64, *, like: Int64 | None = None) -> Int64:
    """Return the sum of the amounts at each place; amounts at -1 do not count."""
    size = int(place.max(initial=-1)) + 1 if like is None else len(like)
    found = np.zeros(size, np.int64)
    np.add.at(found, place[place >= 0], amount[place >= 0])
    return found


def _where(wanted: Bools) -> tuple[int, ...]:
    return tuple(np.flatnonzero(wanted).tolist())


def _distinct(members: Int64) -> tuple[int, ...]:
    return tuple(np.unique(members).tolist())
