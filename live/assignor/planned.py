"""The plan of a rebalance: the optimum, or what is given where there is none in time."""

from __future__ import annotations

import logging
from functools import partial
from threading import Thread
from typing import TYPE_CHECKING

from groups.errors import Failed
from live.assignor.fallback import fallback

if TYPE_CHECKING:
    from collections.abc import Callable

    from live.assignor.rebalance import Plan, Rebalance

    Solver = Callable[[Rebalance], Plan]

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
        reason = f"{type(error).__name__}: {' '.join(str(error).split())}"
        log.warning("no optimal assignment, a sticky and balanced one is given (%s)", reason)
        return fallback(rebalance)
    return plan


def within(seconds: float, call: Callable[[], Plan]) -> Plan:
    """Return what a call returns within so many seconds.

    A call that takes longer goes on in a thread of its own and comes to nothing.

    Raises
    ------
    Failed
        Where the seconds are up.
    Exception
        Whatever the call raises.
    """
    came: list[Plan | BaseException] = []

    def run() -> None:
        try:
            came.append(call())
        except BaseException as error:
            came.append(error)

    thread = Thread(target=run, name="assay-assignor", daemon=True)
    thread.start()
    thread.join(seconds)
    if not came:
        raise Failed(f"no answer within {seconds:g} s")
    if isinstance(came[0], BaseException):
        raise came[0]
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
