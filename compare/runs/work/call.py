"""Call: what a worker asks of its child, with the time that it took."""

from __future__ import annotations

from time import perf_counter
from typing import TYPE_CHECKING, TypeVar, TypeVarTuple

from compare.runs.work.replies import Answered, Read
from heuristics.child import Lost

if TYPE_CHECKING:
    from collections.abc import Callable

    from compare.runs.work.clock import Clock
    from compare.runs.work.process import Process

Reply = TypeVar("Reply", Read, Answered)
Arguments = TypeVarTuple("Arguments")


def call(
    process: Process,
    clock: Clock,
    function: Callable[[*Arguments], Reply],
    *args: *Arguments,
    seconds: float,
) -> Reply | Lost:
    """Return what a function returns in the child, and add to the clock where the time went.

    Parameters
    ----------
    seconds : that it may take
    """
    start = perf_counter()
    reply = process.call(function, *args, seconds=seconds)
    took = perf_counter() - start
    if isinstance(reply, Lost):
        clock.seconds["lost"] += took
    else:
        clock.add(reply.seconds)
        clock.seconds["pass"] += took - sum(reply.seconds.values())
    return reply
