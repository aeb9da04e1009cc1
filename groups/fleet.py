"""Fleet: many groups side by side as one group without common topics or members."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from groups.arrays import NOBODY, UNKNOWN, frozen
from groups.columns.racks import Racks
from groups.group import Group

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from groups.arrays import Int32, Int64, Ints


def portions(
    groups: Sequence[Group], size: Callable[[Group], int], most: int
) -> Iterator[list[Group]]:
    """Cut a row of groups into portions whose sizes add up to so much at most.

    A group that is larger by itself is a portion of its own.
    """
    portion: list[Group] = []
    total = 0
    for group in groups:
        if portion and total + size(group) > most:
            yield portion
            portion, total = [], 0
        portion.append(group)
        total += size(group)
    if portion:
        yield portion


@dataclass(frozen=True, eq=False)
class Fleet:
    """Many groups as one, and where each begins in it.

    No member reads a topic of another group, so whatever is decided within components (levels,
    cheapest flows, the inequalities of a certificate) is decided for each group by itself.

    Attributes
    ----------
    group : the groups side by side; its names are numbers
    member_start, partition_start : (groups + 1,) int64
    """

    group: Group
    member_start: Int64
    partition_start: Int64

    @staticmethod
    def of(groups: Sequence[Group]) -> Fleet:
        """Put groups side by side, numbering members, topics, partitions and racks through."""
        members = _starts([len(g.members) for g in groups])
        topics = _starts([len(g.topics) for g in groups])
        partitions = _starts([g.n_partitions for g in groups])
        entries = _starts([len(g.subscription_topics) for g in groups])
        rows = _starts([len(g.subscription_indptr) - 1 for g in groups])
        indptr = _shifted([g.subscription_indptr[:-1] for g in groups], entries)
        group = Group(
            name="fleet",
            topics=tuple(map(str, range(topics[-1]))),
            partitions=_joined([g.partitions for g in groups]),
            members=tuple(map(str, range(members[-1]))),
            subscription_indptr=frozen(np.append(indptr, entries[-1])),
            subscription_topics=_narrow(_shifted([g.subscription_topics for g in groups], topics)),
            subscription_row=_narrow(_shifted([g.subscription_row for g in groups], rows)),
            subscription_known=_joined([g.subscription_known for g in groups]).astype(bool),
            owner=_narrow(_shifted([g.owner for g in groups], members)),
            generation=_joined([g.generation for g in groups]),
            lag_records=_optional([g.lag_records for g in groups], partitions),
            weight=_optional([g.weight for g in groups], partitions),
            racks=_racks(groups),
        )
        return Fleet(group, members, partitions)


def _starts(lengths: list[int]) -> Int64:
    return np.cumsum([0, *lengths], dtype=np.int64)


def _narrow(column: Int64) -> Int32:
    return frozen(column.astype(np.int32))


def _joined(columns: Sequence[Ints | np.ndarray[tuple[int], np.dtype[np.bool_]]]) -> Int64:
    if not columns:
        return np.empty(0, np.int64)
    return frozen(np.concatenate(columns).astype(np.int64, copy=False))


def _shifted(columns: Sequence[Ints], starts: Int64) -> Int64:
    """Join columns of indices; what is below 0 means nobody and stays."""
    joined = _joined(columns)
    return np.where(
        joined < 0, joined, joined + np.repeat(starts[: len(columns)], [len(c) for c in columns])
    )


def _optional(columns: Sequence[Int64 | None], starts: Int64) -> Int64 | None:
    if all(column is None for column in columns):
        return None
    lengths = np.diff(starts).tolist()
    return _joined(
        [
            np.full(length, UNKNOWN, np.int64) if column is None else column
            for column, length in zip(columns, lengths, strict=True)
        ]
    )


def _racks(groups: Sequence[Group]) -> Racks | None:
    if all(g.racks is None for g in groups):
        return None
    width = sum(len(g.racks.names) for g in groups if g.racks is not None)
    member, replicas, holds = [], [], []
    racks = sets = 0
    for g in groups:
        if g.racks is None:
            member.append(np.full(len(g.members), NOBODY, np.int64))
            replicas.append(np.full(g.n_partitions, UNKNOWN, np.int64))
            continue
        own = g.racks
        names = len(own.names)
        member.append(np.where(own.member < 0, NOBODY, own.member + np.int64(racks)))
        replicas.append(np.where(own.replicas < 0, UNKNOWN, own.replicas + np.int64(sets)))
        if names:
            held, rack = np.divmod(own.holds, names)
            holds.append((held + sets) * width + rack + racks)
        racks, sets = racks + names, sets + int(own.replicas.max(initial=-1)) + 1
    return Racks(
        names=tuple(map(str, range(width))),
        member=_narrow(_joined(member)),
        replicas=_narrow(_joined(replicas)),
        holds=_joined(holds),
    )
