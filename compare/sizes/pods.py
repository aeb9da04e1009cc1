"""Pods: how even loads are with each number of pods, each of which runs several members."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from compare.what_if import all_alike
from groups.errors import BadInput
from groups.framed import Framed
from groups.wording import counted, listed

if TYPE_CHECKING:
    from collections.abc import Iterator

    from groups.group import Group

FORMAT = "assay-pods/1"
# With more rows, only numbers of pods stay that are even or lower the fullest thread's load.
MOST_ROWS = 40
MOST_THREADS = 10_000


@dataclass(frozen=True)
class PodsRow:
    """The loads of threads and pods in the best assignment with a number of pods.

    Attributes
    ----------
    pods, members : number of pods and of threads; every thread is a member
    least_load, most_load : partitions of the emptiest and of the fullest thread
    least_pod, most_pod : partitions of the emptiest and of the fullest pod
    idle : number of threads that hold nothing
    """

    pods: int
    members: int
    least_load: int
    most_load: int
    least_pod: int
    most_pod: int
    idle: int

    @property
    def is_even(self) -> bool:
        """Whether all threads hold equally many partitions."""
        return self.least_load == self.most_load

    @property
    def has_even_pods(self) -> bool:
        """Whether all pods hold equally many partitions."""
        return self.least_pod == self.most_pod


@dataclass(frozen=True)
class Pods(Framed):
    """How even loads are with each number of pods.

    Attributes
    ----------
    group : its name
    threads : number of threads of each pod
    members_now, partitions : number of members now, and of partitions
    even : the numbers of pods with which all threads hold equally many partitions
    enough : more pods than that do not lower the fullest thread's load
    rows : by number of pods, up to the first with an idle pod
    assumed : the group's own assumptions
    """

    group: str
    threads: int
    members_now: int
    partitions: int
    even: tuple[int, ...]
    enough: int
    rows: tuple[PodsRow, ...]
    assumed: tuple[str, ...] = ()

    def to_rows(self) -> Iterator[dict[str, object]]:
        """Return one row for each number of pods, with the columns of `PodsRow`."""
        yield from map(asdict, self.rows)

    def with_pods(self, number: int) -> PodsRow:
        """Return the row of a number of pods, which may be none of `rows`."""
        return _row(self.partitions, number, self.threads)

    @property
    def even_sentence(self) -> str:
        """The sentence that lists the numbers of pods with which threads are even."""
        if not self.even:
            whole = f"{self.partitions:,} does not divide by {self.threads:,}"
            return f"Threads are even with no number of pods: {whole}."
        numbers = listed([f"{number:,}" for number in self.even])
        return f"Threads are even with {numbers} pod{'' if self.even == (1,) else 's'}."

    @property
    def now(self) -> int | None:
        """How many pods the present members fill; None if the last one is not full."""
        number, left = divmod(self.members_now, self.threads)
        return None if left else number

    @property
    def in_a_line(self) -> str:
        """The group and the numbers of pods with which threads are even, as a line."""
        found = ", ".join(map(str, self.even)) or "no number"
        return f"{self.group}: pods of {counted(self.threads, 'thread')} even with {found}"

    def to_dict(self) -> dict[str, object]:
        """Return the ``assay-pods/1`` document."""
        return {"format": FORMAT, **asdict(self)}


def pods(group: Group, threads: int) -> Pods:
    """Return how even threads and pods are with each number of pods.

    All members read the same topics, so the best assignment gives every thread, and every pod, the
    average, rounded up or down (docs/explanation/proof.md, *Hosts and racks*).

    Parameters
    ----------
    threads : number of threads of each pod

    Raises
    ------
    BadInput
        If members differ in their topics or rates, no partition has a reader, or `threads` is not
        from 1 to 10,000.

    Examples
    --------
    >>> from assay import Group, pods
    >>> members = {m: {"subscription": ["t0"]} for m in ("c0", "c1")}
    >>> document = {"format": "assay-group/1", "group": "orders", "topics": {"t0": 6}}
    >>> found = pods(Group.from_dict(document | {"members": members}), 2)
    >>> found.even, [(row.pods, row.least_load, row.most_load) for row in found.rows]
    ((1, 3), [(1, 3, 3), (2, 1, 2), (3, 1, 1), (4, 0, 1)])
    """
    group.require_subscriptions()
    if not 1 <= threads <= MOST_THREADS:
        raise BadInput(f"threads: {threads}, expected a number from 1 to {MOST_THREADS:,}")
    if not all_alike(group):
        raise BadInput("threads: members do not all read the same topics at the same rate")
    partitions = int(group.partitions[group.readers > 0].sum())
    if not partitions:
        raise BadInput("threads: nobody reads a partition")
    enough = -(-partitions // threads)
    every = [_row(partitions, number, threads) for number in range(1, enough + 2)]
    even = [row for row in every if row.is_even]
    if len(every) > MOST_ROWS:
        helping = [b for a, b in pairwise(every) if b.most_load < a.most_load]
        kept = {row.pods for row in (every[0], *helping, *even, every[-1])}
        every = [row for row in every if row.pods in kept]
    return Pods(
        group=group.name,
        threads=threads,
        members_now=len(group.members),
        partitions=partitions,
        even=tuple(row.pods for row in even),
        enough=enough,
        rows=tuple(every),
        assumed=group.assumed,
    )


def pods_of(group: Group) -> Pods | None:
    """Return `pods` with the hosts of the members as pods; None if they are no such pods.

    They are not if a host is unknown, there is only one, they have unequal numbers of members or
    one each, or members read different topics.
    """
    if why_no_pods(group):
        return None
    try:
        return pods(group, threads_of(group)[0])
    except BadInput:
        return None


def threads_of(group: Group) -> list[int]:
    """Return the distinct numbers of members of the hosts, ascending."""
    places = group.places("host")
    return sorted(set(places.loads(np.ones(len(group.members), np.int64)).tolist()))


def why_no_pods(group: Group) -> str:
    """Return why the hosts of a group are not pods of equally many members; empty if they are."""
    places, sizes = group.places("host"), threads_of(group)
    if (places.member < 0).any():
        return "not every member's host is known"
    if len(places.names) < 2:
        return "all members are on one host" if group.members else "it has no members"
    if len(sizes) > 1:
        return f"hosts have {listed([f'{size:,}' for size in sizes])} members, not equally many"
    return "each host has one member" if sizes == [1] else ""


def _row(partitions: int, number: int, threads: int) -> PodsRow:
    members = number * threads
    load, more = divmod(partitions, members)
    on_pod, fuller = divmod(partitions, number)
    return PodsRow(
        pods=number,
        members=members,
        least_load=load,
        most_load=load + (more > 0),
        least_pod=on_pod,
        most_pod=on_pod + (fuller > 0),
        idle=members - partitions if not load else 0,
    )
