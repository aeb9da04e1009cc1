"""Week: plays a service's week, each rebalance from the last plan, and counts what goes wrong."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import numpy as np

from groups import Assignment, Group, values
from groups.arrays import NOBODY
from groups.fleet import Fleet
from heuristics.protocol import FOR_EVER
from optimal.solve import solve_fleet

if TYPE_CHECKING:
    from collections.abc import Sequence

    from heuristics.assignor import Outcome
    from heuristics.time_limit import TimeLimit
    from studies.how_often.service import Service, Stage


SECONDS, SECONDS_AGAIN = 3.0, 20.0
WHAT = (
    "hang", "exception", "never_settles", "invalid", "missed_balance", "needless_moves",
)  # fmt: skip
SUBSCRIPTIONS = ("alike", "differing")


class Week:
    """A service between two rebalances of its week.

    Attributes
    ----------
    service : the service
    group : the group of the next rebalance; members of the last one claim what it gave them, in
        its generation, new members claim nothing. None at the end of the week
    tallies : for "alike" (all members read the same topics) and "differing" rebalances: the number
        of "rebalances", and of each of `WHAT`; a rebalance counts in at most one of these
    """

    def __init__(self, service: Service) -> None:
        self.service = service
        self.tallies = {name: Counter[str]() for name in SUBSCRIPTIONS}
        self._at = 0
        self._generation = 0
        # Each member's claims, which are its partitions in the last plan.
        self._held: dict[str, dict[str, list[int]]] = {}
        # Number of rebalances with each member; the member with most is the leader.
        self._stayed = Counter[str]()
        self._gone: set[str] = set()
        self.group: Group | None = self._asked(service.stages[0])

    def follow(self, assignment: Assignment) -> None:
        """Go on to the next rebalance, from a valid assignment."""
        self._held = assignment.to_dict()
        self._generation += 1
        self._stayed = Counter({m: self._stayed[m] + 1 for m in assignment.group.members})
        self._gone = set()
        self._at += 1
        stages = self.service.stages
        self.group = self._asked(stages[self._at]) if self._at < len(stages) else None

    def lose_leader(self) -> None:
        """Repeat the rebalance without the leader, which is back at the week's next rebalance.

        The leader is the member with most rebalances, then the first by id. Nobody claims what it
        held; the others claim what they held. If nobody else is there, go on to the next
        rebalance.
        """
        assert self.group is not None
        if len(self.group.members) == 1:
            nobody = np.full(self.group.n_partitions, NOBODY, np.int32)
            self.follow(Assignment(self.group, nobody))
            return
        leader = max(self.group.members, key=lambda member: self._stayed[member])
        self._gone.add(leader)
        self._held.pop(leader, None)
        del self._stayed[leader]
        self.group = self._asked(self.service.stages[self._at])

    def _asked(self, stage: Stage) -> Group:
        """Return the group of a stage, without lost leaders."""
        members = {m: said for m, said in stage["members"].items() if m not in self._gone}
        for member, held in self._held.items():
            if member in members:
                claims = {"owned": held, "generation": self._generation}
                members[member] = members[member] | claims
        name = f"service-{self.service.number}-{self._at}"
        head = {"format": "assay-group/1", "group": name, "topics": stage["topics"]}
        return Group.from_dict({**head, "members": members})


def weeks(
    services: Sequence[Service], assignor: str, limit: TimeLimit, patient: TimeLimit
) -> list[Week]:
    """Play the weeks of services with one assignor.

    After a rebalance without a valid plan, the week goes on from the optimum of that rebalance.
    After a hang, it goes on without the leader, as in a cluster.

    Parameters
    ----------
    limit : time limit of each call
    patient : longer limit of a second call after a time-out, as this machine may have been busy
    """
    found = [Week(service) for service in services]
    while going := [(week, week.group) for week in found if week.group is not None]:
        groups = [group for _, group in going]
        fleet = Fleet.of(groups)
        best = solve_fleet(fleet)
        outcomes = limit.plan_many(groups, assignor)
        for at, ((week, group), made) in enumerate(zip(going, outcomes, strict=True)):
            if made.status == "timed-out":
                made = patient.plan(group, assignor)
            what = judged(made, best.value[at].tolist())
            tally = week.tallies[SUBSCRIPTIONS[len(group.subscriptions) > 1]]
            tally.update(["rebalances", *([what] if what else [])])
            if what == "hang":
                week.lose_leader()
            elif made.plan is None or what == "invalid":
                week.follow(Assignment(group, fleet.owner_in(at, best.owner)))
            else:
                week.follow(made.plan.assignment)
    return found


def judged(made: Outcome, best: Sequence[int]) -> str | None:
    """Return which of `WHAT` is wrong with an assignor's outcome; None if nothing is.

    Parameters
    ----------
    best : balance and moves of the optimum

    Raises
    ------
    RuntimeError
        If the assignor cannot be called, refuses an ordinary group or beats the optimum.
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
