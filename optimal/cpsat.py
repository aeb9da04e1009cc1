"""CP-SAT: every tier as a constraint program, solved one tier after the other."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass
from itertools import combinations, pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from groups.errors import SolverContradiction
from groups.group import NOBODY
from groups.tiers import TIERS, require_data
from optimal.answer import Answer
from optimal.limits import require_costs_within
from optimal.solution import Proof, ProofKind, Stopped

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from groups.group import Group, Int32, Int64
    from groups.tiers import Objective

Cost = Any
# The presolve of OR-tools 9.15 adds coefficients up in 32 bits and proves wrong optima beyond
# (google/or-tools issue 5293).
PRESOLVED = 2**30


def cpsat(
    group: Group, objective: Objective, *, time_limit: float | None, workers: int = 1
) -> Answer:
    """Find the best assignment by constraint programming, tier by tier.

    One Boolean says for each partition and each of its readers whether the reader gets it. Each
    tier (DESIGN section 1) is minimised with the optima of the earlier ones as constraints.

    Parameters
    ----------
    group : the group
    objective : tiers in order of precedence
    time_limit : seconds for all tiers together, None for as long as it takes
    workers : threads of the solver; one, the default, makes the search repeatable

    Raises
    ------
    BadInput
        Where a tier lacks its data or a cost leaves the integers that the solver tells apart.
    """
    require_data(group, objective)
    greatest = greatest_cost(group, objective)
    from ortools.sat.python import cp_model

    deadline = math.inf if time_limit is None else time.monotonic() + time_limit
    program = _program(group)
    solver = cp_model.CpSolver()
    solver.parameters.num_workers = workers
    solver.parameters.cp_model_presolve = greatest < PRESOLVED
    found: Int32 | None = None
    bounds: list[int | None] = []
    for place, tier in enumerate(objective):
        cost = program.cost(tier, objective[:place])
        program.model.minimize(cost)
        left = deadline - time.monotonic()
        if left <= 0:
            break
        if time_limit is not None:
            solver.parameters.max_time_in_seconds = left
        status = solver.solve(program.model)
        if status not in (cp_model.OPTIMAL, cp_model.FEASIBLE, cp_model.UNKNOWN):
            raise SolverContradiction(f"method cp-sat: {status.name} at tier {tier} of {group!r}")
        if status == cp_model.UNKNOWN:
            break
        found = program.answer(solver)
        proved = status == cp_model.OPTIMAL
        reached = solver.response_proto.inner_objective_lower_bound
        least = int(solver.value(cost) if proved else reached)
        in_steps = tier == "balance" and _keeps_steps(objective[:place])
        bounds.append(_pairwise_bound(group, found, least) if in_steps else least)
        if not proved:
            break
        program.model.add(cost <= least)
        program.hint(found)
    else:
        return Answer(found, tuple(bounds), Stopped.PROOF, Proof(ProofKind.SOLVER))
    unknown = [None] * (len(objective) - len(bounds))
    return Answer(found, (*bounds, *unknown), Stopped.TIME_LIMIT)


def greatest_cost(group: Group, objective: Objective) -> int:
    """Return what the costs of all tiers stay below, refusing what the solver mistakes."""
    require_costs_within(group, objective, "cp-sat")
    return max(TIERS[tier].greatest(group) for tier in objective)


def _keeps_steps(earlier: Objective) -> bool:
    """Say whether the tiers before `balance` leave it a least majorised load vector.

    Flow tiers do: the loads of their minimisers are M-convex (DESIGN section 2), so that the sum
    of squares has the same minimisers as KIP-54's score. Under a lag tier they need not be.
    """
    return all(TIERS[tier].is_flow for tier in earlier)


def _pairwise_bound(group: Group, owner: Int32, squares: int) -> int:
    """Turn a lower bound on the sum of squared loads into one on KIP-54's score.

    The optimum is majorised by every assignment found, so its loads differ by at most what those
    of `owner` do, the range; and the squared differences of all pairs are members times squares
    less the squared total.
    """
    held = owner[owner != NOBODY]
    loads: list[int] = np.bincount(held, minlength=len(group.members)).tolist()
    if squares == sum(x * x for x in loads):
        return sum(abs(x - y) for x, y in combinations(loads, 2))
    members, total = len(loads), sum(loads)
    most_even = (total % members) * (members - total % members)
    widest = max(1, max(loads) - min(loads))
    return max(most_even, -((total * total - members * squares) // widest))


@dataclass(frozen=True)
class _Program:
    """The Booleans of a group and what the tiers say about them.

    Attributes
    ----------
    readers : of each partition that somebody reads, the members that read it
    owns : whether a member gets a partition, by (partition, member)
    """

    group: Group
    model: Any
    readers: dict[int, list[int]]
    owns: dict[tuple[int, int], Any]

    def cost(self, tier: str, earlier: Objective) -> Cost:
        """Return a variable that is to be minimised for a tier, with its constraints."""
        if tier == "balance" and not _keeps_steps(earlier):
            return self.pairs(np.ones(self.group.n_partitions, np.int64))
        return _COSTS[tier](self)

    def variable(self, most: int, value: Cost | None = None) -> Cost:
        """Return a new variable of 0..most, equal to `value` if there is one."""
        variable = self.model.new_int_var(0, most, "")
        if value is not None:
            self.model.add(variable == value)
        return variable

    def steps(self, partitions_apart: Sequence[Sequence[int]]) -> Cost:
        """Cost the k-th partition that a member has of each set 2k - 1: a sum of squares."""
        cost, most = [], 0
        for partitions in partitions_apart:
            for m in range(len(self.group.members)):
                held = [self.owns[p, m] for p in partitions if (p, m) in self.owns]
                step = [self.model.new_bool_var("") for _ in held]
                self.model.add(sum(held) == sum(step))
                cost += [(2 * k + 1) * step[k] for k in range(len(step))]
                most += len(step) ** 2
        return self.variable(most, sum(cost))

    def moves(self, weight: Int64) -> Cost:
        """Cost the weight of each partition that leaves its owner."""
        owned = np.flatnonzero(self.group.owner != NOBODY).tolist()
        kept = [(int(weight[p]), self.owns[p, int(self.group.owner[p])]) for p in owned]
        return self.variable(sum(w for w, _ in kept), sum(w * (1 - owns) for w, owns in kept))

    def racks(self) -> Cost:
        """Cost one for each partition whose member is not in the rack of a replica."""
        pairs = list(self.owns) if self.group.racks is not None else []
        near = {p: _replica_racks(self.group, p) for p in self.readers} if pairs else {}
        far = [self.owns[p, m] for p, m in pairs if _rack(self.group, m) not in near[p]]
        return self.variable(len(self.readers), sum(far))

    def loads(self, column: Int64 | None) -> tuple[list[Cost], int]:
        """Return a variable for what each member carries of a column, and the total."""
        worth = {p: 0 if column is None else int(column[p]) for p in self.readers}
        total = sum(worth.values())
        carried: list[list[Cost]] = [[] for _ in self.group.members]
        for (p, m), owns in self.owns.items():
            carried[m].append(worth[p] * owns)
        return [self.variable(total, sum(terms)) for terms in carried], total

    def peak(self, column: Int64 | None) -> Cost:
        """Cost what the busiest member carries."""
        loads, total = self.loads(column)
        peak = self.variable(total)
        for load in loads:
            self.model.add(load <= peak)
        return peak

    def spread(self, column: Int64 | None) -> Cost:
        """Cost what the busiest member carries more than the idlest."""
        loads, total = self.loads(column)
        low, high = self.variable(total), self.variable(total)
        for load in loads:
            self.model.add(low <= load)
            self.model.add(load <= high)
        return self.variable(total, high - low)

    def pairs(self, column: Int64 | None) -> Cost:
        """Cost the difference of each pair of members."""
        loads, total = self.loads(column)
        apart = []
        for one, other in combinations(loads, 2):
            apart.append(self.variable(total))
            self.model.add(one - other <= apart[-1])
            self.model.add(other - one <= apart[-1])
        return self.variable(total * max(0, len(loads) - 1), sum(apart))

    def answer(self, solver: Any) -> Int32:
        """Return who owns each partition in the solver's answer."""
        owner = np.full(self.group.n_partitions, NOBODY, np.int32)
        for (p, m), owns in self.owns.items():
            if solver.boolean_value(owns):
                owner[p] = m
        return owner

    def hint(self, owner: Int32) -> None:
        """Start the next search from an assignment."""
        self.model.clear_hints()
        for (p, m), owns in self.owns.items():
            self.model.add_hint(owns, bool(owner[p] == m))


