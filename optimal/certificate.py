"""The checker: recomputes a solution's validity, terms and certificate.

It imports no solver and nothing of the solving code, and is linear in the size of the group.
The certificate is two integers per member (DESIGN sections 2 and 3), generalised so that tiers
which cost each partition by itself (`stickiness`, `moved_weight`, `racks`) may come before and
after `balance`:

* those before `balance` leave each partition the readers of least cost, the *open* ones;
* `level` proves the balance over these; a reader of the partition's level is *allowed*;
* `price` proves the tiers after `balance`, one unit of tier i counting ``scale[i]``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from groups.assignment import Assignment
from groups.errors import InvalidAssignment, ProofError
from groups.tiers import require_data, values
from optimal.solution import ProofKind, Solution, Status

if TYPE_CHECKING:
    from groups.group import Bools, Group, Int64, Ints
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
        check_certificate(assignment, solution.objective, solution.proof)
        return ()
    if kind is ProofKind.NONE:
        return ("no proof is given: the bounds were not checked",)
    return (f"proof of kind {kind}: the bounds are its word and were not checked",)


def check_certificate(assignment: Assignment, objective: Objective, proof: Proof) -> None:
    """Check that a certificate proves a valid assignment optimal for `objective`.

    Raises
    ------
    ProofError
        Where it does not; the message names the first place where it fails.
    """
    before, after = _split(objective)
    costs = _Costs(assignment.group)
    read = np.flatnonzero(assignment.group.readers[assignment.group.topic] > 0)
    readers = _open_readers(costs, before, read, counts_racks="racks" in objective)
    owner = assignment.owner[read].astype(np.int64)
    open_to_it = np.where(
        owner == readers.owner, readers.owner_open, readers.open_class(costs.miss(owner, read))
    )
    if not open_to_it.all():
        place = _partition(assignment.group, int(read[np.argmin(open_to_it)]))
        raise ProofError(f"{place}: its member costs more than another by {' > '.join(before)}")
    if "balance" not in objective:
        return
    level = _level(assignment.group, proof)
    least = _least_level(costs, readers, level)
    _check_levels(assignment, read, level, least)
    _check_balance(assignment, level, least)
    _check_prices(assignment, costs, readers, after, proof, level, least)


@dataclass(frozen=True)
class _Costs:
    """What moving and distance cost, per partition and per reader.

    Readers of one partition fall into three: its owner, those near a replica, those far from all.
    """

    group: Group

    def miss(self, member: Ints, partition: Ints) -> Int64:
        racks = self.group.racks
        if racks is None:
            return np.zeros(len(partition), np.int64)
        return racks.misses(member, partition).astype(np.int64)

    def moving(self, tiers: Objective, scale: tuple[int, ...], partition: Int64) -> Int64:
        """(partitions,) int64: what it costs that a partition leaves its owner."""
        cost = np.zeros(len(partition), np.int64)
        for tier, unit in zip(tiers, scale, strict=True):
            if tier == "stickiness":
                cost += unit
            elif tier == "moved_weight" and self.group.weight is not None:
                cost += unit * self.group.weight[partition]
        return np.where(self.group.owner[partition] >= 0, cost, 0)

    def distance(self, tiers: Objective, scale: tuple[int, ...]) -> int:
        """Return what a far rack costs."""
        return dict(zip(tiers, scale, strict=True)).get("racks", 0)

    def places(self, partition: Int64, *, counts_racks: bool) -> tuple[Int64, ...]:
        """(place of each partition, then per entry: place, member, class 0 near or 1 far).

        A place is a topic, or a topic and its replica racks where racks count.
        """
        group, racks = self.group, self.group.racks
        key = group.topic[partition].astype(np.int64)
        if racks is not None and counts_racks:
            key = key * (int(racks.replicas.max(initial=-1)) + 1) + racks.replicas[partition]
        _, sample, place = np.unique(key, return_index=True, return_inverse=True)
        topic = group.topic[partition[sample]]
        by_topic = np.argsort(group.subscription_topics, kind="stable")
        first = np.concatenate(([0], np.cumsum(group.readers)))
        counts = group.readers[topic]
        entry_place = np.repeat(np.arange(len(sample)), counts)
        within = np.arange(len(entry_place)) - np.repeat(np.cumsum(counts) - counts, counts)
        member = group.subscription_member[by_topic[first[topic][entry_place] + within]]
        member = member.astype(np.int64)
        far = np.zeros(len(member), np.int64)
        if counts_racks:
            far = self.miss(member, partition[sample][entry_place])
        columns = (place, entry_place, member, far)
        return tuple(c.astype(np.int64) for c in columns)


@dataclass(frozen=True)
class _Readers:
    """Who may read each partition at least cost by the tiers before balance.

    Per read partition: place, owner (-1 nobody), whether the owner is open, and whether the near
    and the far readers are: (partitions, 2) bool. Per entry: place * 2 + class, and member.
    """

    place: Int64
    owner: Int64
    owner_open: Bools
    class_open: Bools
    entry: Int64
    member: Int64
    counts_racks: bool

    def open_class(self, far: Int64) -> Bools:
        rows = np.arange(len(self.place))
        return np.asarray(self.class_open[rows, far if self.counts_racks else 0], bool)

    def least(self, per_member: Int64, entries: Bools | None = None) -> Int64:
        """(partitions, 2) int64: least value among the near and the far readers of its place."""
        places = int(self.place.max(initial=-1)) + 1
        table = np.full(places * 2, SAFE, np.int64)
        chosen = slice(None) if entries is None else entries
        np.minimum.at(table, self.entry[chosen], per_member[self.member[chosen]])
        return np.asarray(table.reshape(-1, 2)[self.place])


def _split(objective: Objective) -> tuple[Objective, Objective]:
    at = objective.index("balance") if "balance" in objective else len(objective)
    before, after = objective[:at], objective[at + 1 :]
    for tier in (*before, *after):
        if tier not in SEPARABLE:
            raise ProofError(f"no certificate is defined for an objective with {tier}")
    return before, after


def _open_readers(
    costs: _Costs, before: Objective, read: Int64, *, counts_racks: bool
) -> _Readers:
    group = costs.group
    place, entry_place, member, far = costs.places(read, counts_racks=counts_racks)
    entry = entry_place * 2 + far
    exists = np.zeros((int(place.max(initial=-1)) + 1) * 2, bool)
    exists[entry] = True
    owner = group.owner[read].astype(np.int64)
    greatest = 0 if group.weight is None else int(group.weight[read].max(initial=0))
    scale = lexicographic_scale([greatest if t == "moved_weight" else 1 for t in before])
    moving, distance = costs.moving(before, scale, read), costs.distance(before, scale)
    class_cost = moving[:, None] + distance * np.array([0, 1])
    class_cost = np.where(exists.reshape(-1, 2)[place], class_cost, SAFE)
    owner_cost = np.where(owner >= 0, distance * costs.miss(np.maximum(owner, 0), read), SAFE)
    if not len(group.members):
        owner_cost = np.full(len(read), SAFE, np.int64)
    cheapest = np.minimum(class_cost.min(axis=1, initial=SAFE), owner_cost)
    return _Readers(
        place=place,
        owner=owner,
        owner_open=(owner >= 0) & (owner_cost == cheapest),
        class_open=class_cost == cheapest[:, None],
        entry=entry,
        member=member,
        counts_racks=counts_racks,
    )


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
        raise ProofError("the costs of the tiers together leave 64 bits")
    return tuple(reversed(scale))


def _level(group: Group, proof: Proof) -> Int64:
    level = proof.level
    if level is None or proof.price is None:
        raise ProofError("level or price is missing")
    wrong = (level < -1) | (level > group.n_partitions)
    if wrong.any():
        member = int(np.argmax(wrong))
        raise ProofError(f"level.{group.members[member]}: {level[member]} is no possible load")
    return level


def _least_level(costs: _Costs, readers: _Readers, level: Int64) -> Int64:
    """(partitions,) int64: the least level among the open readers of each partition."""
    least = np.where(readers.class_open, readers.least(level), SAFE).min(axis=1, initial=SAFE)
    if len(level):
        least = np.minimum(least, np.where(readers.owner_open, level[readers.owner], SAFE))
    return np.asarray(least)


def _check_levels(assignment: Assignment, read: Int64, level: Int64, least: Int64) -> None:
    group, loads = assignment.group, assignment.loads
    member = assignment.owner[read]
    wrong = level[member] != least
    if wrong.any():
        at = int(np.argmax(wrong))
        raise ProofError(
            f"{_partition(group, int(read[at]))}: with {group.members[member[at]]} of level "
            f"{level[member[at]]}, but its least level is {least[at]}"
        )
    wrong = (loads < np.maximum(level, 0)) | (loads > level + 1)
    if wrong.any():
        at = int(np.argmax(wrong))
        raise ProofError(
            f"{group.members[at]}: holds {loads[at]}, but level {level[at]} allows "
            f"{max(int(level[at]), 0)} to {level[at] + 1}"
        )


def _check_balance(assignment: Assignment, level: Int64, least: Int64) -> None:
    """Sum of the loads above k = partitions that cannot leave level >= k, less k each, all k."""
    loads = assignment.loads
    top = int(loads.max(initial=0)) + 1

    def at_least(column: Int64) -> Ints:
        """(top + 1,) int64: how many values are k or more, for each k."""
        counts = np.bincount(np.clip(column, -1, top) + 1, minlength=top + 2)
        return np.asarray(np.cumsum(counts[::-1])[::-1][1:])

    above = np.append(np.cumsum(at_least(loads)[::-1])[::-1][1:], 0)
    k = np.arange(top + 1)
    needed = at_least(least) - k * at_least(level)
    wrong = above[:top] != needed[:top]
    if wrong.any():
        at = int(np.argmax(wrong))
        raise ProofError(
            f"level: the loads above {at} sum to {above[at]}, but the bound is {needed[at]}"
        )


def _check_prices(
    assignment: Assignment,
    costs: _Costs,
    readers: _Readers,
    after: Objective,
    proof: Proof,
    level: Int64,
    least: Int64,
) -> None:
    group, price = assignment.group, proof.price
    if price is None:
        raise ProofError("price is missing")
    read = np.flatnonzero(group.readers[group.topic] > 0)
    scale = _scale(group, after, proof, len(read))
    most = max(abs(int(price.max(initial=0))), abs(int(price.min(initial=0))))
    weights = 0 if group.weight is None else int(group.weight[read].max(initial=0))
    # One summand a partition, and loads that add up to all partitions and one a member more.
    summands = len(read) + len(group.members) + 1
    if (most + sum(scale) * (2 + weights)) * summands >= SAFE:
        raise ProofError("price: the sum of the prices leaves 64 bits")
    moving, distance = costs.moving(after, scale, read), costs.distance(after, scale)
    tight = level[readers.member] == readers_level(readers, level)
    at_level = readers.class_open & (readers.least(level) == least[:, None])
    cost = moving[:, None] + distance * np.array([0, 1]) + readers.least(price, tight)
    cheapest = np.where(at_level, cost, SAFE).min(axis=1, initial=SAFE)
    if len(price):
        own = distance * costs.miss(np.maximum(readers.owner, 0), read) + price[readers.owner]
        own_allowed = readers.owner_open & (level[readers.owner] == least)
        cheapest = np.minimum(cheapest, np.where(own_allowed, own, SAFE))
    high, low = level + 1, np.maximum(level, 0)
    bounds = high * np.maximum(price, 0) - low * np.maximum(-price, 0)
    bound = int(cheapest.sum()) - int(bounds.sum())
    paid = sum(unit * value for unit, value in zip(scale, values(assignment, after), strict=True))
    if bound != paid:
        raise ProofError(f"price: the prices bound {' > '.join(after)} by {bound}, not by {paid}")


def readers_level(readers: _Readers, level: Int64) -> Int64:
    """(entries,) int64: the least level among the readers of the entry's place and class."""
    table = np.full(int(readers.entry.max(initial=-1)) + 1, SAFE, np.int64)
    np.minimum.at(table, readers.entry, level[readers.member])
    return np.asarray(table[readers.entry])


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
