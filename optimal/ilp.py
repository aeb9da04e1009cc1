"""Integer linear program: every tier in PuLP, solved by CBC one tier after the other."""

from __future__ import annotations

import math
import time
from collections import Counter
from dataclasses import dataclass, field
from itertools import combinations, count
from typing import TYPE_CHECKING, Any

import numpy as np

from groups.errors import BadInput, SolverContradiction
from groups.group import NOBODY
from groups.tiers import TIERS, require_data
from optimal.answer import Answer
from optimal.solution import Proof, ProofKind, Status, Stopped

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from groups.group import Group, Int32, Int64
    from groups.tiers import Objective

Cost = Any
Held = list[tuple[int, int]]
# CBC mistakes a unit of costs near 2^26 with this tolerance, near 2^24 with its own of 1e-7.
_TOLERANCE = 1e-9
_GREATEST = 2**24


def ilp(group: Group, objective: Objective, *, time_limit: float | None) -> Answer:
    """Find the best assignment by integer linear programming, tier by tier.

    One 0-1 variable says for each partition and each of its readers whether the reader gets it.
    Each tier (DESIGN section 1) is minimised with the optima of the earlier ones as constraints.
    CBC computes in floats, so every answer is rounded and scored again in integers; of a tier
    that it leaves open it tells no bound.

    Parameters
    ----------
    group : the group
    objective : tiers in order of precedence
    time_limit : seconds for all tiers together, None for as long as it takes

    Raises
    ------
    BadInput
        Where a tier lacks its data or may cost more than floats tell apart, or PuLP is missing.
    SolverContradiction
        Where an answer of CBC is not what CBC says of it.
    """
    require_data(group, objective)
    _require_exact_costs(group, objective)
    pulp = _pulp()
    deadline = math.inf if time_limit is None else time.monotonic() + time_limit
    program = _program(group, pulp)
    found: Int32 | None = None
    bounds: list[int] = []
    fixed: dict[str, int] = {}
    for place, tier in enumerate(objective):
        form = _form(tier, objective[:place])
        cost = _COSTS[form](program)
        if time.monotonic() >= deadline:
            break
        ended = program.minimise(cost, deadline)
        if ended is not Status.UNKNOWN:
            found = program.answer(fixed)
        if found is None or ended is not Status.OPTIMAL:
            break
        fixed[form] = _score(form, group, found)
        program.require_agreement(form, cost, fixed[form])
        program.problem.addConstraint(cost <= fixed[form])
        bounds.append(_score("load_pairs" if tier == "balance" else tier, group, found))
    else:
        return Answer(found, tuple(bounds), Stopped.PROOF, Proof(ProofKind.SOLVER))
    unknown = [None] * (len(objective) - len(bounds))
    return Answer(found, (*bounds, *unknown), Stopped.TIME_LIMIT)


def _form(tier: str, earlier: Objective) -> str:
    """Return which of the formulations serves a tier after the earlier ones.

    After flow tiers the sum of squared loads has the same minimisers as KIP-54's score, because
    the loads that are left have a least majorised vector (DESIGN section 2); after a lag tier
    only the score itself will do.
    """
    return tier if tier != "balance" or all(TIERS[t].is_flow for t in earlier) else "load_pairs"


def _require_exact_costs(group: Group, objective: Objective) -> None:
    read = group.readers[group.topic] > 0
    for tier in objective:
        needs = TIERS[tier].needs
        column = group.lag_records if needs == "lag" else group.weight
        greatest = int(read.sum())
        if needs in ("lag", "weight"):
            greatest = 0 if column is None else int(column[read & (column > 0)].sum())
        if tier in ("balance", "topic_balance"):
            greatest *= greatest
        if tier.endswith("_balance") and needs is not None:
            greatest *= len(group.members)
        if greatest >= _GREATEST:
            raise BadInput(
                f"objective: {tier} may reach {greatest}, more than the floats of method ilp "
                "tell apart; use cp-sat"
            )


def _pulp() -> Any:
    try:
        import pulp
    except ImportError:
        raise BadInput("method ilp: PuLP is missing: pip install 'kafka-assay[ilp]'") from None
    return pulp


