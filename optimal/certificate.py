"""The checker: recomputes a solution's validity, terms and certificate.

It imports no solver and nothing of the solving code, and is linear in the size of the group.
The certificate is two integers per member (DESIGN sections 2 and 3), generalised so that tiers
which cost each partition by itself (`stickiness`, `moved_weight`, `racks`) may come before and
after `balance`:

* those before `balance` leave each partition the readers of least cost, the *open* ones;
* `level` proves the balance over these; a reader of the partition's level is *allowed*;
* `price` proves the tiers after `balance`, one unit of tier i counting ``scale[i]``; after
  `balance` alone it proves stickiness, as the format has it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from groups.assignment import Assignment
from groups.errors import InvalidAssignment, ProofError, ProofTooLarge
from groups.tiers import require_data, values
from optimal.solution import ProofKind, Solution, Status

if TYPE_CHECKING:
    from groups.group import Bools, Group, Int32, Int64, Ints
    from groups.tiers import Objective
    from optimal.solution import Proof

SEPARABLE = frozenset({"stickiness", "moved_weight", "racks"})
SAFE = 2**62


def check(group: Group, solution: Solution) -> tuple[str, ...]:
    """Check a solution against its group; return what could not be checked, a line each.

    Raises
    ------
    InvalidAssignment
        Where the assignment is not valid or a term is not what the solution says.
    ProofError
        Where the status is more than the proof allows, or the certificate does not hold; the
        message says where.

    Examples
    --------
    >>> from assay import Group, check, solve
    >>> group = Group.from_dict(
    ...     {
    ...         "format": "assay-group/1",
    ...         "group": "orders",
    ...         "topics": {"t0": 2, "t1": 3},
    ...         "members": {
    ...             "c0": {"subscription": ["t0", "t1"], "owned": {"t0": [0, 1], "t1": [0, 1, 2]}},
    ...             "c1": {"subscription": ["t1"]},
    ...         },
    ...     }
    ... )
    >>> check(group, solve(group))
    ()
    """
    assignment = solution.assignment
    if assignment is None:
        if solution.status is not Status.UNKNOWN:
            raise ProofError(f"status: {solution.status}, but there is no assignment")
        return ("there is no assignment to check",)
    require_data(group, solution.objective)
    if assignment.group is not group:
        # What counts is this group's own owners and readers, whatever the solution was made for.
        assignment = Assignment(group, assignment.owner.copy(), assignment.strays)
    assignment.require_valid()
    if tuple(term.name for term in solution.terms) != solution.objective:
        names = ", ".join(term.name for term in solution.terms)
        raise InvalidAssignment(f"terms: {names}, expected {', '.join(solution.objective)}")
    found = values(assignment, solution.objective)
    for term, value in zip(solution.terms, found, strict=True):
        if term.value != value:
            raise InvalidAssignment(f"terms.{term.name}: {term.value}, but the value is {value}")
        if term.bound is not None and term.bound > value:
            raise ProofError(f"terms.{term.name}: the bound {term.bound} is above {value}")
    closed = all(term.bound == term.value for term in solution.terms)
    kind = solution.proof.kind
    if solution.status is Status.UNKNOWN:
        raise ProofError("status: unknown, but there is an assignment")
    if solution.status is Status.OPTIMAL and (not closed or kind is ProofKind.NONE):
        raise ProofError("status: optimal, but the bounds or the kind of proof do not say so")
    if kind is ProofKind.CERTIFICATE:
        check_certificate(assignment, solution.objective, solution.proof, found)
        return ()
    if kind is ProofKind.NONE:
        return ("no proof is given: the bounds were not checked",)
    return (f"proof of kind {kind}: the bounds are its word and were not checked",)


def check_certificate(
    assignment: Assignment,
    objective: Objective,
    proof: Proof,
    found: tuple[int, ...] | None = None,
) -> None:
    """Check that a certificate proves a valid assignment optimal for `objective`.

    Parameters
    ----------
    found : the values of the assignment's tiers, where they are known already

    Raises
    ------
    ProofError
        Where it does not; the message names the first place where it fails.
    """
    if found is None:
        found = values(assignment, objective)
    if objective == ("topic_balance",):
        _check_topics(assignment.group, found[0])
        return
    if objective in (("balance",), ("balance", "stickiness")):
        moved = found[1] if len(found) > 1 else values(assignment, ("stickiness",))[0]
        _check_by_topic(assignment, proof, moved)
        return
    before, after = _split(objective)
    readers = _Readers.of(assignment, before, with_racks="racks" in objective)
    _check_open(assignment, readers, before)
    if "balance" not in objective:
        return
    level = _level(assignment.group, proof)
    least = _least_level(readers, level)
    _check_levels(assignment, readers, level, least)
    _check_balance(assignment, level, least)
    _check_prices(readers, after, proof, level, least, found[len(before) + 1 :])


def _check_by_topic(assignment: Assignment, proof: Proof, moved: int) -> None:
    """Check balance, and stickiness after it, where readers of a topic differ by nothing else.

    What counts of a member is then its row, of a partition its topic and its valid owner.
    """
    group = assignment.group
    level, price = _level(group, proof), np.asarray(proof.price)
    partitions = int(group.partitions[group.readers > 0].sum())
    topics = _Topics.of(group, level, price)
    _check_topic_levels(assignment, topics, level)
    _check_loads(assignment, level)
    _check_balance(assignment, level, topics.least, topics.partitions)
    scale = _scale(group, ("stickiness",), proof, partitions)
    _refuse_too_large(price, scale[0], partitions + len(group.members) + 1)
    sort, owner, count = topics.sorts(group)
    cheapest = topics.cheapest[sort] + np.where(owner >= 0, scale[0], 0)
    if len(level):
        allowed = (owner >= 0) & (level[owner] == topics.least[sort])
        np.minimum(cheapest, price[owner], out=cheapest, where=allowed)
    _check_bound(("stickiness",), level, price, int((cheapest * count).sum()), scale[0] * moved)


@dataclass(frozen=True, eq=False)
class _Topics:
    """Topics that somebody reads, put together where levels and prices are the same.

    Attributes
    ----------
    sort : (topics,) int64, -1 where nobody reads the topic or it has no partitions
    least : (sorts,) int64, the least level among the readers
    cheapest : (sorts,) int64, the least price among the readers of that level
    partitions : (sorts,) int64
    """

    sort: Int64
    least: Int64
    cheapest: Int64
    partitions: Int64

    @staticmethod
    def of(group: Group, level: Int64, price: Int64) -> _Topics:
        """Find the least level of the readers of each topic and the least price among those."""
        row, listed, rows = group.subscription_row, group.subscription_topics, len(group.row_size)
        kind = np.repeat(np.arange(rows), np.diff(group.subscription_indptr))
        of_row = _least(level, row, rows)
        entry = of_row[kind]
        least = _least(entry, listed, len(group.topics))
        tight = np.where(level == of_row[row], price, SAFE)
        entry = np.where(entry == least[listed], _least(tight, row, rows)[kind], SAFE)
        cheapest = _least(entry, listed, len(group.topics))
        there = np.flatnonzero((group.readers > 0) & (group.partitions > 0))
        sort = np.full(len(group.topics), -1, np.int64)
        pairs = np.stack((least[there], cheapest[there]))
        found = np.zeros(len(there), np.int64)
        if len(there) and (pairs != pairs[:, :1]).any():
            pairs, found = np.unique(pairs, axis=1, return_inverse=True)
        sort[there] = found
        sorts = int(found.max(initial=-1)) + 1
        partitions = np.zeros(sorts, np.int64)
        np.add.at(partitions, found, group.partitions[there])
        return _Topics(sort, pairs[0, :sorts], pairs[1, :sorts], partitions)

    def sorts(self, group: Group) -> tuple[Int64, Int64, Int64]:
        """Return (sort, valid owner or -1, partitions) of all that somebody reads.

        Of one sort the first column has one entry, else all are equally long.
        """
        members = np.arange(-1, len(group.members))
        if (self.sort >= 0).all() and len(self.least) == 1:
            free = group.n_partitions - int(group.owned.sum())
            return np.zeros(1, np.int64), members, np.append(free, group.owned)
        sort = np.repeat(self.sort, group.partitions)
        read = sort >= 0
        sort, owner = sort[read], group.owner[read].astype(np.int64)
        if len(self.least) * len(members) > len(owner):
            return sort, owner, np.ones(len(owner), np.int64)
        count = np.bincount(sort * len(members) + owner + 1)
        key = np.flatnonzero(count)
        return key // len(members), key % len(members) - 1, count[key]


def _least(value: Int64, of: Ints, count: int) -> Int64:
    """(count,) int64: the least value of each, SAFE where there is none."""
    if count == 1 and len(value):
        return np.array([value.min()])
    found = np.full(count, SAFE, np.int64)
    np.minimum.at(found, of, value)
    return found


def _check_topic_levels(assignment: Assignment, topics: _Topics, level: Int64) -> None:
    """Every partition is with a member of the least level among its readers."""
    group = assignment.group
    if len(topics.least) == 1 and not ((assignment.loads > 0) & (level != topics.least[0])).any():
        return
    least = np.repeat(np.append(topics.least, SAFE)[topics.sort], group.partitions)
    held = np.flatnonzero(assignment.owner >= 0)
    member = assignment.owner[held]
    _check_least(group, held, member, level, least[held])


def _check_topics(group: Group, found: int) -> None:
    """Every reader of a topic holds its average, rounded down or up: the least sum of squares."""
    read = group.readers > 0
    even, more = np.divmod(group.partitions[read], group.readers[read])
    bound = sum(
        m * (q + 1) ** 2 + (n - m) * q**2
        for q, m, n in zip(even.tolist(), more.tolist(), group.readers[read].tolist(), strict=True)
    )
    if bound != found:
        raise ProofError(f"topic_balance: its least value is {bound}, not {found}")


@dataclass(frozen=True, eq=False)
class _Entries:
    """Readers by place: of each entry the member, and of each place that has some the first one.

    Attributes
    ----------
    member : (entries,) int64, in ascending order of places
    place, start : (places with readers,) int64
    size : (places with readers,) int64, how many readers each has
    places : how many places there are
    """

    member: Int64
    place: Int64
    start: Int64
    size: Int64
    places: int

    @staticmethod
    def of(place: Ints, member: Ints, places: int) -> _Entries:
        """Sort (place, member) pairs by place."""
        small = place.astype(np.uint16) if places < 2**16 else place
        order = np.argsort(small, kind="stable")
        size = np.bincount(place, minlength=places)
        there = np.flatnonzero(size)
        start = np.cumsum(size) - size
        return _Entries(member[order].astype(np.int64), there, start[there], size[there], places)

    def least(self, value: Int64) -> Int64:
        """(places,) int64: the least of an entry's value, SAFE where a place has none."""
        table = np.full(self.places, SAFE, np.int64)
        if len(self.member):
            table[self.place] = np.minimum.reduceat(value, self.start)
        return table


