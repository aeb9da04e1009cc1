"""Enumerated groups: every one there is within limits."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations, combinations_with_replacement, product
from typing import TYPE_CHECKING

import numpy as np

from groups import Group

if TYPE_CHECKING:
    from collections.abc import Iterator


@dataclass(frozen=True)
class Small:
    """A group in few words; every partition has a lag of 1.

    Attributes
    ----------
    counts : partitions of each topic
    rows : topics that each member reads, ascending
    owner : of each partition, topic by topic, -1 nobody
    """

    counts: tuple[int, ...]
    rows: tuple[tuple[int, ...], ...]
    owner: tuple[int, ...]

    def group(self) -> Group:
        """Build the group: topics t0, t1, ..., members m0, m1, ..."""
        return Group.from_arrays(
            group="small",
            topics=[f"t{i}" for i in range(len(self.counts))],
            partitions=self.counts,
            members=[f"m{i}" for i in range(len(self.rows))],
            subscription_indptr=np.cumsum([0, *map(len, self.rows)]),
            subscription_topics=np.array([t for row in self.rows for t in row], np.int64),
            owner=np.array(self.owner, np.int64),
            lag=np.ones(len(self.owner), np.int64),
        )


def equal(members: int, partitions: int) -> Iterator[Small]:
    """Every group of that size and smaller whose members all read the same, by what each owns.

    With equal subscriptions and no rival claims a group is, up to renaming, what its members own;
    here in every order of the members. Twice: one topic, and a topic for each partition.
    """
    for size, total in product(range(1, members + 1), range(1, partitions + 1)):
        for owned in ownership_counts(size, total):
            owner = tuple(m for m, mine in enumerate(owned) for _ in range(mine))
            owner += (-1,) * (total - len(owner))
            yield Small((total,), ((0,),) * size, owner)
            if total > 1:
                yield Small((1,) * total, (tuple(range(total)),) * size, owner)


def fresh(topics: int, members: int, partitions: int) -> Iterator[Small]:
    """Every group of that size and smaller in which nobody owns anything, in every order."""
    for counts, rows in _shapes(topics, members, partitions):
        yield Small(counts, rows, (-1,) * sum(counts))


def owned(topics: int, members: int, partitions: int) -> Iterator[Small]:
    """Every group of that size and smaller in which somebody owns something that it reads.

    Of the partitions of a topic only how many each member owns counts.
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
    """Return how many partitions each member owns, in every way; some may be nobody's."""
    if not members:
        yield ()
        return
    for mine in range(partitions + 1):
        for others in ownership_counts(members - 1, partitions - mine):
            yield (mine, *others)


def _shapes(
    topics: int, members: int, partitions: int
) -> Iterator[tuple[tuple[int, ...], tuple[tuple[int, ...], ...]]]:
    for many in range(1, topics + 1):
        choices = [c for size in range(1, many + 1) for c in combinations(range(many), size)]
        for counts in product(range(1, partitions + 1), repeat=many):
            if sum(counts) <= partitions:
                for size in range(1, members + 1):
                    for rows in product(choices, repeat=size):
                        yield counts, rows
