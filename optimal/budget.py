"""Budget: the least of a tier within limits, by CP-SAT over interchangeable partitions."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np

from groups.errors import SolverContradiction
from groups.group import NOBODY
from groups.tiers import TIERS
from optimal.cpsat import PRESOLVED, greatest_cost

if TYPE_CHECKING:
    from collections.abc import Mapping

    from groups.group import Group, Int32, Int64
    from groups.tiers import Objective

Cost = Any


@dataclass(frozen=True, eq=False)
class Least:
    """What is known of the least value of a tier within limits.

    Attributes
    ----------
    owner : (all partitions,) int32, an assignment within the limits, None where none was found
    bound : no assignment within the limits has less; above the tier's greatest value where it is
        proved that there is none
    """

    owner: Int32 | None
    bound: int


def least_within(
    group: Group,
    tier: str,
    limits: Mapping[str, tuple[int, int]],
    *,
    start: Int32,
    seconds: float | None,
) -> Least:
    """Find the least of a tier among the assignments whose values stay within limits.

    One integer says for each class of interchangeable partitions and each of its readers how
    many the reader gets. Partitions are interchangeable where the tiers cannot tell them apart.

    Parameters
    ----------
    limits : least and greatest value of each tier that counts; the least ones must follow from
        the greatest ones, they only help to prove
    start : (all partitions,) int32, an assignment to start the search from
    seconds : time limit, None for as long as it takes

    Raises
    ------
    BadInput
        Where a cost leaves the integers that the solver tells apart.
    """
    tiers = tuple(limits)
    greatest = greatest_cost(group, tiers)
    from ortools.sat.python import cp_model

    program = _Program.of(group, tiers)
    costs = {name: program.cost(name) for name in tiers}
    for name in tiers:
        program.model.add_linear_constraint(costs[name], *limits[name])
    program.model.minimize(costs[tier])
    program.hint(start)
    solver = cp_model.CpSolver()
    solver.parameters.num_workers = 1
    solver.parameters.cp_model_presolve = greatest < PRESOLVED
    if seconds is not None:
        solver.parameters.max_time_in_seconds = seconds
    status = solver.solve(program.model)
    low, high = limits[tier]
    if status == cp_model.INFEASIBLE:
        return Least(None, high + 1)
    if status == cp_model.UNKNOWN:
        return Least(None, low)
    if status == cp_model.OPTIMAL:
        return Least(program.answer(solver), int(solver.value(costs[tier])))
    if status == cp_model.FEASIBLE:
        bound = int(solver.response_proto.inner_objective_lower_bound)
        return Least(program.answer(solver), max(bound, low))
    raise SolverContradiction(f"method cp-sat: {status.name} at tier {tier} of {group!r}")


@dataclass(frozen=True)
class _Program:
    """How many partitions of each class each reader gets, and what the tiers say about it.

    Attributes
    ----------
    of_partition : (all partitions,) int64, class of each partition, -1 where nobody reads it
    example : (classes,) int64, a partition of each class
    gets : number of partitions by (class, member)
    """

    group: Group
    model: Any
    of_partition: Int64
    example: Int64
    gets: dict[tuple[int, int], Any]

    @staticmethod
    def of(group: Group, tiers: Objective) -> _Program:
        """Put the partitions in classes and say that each goes to one reader."""
        from ortools.sat.python import cp_model

        of_partition, example = _classes(group, tiers)
        model = cp_model.CpModel()
        size = np.bincount(of_partition[of_partition >= 0], minlength=len(example)).tolist()
        gets = {}
        for c, p in enumerate(example.tolist()):
            readers = _readers(group, int(group.topic[p]))
            for m in readers:
                gets[c, m] = model.new_int_var(0, size[c], "")
            model.add(sum(gets[c, m] for m in readers) == size[c])
        return _Program(group, model, of_partition, example, gets)

    def cost(self, tier: str) -> Cost:
        """Return an expression that is at least the tier's value, and equal at its least."""
        if tier == "balance":
            return self.pairs(*self.loads(np.ones(self.group.n_partitions, np.int64)))
        if tier == "topic_balance":
            return self.squares()
        if tier in ("stickiness", "moved_weight"):
            return self.moves(self.group.weight if tier == "moved_weight" else None)
        if tier == "racks":
            return self.racks()
        column = self.group.lag_records if TIERS[tier].needs == "lag" else self.group.weight
        loads = self.loads(column)
        if tier.startswith("peak_"):
            return self.peak(*loads)
        return self.spread(*loads) if tier.endswith("_spread") else self.pairs(*loads)

    def loads(self, column: Int64 | None) -> tuple[list[Cost], int]:
        """Return a variable for what each member carries of a column, and the total."""
        column = np.zeros(self.group.n_partitions, np.int64) if column is None else column
        read = self.of_partition >= 0
        total = int(column[read].sum())
        loads = [self.model.new_int_var(0, total, "") for _ in self.group.members]
        terms: list[list[Cost]] = [[] for _ in self.group.members]
        for (c, m), gets in self.gets.items():
            terms[m].append(int(column[self.example[c]]) * gets)
        for load, carried in zip(loads, terms, strict=True):
            self.model.add(load == sum(carried))
        self.model.add(sum(loads) == total)
        return loads, total

    def pairs(self, loads: list[Cost], total: int) -> Cost:
        """Cost the difference of each pair of members."""
        apart = []
        for one, other in combinations(loads, 2):
            apart.append(self.model.new_int_var(0, total, ""))
            self.model.add(one - other <= apart[-1])
            self.model.add(other - one <= apart[-1])
        return sum(apart)

    def peak(self, loads: list[Cost], total: int) -> Cost:
        """Cost what the busiest member carries."""
        peak = self.model.new_int_var(0, total, "")
        for load in loads:
            self.model.add(load <= peak)
        return peak

    def spread(self, loads: list[Cost], total: int) -> Cost:
        """Cost what the busiest member carries more than the idlest."""
        low = self.model.new_int_var(0, total, "")
        for load in loads:
            self.model.add(low <= load)
        return self.peak(loads, total) - low

    def squares(self) -> Cost:
        """Cost the k-th partition that a member has of each topic 2k - 1: a sum of squares."""
        topic = self.group.topic[self.example].tolist()
        held: dict[tuple[int, int], list[Any]] = {}
        for (c, m), gets in self.gets.items():
            held.setdefault((topic[c], m), []).append(gets)
        cost = []
        for (t, _), gets in held.items():
            steps = [self.model.new_bool_var("") for _ in range(int(self.group.partitions[t]))]
            self.model.add(sum(steps) == sum(gets))
            cost += [(2 * k + 1) * step for k, step in enumerate(steps)]
        return sum(cost)

    def moves(self, weight: Int64 | None) -> Cost:
        """Cost the weight, else one, of each partition that leaves its owner."""
        owner = self.group.owner[self.example].tolist()
        worth = [1 if weight is None else int(weight[p]) for p in self.example.tolist()]
        return sum(
            worth[c] * gets for (c, m), gets in self.gets.items() if owner[c] not in (NOBODY, m)
        )

    def racks(self) -> Cost:
        """Cost one for each partition whose member is not in the rack of a replica."""
        racks = self.group.racks
        if racks is None or not self.gets:
            return 0
        c, m = np.array(list(self.gets), np.int64).T
        far = racks.misses(m, self.example[c]).tolist()
        return sum(gets for gets, miss in zip(self.gets.values(), far, strict=True) if miss)

    def hint(self, owner: Int32) -> None:
        """Start the search from an assignment."""
        held = Counter(zip(self.of_partition.tolist(), owner.tolist(), strict=True))
        for pair, gets in self.gets.items():
            self.model.add_hint(gets, held[pair])

    def answer(self, solver: Any) -> Int32:
        """Hand the partitions of each class out, those that may stay with their owner first."""
        owner = np.full(self.group.n_partitions, NOBODY, np.int32)
        before = self.group.owner
        left = {pair: solver.value(gets) for pair, gets in self.gets.items()}
        for p, c in enumerate(self.of_partition.tolist()):
            if left.get((c, int(before[p])), 0):
                owner[p] = before[p]
                left[c, int(before[p])] -= 1
        deal: dict[int, list[int]] = {}
        for (c, m), number in left.items():
            deal.setdefault(c, []).extend([m] * number)
        rest = {c: iter(members) for c, members in deal.items()}
        for p, c in enumerate(self.of_partition.tolist()):
            if c >= 0 and owner[p] == NOBODY:
                owner[p] = next(rest[c])
        return owner


