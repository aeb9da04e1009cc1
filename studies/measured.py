"""Measured: what assignors make of many groups, a batch at a time."""

from __future__ import annotations

from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
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
    """Run an assignor on groups, many at a time.

    Parameters
    ----------
    seconds : the longest that one group may take before it is timed out
    child : where it runs; it is replaced when it hangs or dies
    """
    found: list[Measured] = []
    lost = True
    while len(found) < len(groups):
        if lost:
            reason = start(child, assignor)
            if reason is not None:
                raise Failed(f"{assignor.name} does not start: {reason}")
        batch = groups[len(found) : len(found) + BATCH]
        called = partial(_measured, assignor.function)
        made = child.call_each(called, [(group,) for group in batch], seconds=seconds)
        lost = isinstance(made[-1], Lost)
        found += map(_of_call, made)
    return found


def _of_call(made: Measured | Lost) -> Measured:
    if not isinstance(made, Lost):
        return made
    return Measured("timed-out" if made.timed_out else "failed", made.reason)


def _measured(function: Callable[[Group], Plan], group: Group) -> Measured:
    came = attempt(function, group)
    if came.plan is None:
        return Measured("refused" if came.status == "refused" else "failed", came.reason or "")
    assignment = came.plan.assignment
    if assignment.violations:
        kinds = Counter(violation.kind for violation in assignment.violations)
        return Measured("invalid", ", ".join(f"{n} {kind}" for kind, n in sorted(kinds.items())))
    balance, moves = values(assignment, ("balance", "stickiness"))
    return Measured("valid", "", tuple(assignment.loads.tolist()), balance, moves)