@dataclass(frozen=True)
class _Program:
    """The 0-1 variables of a group and what the tiers say about them.

    Attributes
    ----------
    readers : of each partition that somebody reads, the members that read it
    owns : whether a member gets a partition, by (partition, member)
    """

    group: Group
    pulp: Any
    problem: Any
    readers: dict[int, list[int]]
    owns: dict[tuple[int, int], Any]
    names: Iterator[int] = field(default_factory=count)

    def variable(self, most: int | None = None) -> Any:
        """Return a new variable of 0 or more, at most `most`."""
        return self.problem.add_variable(f"v{next(self.names)}", 0, most)

    def squares(self, sets: Iterable[Iterable[int]]) -> Cost:
        """Cost the k-th partition that a member has of each set 2k - 1: a sum of squares."""
        cost = []
        for partitions in sets:
            held: dict[int, list[Any]] = {}
            for p in partitions:
                for m in self.readers.get(p, ()):
                    held.setdefault(m, []).append(self.owns[p, m])
            for owns in held.values():
                steps = [self.variable(1) for _ in owns]
                self.problem.addConstraint(self.pulp.lpSum(steps) == self.pulp.lpSum(owns))
                cost += [(2 * k - 1) * step for k, step in enumerate(steps, start=1)]
        return self.pulp.lpSum(cost)

    def moves(self, weight: Int64 | None) -> Cost:
        """Cost the weight of each partition that somebody gets who is not its owner."""
        owner = self.group.owner.tolist()
        return self.pulp.lpSum(
            (1 if weight is None else int(weight[p])) * owns
            for (p, m), owns in self.owns.items()
            if owner[p] not in (NOBODY, m)
        )

    def racks(self) -> Cost:
        """Cost one for each partition whose member is not in the rack of a replica."""
        far = _far(self.group)
        return self.pulp.lpSum(owns for pair, owns in self.owns.items() if pair in far)

    def loads(self, column: Int64 | None) -> list[Cost]:
        """Return what each member carries of a column, which is None where nobody reads."""
        terms: list[list[Cost]] = [[] for _ in self.group.members]
        for (p, m), owns in self.owns.items():
            terms[m].append((0 if column is None else int(column[p])) * owns)
        return [self.pulp.lpSum(carried) for carried in terms]

    def peak(self, column: Int64 | None) -> Cost:
        """Cost what the busiest member carries."""
        peak = self.variable()
        for load in self.loads(column):
            self.problem.addConstraint(load <= peak)
        return self.pulp.lpSum([peak])

    def spread(self, column: Int64 | None) -> Cost:
        """Cost what the busiest member carries more than the idlest."""
        low, apart = self.variable(), self.variable()
        for load in self.loads(column):
            self.problem.addConstraint(load >= low)
            self.problem.addConstraint(load <= low + apart)
        return self.pulp.lpSum([apart])

    def pairs(self, column: Int64 | None) -> Cost:
        """Cost the difference of each pair of members."""
        cost = []
        for one, other in combinations(self.loads(column), 2):
            cost.append(self.variable())
            self.problem.addConstraint(one - other <= cost[-1])
            self.problem.addConstraint(other - one <= cost[-1])
        return self.pulp.lpSum(cost)

    def minimise(self, cost: Cost, deadline: float) -> Status:
        """Let CBC find the least cost and say what it knows of its answer.

        PuLP's `status` calls an answer optimal that the time limit cut short; `sol_status` does
        not.
        """
        options = ["ratioGap 0", "allowableGap 0"]
        options += [f"integerTolerance {_TOLERANCE}", f"primalTolerance {_TOLERANCE}"]
        left = None if deadline == math.inf else max(0.01, deadline - time.monotonic())
        path = self.pulp.PULP_CBC_CMD.pulp_cbc_path
        cbc = self.pulp.COIN_CMD(path=path, msg=False, timeLimit=left, options=options)
        if not cbc.available():
            raise BadInput("method ilp: the CBC that comes with PuLP does not run here")
        self.problem.setObjective(cost)
        self.problem.solve(cbc)
        ended = self.problem.sol_status
        if ended == self.pulp.LpSolutionOptimal:
            return Status.OPTIMAL
        if ended == self.pulp.LpSolutionIntegerFeasible:
            return Status.FEASIBLE
        if time.monotonic() < deadline:
            raise SolverContradiction(f"method ilp: CBC finds no assignment: {self.group!r}")
        return Status.UNKNOWN

    def answer(self, fixed: dict[str, int]) -> Int32:
        """Return who owns each partition in CBC's answer, with the earlier scores as `fixed`."""
        owner = np.full(self.group.n_partitions, NOBODY, np.int32)
        for p, readers in self.readers.items():
            got = [m for m in readers if self.owns[p, m].value() > 0.5]
            if len(got) != 1:
                raise SolverContradiction(
                    f"method ilp: CBC gives partition {p} to {len(got)} members: {self.group!r}"
                )
            owner[p] = got[0]
        for form, score in fixed.items():
            self.require_agreement(form, score, _score(form, self.group, owner))
        return owner

    def require_agreement(self, form: str, said: Cost | int, score: int) -> None:
        """Raise SolverContradiction where CBC says another score than its answer has."""
        told = self.pulp.value(said) or 0
        if abs(told - score) >= 0.5:
            raise SolverContradiction(
                f"method ilp: {form} is {told} to CBC, but its answer scores {score}: "
                f"{self.group!r}"
            )


