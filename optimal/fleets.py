"""Fleets: many groups in one solve."""

from __future__ import annotations

from itertools import pairwise
from time import perf_counter
from typing import TYPE_CHECKING

import numpy as np

from groups.errors import BadInput, SolverContradiction
from groups.fleet import Fleet, portions
from groups.group import frozen
from groups.tiers import parse_objective, require_data
from optimal.answer import Answer
from optimal.confirmation import confirmed, unconfirmed
from optimal.solution import Proof
from optimal.solve import loaded, require_served, solve

if TYPE_CHECKING:
    from collections.abc import Sequence

    from groups.group import Group
    from groups.tiers import Objective
    from optimal.solution import Solution
    from optimal.solve import Method

# With more members the cheapest flow leaves the processor's cache and slows down.
MEMBERS_TOGETHER = 5000


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

    Examples
    --------
    >>> from assay import Group, solve_many
    >>> members = {"c0": {"subscription": ["t"]}, "c1": {"subscription": ["t"]}}
    >>> groups = [
    ...     Group.from_dict(
    ...         {"format": "assay-group/1", "group": "g", "topics": {"t": n}, "members": members}
    ...     )
    ...     for n in (2, 3)
    ... ]
    >>> [solution.terms[0].value for solution in solve_many(groups)]
    [0, 1]
    """
    tiers = parse_objective(objective)
    require_served(tiers, "flow")
    method = loaded("flow", closed_form=True)
    for group in groups:
        try:
            require_data(group, tiers)
        except BadInput as error:
            raise error.within(group.name) from None
    solutions: list[Solution] = []
    for portion in portions(groups, lambda group: len(group.members), MEMBERS_TOGETHER):
        try:
            solutions += _together(method, portion, tiers, time_limit)
        except (BadInput, SolverContradiction):
            # What is too large, or wrong, together need not be so in each group.
            solutions += [solve(group, tiers, time_limit=time_limit) for group in portion]
    return solutions


def _together(
    method: Method, groups: Sequence[Group], objective: Objective, time_limit: float | None
) -> list[Solution]:
    """Solve groups side by side, check them side by side, and take them apart.

    Each group's bounds hold by themselves, so the sums meet their bounds only where each does.
    What each group's own data make of its part must add up to what was checked.
    """
    start = perf_counter()
    fleet = Fleet.of(groups)
    answer = method(fleet.group, objective, time_limit=time_limit)
    whole = confirmed(fleet.group, objective, answer, "flow", 0.0)
    proof = whole.proof.kind
    seconds = (perf_counter() - start) / max(len(groups), 1)
    parts = [
        unconfirmed(group, objective, own, "flow", seconds)
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
    """Return the part of each group of a fleet in the answer to all of them."""
    parts = []
    owner, proof = answer.owner, answer.proof
    members, partitions = fleet.member_start.tolist(), fleet.partition_start.tolist()
    for (first, last), (start, end) in zip(pairwise(members), pairwise(partitions), strict=True):
        own = (
            None if owner is None else np.where(owner[start:end] < 0, -1, owner[start:end] - first)
        )
        level = None if proof.level is None else frozen(proof.level[first:last])
        price = None if proof.price is None else frozen(proof.price[first:last])
        parts.append(
            Answer(
                owner=None if own is None else frozen(own.astype(np.int32)),
                bounds=answer.bounds,
                stopped=answer.stopped,
                proof=Proof(proof.kind, level, price, proof.scale),
                method=_method(answer, slice(first, last)),
            )
        )
    return parts


def _method(answer: Answer, members: slice) -> str | None:
    if answer.in_closed_form is None:
        return answer.method
    return "closed-form" if answer.in_closed_form[members].all() else answer.method
