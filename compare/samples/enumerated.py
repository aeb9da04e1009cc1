"""Enumerated groups: all groups within limits, and all ordinary groups of a size."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations, combinations_with_replacement, pairwise, product
from typing import TYPE_CHECKING

import numpy as np

from groups import Group
from groups.arrays import frozen

if TYPE_CHECKING:
    from collections.abc import Iterator

Row = tuple[int, ...]


@dataclass(frozen=True)
class Small:
    """A group in compact form; every partition has a lag of 1.

    Attributes
    ----------
    counts : number of partitions of each topic
    rows : topics that each member reads, ascending
    owner : owner of each partition, topic by topic, -1 where nobody
    """

    counts: Row
    rows: tuple[Row, ...]
    owner: Row

    def group(self) -> Group:
        """Build the group: topics t0, t1, ..., members m0, m1, ..."""
        owner = frozen(np.array(self.owner, np.int32))
        return Group.of_valid({**_columns(self.counts, self.rows), "owner": owner})


@lru_cache(maxsize=2)
def _columns(counts: Row, rows: tuple[Row, ...]) -> dict[str, object]:
    """Return the checked columns of a group in which nobody owns anything.

    Groups that differ in owners alone come one after the other and share them, which takes a third
    off the time of a hunt.
    """
    group = Group.from_arrays(
        group="small",
        topics=[f"t{i}" for i in range(len(counts))],
        partitions=counts,
        members=[f"m{i}" for i in range(len(rows))],
        subscription_indptr=np.cumsum([0, *map(len, rows)]),
        subscription_topics=np.array([t for row in rows for t in row], np.int64),
        lag=np.ones(sum(counts), np.int64),
    )
    return dict(vars(group))


def equal(members: int, partitions: int) -> Iterator[Small]:
    """Yield all groups up to a size whose members read the same topics, by how many each owns.

    With equal subscriptions and no rival claims, these numbers determine a group up to renaming;
    they come in every order of the members. Each group comes twice: with one topic, and with a
    topic for each partition.
    """
    for size, total in product(range(1, members + 1), range(1, partitions + 1)):
        for owned in ownership_counts(size, total):
            owner = tuple(m for m, mine in enumerate(owned) for _ in range(mine))
            owner += (-1,) * (total - len(owner))
            yield Small((total,), ((0,),) * size, owner)
            if total > 1:
                yield Small((1,) * total, (tuple(range(total)),) * size, owner)


def fresh(topics: int, members: int, partitions: int) -> Iterator[Small]:
    """Yield all groups up to a size in which nobody owns anything, in every order of members."""
    for counts, rows in _shapes(topics, members, partitions):
        yield Small(counts, rows, (-1,) * sum(counts))


def owned(topics: int, members: int, partitions: int) -> Iterator[Small]:
    """Yield all groups up to a size in which somebody owns something that it reads.

    Groups that differ only in which partitions of a topic a member owns come once.
    """
    for counts, rows in _shapes(topics, members, partitions):
        readers = [[m for m, row in enumerate(rows) if t in row] for t in range(len(counts))]
        owners = [
            combinations_with_replacement([*readers[t], -1], counts[t]) for t in range(len(counts))
        ]
        for held in product(*owners):
            owner = tuple(m for of_topic in held for m in of_topic)
            if max(owner) >= 0:
                yield Small(counts, rows, owner)


def ownership_counts(members: int, partitions: int) -> Iterator[tuple[int, ...]]:
    """Yield all tuples of how many partitions each member owns; some may have no owner."""
    if not members:
        yield ()
        return
    for mine in range(partitions + 1):
        for others in ownership_counts(members - 1, partitions - mine):
            yield (mine, *others)


def _shapes(topics: int, members: int, partitions: int) -> Iterator[tuple[Row, tuple[Row, ...]]]:
    for many in range(1, topics + 1):
        choices = _choices(many)
        for counts in product(range(1, partitions + 1), repeat=many):
            if sum(counts) <= partitions:
                for size in range(1, members + 1):
                    for rows in product(choices, repeat=size):
                        yield counts, rows


def _choices(topics: int) -> list[Row]:
    """Return all non-empty sets of topics."""
    return [c for size in range(1, topics + 1) for c in combinations(range(topics), size)]


def joins(
    members: int,
    topics: int,
    partitions: int,
    *,
    new: int | None = None,
    adjoining: bool = False,
) -> Iterator[Small]:
    """Yield all ordinary groups with so many members, topics and partitions in all.

    These are the groups of :func:`compare.samples.drawn.is_ordinary`, in every order of
    members, topics and partitions, in which each topic has a partition and a reader and at least
    one member owns nothing.

    Parameters
    ----------
    new : number of members that own nothing; None: any number from 1 to all
    adjoining : whether to leave out groups in which a member's partitions of a topic are not one
        run of consecutive numbers
    """
    for counts in _sums(topics, partitions):
        for rows in _all_read(members, topics):
            for many in range(1, members + 1) if new is None else (new,):
                for fresh in combinations(range(members), many):
                    yield from _held(counts, rows, frozenset(fresh), adjoining=adjoining)


def joined(small: Small) -> Group:
    """Return the group; members that own something have generation 1, the others none."""
    document = small.group().to_dict()
    for said in document["members"].values():
        said.pop("generation", None)
        if said["owned"]:
            said["generation"] = 1
    counts = {f"t{t}": count for t, count in enumerate(small.counts)}
    return Group.from_dict({**document, "topics": dict(counts)})


def _held(
    counts: Row, rows: tuple[Row, ...], fresh: frozenset[int], *, adjoining: bool
) -> Iterator[Small]:
    """Yield the groups in which all but the fresh members own all they read, balanced."""
    settled = [m for m in range(len(rows)) if m not in fresh]
    readers = [[m for m in settled if t in rows[m]] for t in range(len(counts))]
    if any(not any(m in of_topic for of_topic in readers) for m in settled):
        return
    of = [readers[t] for t, count in enumerate(counts) for _ in range(count)]
    first = [n == 0 for count in counts for n in range(count)]
    owner: list[int] = []
    load = [0] * len(rows)

    def fill(at: int, gone: frozenset[int]) -> Iterator[Small]:
        """Assign partitions from `at` on; members in `gone` have had their run of this topic."""
        if at == len(of):
            if all(load[m] for m in settled) and _is_balanced(owner, of, load):
                yield Small(counts, rows, tuple(owner))
            return
        for m in of[at] or [-1]:
            over = frozenset() if first[at] else gone
            if adjoining and m in over:
                continue
            if adjoining and not first[at] and owner[-1] != m:
                over |= {owner[-1]}
            owner.append(m)
            load[m] += m >= 0
            yield from fill(at + 1, over)
            load[m] -= m >= 0
            owner.pop()

    yield from fill(0, frozenset())


def _is_balanced(owner: list[int], of: list[list[int]], load: list[int]) -> bool:
    return not any(
        m >= 0 and load[m] >= load[other] + 2
        for m, readers in zip(owner, of, strict=True)
        for other in readers
    )


def _all_read(members: int, topics: int) -> Iterator[tuple[Row, ...]]:
    """Yield the topics of each member, at least one each, so that each topic has a reader."""
    for rows in product(_choices(topics), repeat=members):
        if len({t for row in rows for t in row}) == topics:
            yield rows


def _sums(parts: int, total: int) -> Iterator[Row]:
    """Yield the ways to write a number as an ordered sum of positive numbers."""
    for cuts in combinations(range(1, total), parts - 1):
        ends = (0, *cuts, total)
        yield tuple(b - a for a, b in pairwise(ends))
