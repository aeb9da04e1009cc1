"""Outcome: what became of a group that an assignor was asked about."""

from __future__ import annotations

from dataclasses import dataclass
from time import perf_counter
from typing import TYPE_CHECKING, Literal

from groups import Failed, Refused
from groups.errors import AssayError

if TYPE_CHECKING:
    from collections.abc import Callable

    from groups import Group
    from heuristics.assignor import Plan

Status = Literal["planned", "refused", "failed", "timed-out", "unavailable"]


class TimedOut(Failed):
    """An assignor that is asked elsewhere did not come back in time.

    Parameters
    ----------
    seconds : of its time; None where only that of the whole call is known
    """

    def __init__(self, reason: str, seconds: float | None = None) -> None:
        super().__init__(reason)
        self.seconds = seconds


class Unavailable(AssayError):
    """An assignor that is asked elsewhere is not there any more."""


@dataclass(frozen=True)
class Outcome:
    """How an assignor fared on a group.

    Attributes
    ----------
    status : "planned", "refused" (does not cover the group), "failed" (broke down), "timed-out" or
        "unavailable" (cannot be called here)
    plan : what it made of the group; None unless planned
    reason : why there is no plan; None where there is one
    seconds : time inside the assignor; the limit where that was reached
    """

    status: Status
    plan: Plan | None
    reason: str | None
    seconds: float


def attempt(function: Callable[[Group], Plan], group: Group) -> Outcome:
    """Call an assignor's function in this process, and take what becomes of it."""
    started = perf_counter()
    try:
        made = function(group)
    except Refused as refusal:
        return Outcome("refused", None, str(refusal), perf_counter() - started)
    except Unavailable as absence:
        return Outcome("unavailable", None, str(absence), perf_counter() - started)
    except TimedOut as late:
        took = perf_counter() - started if late.seconds is None else late.seconds
        return Outcome("timed-out", None, str(late), took)
    except Failed as failure:
        return Outcome("failed", None, str(failure), perf_counter() - started)
    except Exception as error:
        reason = f"{type(error).__name__}: {error}"
        return Outcome("failed", None, reason, perf_counter() - started)
    seconds = perf_counter() - started if made.seconds is None else made.seconds
    return Outcome("planned", made, None, seconds)