def _program(group: Group) -> _Program:
    from ortools.sat.python import cp_model

    model = cp_model.CpModel()
    members: list[list[int]] = [[] for _ in group.topics]
    for m, t in zip(group.subscription_member, group.subscription_topics, strict=True):
        members[t].append(int(m))
    readers = {p: members[t] for p, t in enumerate(group.topic.tolist()) if members[t]}
    owns = {(p, m): model.new_bool_var("") for p in readers for m in readers[p]}
    for p in readers:
        model.add_exactly_one(owns[p, m] for m in readers[p])
    return _Program(group, model, readers, owns)


def _replica_racks(group: Group, partition: int) -> list[str]:
    return [] if group.racks is None else group.racks.of_set(int(group.racks.replicas[partition]))


def _rack(group: Group, member: int) -> str | None:
    at = NOBODY if group.racks is None else int(group.racks.member[member])
    return None if group.racks is None or at == NOBODY else group.racks.names[at]


def _topic_balance(program: _Program) -> Cost:
    first = program.group.first.tolist()
    return program.steps([range(start, end) for start, end in pairwise(first)])


def _moved_weight(program: _Program) -> Cost:
    none = np.zeros(program.group.n_partitions, np.int64)
    return program.moves(none if program.group.weight is None else program.group.weight)


_COSTS: dict[str, Callable[[_Program], Cost]] = {
    "balance": lambda program: program.steps([list(program.readers)]),
    "topic_balance": _topic_balance,
    "stickiness": lambda program: program.moves(np.ones(program.group.n_partitions, np.int64)),
    "moved_weight": _moved_weight,
    "racks": lambda program: program.racks(),
    "peak_lag": lambda program: program.peak(program.group.lag_records),
    "lag_spread": lambda program: program.spread(program.group.lag_records),
    "lag_balance": lambda program: program.pairs(program.group.lag_records),
    "peak_weight": lambda program: program.peak(program.group.weight),
    "weight_spread": lambda program: program.spread(program.group.weight),
    "weight_balance": lambda program: program.pairs(program.group.weight),
}
