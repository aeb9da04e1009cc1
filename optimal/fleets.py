"""Fleets: many groups in one solve."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from time import perf_counter
from typing import TYPE_CHECKING

import numpy as np

from groups.arrays import NOBODY, frozen
from groups.errors import BadInput, SolverContradiction
from groups.fleet import Fleet, portions
from groups.needs import require_data
from groups.tiers import parse_objective
from optimal.answer import Answer
from optimal.confirmation.confirmation import confirmed, unconfirmed
from optimal.proof import Proof
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

    What is returned is checked side by side, as the answer to one group without common members or
    topics. That proves each part: whatever a certificate asks of a partition or a member it asks
    within its group, and the sums of prices bound each group's cost by themselves, so that they
    meet the cost of all only where each meets its own.

    Raises
    ------
    BadInput
        Where the objective is not made of flow tiers, or a group lacks what a tier needs; the
        message names the group.
    SolverContradiction
        Where the checker rejects what was found; the message names the group.

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
    if not groups:
        return []
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
        except BadInput:
            # What is too large together need not be so in each group.
            solutions += [solve(group, tiers, time_limit=time_limit) for group in portion]
    return solutions


def _together(
    method: Method, groups: Sequence[Group], objective: Objective, time_limit: float | None
) -> list[Solution]:
    """Solve groups side by side, take the answer apart and check the parts side by side."""
    start = perf_counter()
    fleet = Fleet.of(groups)
    answer = method(fleet.group, objective, time_limit=time_limit)
    parts = _split(fleet, answer)
    try:
        whole = confirmed(fleet.group, objective, _joined(fleet, answer, parts), "flow", 0.0)
    except SolverContradiction:
        for group, part in zip(groups, parts, strict=True):
            confirmed(group, objective, part, "flow", 0.0)
        raise
    seconds = (perf_counter() - start) / max(len(groups), 1)
    solutions = [
        unconfirmed(group, objective, part, "flow", seconds)
        for group, part in zip(groups, parts, strict=True)
    ]
    for term in whole.terms:
        parted = sum(t.value for part in solutions for t in part.terms if t.name == term.name)
        if term.name != "balance" and parted != term.value:
            raise SolverContradiction(f"the groups' {term.name} do not add up")
    return solutions


def _joined(fleet: Fleet, answer: Answer, parts: Sequence[Answer]) -> Answer:
    """Return an answer with the owners and the certificate that its parts have."""
    if answer.owner is None or not parts:
        return answer
    owner = np.concatenate([part.owner for part in parts if part.owner is not None])
    firsts = np.repeat(fleet.member_start[:-1], np.diff(fleet.partition_start))
    proof = answer.proof
    level, price = (
        None if column is None else np.concatenate([c for c in columns if c is not None])
        for column, columns in (
            (proof.level, [part.proof.level for part in parts]),
            (proof.price, [part.proof.price for part in parts]),
        )
    )
    return replace(
        answer,
        owner=np.where(owner < 0, NOBODY, owner + firsts).astype(np.int32),
        proof=replace(proof, level=level, price=price),
    )


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
