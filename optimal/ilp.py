"""ILP: every tier as an integer program in PuLP, minimised by CBC one after the other."""

from __future__ import annotations

import math
import time
from collections import Counter
from dataclasses import dataclass, field
from itertools import combinations, count
from typing import TYPE_CHECKING, Any

import numpy as np

from groups.arrays import NOBODY
from groups.assignment import Assignment
from groups.errors import BadInput
from groups.extras import command_for
from groups.needs import require_data
from groups.tiers import form_after, values
from optimal.answer import Answer, require_costs_within
from optimal.formulations import Formulations
from optimal.proof import Proof, ProofKind
from optimal.solution import Stopped

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from groups.arrays import Int32, Int64
    from groups.columns.racks import Racks
    from groups.group import Group
    from groups.tiers import Objective


# PuLP has no types: a variable, a sum of them, and a problem.
Cost = Any
Problem = Any


@dataclass(frozen=True)
class LinearProgram:
    """An integer program of a group, and the expressions of the tiers.

    Methods that begin with "Cost" add variables and constraints, and return the expression that
    a tier minimises.

    Attributes
    ----------
    readers : for each partition that somebody reads, the members that read it
    owns : the 0-1 variable that says whether a member gets a partition, by (partition, member)
    """

    group: Group
    problem: Problem
    readers: dict[int, list[int]]
    owns: dict[tuple[int, int], Cost]
    names: Iterator[int] = field(default_factory=count)

    @staticmethod
    def of(group: Group) -> LinearProgram:
        """Return the program in which each partition goes to one of its readers."""
        import pulp

        problem = pulp.LpProblem("assignment", pulp.LpMinimize)
        members = [group.subscribers(t).tolist() for t in range(len(group.topics))]
        readers = {p: members[t] for p, t in enumerate(group.topic.tolist()) if members[t]}
        owns = {
            (p, m): problem.add_variable(f"p{p}_m{m}", 0, 1, cat=pulp.LpInteger)
            for p in readers
            for m in readers[p]
        }
        for p in readers:
            problem.addConstraint(pulp.lpSum(owns[p, m] for m in readers[p]) == 1)
        return LinearProgram(group, problem, readers, owns)

    def variable(self, most: int | None = None, *, whole: bool = False) -> Cost:
        """Return a new variable between 0 and `most`, an integer if `whole`."""
        import pulp

        kind = pulp.LpInteger if whole else pulp.LpContinuous
        return self.problem.add_variable(f"v{next(self.names)}", 0, most, cat=kind)

    def squares(self, sets: Iterable[Iterable[int]]) -> Cost:
        """Cost the k-th partition of a set with one member 2k - 1, so that squares add up."""
        cost = []
        for partitions in sets:
            held: dict[int, list[Cost]] = {}
            for p in partitions:
                for m in self.readers.get(p, ()):
                    held.setdefault(m, []).append(self.owns[p, m])
            for owns in held.values():
                steps = [self.variable(1) for _ in owns]
                self.problem.addConstraint(_sum(steps) == _sum(owns))
                cost += [(2 * k - 1) * step for k, step in enumerate(steps, start=1)]
        return _sum(cost)

    def places(self, place: list[str | None]) -> Cost:
        """Cost the k-th partition on a place 2k - 1 times the place's weight."""
        cost, members = [], Counter(place)
        for name, number in members.items():
            weight = math.lcm(*members.values()) // number
            owns = [own for (_, m), own in self.owns.items() if place[m] == name]
            steps = [self.variable(1) for _ in self.readers]
            self.problem.addConstraint(_sum(steps) == _sum(owns))
            cost += [weight * (2 * k - 1) * step for k, step in enumerate(steps, start=1)]
        return _sum(cost)

    def moves(self, weight: Int64 | None) -> Cost:
        """Cost the weight of each partition that has an owner and goes to another member."""
        owner = self.group.owner.tolist()
        return _sum(
            (1 if weight is None else int(weight[p])) * owns
            for (p, m), owns in self.owns.items()
            if owner[p] not in (NOBODY, m)
        )

    def state(self) -> Cost:
        """Cost the k-th partition with state of a member 2k - 1, so that squares add up."""
        copies = self.group.copies
        sets = [] if copies is None else copies.replicas.tolist()
        return self.squares([[p for p, one in enumerate(sets) if one >= 0]])

    def racks(self, racks: Racks | None) -> Cost:
        """Cost one for each partition with a member whose rack has no replica."""
        far = _far(racks)
        return _sum(owns for pair, owns in self.owns.items() if pair in far)

    def loads(self, column: Int64 | None) -> list[Cost]:
        """Return the sum of a column over what each member gets; None: 0 each."""
        terms: list[list[Cost]] = [[] for _ in self.group.members]
        for (p, m), owns in self.owns.items():
            terms[m].append((0 if column is None else int(column[p])) * owns)
        return [_sum(carried) for carried in terms]

    def peak(self, column: Int64 | None) -> Cost:
        """Cost the load of the busiest member."""
        peak = self.variable()
        for load in self.loads(column):
            self.problem.addConstraint(load <= peak)
        return _sum([peak])

    def time(self, column: Int64 | None) -> Cost:
        """Cost the seconds until the last member has caught up with its lag."""
        longest = self.variable(whole=True)
        total = 0 if column is None else sum(int(column[p]) for p in self.readers)
        rates = np.clip(self.group.capacity, 1, max(total, 1)).tolist()
        for load, rate in zip(self.loads(column), rates, strict=True):
            self.problem.addConstraint(load <= rate * longest)
        return _sum([longest])

    def spread(self, column: Int64 | None) -> Cost:
        """Cost the difference between the greatest and the least load."""
        low, difference = self.variable(), self.variable()
        for load in self.loads(column):
            self.problem.addConstraint(load >= low)
            self.problem.addConstraint(load <= low + difference)
        return _sum([difference])

    def idle(self) -> Cost:
        """Cost one for each idle member beyond those for whom there are too few partitions."""
        got: list[list[Cost]] = [[] for _ in self.group.members]
        for (_, m), owns in self.owns.items():
            got[m].append(owns)
        idle = [self.variable(1) for _ in got]
        for is_idle, owns in zip(idle, got, strict=True):
            self.problem.addConstraint(_sum([is_idle, *owns]) >= 1)
        return _sum(idle) - max(0, len(idle) - len(self.readers))

    def pairs(self, column: Int64 | None) -> Cost:
        """Cost the difference of the loads of each pair of members."""
        cost = []
        for one, other in combinations(self.loads(column), 2):
            cost.append(self.variable())
            self.problem.addConstraint(one - other <= cost[-1])
            self.problem.addConstraint(other - one <= cost[-1])
        return _sum(cost)

    def answer(self) -> Int32 | None:
        """Return the owners that the variables say, None if a partition has not exactly one."""
        owner = np.full(self.group.n_partitions, NOBODY, np.int32)
        for p, readers in self.readers.items():
            got = [m for m in readers if (self.owns[p, m].value() or 0) > 0.5]
            if len(got) != 1:
                return None
            owner[p] = got[0]
        return owner


