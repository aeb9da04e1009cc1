"""The one door: solve a group, or many at once, to a checked solution."""

from __future__ import annotations

from time import perf_counter
from typing import TYPE_CHECKING, Literal

from groups.assignment import Assignment
from groups.errors import BadInput, InvalidAssignment, ProofError, SolverContradiction
from groups.tiers import TIERS, parse_objective, require_data, values
from optimal.certificate import check
from optimal.claim import Claim
from optimal.solution import Proof, ProofKind, Solution, Status, Stopped, Term
from optimal.time_left import OutOfTime, TimeLeft

if TYPE_CHECKING:
    from collections.abc import Sequence

    from groups.group import Group
    from groups.tiers import Objective

Method = Literal["auto", "flow", "cp-sat", "ilp", "brute"]
METHODS: tuple[Method, ...] = ("auto", "flow", "cp-sat", "ilp", "brute")


def solve(
    group: Group,
    objective: str | Sequence[str] = "kip-54",
    *,
    method: Method = "auto",
    time_limit: float | None = None,
    assume_subscriptions: Literal["equal"] | None = None,
) -> Solution:
    """Return the best assignment of a group for an objective, checked, with its proof.

    Parameters
    ----------
    objective : a preset, ``"balance > stickiness"``, or the names of the tiers in order
    method : ``auto`` picks by structure: `flow` where every tier is a flow, else `cp-sat`;
        the solution says what ran
    time_limit : seconds; when they are up the solution says what is known by then
    assume_subscriptions : ``"equal"`` takes unknown subscriptions as all topics of the group

    Raises
    ------
    BadInput
        Where the objective is not known, the group lacks what a tier needs, or the method does
        not serve the objective.
    SolverContradiction
        Where the checker rejects what the method claims.
    """
    tiers = parse_objective(objective)
    if assume_subscriptions == "equal":
        group = group.with_equal_subscriptions()
    require_data(group, tiers)
    chosen = _chosen(tiers, method)
    start = perf_counter()
    claim = _run(group, tiers, chosen, method, time_limit)
    return _confirmed(group, tiers, claim, chosen, perf_counter() - start)


def solve_many(
    groups: Sequence[Group],
    objective: str | Sequence[str] = "kip-54",
    *,
    time_limit: float | None = None,
) -> list[Solution]:
    """Return one solution a group, in order, found in one solve for all of them.

    Each equals the group's own `solve` in value and has its own proof and status; `seconds` is
    the common time divided by the number of groups.

    Raises
    ------
    BadInput
        Where the objective is not made of flow tiers, or a group lacks what a tier needs; the
        message names the group.
    SolverContradiction
        Where the checker rejects a claim; the message names the group.
    """
    tiers = parse_objective(objective)
    chosen = _chosen(tiers, "flow")
    for group in groups:
        try:
            require_data(group, tiers)
        except BadInput as error:
            raise error.within(group.name) from None
    start = perf_counter()
    claims = _flow(groups, tiers, time_limit, closed=True)
    seconds = (perf_counter() - start) / max(len(groups), 1)
    return [
        _confirmed(group, tiers, claim, chosen, seconds)
        for group, claim in zip(groups, claims, strict=True)
    ]


def _chosen(objective: Objective, method: Method) -> Method:
    if method not in METHODS:
        raise BadInput(f"method: {method!r}, expected one of {', '.join(METHODS)}")
    other = next((tier for tier in objective if not TIERS[tier].is_flow), None)
    if method == "auto":
        return "flow" if other is None else "cp-sat"
    if method == "flow" and other is not None:
        raise BadInput(f"method: flow does not serve tier {other}; use cp-sat, ilp or brute")
    return method


def _run(
    group: Group, objective: Objective, chosen: Method, asked: Method, time_limit: float | None
) -> Claim:
    if chosen == "flow":
        return _flow([group], objective, time_limit, closed=asked == "auto")[0]
    if chosen == "brute":
        from optimal.brute import brute

        return brute(group, objective, time_limit=time_limit)
    if chosen == "ilp":
        from optimal.ilp import ilp

        return ilp(group, objective, time_limit=time_limit)
    from optimal.cpsat import cpsat

    return cpsat(group, objective, time_limit=time_limit)


def _flow(
    groups: Sequence[Group], objective: Objective, time_limit: float | None, *, closed: bool
) -> list[Claim]:
    from optimal.flow import flow

    try:
        return flow(groups, objective, TimeLeft.of(time_limit), closed=closed)
    except OutOfTime:
        nothing = Claim(None, (None,) * len(objective), stopped=Stopped.TIME_LIMIT)
        return [nothing] * len(groups)


def _confirmed(
    group: Group, objective: Objective, claim: Claim, method: str, seconds: float
) -> Solution:
    """Turn a claim into a solution: values are recomputed here, and the checker has its say."""
    assignment = None if claim.owner is None else Assignment(group, claim.owner)
    found = () if assignment is None else values(assignment, objective)
    bounds: tuple[int | None, ...] = claim.bounds
    if claim.proof.kind is ProofKind.CERTIFICATE or method == "flow":
        # The checker, or the flow's own word, stands for every tier.
        bounds = found
    terms = tuple(map(Term, objective, found, bounds))
    closed = assignment is not None and all(t.value == t.bound for t in terms)
    status = Status.UNKNOWN
    if assignment is not None:
        proved = closed and claim.proof.kind is not ProofKind.NONE
        status = Status.OPTIMAL if proved else Status.FEASIBLE
    solution = Solution(
        group=group,
        objective=objective,
        status=status,
        stopped=claim.stopped,
        method=claim.method or method,
        seconds=seconds,
        terms=terms,
        assignment=assignment,
        proof=claim.proof if status is Status.OPTIMAL else Proof(ProofKind.NONE),
    )
    try:
        check(group, solution)
    except (InvalidAssignment, ProofError) as error:
        raise SolverContradiction(
            f"{group.name}: {method} contradicts the checker: {error}"
        ) from error
    return solution
