"""Joins: every ordinary group of a size."""

from __future__ import annotations

from itertools import combinations, pairwise, product
from typing import TYPE_CHECKING

from compare.samples.enumerated import Small
from groups import Group

if TYPE_CHECKING:
    from collections.abc import Iterator

Row = tuple[int, ...]


def joins(
    members: int,
    topics: int,
    partitions: int,
    *,
    new: int | None = None,
    adjoining: bool = False,
) -> Iterator[Small]:
    """Return every ordinary group with so many members, topics and partitions in all.

    That is every group for which :func:`compare.samples.ordinary.is_ordinary` holds, in every
    order of members, topics and partitions, but for names: each topic has a partition and
    a reader, and at least one member owns nothing.

    Parameters
    ----------
    new : how many members own nothing; None: any number of them, all included
    adjoining : whether to leave out groups in which what a member owns of a topic is not one run
        of neighbouring partitions
    """
    for counts in _sums(topics, partitions):
        for rows in _all_read(members, topics):
            for many in range(1, members + 1) if new is None else (new,):
                for fresh in combinations(range(members), many):
                    yield from _held(counts, rows, frozenset(fresh), adjoining=adjoining)


def joined(small: Small) -> Group:
    """Return the group: members that own something are of generation 1, the others are new."""
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
    """Return the groups in which all but the fresh members hold what they read, balanced."""
    settled = [m for m in range(len(rows)) if m not in fresh]
    readers = [[m for m in settled if t in rows[m]] for t in range(len(counts))]
    if any(not any(m in of_topic for of_topic in readers) for m in settled):
        return
    of = [readers[t] for t, count in enumerate(counts) for _ in range(count)]
    first = [n == 0 for count in counts for n in range(count)]
    owner: list[int] = []
    load = [0] * len(rows)

    def fill(at: int, gone: frozenset[int]) -> Iterator[Small]:
        """Give out what is left; `gone` have a run of this topic that has ended."""
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
    """Return what each member reads, something each, so that each topic has a reader."""
    choices = [c for size in range(1, topics + 1) for c in combinations(range(topics), size)]
    for rows in product(choices, repeat=members):
        if len({t for row in rows for t in row}) == topics:
            yield rows


def _sums(parts: int, total: int) -> Iterator[Row]:
    """Return the ways to write a number as a sum of positive ones, in every order."""
    for cuts in combinations(range(1, total), parts - 1):
        ends = (0, *cuts, total)
        yield tuple(b - a for a, b in pairwise(ends))