@dataclass(frozen=True, eq=False)
class _Readers:
    """Who may read each partition that somebody reads.

    A place is a topic, or a topic and its replica racks where racks count. The readers of a
    place are near a replica (class 0) or far from all (class 1); without racks all are near.

    Attributes
    ----------
    read : (read,) int64, the partitions that somebody reads
    place : (read,) int64; owner : (read,) int64, valid owner, -1 nobody
    owner_far : (read,) int64, 1 where the owner is far
    entries : the readers of each class; places : how many places there are
    open : per class (read,) bool, or None where every partition is open to the class
    owner_open : (read,) bool
    """

    group: Group
    read: Int64
    place: Int64
    places: int
    owner: Int64
    owner_far: Int64 | int
    entries: tuple[_Entries, ...]
    open: tuple[Bools | None, ...]
    owner_open: Bools

    @staticmethod
    def of(assignment: Assignment, before: Objective, *, with_racks: bool) -> _Readers:
        """Find the readers that cost least by the tiers before balance."""
        group, racks = assignment.group, assignment.group.racks
        anybody = group.readers > 0
        read = np.flatnonzero(np.repeat(anybody, group.partitions))
        owner = (group.owner if anybody.all() else group.owner[read]).astype(np.int64)
        held = owner >= 0
        far: Int64 | int = 0
        entries: tuple[_Entries, ...]
        if (racks is None or not with_racks) and len(group.row_size) == 1:
            # Topics with the same readers are one place.
            members = np.arange(len(group.members))
            place, places = np.zeros(len(read), np.int64), 1
            entries = (_Entries.of(np.zeros_like(members), members, 1),)
        elif racks is None or not with_racks:
            places = int(anybody.sum())
            index = np.cumsum(anybody) - 1
            place = np.repeat(np.arange(places), group.partitions[anybody])
            member, topic = group.subscription_pairs
            entries = (_Entries.of(index[topic], member, places),)
        else:
            place, places, entries = _rack_places(group, read)
            far = np.zeros(len(read), np.int64)
            far[held] = racks.misses(owner[held], read[held])
        everything = _Readers(
            group, read, place, places, owner, far, entries, (None,) * len(entries), held
        )
        if not before:
            return everything
        return everything.cheapest(before)

    def cheapest(self, before: Objective) -> _Readers:
        """Return the readers that cost least by some tiers."""
        weight = self.group.weight
        heaviest = 0 if weight is None else int(weight[self.read].max(initial=0))
        scale = lexicographic_scale([heaviest if t == "moved_weight" else 1 for t in before])
        moving, distance = self.moving(before, scale), _distance(before, scale)
        own = np.where(self.owner >= 0, distance * self.owner_far, SAFE)
        costs = []
        for far, entries in enumerate(self.entries):
            exists = np.zeros(self.places, bool)
            exists[entries.place] = True
            costs.append(np.where(exists[self.place], moving + distance * far, SAFE))
        least = own
        for cost in costs:
            least = np.minimum(least, cost)
        return replace(self, open=tuple(cost == least for cost in costs), owner_open=own == least)

    def moving(self, tiers: Objective, scale: tuple[int, ...]) -> Int64:
        """(read,) int64: what it costs by some tiers that a partition leaves its owner."""
        cost = np.zeros(len(self.read), np.int64)
        for tier, unit in zip(tiers, scale, strict=True):
            if tier == "stickiness":
                cost += unit
            elif tier == "moved_weight" and self.group.weight is not None:
                cost += unit * self.group.weight[self.read]
        return np.where(self.owner >= 0, cost, 0)

    def option(self, far: int, per_place: Int64) -> Int64:
        """(read,) int64: a value of the place where the class is open, else SAFE."""
        value = np.asarray(per_place[self.place])
        is_open = self.open[far]
        return value if is_open is None else np.where(is_open, value, SAFE)


