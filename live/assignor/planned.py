"""The plan of a rebalance: the optimum, or what is given where there is none in time."""

from __future__ import annotations

import logging
from functools import partial
from threading import Thread
from typing import TYPE_CHECKING, TypeVar

from groups.errors import Failed
from live.assignor.fallback import fallback

if TYPE_CHECKING:
    from collections.abc import Callable

    from live.assignor.rebalance import Plan, Rebalance

    Solver = Callable[[Rebalance], Plan]

T = TypeVar("T")
log = logging.getLogger(__name__)


def planned(rebalance: Rebalance, solver: Solver, *, time_limit: float) -> Plan:
    """Return a valid plan: what the solver finds, or the fallback and a line in the log.

    Parameters
    ----------
    time_limit : seconds for the solver; when they are up nobody waits for it any more
    """
    try:
        plan = within(time_limit, partial(solver, rebalance))
        rebalance.require_valid(plan)
    except Exception as error:
        reason = reason_of(error)
        log.warning("no optimal assignment, a sticky and balanced one is given (%s)", reason)
        return fallback(rebalance)
    return plan


def reason_of(error: Exception) -> str:
    """Return the kind and the message of an exception, in one line."""
    return f"{type(error).__name__}: {' '.join(str(error).split())}"


def within(seconds: float, call: Callable[[], T]) -> T:
    """Return what a call returns within so many seconds.

    A call that takes longer goes on in a thread of its own and comes to nothing.

    Raises
    ------
    Failed
        Where the seconds are up.
    Exception
        Whatever the call raises.
    """
    came: list[T] = []
    failed: list[BaseException] = []

    def run() -> None:
        try:
            came.append(call())
        except BaseException as error:
            failed.append(error)

    thread = Thread(target=run, name="assay-assignor", daemon=True)
    thread.start()
    thread.join(seconds)
    if failed:
        raise failed[0]
    if not came:
        raise Failed(f"no answer within {seconds:g} s")
    return came[0]


def optimum(rebalance: Rebalance, *, time_limit: float) -> Plan:
    """Return the plan with balanced loads and, of these, the fewest moves: proved, and checked.

    Raises
    ------
    AssayError
        Where the time is up, or the checker rejects the solver's answer.
    """
    from optimal.solve import solve

    solution = solve(rebalance.group(), "balance > stickiness", time_limit=time_limit)
    if solution.assignment is None:
        raise Failed(f"no answer within {time_limit:g} s")
    return rebalance.plan_of(solution.assignment)
