"""Measured: what assignors make of many groups, a batch at a time."""

from __future__ import annotations

from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from groups import Failed, values
from heuristics.time_limit import NOT_STARTED, TimeLimit

if TYPE_CHECKING:
    from collections.abc import Sequence

    from groups import Group
    from heuristics import AssignorFunction
    from heuristics.assignor import Outcome


@dataclass(frozen=True)
class Measured:
    """What an assignor made of a group.

    Attributes
    ----------
    status : "valid", "invalid", "refused", "failed" or "timed-out"
    reason : the kinds of violations, or why there is no plan; "" where it is valid
    loads : partitions of each member, in the group's order; () where there is no valid plan
    balance, moves : the balance score, and partitions taken from their valid owner; 0 likewise
    """

    status: Literal["valid", "invalid", "refused", "failed", "timed-out"]
    reason: str = ""
    loads: tuple[int, ...] = ()
    balance: int = 0
    moves: int = 0


def measured(
    names: Sequence[str], groups: Sequence[Group], *, seconds: float = 2.0, workers: int = 2
) -> dict[str, list[Measured]]:
    """Run assignors that can be called here on groups, each client in a process of its own.

    Parameters
    ----------
    names : of assignors
    seconds : of the assignor for each group
    workers : how many clients run at a time

    Returns
    -------
    dict
        By name, what was measured, in the order of the groups.
    """
    clients: dict[str, list[str]] = {}
    for name in names:
        clients.setdefault(name.partition("/")[0] if "/" in name else "", []).append(name)
    # Those with most assignors first: the last client to finish should be a short one.
    jobs = sorted(clients.values(), key=len, reverse=True)
    with ThreadPoolExecutor(workers) as pool:
        parts = pool.map(lambda job: _of_client(job, groups, seconds), jobs)
    found = {name: made for part in parts for name, made in part.items()}
    return {name: found[name] for name in names}


def _of_client(
    names: Sequence[str], groups: Sequence[Group], seconds: float
) -> dict[str, list[Measured]]:
    with TimeLimit(seconds) as limit:
        return {name: measured_on(name, groups, limit) for name in names}


def measured_on(
    name: str | AssignorFunction, groups: Sequence[Group], limit: TimeLimit
) -> list[Measured]:
    """Run an assignor on groups, many at a time.

    Raises
    ------
    Failed
        Where it cannot be called here, or did not join again.
    """
    return [_of_outcome(came) for came in limit.plan_many(groups, name)]


def _of_outcome(came: Outcome) -> Measured:
    if came.status == "unavailable" or (came.reason or "").startswith(NOT_STARTED):
        raise Failed(came.reason or "")
    if came.plan is None:
        status = "failed" if came.status == "planned" else came.status
        return Measured(status, came.reason or "")
    assignment = came.plan.assignment
    if assignment.violations:
        kinds = Counter(violation.kind for violation in assignment.violations)
        return Measured("invalid", ", ".join(f"{n} {kind}" for kind, n in sorted(kinds.items())))
    balance, moves = values(assignment, ("balance", "stickiness"))
    return Measured("valid", "", tuple(assignment.loads.tolist()), balance, moves)