def _rack_places(group: Group, read: Int64) -> tuple[Int64, int, tuple[_Entries, ...]]:
    """(place of each read partition, number of places, near and far entries)."""
    racks = group.racks
    if racks is None:
        raise ProofError("the group has no racks")
    width = int(racks.replicas.max(initial=-1)) + 1
    key = group.topic[read].astype(np.int64) * width + racks.replicas[read]
    _, sample, place = np.unique(key, return_index=True, return_inverse=True)
    topic = group.topic[read[sample]]
    reading, listed = group.subscription_pairs
    by_topic = np.argsort(listed, kind="stable")
    first = np.concatenate(([0], np.cumsum(group.readers)))
    counts = group.readers[topic]
    entry = np.repeat(np.arange(len(sample)), counts)
    within = np.arange(len(entry)) - np.repeat(np.cumsum(counts) - counts, counts)
    member = reading[by_topic[first[topic][entry] + within]].astype(np.int64)
    far = racks.misses(member, read[sample][entry])
    count = len(sample)
    near_and_far = (_Entries.of(entry[chosen], member[chosen], count) for chosen in (~far, far))
    return place, count, tuple(near_and_far)


def _split(objective: Objective) -> tuple[Objective, Objective]:
    at = objective.index("balance") if "balance" in objective else len(objective)
    before, after = objective[:at], objective[at + 1 :]
    for tier in (*before, *after):
        if tier not in SEPARABLE:
            raise ProofError(f"no certificate is defined for an objective with {tier}")
    return before, after


