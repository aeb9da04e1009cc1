"""The one door: solve a group, or many at once, to a checked solution."""

from __future__ import annotations

from dataclasses import replace
from time import perf_counter
from typing import TYPE_CHECKING, Literal

import numpy as np

from groups.assignment import Assignment
from groups.errors import (
    BadInput,
    InvalidAssignment,
    ProofError,
    ProofTooLarge,
    SolverContradiction,
)
from groups.fleet import Fleet
from groups.group import frozen
from groups.tiers import TIERS, parse_objective, require_data, values
from optimal.answer import Answer
from optimal.certificate import check
from optimal.solution import Proof, ProofKind, Solution, Status, Stopped, Term
from optimal.time_left import OutOfTime, TimeLeft

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from groups.group import Group
    from groups.tiers import Objective

Method = Literal["auto", "flow", "cp-sat", "ilp", "brute"]
MEMBERS_TOGETHER = 5000
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
        Where the checker rejects the answer of the method.
    """
    tiers = parse_objective(objective)
    if assume_subscriptions == "equal":
        group = group.with_equal_subscriptions()
    require_data(group, tiers)
    chosen = _chosen(tiers, method)
    start = perf_counter()
    answer = _run(group, tiers, chosen, method, time_limit)
    return _confirmed(group, tiers, answer, chosen, perf_counter() - start)


def solve_many(
    groups: Sequence[Group],
    objective: str | Sequence[str] = "kip-54",
    *,
    time_limit: float | None = None,
) -> list[Solution]:
    """Return one solution a group, in order, found in one solve for some thousand members each.

    Each equals the group's own `solve` in value and has its own proof and status; `seconds` is
    the common time divided by the number of groups, `time_limit` that of each common solve.

    Raises
    ------
    BadInput
        Where the objective is not made of flow tiers, or a group lacks what a tier needs; the
        message names the group.
    SolverContradiction
        Where the checker rejects an answer; the message names the group.
    """
    tiers = parse_objective(objective)
    _chosen(tiers, "flow")
    for group in groups:
        try:
            require_data(group, tiers)
        except BadInput as error:
            raise error.within(group.name) from None
    solutions: list[Solution] = []
    for portion in _portions(groups):
        try:
            solutions += _together(portion, tiers, time_limit)
        except (BadInput, SolverContradiction):
            # What is too large, or wrong, together need not be so in each group.
            solutions += [solve(group, tiers, time_limit=time_limit) for group in portion]
    return solutions


def _portions(groups: Sequence[Group]) -> Iterator[list[Group]]:
    """Cut a fleet where a cheapest flow would leave the processor's cache and slow down."""
    portion: list[Group] = []
    members = 0
    for group in groups:
        if portion and members + len(group.members) > MEMBERS_TOGETHER:
            yield portion
            portion, members = [], 0
        portion.append(group)
        members += len(group.members)
    if portion:
        yield portion


def _together(
    groups: Sequence[Group], objective: Objective, time_limit: float | None
) -> list[Solution]:
    """Solve groups side by side, check them side by side, and take them apart.

    Each group's bounds hold by themselves, so the sums meet their bounds only where each does.
    What each group's own data make of its part must add up to what was checked.
    """
    start = perf_counter()
    fleet = Fleet.of(groups)
    answer = _flow(fleet.group, objective, time_limit, closed_form=True)
    whole = _confirmed(fleet.group, objective, answer, "flow", 0.0)
    proof = whole.proof.kind
    seconds = (perf_counter() - start) / max(len(groups), 1)
    parts = [
        _solution(group, objective, own, "flow", seconds)
        for group, own in zip(groups, _split(fleet, answer), strict=True)
    ]
    if answer.proof.kind is not proof:
        raise SolverContradiction("the proof of all groups together is not that of each")
    for term in whole.terms:
        parted = sum(t.value for part in parts for t in part.terms if t.name == term.name)
        if term.name != "balance" and parted != term.value:
            raise SolverContradiction(f"the groups' {term.name} do not add up")
    return parts


def _split(fleet: Fleet, answer: Answer) -> list[Answer]:
    """Return the answer of each group of a fleet."""
    answers = []
    owner, proof = answer.owner, answer.proof
    members, partitions = fleet.member_start.tolist(), fleet.partition_start.tolist()
    for first, last, start, end in zip(
        members, members[1:], partitions, partitions[1:], strict=False
    ):
        own = (
            None if owner is None else np.where(owner[start:end] < 0, -1, owner[start:end] - first)
        )
        level = None if proof.level is None else frozen(proof.level[first:last])
        price = None if proof.price is None else frozen(proof.price[first:last])
        answers.append(
            Answer(
                owner=None if own is None else frozen(own.astype(np.int32)),
                bounds=answer.bounds,
                stopped=answer.stopped,
                proof=Proof(proof.kind, level, price, proof.scale),
                method=_method(answer, slice(first, last)),
            )
        )
    return answers


def _method(answer: Answer, members: slice) -> str | None:
    if answer.in_closed_form is None:
        return answer.method
    return "closed-form" if answer.in_closed_form[members].all() else answer.method


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
) -> Answer:
    if chosen == "flow":
        return _flow(group, objective, time_limit, closed_form=asked == "auto")
    if chosen == "brute":
        from optimal.brute import brute

        return brute(group, objective, time_limit=time_limit)
    if chosen == "ilp":
        from optimal.ilp import ilp

        return ilp(group, objective, time_limit=time_limit)
    from optimal.cpsat import cpsat

    return cpsat(group, objective, time_limit=time_limit)


def _flow(
    group: Group, objective: Objective, time_limit: float | None, *, closed_form: bool
) -> Answer:
    from optimal.flow.recipe import flow

    try:
        return flow(group, objective, TimeLeft.of(time_limit), closed_form=closed_form)
    except OutOfTime:
        return Answer(None, (None,) * len(objective), stopped=Stopped.TIME_LIMIT)


def _solution(
    group: Group, objective: Objective, answer: Answer, method: str, seconds: float
) -> Solution:
    """Turn an answer into a solution; the values of its tiers are computed here."""
    assignment = None if answer.owner is None else Assignment(group, answer.owner)
    found = () if assignment is None else values(assignment, objective)
    bounds: tuple[int | None, ...] = answer.bounds
    if answer.proof.kind is ProofKind.CERTIFICATE or method == "flow":
        # The checker, or the flow's own word, stands for every tier.
        bounds = found
    terms = tuple(map(Term, objective, found, bounds))
    status = Status.UNKNOWN
    if assignment is not None:
        closed = all(t.value == t.bound for t in terms)
        proved = closed and answer.proof.kind is not ProofKind.NONE
        status = Status.OPTIMAL if proved else Status.FEASIBLE
    return Solution(
        group=group,
        objective=objective,
        status=status,
        stopped=answer.stopped,
        method=answer.method or method,
        seconds=seconds,
        terms=terms,
        assignment=assignment,
        proof=answer.proof if status is Status.OPTIMAL else Proof(ProofKind.NONE),
    )


def _confirmed(
    group: Group, objective: Objective, answer: Answer, method: str, seconds: float
) -> Solution:
    """Turn an answer into a solution that the checker has confirmed."""
    solution = _solution(group, objective, answer, method, seconds)
    try:
        check(group, solution)
    except ProofTooLarge:
        # The solver's word is all there is where the sums of the proof leave 64 bits.
        return replace(solution, proof=Proof(ProofKind.SOLVER))
    except (InvalidAssignment, ProofError) as error:
        raise SolverContradiction(
            f"{group.name}: {method} contradicts the checker: {error}"
        ) from error
    return solution
