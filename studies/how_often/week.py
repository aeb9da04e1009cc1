"""Week: a service through its week, each rebalance planned from the last plan, and how it went."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from groups import Assignment, Group, values
from groups.arrays import NOBODY
from groups.fleet import Fleet
from heuristics.protocol import FOR_EVER
from optimal.solve import solve_fleet

if TYPE_CHECKING:
    from collections.abc import Sequence

    from groups.documents.assay_group import JsonObject
    from heuristics.assignor import Outcome
    from heuristics.time_limit import TimeLimit
    from studies.how_often.service import Service, Stage


class Journey:
    """A service on its way from one rebalance to the next.

    Attributes
    ----------
    service : whose week it is
    group : what the assignor is asked about next: members that were there at the last rebalance
        claim what it gave them, in its generation; the others claim nothing. None at the end
    """

    def __init__(self, service: Service) -> None:
        self.service = service
        self._at = 0
        self._generation = 0
        # What each member claims: what the last plan gave it.
        self._held: dict[str, dict[str, list[int]]] = {}
        # Rebalances that a member has been there for; who is there longest leads.
        self._stayed = Counter[str]()
        self._gone: set[str] = set()
        self.group: Group | None = self._asked(service.stages[0])

    @property
    def is_alike(self) -> bool:
        """Whether all members of the next rebalance read the same topics."""
        return self.group is not None and len(self.group.row_size) == 1

    def follow(self, assignment: Assignment) -> None:
        """Go on to the next rebalance from an assignment that is valid."""
        self._held = assignment.to_dict()
        self._generation += 1
        self._stayed = Counter({m: self._stayed[m] + 1 for m in assignment.group.members})
        self._gone = set()
        self._at += 1
        stages = self.service.stages
        self.group = self._asked(stages[self._at]) if self._at < len(stages) else None

    def lose_leader(self) -> None:
        """Ask about the group without its leader, which is back at the next rebalance of the week.

        The leader is the member that has been there longest, the first by id where several have.
        What it held nobody has; the others claim what they held. Where nobody is left, the next
        rebalance of the week is asked about.
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
        """Return the group of a stage, without the members that were lost."""
        members: dict[str, JsonObject] = {}
        there = zip(stage.members, stage.instances, stage.reads, strict=True)
        for member, instance, reads in there:
            if member in self._gone:
                continue
            said: JsonObject = {"subscription": [stage.topics[topic] for topic in reads]}
            if member in self._held:
                said |= {"owned": self._held[member], "generation": self._generation}
            members[member] = said | ({"instance_id": instance} if instance else {})
        return Group.from_dict(
            {
                "format": "assay-group/1",
                "group": f"service-{self.service.number}-{self._at}",
                "topics": dict(zip(stage.topics, stage.partitions, strict=True)),
                "members": members,
            }
        )


SECONDS, SECONDS_AGAIN = 3.0, 20.0
WHAT = (
    "hang", "exception", "never_settles", "invalid", "missed_balance", "needless_moves",
)  # fmt: skip


SUBSCRIPTIONS = ("alike", "differing")


@dataclass
class Week:
    """What was counted in a service.

    Attributes
    ----------
    tallies : of the rebalances in which all read the same topics ("alike"), and of the others
        ("differing"): "rebalances", and of what, how many; a rebalance is in one of these at most
    """

    service: Service
    tallies: dict[str, Counter[str]] = field(
        default_factory=lambda: {name: Counter() for name in SUBSCRIPTIONS}
    )


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
        for at, ((journey, week), group, made) in enumerate(
            zip(going, groups, outcomes, strict=True)
        ):
            if made.status == "timed-out":
                made = patient.plan(group, assignor)
            what = judged(made, best.value[at].tolist())
            tally = week.tallies[SUBSCRIPTIONS[not journey.is_alike]]
            tally.update(["rebalances", *([what] if what else [])])
            if what == "hang":
                journey.lose_leader()
            elif made.plan is None or what == "invalid":
                journey.follow(Assignment(group, fleet.owner_in(at, best.owner)))
            else:
                journey.follow(made.plan.assignment)
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