def _program(group: Group, pulp: Any) -> _Program:
    problem = pulp.LpProblem("assignment", pulp.LpMinimize)
    start, topics = group.subscription_indptr.tolist(), group.subscription_topics.tolist()
    members: dict[int, list[int]] = {}
    for m in range(len(group.members)):
        for t in topics[start[m] : start[m + 1]]:
            members.setdefault(t, []).append(m)
    readers = {p: members[t] for p, t in enumerate(group.topic.tolist()) if t in members}
    owns = {
        (p, m): problem.add_variable(f"p{p}_m{m}", 0, 1, cat=pulp.LpInteger)
        for p in readers
        for m in readers[p]
    }
    for p in readers:
        problem += pulp.lpSum(owns[p, m] for m in readers[p]) == 1
    return _Program(group, pulp, problem, readers, owns)


def _far(group: Group) -> set[tuple[int, int]]:
    """Return the (partition, member) pairs of which no replica is in the member's rack."""
    racks = group.racks
    if racks is None:
        return set()
    names = [None if rack == NOBODY else racks.names[rack] for rack in racks.member.tolist()]
    near = [racks.of_set(s) if s != NOBODY else [] for s in racks.replicas.tolist()]
    return {(p, m) for p, at in enumerate(near) for m, rack in enumerate(names) if rack not in at}


def _score(form: str, group: Group, owner: Int32) -> int:
    """Return the score of an assignment as it stands, in integers."""
    held = [(p, m) for p, m in enumerate(owner.tolist()) if m != NOBODY]
    return _SCORES[form](group, held)


def _moved(group: Group, held: Held) -> Held:
    return [(p, m) for p, m in held if group.owner[p] not in (NOBODY, m)]


def _carried(group: Group, held: Held, column: Int64 | None) -> list[int]:
    carried = dict.fromkeys(range(len(group.members)), 0)
    for p, m in held:
        carried[m] += 0 if column is None else int(column[p])
    return list(carried.values()) or [0]


def _pairs(carried: list[int]) -> int:
    return sum(abs(one - other) for one, other in combinations(carried, 2))


def _range(carried: list[int]) -> int:
    return max(carried) - min(carried)


def _counted(sets: Iterable[object]) -> int:
    return sum(number**2 for number in Counter(sets).values())


_COSTS: dict[str, Callable[[_Program], Cost]] = {
    "balance": lambda a: a.squares([a.readers]),
    "load_pairs": lambda a: a.pairs(np.ones(a.group.n_partitions, np.int64)),
    "topic_balance": lambda a: a.squares(
        [range(*a.group.first[t : t + 2].tolist()) for t in range(len(a.group.topics))]
    ),
    "stickiness": lambda a: a.moves(None),
    "moved_weight": lambda a: a.moves(a.group.weight),
    "racks": lambda a: a.racks(),
    "peak_lag": lambda a: a.peak(a.group.lag_records),
    "lag_spread": lambda a: a.spread(a.group.lag_records),
    "lag_balance": lambda a: a.pairs(a.group.lag_records),
    "peak_weight": lambda a: a.peak(a.group.weight),
    "weight_spread": lambda a: a.spread(a.group.weight),
    "weight_balance": lambda a: a.pairs(a.group.weight),
}

_SCORES: dict[str, Callable[[Group, Held], int]] = {
    "balance": lambda g, held: _counted(m for _, m in held),
    "load_pairs": lambda g, held: _pairs(_carried(g, held, np.ones(g.n_partitions, np.int64))),
    "topic_balance": lambda g, held: _counted((g.topic[p], m) for p, m in held),
    "stickiness": lambda g, held: len(_moved(g, held)),
    "moved_weight": lambda g, held: sum(_carried(g, _moved(g, held), g.weight)),
    "racks": lambda g, held: len(_far(g).intersection(held)),
    "peak_lag": lambda g, held: max(_carried(g, held, g.lag_records)),
    "lag_spread": lambda g, held: _range(_carried(g, held, g.lag_records)),
    "lag_balance": lambda g, held: _pairs(_carried(g, held, g.lag_records)),
    "peak_weight": lambda g, held: max(_carried(g, held, g.weight)),
    "weight_spread": lambda g, held: _range(_carried(g, held, g.weight)),
    "weight_balance": lambda g, held: _pairs(_carried(g, held, g.weight)),
}