def _distance(tiers: Objective, scale: tuple[int, ...]) -> int:
    """Return what a far rack costs by some tiers."""
    return dict(zip(tiers, scale, strict=True)).get("racks", 0)


def lexicographic_scale(greatest: list[int]) -> tuple[int, ...]:
    """Return units that make a weighted sum lexicographic, given each tier's greatest value.

    Raises
    ------
    ProofError
        Where the sum would leave 64 bits.
    """
    scale: list[int] = []
    rest = 0
    for value in reversed(greatest):
        scale.append(rest + 1)
        rest += (rest + 1) * value
    if rest >= SAFE:
        raise ProofTooLarge("the costs of the tiers together leave 64 bits")
    return tuple(reversed(scale))


def _check_open(assignment: Assignment, readers: _Readers, before: Objective) -> None:
    if not before:
        return
    member = assignment.owner[readers.read].astype(np.int64)
    racks = assignment.group.racks
    open_to_it = np.asarray(readers.open[0])
    if racks is not None and len(readers.open) > 1:
        far = racks.misses(member, readers.read)
        open_to_it = np.where(far, np.asarray(readers.open[1]), open_to_it)
    open_to_it = np.where(member == readers.owner, readers.owner_open, open_to_it)
    if not open_to_it.all():
        place = _partition(assignment.group, int(readers.read[np.argmin(open_to_it)]))
        raise ProofError(f"{place}: its member costs more than another by {' > '.join(before)}")