def _readers(group: Group, topic: int) -> list[int]:
    found: list[int] = group.subscription_member[group.subscription_topics == topic].tolist()
    return found


def _classes(group: Group, tiers: Objective) -> tuple[Int64, Int64]:
    """(class of each partition or -1, a partition of each class)."""
    seen: dict[tuple[int, ...], int] = {}
    pool = np.array(
        [
            t if "topic_balance" in tiers else seen.setdefault(tuple(_readers(group, t)), t)
            for t in range(len(group.topics))
        ],
        np.int64,
    )
    needs = {TIERS[tier].needs for tier in tiers}
    columns = [pool[group.topic]]
    if {"stickiness", "moved_weight"} & set(tiers):
        columns.append(group.owner.astype(np.int64))
    if "weight" in needs and group.weight is not None:
        columns.append(group.weight)
    if "lag" in needs and group.lag_records is not None:
        columns.append(group.lag_records)
    if "racks" in needs and group.racks is not None:
        columns.append(group.racks.replicas.astype(np.int64))
    read = np.flatnonzero(group.readers[group.topic] > 0)
    of_partition = np.full(group.n_partitions, NOBODY, np.int64)
    if not len(read):
        return of_partition, read
    _, example, of_read = np.unique(
        np.stack(columns)[:, read], axis=1, return_index=True, return_inverse=True
    )
    of_partition[read] = of_read.reshape(-1)
    return of_partition, read[example]
