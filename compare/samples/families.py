"""Seeded families of groups, such as the grid on which Kafka's maintainers time assignors.

Source of the grid: AssignorBenchmark and ConsumerAssignorBenchmark of Apache Kafka
(jmh-benchmarks), which measure only time.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING, Literal, get_args

import numpy as np

from groups.arguments import require_whole
from groups.arrays import starts
from groups.errors import BadInput, require_one_of
from groups.group import Group
from groups.tiers import parse_objective

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from groups.arrays import Bools, Int32, Int64

Subscriptions = Literal["equal", "buckets", "nested", "random"]
LastEvent = Literal[
    "fresh", "join-one", "join-many", "leave-one", "leave-many", "partitions-added", "stable"
]
BUCKETS = 5
_NAME = re.compile(
    r"(?P<members>[0-9]{1,9})x(?P<per_member>[0-9]{1,9})-(?P<topics>[0-9]{1,9})-topics-"
    rf"(?P<subscriptions>{'|'.join(get_args(Subscriptions))})(?P<skewed>-skewed)?-"
    rf"(?P<event>{'|'.join(get_args(LastEvent))})"
)


@dataclass(frozen=True)
class Family:
    """One point of the grid.

    Attributes
    ----------
    members : number of members after the event
    per_member : partitions per member
    topics : number of topics that share the partitions
    subscriptions : all topics ("equal"), one of five disjoint sets of topics ("buckets"), a number
        of the first topics ("nested"), or each topic with probability one half ("random")
    event : what happened since the last assignment, which was optimal; "many" is a tenth of the
        members, and a tenth of the partitions are added
    skewed : whether topic k has a share of the partitions in proportion to 1 / k

    Examples
    --------
    >>> from assay import Family
    >>> group = Family(6, subscriptions="random", event="join-one").group(seed=3)
    >>> len(group.members), group.n_partitions
    (6, 60)
    """

    members: int
    per_member: int = 10
    topics: int = 10
    subscriptions: Subscriptions = "equal"
    event: LastEvent = "fresh"
    skewed: bool = False

    def __post_init__(self) -> None:
        """Check every number and name.

        Raises
        ------
        BadInput
            If a number is less than 1, or there are no such subscriptions or no such event.
        """
        for what in ("members", "per_member", "topics"):
            require_whole(what, getattr(self, what), least=1)
        require_one_of("subscriptions", self.subscriptions, get_args(Subscriptions))
        require_one_of("event", self.event, get_args(LastEvent))

    @property
    def name(self) -> str:
        """Name of the point, without the seed."""
        parts = [f"{self.members}x{self.per_member}", f"{self.topics}-topics", self.subscriptions]
        return "-".join((*parts, *(["skewed"] if self.skewed else []), self.event))

    def group(self, seed: int) -> Group:
        """Return the group of this point for a seed; the same seed gives the same group.

        Parameters
        ----------
        seed : 0 or more

        Raises
        ------
        BadInput
            If the seed is out of range.
        """
        require_whole("seed", seed)
        rng = np.random.default_rng(seed)
        many = max(1, self.members // 10)
        joined = {"join-one": 1, "join-many": many}.get(self.event, 0)
        left = {"leave-one": 1, "leave-many": many}.get(self.event, 0)
        everybody = self.members + left
        reads = self._reads(rng, everybody)
        counts = self._counts()
        stayed = np.arange(everybody) >= left
        if self.event == "fresh":
            return _group(f"{self.name}-{seed}", reads[stayed], counts, None)
        was_there = np.arange(everybody) < everybody - joined
        added = np.maximum(counts // 10, 1) if self.event == "partitions-added" else 0 * counts
        before = _group("before", reads[was_there], np.maximum(counts - added, 0), None)
        (held,) = placed([before])
        owner = np.full(int(counts.sum()), -1)
        first = np.repeat(np.cumsum(counts) - counts - before.first[:-1], before.partitions)
        owner[np.arange(before.n_partitions) + first] = held - left
        return _group(f"{self.name}-{seed}", reads[stayed], counts, np.maximum(owner, -1))

    def _counts(self) -> Int64:
        total = self.members * self.per_member
        share = 1 / np.arange(1, self.topics + 1) if self.skewed else np.ones(self.topics)
        ends = np.round(np.cumsum(share) / share.sum() * total).astype(np.int64)
        return np.asarray(np.diff(ends, prepend=0))

    def _reads(self, rng: np.random.Generator, members: int) -> Bools:
        """Return (members, topics) bool: who reads what; everybody reads something."""
        member, topic = np.arange(members)[:, None], np.arange(self.topics)[None, :]
        if self.subscriptions == "buckets":
            buckets = min(BUCKETS, self.topics)
            return np.asarray(member % buckets == topic % buckets)
        if self.subscriptions == "nested":
            return np.asarray(topic <= (member * self.topics) // members)
        if self.subscriptions == "random":
            found = np.asarray(rng.random((members, self.topics)) < 0.5)
            found[np.arange(members), rng.integers(0, self.topics, members)] = True
            return found
        return np.ones((members, self.topics), bool)


def family_named(name: str) -> Family:
    """Return the point with a name of the form of `Family.name`.

    Raises
    ------
    BadInput
        If the name has another form.

    Examples
    --------
    >>> from compare.samples.families import family_named
    >>> family_named("6x10-20-topics-random-skewed-join-one").members
    6
    """
    found = _NAME.fullmatch(name)
    if found is None:
        raise BadInput(
            f"family: {name!r}, expected MEMBERSxPARTITIONS_EACH-TOPICS-topics-SUBSCRIPTIONS-"
            "EVENT as in 10x6-10-topics-equal-join-one"
        )
    return Family(
        int(found["members"]),
        int(found["per_member"]),
        int(found["topics"]),
        found["subscriptions"],  # type: ignore[arg-type]
        found["event"],  # type: ignore[arg-type]
        skewed=found["skewed"] is not None,
    )


def grid(members: tuple[int, ...], most_partitions: int) -> Iterator[Family]:
    """Return the maintainers' grid, fresh groups and those that one member joins.

    Parameters
    ----------
    members : sizes of groups, each 1 or more
    most_partitions : points with more partitions are left out

    Raises
    ------
    BadInput
        If a size is less than 1, or `most_partitions` less than 0.

    Examples
    --------
    >>> from assay import grid
    >>> points = list(grid((10,), 50))
    >>> len(points), points[1].name
    (4, '10x5-10-topics-equal-join-one')
    """
    _require_sizes(members)
    require_whole("most_partitions", most_partitions)
    points = product(members, (5, 10, 50), (10, 100, 1000), ("equal", "buckets"))
    for size, per_member, topics, subscriptions in points:
        if topics <= size * per_member <= most_partitions:
            for event in ("fresh", "join-one"):
                yield Family(size, per_member, topics, subscriptions, event)  # type: ignore[arg-type]


def differing(members: tuple[int, ...], topics: int = 20) -> Iterator[Family]:
    """Return points with subscriptions that differ, for which assignors miss the best balance.

    They have nested and random subscriptions, even and skewed topics, every event, and 10
    partitions per member.

    Parameters
    ----------
    members : sizes of groups, each 1 or more
    topics : how many topics share the partitions

    Raises
    ------
    BadInput
        If a size is less than 1.

    Examples
    --------
    >>> from assay import differing
    >>> points = list(differing((10, 100)))
    >>> len(points), points[0].name
    (56, '10x10-20-topics-nested-fresh')
    """
    _require_sizes(members)
    for size in members:
        for subscriptions, skewed, event in product(
            ("nested", "random"), (False, True), get_args(LastEvent)
        ):
            yield Family(size, 10, topics, subscriptions, event, skewed)  # type: ignore[arg-type]


def _require_sizes(members: tuple[int, ...]) -> None:
    for size in members:
        require_whole("members", size, least=1)


def _group(
    name: str,
    reads: Bools,
    counts: Int64,
    owner: Int64 | None,
) -> Group:
    members, topics = reads.shape
    digits = len(str(max(members, topics)))
    return Group.from_arrays(
        group=name,
        topics=[f"t{i:0{digits}}" for i in range(topics)],
        partitions=counts,
        members=[f"c{i:0{digits}}" for i in range(members)],
        subscription_indptr=starts(reads.sum(axis=1)),
        subscription_topics=np.nonzero(reads)[1],
        owner=owner,
    )


def placed(groups: Sequence[Group]) -> list[Int32]:
    """Return an optimal assignment of each group: the owners, (all partitions,) int32.

    Among optima it takes the one that the flow finds, without the rule by which solutions settle
    ties: a change of that rule must not change the groups of a seed.
    """
    from groups.fleet import Fleet
    from optimal.flow.algorithm import flow

    fleet = Fleet.of(groups)
    found = flow(fleet.group, parse_objective("kip-54"), settle_ties=False).owner
    assert found is not None
    return [fleet.owner_in(number, found) for number in range(len(fleet))]