def _level(group: Group, proof: Proof) -> Int64:
    level = proof.level
    if level is None or proof.price is None:
        raise ProofError("level or price is missing")
    for name, column in (("level", level), ("price", proof.price)):
        if column.shape != (len(group.members),):
            raise ProofError(f"{name}: {len(column)} integers for {len(group.members)} members")
    wrong = (level < -1) | (level > group.n_partitions)
    if wrong.any():
        member = int(np.argmax(wrong))
        raise ProofError(f"level.{group.members[member]}: {level[member]} is no possible load")
    return level


def _least_level(readers: _Readers, level: Int64) -> Int64:
    """(read,) int64: the least level among the open readers of each partition."""
    classes = [
        readers.option(far, entries.least(level[entries.member]))
        for far, entries in enumerate(readers.entries)
    ]
    least = classes[0] if len(classes) == 1 else np.minimum(*classes)
    if readers.open[0] is not None and len(level):
        own = np.where(readers.owner_open, level[readers.owner], SAFE)
        least = np.minimum(least, own)
    return least


def _check_levels(assignment: Assignment, readers: _Readers, level: Int64, least: Int64) -> None:
    member = assignment.owner[readers.read]
    _check_least(assignment.group, readers.read, member, level, least)
    _check_loads(assignment, level)


def _check_least(
    group: Group, partition: Int64, member: Int32, level: Int64, least: Int64
) -> None:
    wrong = level[member] != least
    if wrong.any():
        at = int(np.argmax(wrong))
        raise ProofError(
            f"{_partition(group, int(partition[at]))}: with {group.members[member[at]]} of "
            f"level {level[member[at]]}, but its least level is {least[at]}"
        )


def _check_loads(assignment: Assignment, level: Int64) -> None:
    group, loads = assignment.group, assignment.loads
    wrong = (loads < np.maximum(level, 0)) | (loads > level + 1)
    if wrong.any():
        at = int(np.argmax(wrong))
        raise ProofError(
            f"{group.members[at]}: holds {loads[at]}, but level {level[at]} allows "
            f"{max(int(level[at]), 0)} to {level[at] + 1}"
        )


