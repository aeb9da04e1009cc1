"""Tally: what happened in the weeks of services, counted service by service."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from groups import values
from groups.fleet import Fleet
from heuristics.protocol import FOR_EVER
from optimal.solve import solve_fleet
from studies.how_often.journey import Journey

if TYPE_CHECKING:
    from collections.abc import Sequence

    from groups import Group
    from heuristics.assignor import Outcome
    from heuristics.time_limit import TimeLimit
    from studies.how_often.service import Service

SECONDS, SECONDS_AGAIN = 3.0, 20.0
WHAT = (
    "hang", "exception", "never_settles", "invalid", "missed_balance", "needless_moves",
)  # fmt: skip
NO_PLAN = WHAT[:4]


@dataclass
class Tally:
    """The rebalances of a service in which all read the same topics, or in which they do not.

    Attributes
    ----------
    events : of what, how many; a rebalance is in one of them at most
    """

    rebalances: int = 0
    events: dict[str, int] = field(default_factory=lambda: dict.fromkeys(WHAT, 0))


@dataclass
class Week:
    """The tallies of a service: of rebalances among equal and among differing subscriptions.

    Attributes
    ----------
    shown : of what left the group without a valid plan, the first group, to look into
    """

    service: Service
    alike: Tally = field(default_factory=Tally)
    differing: Tally = field(default_factory=Tally)
    shown: dict[str, Group] = field(default_factory=dict)


def weeks(
    services: Sequence[Service], assignor: str, limit: TimeLimit, patient: TimeLimit
) -> list[Week]:
    """Play the weeks of services, side by side, with one assignor.

    After a rebalance without a valid plan the week goes on from the optimum of that rebalance.
    After one that never ended it goes on as in a cluster: without the leader.

    Parameters
    ----------
    limit : for each call
    patient : for each call that was stopped, before it counts as a hang: this machine may have
        been busy
    """
    found = [Week(service) for service in services]
    going = [(Journey(week.service), week) for week in found]
    while going := [pair for pair in going if pair[0].group is not None]:
        groups = [journey.group for journey, _ in going if journey.group is not None]
        fleet = Fleet.of(groups)
        best = solve_fleet(fleet)
        outcomes = limit.plan_many(groups, assignor)
        for at, (pair, group, made) in enumerate(zip(going, groups, outcomes, strict=True)):
            journey, week = pair
            if made.status == "timed-out":
                made = patient.plan(group, assignor)
            what = judged(made, best.value[at].tolist())
            tally = week.alike if journey.is_alike else week.differing
            tally.rebalances += 1
            if what is not None:
                tally.events[what] += 1
            if what in NO_PLAN:
                week.shown.setdefault(what, group)
            if what == "hang":
                journey.lose_leader()
            elif made.plan is None or what == "invalid":
                journey.follow(fleet.owner_in(at, best.owner))
            else:
                journey.follow(made.plan.assignment.owner)
    return found


def judged(made: Outcome, best: Sequence[int]) -> str | None:
    """Return what is wrong with what an assignor made of a group, None where nothing is.

    Parameters
    ----------
    best : balance and moves of the optimum

    Raises
    ------
    RuntimeError
        Where the assignor cannot be called, refuses an ordinary group or beats the optimum.
    """
    if made.status == "timed-out":
        return "hang"
    if made.plan is None:
        if made.status != "failed":
            raise RuntimeError(f"not called: {made.reason}")
        return "never_settles" if FOR_EVER in (made.reason or "") else "exception"
    assignment = made.plan.assignment
    if not assignment.is_valid:
        return "invalid"
    balance, moves = values(assignment, ("balance", "stickiness"))
    if (balance, moves) < tuple(best):
        raise RuntimeError(f"better than the optimum: {assignment.group.name}")
    if balance > best[0]:
        return "missed_balance"
    return "needless_moves" if moves > best[1] else None