def _sum(terms: Iterable[Cost]) -> Cost:
    import pulp

    return pulp.lpSum(terms)


def _far(racks: Racks | None) -> set[tuple[int, int]]:
    """Return the (partition, member) pairs in which no replica is in the member's rack."""
    if racks is None:
        return set()
    names = [None if rack == NOBODY else racks.names[rack] for rack in racks.member.tolist()]
    near = [racks.of_set(s) if s != NOBODY else names for s in racks.replicas.tolist()]
    return {(p, m) for p, at in enumerate(near) for m, rack in enumerate(names) if rack not in at}


def _hosts(group: Group) -> list[str | None]:
    return [one.host for one in group.details]


def _member_racks(group: Group) -> list[str | None]:
    racks = group.racks
    if racks is None:
        return []
    return [None if at == NOBODY else racks.names[at] for at in racks.member.tolist()]


def _topics(program: LinearProgram) -> list[range]:
    first = program.group.first.tolist()
    return [range(*first[t : t + 2]) for t in range(len(program.group.topics))]


def _one_each(group: Group) -> Int64:
    return np.ones(group.n_partitions, np.int64)


def _load_tiers(
    name: str, column: Callable[[Group], Int64 | None]
) -> dict[str, Callable[[LinearProgram], Cost]]:
    return {
        f"peak_{name}": lambda program: program.peak(column(program.group)),
        f"{name}_spread": lambda program: program.spread(column(program.group)),
        f"{name}_balance": lambda program: program.pairs(column(program.group)),
    }


# The expression that each tier minimises.
LINEAR_TIERS: Formulations[Callable[[LinearProgram], Cost]] = Formulations(
    "ilp",
    "LINEAR_TIERS of optimal.ilp",
    {
        "balance": lambda program: program.pairs(_one_each(program.group)),
        "topic_balance": lambda program: program.squares(_topics(program)),
        "load_squares": lambda program: program.squares([program.readers]),
        "host_balance": lambda program: program.places(_hosts(program.group)),
        "rack_balance": lambda program: program.places(_member_racks(program.group)),
        "stickiness": lambda program: program.moves(None),
        "moved_weight": lambda program: program.moves(program.group.weight),
        "racks": lambda program: program.racks(program.group.racks),
        "stateful_balance": lambda program: program.state(),
        "restores": lambda program: program.racks(program.group.copies),
        "load_spread": lambda program: program.spread(_one_each(program.group)),
        "idle_members": lambda program: program.idle(),
        **_load_tiers("lag", lambda group: group.lag_records),
        **_load_tiers("weight", lambda group: group.weight),
        "peak_time": lambda program: program.time(program.group.lag_records),
    },
)


# A load may be off by this times its greatest weight; with CBC's default of 1e-7 that can be 1.
TOLERANCE = 1e-9
# Costs are integers, so half a unit of slack allows nothing worse; without slack, CBC's
# preprocessing loses every assignment to rounding.
SLACK = 0.5
# Further options for CBC, tried one after the other until its result holds.
CBC_OPTIONS: tuple[tuple[str, ...], ...] = (
    (),
    ("preprocess off",),
    ("preprocess off", "presolve off"),
)


