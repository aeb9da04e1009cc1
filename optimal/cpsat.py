"""CP-SAT: every tier as a constraint program, minimised one after the other or within limits."""

from __future__ import annotations

import math
import time
from collections import Counter
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from ortools.sat.python import cp_model

from groups.arrays import NOBODY
from groups.errors import SolverContradiction
from groups.needs import require_data
from groups.tiers import TIERS, form_after
from optimal.answer import Answer, NothingWithin, require_costs_within
from optimal.formulations import Formulations
from optimal.proof import Proof, ProofKind
from optimal.solution import Stopped

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from groups.arrays import Bools, Int32, Int64
    from groups.columns.places import PlaceKind
    from groups.columns.racks import Racks
    from groups.group import Group
    from groups.tiers import Objective
    from optimal.solution import Solution


# OR-tools has no types: a linear expression of variables.
Cost = Any
Columns = list["Int64"]
# Coefficients of a sum stay below it.
SUMMED = 2**53


@dataclass(frozen=True)
class ConstraintProgram:
    """A constraint program of how many partitions of each class each reader gets.

    Partitions that no tier can tell apart are one class: they are interchangeable, so that one
    number for each reader of the class is enough. Methods that begin with "Cost" add variables and
    constraints, and return the expression that a tier minimises.

    Attributes
    ----------
    of_partition : (all partitions,) int64, class of each partition, -1 where nobody reads it
    example : (classes,) int64, a partition of each class
    gets : the variable for the number of partitions, by (class, member)
    """

    group: Group
    model: cp_model.CpModel
    of_partition: Int64
    example: Int64
    gets: dict[tuple[int, int], Cost]

    @staticmethod
    def of(group: Group, tiers: Iterable[str]) -> ConstraintProgram:
        """Return the program in which each partition goes to one of its readers."""
        readers = [group.subscribers(topic).tolist() for topic in range(len(group.topics))]
        of_partition, example = _classes(group, readers, tiers)
        model = cp_model.CpModel()
        size = np.bincount(of_partition[of_partition >= 0], minlength=len(example)).tolist()
        gets = {}
        for c, p in enumerate(example.tolist()):
            members = readers[group.topic[p]]
            for m in members:
                gets[c, m] = model.new_int_var(0, size[c], "")
            model.add(sum(gets[c, m] for m in members) == size[c])
        return ConstraintProgram(group, model, of_partition, example, gets)

    def cost(self, tier: str) -> Cost:
        """Return an expression that is at least the tier's value, and equal at its minimum."""
        return CONSTRAINT_TIERS[tier].cost(self)

    def loads(self, column: Int64 | None) -> tuple[list[Cost], int]:
        """Return a variable for each member's sum of a column, and the total."""
        column = np.zeros(self.group.n_partitions, np.int64) if column is None else column
        total = int(column[self.of_partition >= 0].sum())
        loads = [self.model.new_int_var(0, total, "") for _ in self.group.members]
        terms: list[list[Cost]] = [[] for _ in self.group.members]
        for (c, m), gets in self.gets.items():
            terms[m].append(int(column[self.example[c]]) * gets)
        for load, carried in zip(loads, terms, strict=True):
            self.model.add(load == sum(carried))
        self.model.add(_sum(loads) == total)
        return loads, total

    def pairs(self, column: Int64 | None) -> Cost:
        """Cost the difference of the loads of each pair of members."""
        loads, total = self.loads(column)
        differences = []
        for one, other in combinations(loads, 2):
            differences.append(self.model.new_int_var(0, total, ""))
            self.model.add(one - other <= differences[-1])
            self.model.add(other - one <= differences[-1])
        return _sum(differences)

    def peak(self, column: Int64 | None) -> Cost:
        """Cost the load of the busiest member."""
        return self._above(*self.loads(column))

    def time(self, column: Int64 | None) -> Cost:
        """Cost the seconds until the last member has caught up with its lag."""
        loads, total = self.loads(column)
        rates = np.clip(self.group.capacity, 1, max(total, 1)).tolist()
        most = -(-total // min(rates, default=1))
        longest = self.model.new_int_var(0, most, "")
        for load, rate in zip(loads, rates, strict=True):
            if rate * most < SUMMED:
                self.model.add(load <= rate * longest)
                continue
            seconds = self.model.new_int_var(0, most, "")
            self.model.add_division_equality(seconds, load + (rate - 1), rate)
            self.model.add(seconds <= longest)
        return _sum([longest])

    def spread(self, column: Int64 | None) -> Cost:
        """Cost the difference between the greatest and the least load."""
        loads, total = self.loads(column)
        low = self.model.new_int_var(0, total, "")
        for load in loads:
            self.model.add(low <= load)
        return self._above(loads, total) - low

    def idle(self) -> Cost:
        """Cost one for each idle member beyond those for whom there are too few partitions."""
        got: list[list[Cost]] = [[] for _ in self.group.members]
        for (_, m), gets in self.gets.items():
            got[m].append(gets)
        idle = [self.model.new_bool_var("") for _ in self.group.members]
        for is_idle, gets in zip(idle, got, strict=True):
            self.model.add(sum(gets) + is_idle >= 1)
        read = int((self.of_partition >= 0).sum())
        return _sum(idle) - max(0, len(idle) - read)

    def _above(self, loads: Sequence[Cost], total: int) -> Cost:
        peak = self.model.new_int_var(0, total, "")
        for load in loads:
            self.model.add(load <= peak)
        return peak

    def squares(self, of_class: Sequence[int]) -> Cost:
        """Cost the k-th partition of a set with one member 2k - 1, so that squares add up.

        Parameters
        ----------
        of_class : the set that each class of partitions is in
        """
        size = np.bincount(self.of_partition[self.of_partition >= 0]).tolist()
        held: dict[tuple[int, int], list[Cost]] = {}
        most: Counter[tuple[int, int]] = Counter()
        for (c, m), gets in self.gets.items():
            held.setdefault((of_class[c], m), []).append(gets)
            most[of_class[c], m] += size[c]
        cost = []
        for at, gets in held.items():
            steps = [self.model.new_bool_var("") for _ in range(most[at])]
            self.model.add(sum(steps) == sum(gets))
            cost += [(2 * k + 1) * step for k, step in enumerate(steps)]
        return _sum(cost)

    def places(self, kind: PlaceKind) -> Cost:
        """Cost the weighted sum of squares of what places have."""
        places, total = self.group.places(kind), int((self.of_partition >= 0).sum())
        got: list[list[Cost]] = [[] for _ in places.names]
        for (_, m), gets in self.gets.items():
            got[places.member[m]].append(gets)
        squares = [self.square(sum(gets), total) for gets in got]
        return _sum(weight * square for weight, square in zip(places.weight, squares, strict=True))

    def moves(self, weight: Int64 | None) -> Cost:
        """Cost the weight of each partition that leaves its owner, 1 without a weight."""
        owner = self.group.owner[self.example].tolist()
        worth = [1 if weight is None else int(weight[p]) for p in self.example.tolist()]
        return _sum(
            worth[c] * gets for (c, m), gets in self.gets.items() if owner[c] not in (NOBODY, m)
        )

    def state(self) -> Cost:
        """Cost the sum of squares of the partitions that keep state of each member."""
        total = int((self.of_partition >= 0).sum())
        got: list[list[Cost]] = [[] for _ in self.group.members]
        for (c, m), gets in self.gets.items():
            if _stateful(self.group)[self.example[c]]:
                got[m].append(gets)
        return _sum(self.square(sum(gets), total) for gets in got)

    def square(self, load: Cost, total: int) -> Cost:
        """Return a variable for the square of a load of at most `total`."""
        carried, square = (self.model.new_int_var(0, n, "") for n in (total, total**2))
        self.model.add(carried == load)
        self.model.add_multiplication_equality(square, [carried, carried])
        return square

    def racks(self, racks: Racks | None) -> Cost:
        """Cost one for each partition with a member whose rack has no replica."""
        if racks is None or not self.gets:
            return _sum([])
        c, m = np.array(list(self.gets), np.int64).T
        far = racks.misses(m, self.example[c]).tolist()
        return _sum(gets for gets, miss in zip(self.gets.values(), far, strict=True) if miss)

    def hint(self, owner: Int32) -> None:
        """Make the next search start from an assignment."""
        self.model.clear_hints()
        held = Counter(zip(self.of_partition.tolist(), owner.tolist(), strict=True))
        for pair, gets in self.gets.items():
            self.model.add_hint(gets, held[pair])

    def answer(self, number: Callable[[Cost], int]) -> Int32:
        """Return the assignment; as many partitions of a class as possible stay with their owner.

        Parameters
        ----------
        number : returns the value of a variable
        """
        owner = np.full(self.group.n_partitions, NOBODY, np.int32)
        before = self.group.owner.tolist()
        left = {pair: number(gets) for pair, gets in self.gets.items()}
        for p, c in enumerate(self.of_partition.tolist()):
            if left.get((c, before[p]), 0):
                owner[p] = before[p]
                left[c, before[p]] -= 1
        rest: dict[int, list[int]] = {}
        for (c, m), count in reversed(left.items()):
            rest.setdefault(c, []).extend([m] * count)
        for p, c in enumerate(self.of_partition.tolist()):
            if c >= 0 and owner[p] == NOBODY:
                owner[p] = rest[c].pop()
        return owner


class ConstraintTier(NamedTuple):
    """A tier: the expression to minimise, and the columns by which it tells partitions apart."""

    cost: Callable[[ConstraintProgram], Cost]
    columns: Callable[[Group], Columns]


def _sum(terms: Iterable[Cost]) -> Cost:
    return cp_model.LinearExpr.sum(list(terms))


def _classes(
    group: Group, readers: Sequence[Sequence[int]], tiers: Iterable[str]
) -> tuple[Int64, Int64]:
    """(class of each partition or -1, a partition of each class)."""
    seen: dict[tuple[int, ...], int] = {}
    alike = np.array([seen.setdefault(tuple(rs), t) for t, rs in enumerate(readers)], np.int64)
    columns = [alike[group.topic]]
    for tier in tiers:
        columns += CONSTRAINT_TIERS[tier].columns(group)
    read = np.flatnonzero(group.readers[group.topic] > 0)
    of_partition = np.full(group.n_partitions, NOBODY, np.int64)
    if not len(read):
        return of_partition, read
    _, example, of_read = np.unique(
        np.stack(columns)[:, read], axis=1, return_index=True, return_inverse=True
    )
    of_partition[read] = of_read.reshape(-1)
    return of_partition, read[example]


def _known(column: Int64 | None) -> Columns:
    return [] if column is None else [column]


def _stateful(group: Group) -> Bools:
    """(all partitions,) bool: whether each keeps state."""
    copies = group.copies
    return np.zeros(group.n_partitions, bool) if copies is None else copies.replicas >= 0


def _owner(group: Group) -> Columns:
    return [group.owner.astype(np.int64)]


def _load_tiers(name: str, column: Callable[[Group], Int64 | None]) -> dict[str, ConstraintTier]:
    def columns(group: Group) -> Columns:
        return _known(column(group))

    return {
        f"peak_{name}": ConstraintTier(lambda a: a.peak(column(a.group)), columns),
        f"{name}_spread": ConstraintTier(lambda a: a.spread(column(a.group)), columns),
        f"{name}_balance": ConstraintTier(lambda a: a.pairs(column(a.group)), columns),
    }


CONSTRAINT_TIERS = Formulations(
    "cp-sat",
    "CONSTRAINT_TIERS of optimal.cpsat",
    {
        "balance": ConstraintTier(lambda a: a.pairs(np.ones_like(a.of_partition)), lambda _: []),
        "load_squares": ConstraintTier(lambda a: a.squares([0] * len(a.example)), lambda _: []),
        "topic_balance": ConstraintTier(
            lambda a: a.squares(a.group.topic[a.example].tolist()),
            lambda group: [group.topic.astype(np.int64)],
        ),
        "host_balance": ConstraintTier(lambda a: a.places("host"), lambda _: []),
        "rack_balance": ConstraintTier(lambda a: a.places("rack"), lambda _: []),
        "stateful_balance": ConstraintTier(
            lambda a: a.state(), lambda group: [_stateful(group).astype(np.int64)]
        ),
        "restores": ConstraintTier(
            lambda a: a.racks(a.group.copies),
            lambda group: [] if group.copies is None else [group.copies.replicas.astype(np.int64)],
        ),
        "stickiness": ConstraintTier(lambda a: a.moves(None), _owner),
        "moved_weight": ConstraintTier(
            lambda a: a.moves(a.group.weight),
            lambda group: [*_owner(group), *_known(group.weight)],
        ),
        "racks": ConstraintTier(
            lambda a: a.racks(a.group.racks),
            lambda group: [] if group.racks is None else [group.racks.replicas.astype(np.int64)],
        ),
        "load_spread": ConstraintTier(
            lambda a: a.spread(np.ones_like(a.of_partition)), lambda _: []
        ),
        "idle_members": ConstraintTier(lambda a: a.idle(), lambda _: []),
        **_load_tiers("lag", lambda group: group.lag_records),
        **_load_tiers("weight", lambda group: group.weight),
        "peak_time": ConstraintTier(
            lambda a: a.time(a.group.lag_records), lambda group: _known(group.lag_records)
        ),
    },
)


# The presolve of OR-tools 9.15 adds coefficients up in 32 bits and proves wrong optima with
# greater ones (google/or-tools issue 5293).
PRESOLVED = 2**30


def cpsat(
    group: Group,
    objective: Objective,
    *,
    time_limit: float | None,
    workers: int = 1,
    at_most: Mapping[str, int] | None = None,
    start: Int32 | None = None,
) -> Answer:
    """Find the best assignment by constraint programming, tier by tier.

    Each tier is minimised with the optima of the earlier ones as constraints. If the solver claims
    that no assignment is left, that is wrong, since the one found last is: it runs again without
    presolve, and if it repeats the claim, the tier has no bound.

    Parameters
    ----------
    group : the group
    objective : tiers in order of precedence
    time_limit : seconds for all tiers together, None for as long as it takes
    workers : threads of the solver; one, the default, makes the search repeatable
    at_most : budgets, the greatest value of some tiers
    start : (all partitions,) int32, an assignment within the budgets to start the search from

    Raises
    ------
    NothingWithin
        If the solver says that no assignment keeps to the budgets.
    BadInput
        If a tier lacks its data or its values may be too great for the solver.
    """
    budgets = dict(at_most or {})
    tiers = tuple(dict.fromkeys((*objective, *budgets)))
    require_data(group, tiers)
    require_costs_within(group, tiers, "cp-sat")
    deadline = math.inf if time_limit is None else time.monotonic() + time_limit
    solver = _solver(group, tiers, workers)
    program = ConstraintProgram.of(group, tiers)
    for tier, most in budgets.items():
        program.model.add(program.cost(tier) <= min(most, TIERS[tier].greatest(group)))
    if start is not None:
        program.hint(start)
    found = start
    bounds: list[int] = []
    stopped = Stopped.PROOF
    for place, tier in enumerate(objective):
        form = tier if budgets else form_after(tier, objective[:place])
        cost = program.cost(form)
        status = _minimise(solver, program, cost, deadline)
        if status in (cp_model.OPTIMAL, cp_model.FEASIBLE):
            found = program.answer(solver.value)
            least = _bound(solver, cost, status)
            bounds.append(_pairwise_bound(group, found, least) if form != tier else least)
            program.model.add(cost <= least)
            program.hint(found)
        if status == cp_model.INFEASIBLE:
            if budgets and found is None:
                raise NothingWithin
            if found is None:
                first = dict(reversed(program.gets))
                every = (first.get(c, NOBODY) for c in program.of_partition.tolist())
                found = np.fromiter(every, np.int32, group.n_partitions)
            stopped = Stopped.TIME_LIMIT
        elif status != cp_model.OPTIMAL:
            stopped = Stopped.TIME_LIMIT
        if stopped is not Stopped.PROOF:
            unknown = [None] * (len(objective) - len(bounds))
            return Answer(found, (*bounds, *unknown), stopped)
    return Answer(found, tuple(bounds), Stopped.PROOF, Proof(ProofKind.SOLVER))


def least_within(
    group: Group,
    tier: str,
    limits: Mapping[str, tuple[int, int]],
    *,
    start: Int32,
    seconds: float | None,
    effort: float | None = None,
    other_tiers: Objective = (),
    narrow: Callable[[ConstraintProgram], None] | None = None,
) -> tuple[Int32 | None, int]:
    """Minimise a tier among the assignments whose values are within limits.

    Parameters
    ----------
    limits : least and greatest value of each tier, that of `tier` included; the least ones must be
        true lower bounds, they only help the proof
    start : (all partitions,) int32, an assignment to start the search from
    seconds : time limit, None for as long as it takes
    effort : limit on the solver's deterministic time, about seconds and the same on every machine
    other_tiers, narrow : further tiers that tell partitions apart, and a function that adds
        constraints for them

    Returns
    -------
    The best assignment found, (all partitions,) int32, None if none was found; and a lower bound
    on the tier, above its limit if the solver claims that there is no assignment.

    Raises
    ------
    BadInput
        If the values of a tier may be too great for the solver.
    """
    tiers = tuple(limits)
    require_costs_within(group, tiers, "cp-sat")
    program = ConstraintProgram.of(group, (*tiers, *other_tiers))
    if narrow is not None:
        narrow(program)
    costs = {name: program.cost(name) for name in tiers}
    for name in tiers:
        program.model.add_linear_constraint(costs[name], *limits[name])
    program.model.minimize(costs[tier])
    program.hint(start)
    solver = _solver(group, tiers, workers=1)
    if seconds is not None:
        solver.parameters.max_time_in_seconds = seconds
    if effort is not None:
        solver.parameters.max_deterministic_time = effort
    status = _solve(solver, program)
    low, high = limits[tier]
    if status == cp_model.INFEASIBLE:
        return None, high + 1
    if status == cp_model.UNKNOWN:
        return None, low
    return program.answer(solver.value), max(_bound(solver, costs[tier], status), low)


def _solver(group: Group, tiers: Objective, workers: int) -> cp_model.CpSolver:
    solver = cp_model.CpSolver()
    solver.parameters.num_workers = workers
    greatest = max(TIERS[tier].greatest(group) for tier in tiers)
    solver.parameters.cp_model_presolve = greatest < PRESOLVED
    return solver


def _minimise(
    solver: cp_model.CpSolver, program: ConstraintProgram, cost: Cost, deadline: float
) -> cp_model.CpSolverStatus:
    """Minimise a cost; if the solver finds no assignment, once more without presolve."""
    program.model.minimize(cost)
    while True:
        left = deadline - time.monotonic()
        if left <= 0:
            return cp_model.UNKNOWN
        if left < math.inf:
            solver.parameters.max_time_in_seconds = left
        status = _solve(solver, program)
        if status != cp_model.INFEASIBLE or not solver.parameters.cp_model_presolve:
            return status
        solver.parameters.cp_model_presolve = False


def _solve(solver: cp_model.CpSolver, program: ConstraintProgram) -> cp_model.CpSolverStatus:
    status = solver.solve(program.model)
    if status == cp_model.MODEL_INVALID:
        raise SolverContradiction(f"method cp-sat: {status.name} of {program.group!r}")
    return status


def _bound(solver: cp_model.CpSolver, cost: Cost, status: cp_model.CpSolverStatus) -> int:
    """Return the solver's bound as an integer; `best_objective_bound` is a float."""
    if status == cp_model.OPTIMAL:
        return int(solver.value(cost))
    return int(solver.response_proto.inner_objective_lower_bound)


def _pairwise_bound(group: Group, owner: Int32, squares: int) -> int:
    """Turn a lower bound on the sum of squared loads into one on KIP-54's score.

    The optimum is majorised by every assignment found, so its loads differ by at most the range of
    those of `owner`. The sum of squared differences of all pairs is members times squares, minus
    the squared total.
    """
    held = owner[owner != NOBODY]
    loads: list[int] = np.bincount(held, minlength=len(group.members)).tolist()
    if squares == sum(x * x for x in loads):
        return sum(abs(x - y) for x, y in combinations(loads, 2))
    members, total = len(loads), sum(loads)
    most_even = (total % members) * (members - total % members)
    widest = max(1, max(loads) - min(loads))
    return max(most_even, -((total * total - members * squares) // widest))


def standbys_together(
    actives: Solution, replicas: int, *, seconds: float
) -> tuple[Int32, tuple[int | None, ...]]:
    """Return active tasks as good as a solution's with room for the best standbys, and bounds.

    For each class of tasks with copies on the same processes, variables say how many have
    a standby on each process. The bounds are lower bounds on the terms of the standbys; after the
    first that is not proved to be the least value, they are None.

    Parameters
    ----------
    actives : an optimal solution of a streams group in which it is known which tasks keep state
    replicas : ``num.standby.replicas``, at most so many that each has a process of its own
    seconds : time for all tiers together
    """
    group, places = actives.group, actives.group.places("host")
    assert group.copies is not None
    tiers = (*actives.objective, "stateful_balance", "restores")
    program = ConstraintProgram.of(group, tiers)
    model, hosts = program.model, range(len(places.names))
    for term in actives.terms:
        model.add(program.cost(term.name) <= term.value)
    size = np.bincount(program.of_partition).tolist()
    first = np.unique(places.member, return_index=True)[1]
    of_process: list[list[Cost]] = [[] for _ in hosts]
    restored = []
    for c, p in enumerate(program.example.tolist()):
        if not _stateful(group)[p]:
            continue
        on = [model.new_int_var(0, size[c], "") for _ in hosts]
        model.add(sum(on) == replicas * size[c])
        for h in hosts:
            here = [m for m in range(len(group.members)) if places.member[m] == h]
            model.add(on[h] + sum(program.gets[c, m] for m in here) <= size[c])
            of_process[h].append(on[h])
        away = group.copies.misses(first, np.full(len(first), p)).tolist()
        restored += [one for one, miss in zip(on, away, strict=True) if miss]
    total = group.n_partitions * (1 + replicas)
    loads: list[Cost] = []
    for m in range(len(group.members)):
        active = sum(gets for (_, of), gets in program.gets.items() if of == m)
        loads.append(model.new_int_var(0, total, "") + active)
    every = [sum(loads[m] for m in range(len(loads)) if places.member[m] == h) for h in hosts]
    for h in hosts:
        active = sum(gets for (_, m), gets in program.gets.items() if places.member[m] == h)
        model.add(every[h] == active + sum(of_process[h]))
    costs = (
        _sum(program.square(load, total) for load in loads),
        _sum(
            w * program.square(load, total) for w, load in zip(places.weight, every, strict=True)
        ),
        _sum(restored),
    )
    solver = _solver(group, tiers, workers=1)
    deadline, bounds = time.monotonic() + seconds, list[int | None]()
    assert actives.assignment is not None
    owner = actives.assignment.owner
    program.hint(owner)
    for cost in costs:
        status = _minimise(solver, program, cost, deadline)
        if status not in (cp_model.OPTIMAL, cp_model.FEASIBLE):
            break
        owner = program.answer(solver.value)
        bounds.append(_bound(solver, cost, status))
        if status != cp_model.OPTIMAL:
            break
        model.add(cost <= bounds[-1])
        program.hint(owner)
    return owner, (*bounds, *[None] * (len(costs) - len(bounds)))
