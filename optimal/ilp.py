"""Integer linear program: every tier in PuLP, solved by CBC one tier after the other."""

from __future__ import annotations

import math
import time
from typing import TYPE_CHECKING, NamedTuple

from groups.errors import BadInput
from groups.extras import command_for
from groups.needs import require_data
from groups.tiers import is_flow
from optimal.answer import Answer
from optimal.limits import require_costs_within
from optimal.programs.linear import LINEAR_TIERS, LOAD_PAIRS, LinearProgram, score
from optimal.proof import Proof, ProofKind
from optimal.solution import Stopped

if TYPE_CHECKING:
    from collections.abc import Mapping

    from groups.arrays import Int32
    from groups.group import Group
    from groups.tiers import Objective
    from optimal.programs.linear import Cost

# A load may be off by this times its greatest weight: with CBC's own 1e-7 that is a unit.
TOLERANCE = 1e-9
# Costs are integers, so that half a unit more lets nothing in; exactly at the least cost CBC's
# preprocessing loses every assignment to rounding.
SLACK = 0.5
# What CBC is told besides, one after the other, until what it says holds.
WAYS: tuple[tuple[str, ...], ...] = ((), ("preprocess off",), ("preprocess off", "presolve off"))


def ilp(group: Group, objective: Objective, *, time_limit: float | None) -> Answer:
    """Find the best assignment by integer linear programming, tier by tier.

    One 0-1 variable says for each partition and each of its readers whether the reader gets it.
    Each tier is minimised with the optima of the earlier ones as constraints.

    CBC computes in floats, so every assignment is scored again in integers, against what CBC says
    of it, the earlier tiers and the best assignment known. Where that fails, or CBC says that
    there is no assignment, it is asked again in other ways; where all fail the best assignment
    known is the answer, and the tier has no bound. That nothing costs less is CBC's word.

    Parameters
    ----------
    group : the group
    objective : tiers in order of precedence
    time_limit : seconds for all tiers together, None for as long as it takes

    Raises
    ------
    BadInput
        Where a tier lacks its data or may cost more than floats tell apart, or PuLP is missing.
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
        least[form] = score(form, group, found)
        bounds.append(score(LOAD_PAIRS if tier == "balance" else tier, group, found))
    return Answer(found, tuple(bounds), Stopped.PROOF, Proof(ProofKind.SOLVER))


def form_after(tier: str, earlier: Objective) -> str:
    """Return which of the forms serves a tier after the earlier ones.

    After flow tiers the sum of squared loads has the same minimisers as KIP-54's score, because
    the loads that are left have a least majorised vector (docs/explanation/method.md);
    after a lag tier only the score itself will do.
    """
    flows = is_flow(earlier)
    return tier if tier != "balance" or flows else LOAD_PAIRS


def _best(
    program: LinearProgram,
    form: str,
    least: Mapping[str, int],
    found: Int32 | None,
    deadline: float,
) -> tuple[Int32 | None, Stopped]:
    """Return the best assignment known at the least of the earlier tiers, and if it is proved.

    Parameters
    ----------
    least : least cost of each earlier tier
    found : (all partitions,) int32, an assignment that has them, None where none is known
    """
    group, cost = program.group, LINEAR_TIERS[form].cost(program)
    for options in WAYS:
        if time.monotonic() >= deadline:
            return found, Stopped.TIME_LIMIT
        said = _asked(program, cost, deadline, options)
        if said.owner is not None and _is_better(group, form, said.owner, least, found):
            found = said.owner
            reached = score(form, group, found)
            if said.least is not None and abs(said.least - reached) < 0.5:
                program.problem.addConstraint(cost <= reached + SLACK)
                return found, Stopped.PROOF
        if said.is_late:
            return found, Stopped.TIME_LIMIT
    return program.first_readers() if found is None else found, Stopped.TIME_LIMIT


def _is_better(
    group: Group, form: str, owner: Int32, least: Mapping[str, int], found: Int32 | None
) -> bool:
    """Return whether an assignment keeps the earlier tiers and is no worse than the one known."""
    if any(score(earlier, group, owner) != cost for earlier, cost in least.items()):
        return False
    return found is None or score(form, group, owner) <= score(form, group, found)


class _Said(NamedTuple):
    """What CBC says, which may be wrong.

    Attributes
    ----------
    owner : (all partitions,) int32, None where its answer gives a partition to none or several
    least : the cost that it calls the least one, None where it calls none so
    is_late : whether the time limit stopped it
    """

    owner: Int32 | None
    least: float | None
    is_late: bool


def _asked(program: LinearProgram, cost: Cost, deadline: float, options: tuple[str, ...]) -> _Said:
    """Let CBC look for the least cost.

    PuLP's `status` calls an answer optimal that the time limit cut short; `sol_status` does not.
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
        return _Said(None, None, is_late=False)
    ended = program.problem.sol_status
    proved = ended == pulp.LpSolutionOptimal
    found = proved or ended == pulp.LpSolutionIntegerFeasible
    none = program.problem.status == pulp.LpStatusInfeasible
    return _Said(
        owner=program.answer() if found else None,
        least=float(pulp.value(cost) or 0) if proved else None,
        is_late=left is not None and not proved and not none,
    )


def require_pulp() -> None:
    """Load PuLP, or raise BadInput where it is missing."""
    try:
        import pulp  # noqa: F401 - whether it is there
    except ImportError:
        raise BadInput(f"method ilp: PuLP is missing: {command_for('ilp')}") from None