def ilp(group: Group, objective: Objective, *, time_limit: float | None) -> Answer:
    """Find the best assignment by integer linear programming, tier by tier.

    One 0-1 variable says for each partition and each of its readers whether the reader gets it.
    Each tier is minimised with the optima of the earlier ones as constraints.

    CBC computes in floats, so every assignment is scored again in integers and compared with CBC's
    value, the earlier tiers and the best assignment known. If that fails, or CBC says that there
    is no assignment, CBC runs again with other options; if all fail, the best assignment known is
    the answer, and the tier has no bound. That nothing costs less is CBC's claim.

    Parameters
    ----------
    group : the group
    objective : tiers in order of precedence
    time_limit : seconds for all tiers together, None for as long as it takes

    Raises
    ------
    BadInput
        If a tier lacks its data or its values may be too great for floats, or PuLP is missing.
    """
    require_data(group, objective)
    require_costs_within(group, objective, "ilp")
    require_pulp()
    deadline = math.inf if time_limit is None else time.monotonic() + time_limit
    program = LinearProgram.of(group)
    found: Int32 | None = None
    least: dict[str, int] = {}
    bounds: list[int] = []
    for place, tier in enumerate(objective):
        form = form_after(tier, objective[:place])
        found, stopped = _best(program, form, least, found, deadline)
        if stopped is not Stopped.PROOF or found is None:
            unknown = [None] * (len(objective) - len(bounds))
            return Answer(found, (*bounds, *unknown), stopped)
        least[form], value = values(Assignment(group, found), (form, tier))
        bounds.append(value)
    return Answer(found, tuple(bounds), Stopped.PROOF, Proof(ProofKind.SOLVER))


def _best(
    program: LinearProgram,
    form: str,
    least: Mapping[str, int],
    found: Int32 | None,
    deadline: float,
) -> tuple[Int32 | None, Stopped]:
    """Return the best assignment known at the optima of the earlier tiers, and if it is proved.

    Parameters
    ----------
    least : the optimum of each earlier tier
    found : (all partitions,) int32, an assignment that has these optima, None if none is known
    """
    group, cost = program.group, LINEAR_TIERS[form](program)
    for options in CBC_OPTIONS:
        if time.monotonic() >= deadline:
            return found, Stopped.TIME_LIMIT
        owner, claimed, is_late = _ask_cbc(program, cost, deadline, options)
        if owner is not None:
            *kept, reached = values(Assignment(group, owner), (*least, form))
            known = None if found is None else values(Assignment(group, found), (form,))[0]
            if kept == [*least.values()] and (known is None or reached <= known):
                found = owner
                if claimed is not None and abs(claimed - reached) < 0.5:
                    program.problem.addConstraint(cost <= reached + SLACK)
                    return found, Stopped.PROOF
        if is_late:
            return found, Stopped.TIME_LIMIT
    if found is None:
        first = (program.readers.get(p, [NOBODY])[0] for p in range(group.n_partitions))
        found = np.fromiter(first, np.int32, group.n_partitions)
    return found, Stopped.TIME_LIMIT


def _ask_cbc(
    program: LinearProgram, cost: Cost, deadline: float, options: tuple[str, ...]
) -> tuple[Int32 | None, float | None, bool]:
    """Run CBC for the least cost, and return what it says, which may be wrong.

    PuLP's `status` is "optimal" even if the time limit stopped CBC; `sol_status` is not.

    Returns
    -------
    The owners, (all partitions,) int32, None if a partition has no member or several; the cost
    that CBC claims is optimal, None if it makes no claim; and whether the time limit stopped it.
    """
    import pulp

    left = None if deadline == math.inf else max(0.01, deadline - time.monotonic())
    precise = [f"integerTolerance {TOLERANCE}", f"primalTolerance {TOLERANCE}"]
    cbc = pulp.COIN_CMD(
        path=pulp.PULP_CBC_CMD.pulp_cbc_path,
        msg=False,
        timeLimit=left,
        options=["ratioGap 0", "allowableGap 0", *precise, *options],
    )
    if not cbc.available():
        raise BadInput("method ilp: the CBC that comes with PuLP does not run here")
    program.problem.setObjective(cost)
    try:
        program.problem.solve(cbc)
    except pulp.PulpSolverError:
        return None, None, False
    ended = program.problem.sol_status
    proved = ended == pulp.LpSolutionOptimal
    found = proved or ended == pulp.LpSolutionIntegerFeasible
    none = program.problem.status == pulp.LpStatusInfeasible
    return (
        program.answer() if found else None,
        float(pulp.value(cost) or 0) if proved else None,
        left is not None and not proved and not none,
    )


def require_pulp() -> None:
    """Load PuLP; raise BadInput if it is missing."""
    try:
        import pulp  # noqa: F401 - whether it is there
    except ImportError:
        raise BadInput(f"method ilp: PuLP is missing: {command_for('ilp')}") from None
