"""Measured: what assignors make of many groups, a batch at a time."""

from __future__ import annotations

from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from groups import Failed, values
from heuristics import assignor_named
from heuristics.child import Child, Lost
from heuristics.outcome import attempt
from heuristics.start import start

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from groups import Group
    from heuristics import Assignor, Plan

BATCH = 50
# What a call may take in a batch before the groups of the batch are run one by one: enough for a
# probed client with cooperative rounds on a busy machine.
EACH_SECONDS = 0.2


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
    seconds : the longest that one group may take before it is timed out
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
    with Child() as child:
        return {name: measured_on(assignor_named(name), groups, seconds, child) for name in names}


def measured_on(
    assignor: Assignor, groups: Sequence[Group], seconds: float, child: Child
) -> list[Measured]:
    """Run an assignor on groups, many at a time; those of a batch that hangs, one by one.

    Parameters
    ----------
    seconds : the longest that one group may take before it is timed out
    child : where it runs; it is replaced when it hangs or dies
    """
    found: list[Measured] = []
    reason = start(child, assignor)
    if reason is not None:
        raise Failed(f"{assignor.name} does not start: {reason}")
    for first in range(0, len(groups), BATCH):
        batch = groups[first : first + BATCH]
        limit = seconds + EACH_SECONDS * len(batch)
        made = child.call(_measured, assignor.function, batch, seconds=limit)
        if isinstance(made, Lost):
            start(child, assignor)
            made = [_alone(assignor, group, seconds, child) for group in batch]
        found += made
    return found


def _alone(assignor: Assignor, group: Group, seconds: float, child: Child) -> Measured:
    made = child.call(_measured, assignor.function, [group], seconds=seconds)
    if not isinstance(made, Lost):
        return made[0]
    start(child, assignor)
    return Measured("timed-out" if made.timed_out else "failed", made.reason)


def _measured(function: Callable[[Group], Plan], groups: Sequence[Group]) -> list[Measured]:
    return [_measured_one(function, group) for group in groups]


def _measured_one(function: Callable[[Group], Plan], group: Group) -> Measured:
    came = attempt(function, group)
    if came.plan is None:
        return Measured("refused" if came.status == "refused" else "failed", came.reason or "")
    assignment = came.plan.assignment
    if assignment.violations:
        kinds = Counter(violation.kind for violation in assignment.violations)
        return Measured("invalid", ", ".join(f"{n} {kind}" for kind, n in sorted(kinds.items())))
    balance, moves = values(assignment, ("balance", "stickiness"))
    return Measured("valid", "", tuple(assignment.loads.tolist()), balance, moves)