def _check_balance(
    assignment: Assignment, level: Int64, least: Int64, times: Int64 | None = None
) -> None:
    """Sum of the loads above k = partitions that cannot leave level >= k, less k each, all k.

    Parameters
    ----------
    least : the least level of partitions; times : of how many each, one where None
    """
    loads = assignment.loads
    top = int(loads.max(initial=0)) + 1

    def at_least(column: Int64, times: Int64 | None = None) -> Ints:
        """(top + 1,) int64: how many values are k or more, for each k."""
        place = np.clip(column, -1, top) + 1
        counts = np.bincount(place, minlength=top + 2)
        if times is not None:
            counts = np.zeros(top + 2, np.int64)
            np.add.at(counts, place, times)
        return np.asarray(np.cumsum(counts[::-1])[::-1][1:])

    above = np.append(np.cumsum(at_least(loads)[::-1])[::-1][1:], 0)
    k = np.arange(top + 1)
    needed = at_least(least, times) - k * at_least(level)
    wrong = above[:top] != needed[:top]
    if wrong.any():
        at = int(np.argmax(wrong))
        raise ProofError(
            f"level: the loads above {at} sum to {above[at]}, but the bound is {needed[at]}"
        )


def _check_prices(
    readers: _Readers,
    after: Objective,
    proof: Proof,
    level: Int64,
    least: Int64,
    found: tuple[int, ...],
) -> None:
    group, price = readers.group, proof.price
    if price is None:
        raise ProofError("price is missing")
    scale = _scale(group, after, proof, len(readers.read))
    weights = 0 if group.weight is None else int(group.weight[readers.read].max(initial=0))
    # One summand a partition, and loads that add up to all partitions and one a member more.
    summands = len(readers.read) + len(group.members) + 1
    dearest = sum(
        unit * (weights if tier == "moved_weight" else 1)
        for tier, unit in zip(after, scale, strict=True)
    )
    _refuse_too_large(price, dearest, summands)
    moving, distance = readers.moving(after, scale), _distance(after, scale)
    costs = []
    for far, entries in enumerate(readers.entries):
        own_level = level[entries.member]
        class_level = entries.least(own_level)
        tight = own_level == np.repeat(class_level[entries.place], entries.size)
        class_price = entries.least(np.where(tight, price[entries.member], SAFE))
        cost = readers.option(far, class_price) + (moving + distance * far)
        if len(readers.entries) > 1 or readers.open[0] is not None:
            cost = np.where(readers.option(far, class_level) == least, cost, SAFE)
        costs.append(cost)
    cheapest = costs[0] if len(costs) == 1 else np.minimum(*costs)
    if readers.owner_open.any():
        stays = np.take(price, readers.owner, mode="wrap") + distance * readers.owner_far
        own_level = np.take(level, readers.owner, mode="wrap")
        allowed = readers.owner_open & (own_level == least)
        np.minimum(cheapest, stays, out=cheapest, where=allowed)
    paid = sum(unit * value for unit, value in zip(scale, found, strict=True))
    _check_bound(after, level, price, int(cheapest.sum()), paid)


def _refuse_too_large(price: Int64, dearest: int, summands: int) -> None:
    most = max(abs(int(price.max(initial=0))), abs(int(price.min(initial=0))))
    if (most + dearest) * summands >= SAFE:
        raise ProofTooLarge("price: the sum of the prices leaves 64 bits")


def _check_bound(after: Objective, level: Int64, price: Int64, cheapest: int, paid: int) -> None:
    """The cheapest places, less what full and empty places are worth, cost what is paid."""
    high, low = level + 1, np.maximum(level, 0)
    bounds = high * np.maximum(price, 0) - low * np.maximum(-price, 0)
    bound = cheapest - int(bounds.sum())
    if bound != paid:
        raise ProofError(f"price: the prices bound {' > '.join(after)} by {bound}, not by {paid}")


def _scale(group: Group, after: Objective, proof: Proof, partitions: int) -> tuple[int, ...]:
    scale = proof.scale or (1,) * min(len(after), 1)
    if len(scale) != len(after) or any(unit < 1 for unit in scale):
        raise ProofError(f"scale: expected {len(after)} units of 1 or more")
    rest = 0
    for tier, unit in zip(reversed(after), reversed(scale), strict=True):
        if unit <= rest:
            raise ProofError(f"scale: {unit} for {tier} does not outweigh the tiers after it")
        total = partitions
        if tier == "moved_weight" and group.weight is not None:
            total = int(group.weight[group.owner >= 0].sum())
        rest += unit * total
    return tuple(scale)


def _partition(group: Group, partition: int) -> str:
    return f"{group.topics[group.topic[partition]]}-{group.number[partition]}"
