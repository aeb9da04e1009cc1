"""Assertions for people who test assignors: that an assignment is the best, or near enough.

A group and an assignment may come as objects or as JSON, so that the assignor may be written in
any language.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING

from compare.limits import beyond, excesses, with_earlier
from compare.scores import Score, score
from groups import Assignment, BadInput, Group, InvalidAssignment
from groups.assignment_files import SOLUTION, NamedAssignment, read_assignments
from groups.documents.json_files import parse_json
from groups.files import read_group
from groups.tiers import called, in_words, parse_objective, tier_named
from groups.wording import counted, first_lines
from optimal import ProofKind, Solution, solve

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path


__all__ = ["assert_optimal", "assert_within"]

Document = Mapping[str, object]
MOST_SHOWN = 30
MOST_LINES = 5
_PROOFS = {
    ProofKind.CERTIFICATE: "a certificate proves it, which assay check recomputes",
    ProofKind.EXHAUSTION: "every assignment was looked at",
    ProofKind.SOLVER: "proved on the word of the solver",
    ProofKind.NONE: "not proved",
}


def assert_optimal(
    group: Group | Document | str | Path,
    assignment: Assignment | Document | str | Path,
    objective: str | Sequence[str] = "kip-54",
    *,
    time_limit: float = 10.0,
    assume_equal: bool = False,
) -> None:
    """Assert that an assignment is valid and that none is better.

    Parameters
    ----------
    group : a Group, an ``assay-group/1`` document, its JSON text, or the path of a file that holds
        one group: a snapshot, or what another tool printed
    assignment : an Assignment, ``{member: {topic: [partition, ...]}}``, an ``assay-solution/1``
        document, the JSON text of one of them, or the path of a file
    objective : a preset, ``"balance > stickiness"``, or the names of the tiers in order
    time_limit : seconds for the proof; where they do not do, the assertion fails and says so
    assume_equal : take unknown subscriptions as all topics of the group

    Raises
    ------
    AssertionError
        If it is not valid or not optimal, or where that could not be proved in time. The
        message says what is better, by how much, and what proves it.
    BadInput
        If the group, the assignment or the objective cannot be used.

    Examples
    --------
    >>> from assay.testing import assert_optimal
    >>> group = {
    ...     "format": "assay-group/1",
    ...     "group": "orders",
    ...     "topics": {"t0": 4},
    ...     "members": {"c0": {"subscription": ["t0"]}, "c1": {"subscription": ["t0"]}},
    ... }
    >>> assert_optimal(group, {"c0": {"t0": [0, 1]}, "c1": {"t0": [2, 3]}})
    >>> assert_optimal(group, {"c0": {"t0": [0, 1, 2]}, "c1": {"t0": [3]}})
    Traceback (most recent call last):
    AssertionError: orders: balance 2, the best is 0
    loads: c0 3, c1 1; of the best: c0 2, c1 2
    a best one: {"c0": {"t0": [0, 1]}, "c1": {"t0": [2, 3]}}
    the best: balance 0, moves 0: a certificate proves it, which assay check recomputes
    """
    __tracebackhide__ = True
    tiers = parse_objective(objective)
    assert_within(
        group,
        assignment,
        dict.fromkeys(tiers, 0),
        tiers,
        time_limit=time_limit,
        assume_equal=assume_equal,
    )


def assert_within(
    group: Group | Document | str | Path,
    assignment: Assignment | Document | str | Path,
    at_most: Mapping[str, int],
    objective: str | Sequence[str] = "kip-54",
    *,
    time_limit: float = 10.0,
    assume_equal: bool = False,
) -> None:
    """Assert that an assignment is valid and not further from the best than allowed.

    Parameters
    ----------
    group, assignment, objective, time_limit, assume_equal : as in :func:`assert_optimal`
    at_most : by how much the value of a tier may exceed the optimum: ``{"balance": 2}``. A tier
        that is not named may exceed it by any amount if no later one is named, else by nothing.
        After the first tier in which the assignment is worse, tiers are compared with those of
        the best assignment.

    Raises
    ------
    AssertionError
        If it is not valid or further from the optimum, or where that could not be proved in
        time. The message says what is better, by how much, and what proves it.
    BadInput
        If the group, the assignment or the objective cannot be used, or a tier is not in the
        objective.

    Examples
    --------
    >>> from assay.testing import assert_within
    >>> group = {
    ...     "format": "assay-group/1",
    ...     "group": "orders",
    ...     "topics": {"t0": 4},
    ...     "members": {"c0": {"subscription": ["t0"]}, "c1": {"subscription": ["t0"]}},
    ... }
    >>> assert_within(group, {"c0": {"t0": [0, 1, 2]}, "c1": {"t0": [3]}}, {"balance": 2})
    """
    __tracebackhide__ = True
    tiers = parse_objective(objective)
    limits = {tier_named(tier): most for tier, most in at_most.items()}
    for tier in limits:
        if tier not in tiers:
            raise BadInput(f"at_most: {tier!r} is no tier of the objective {in_words(tiers)}")
    limits = with_earlier(limits, tiers)
    asked = _group(group)
    if assume_equal:
        asked = asked.with_equal_subscriptions()
    asked.require_subscriptions()
    made = _assignment(asked, assignment)
    if not made.is_valid:
        worst = sorted(made.violations, key=lambda violation: violation.partition_exists)
        shown = first_lines([*map(str, worst)], MOST_LINES)
        raise AssertionError(f"{asked.name}: not valid: {', '.join(shown)}")
    solution = solve(asked, tiers, time_limit=time_limit)
    row = score(asked, made, solution)
    if beyond([row], limits, solution.terms):
        raise AssertionError(_message(row, made, solution, limits, time_limit))


def _group(given: Group | Document | str | Path) -> Group:
    if isinstance(given, Group):
        return given
    if isinstance(given, Mapping):
        return Group.from_dict(given)
    if isinstance(given, str) and given.lstrip().startswith("{"):
        return Group.from_dict(_object(given, "group"))
    return read_group(str(given))


def _assignment(group: Group, given: Assignment | Document | str | Path) -> Assignment:
    """Read an assignment; a member that the group does not have is an AssertionError."""
    __tracebackhide__ = True
    if isinstance(given, Assignment):
        return given
    if isinstance(given, str) and given.lstrip().startswith("{"):
        given = _object(given, "assignment")
    if not isinstance(given, Mapping):
        return read_assignments(str(given)).of(group.name).of(group)
    if given.get("format") == SOLUTION:
        return NamedAssignment.from_solution(given, "assignment").of(group)
    try:
        return Assignment.from_dict(group, given)
    except InvalidAssignment as error:
        raise AssertionError(f"{group.name}: not valid: {error}") from None


def _object(text: str, place: str) -> Document:
    try:
        document = parse_json(text)
    except BadInput as error:
        raise error.within(place) from None
    if not isinstance(document, Mapping):
        raise BadInput(f"{place}: expected an object")
    return document


def _message(
    row: Score,
    made: Assignment,
    solution: Solution,
    limits: Mapping[str, int],
    time_limit: float,
) -> str:
    """Return the failure message: what is better, by how much, and what proves it."""
    lines = []
    found_terms = excesses(row.terms or (), solution.terms)
    for (term, excess), best in zip(found_terms, solution.terms, strict=False):
        if term.name not in limits or excess == 0:
            continue
        allowed = f", more than {limits[term.name]} above it" if limits[term.name] else ""
        if isinstance(excess, int) and excess > limits[term.name]:
            lines.append(f"{called(term.name)} {term.value}, the best is {best.value}{allowed}")
        elif isinstance(excess, tuple):
            known = "nothing is known" if best.bound is None else f"it is at least {best.bound}"
            lines.append(
                f"{called(term.name)} {term.value}; the best was not proved in {time_limit:g} s: "
                f"{known}, and {best.value} was found"
            )
    lines = lines or [f"nothing was found in {time_limit:g} s to compare it with"]
    name = made.group.name
    found = solution.assignment
    said = [f"{name}: {'; '.join(lines)}"]
    if found is None:
        return said[0]
    if len(made.group.members) <= MOST_SHOWN:
        said.append(f"loads: {_loads(made)}; of the best: {_loads(found)}")
    if made.group.n_partitions <= MOST_SHOWN:
        said.append(f"a best one: {json.dumps(found.to_dict(), ensure_ascii=False)}")
    else:
        differ = int((made.owner != found.owner).sum())
        said.append(f"a best one differs in {counted(differ, 'partition')}; assay solve prints it")
    terms = ", ".join(f"{called(term.name)} {term.value}" for term in solution.terms)
    proved = solution.proof.kind is not ProofKind.NONE
    said.append(
        f"{'the best' if proved else 'the best found'}: {terms}: {_PROOFS[solution.proof.kind]}"
    )
    return "\n".join(said)


def _loads(assignment: Assignment) -> str:
    loads = zip(assignment.group.members, assignment.loads.tolist(), strict=True)
    return ", ".join(f"{member} {load}" for member, load in loads)
