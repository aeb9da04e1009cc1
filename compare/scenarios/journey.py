"""Journey: plays a scenario with an assignor, or the optimum, from its own state to the next."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from compare.scenarios.course import (
    COUNTS,
    Course,
    State,
    accept,
    claims_after,
    course,
    held_now,
    with_claims,
)
from compare.scores import OPTIMUM, Score, outcome_of, score_outcome
from groups import Group
from groups.tiers import parse_objective, values
from heuristics import Plan, assignor_named
from heuristics.assignor import Outcome
from optimal.solve import solve

if TYPE_CHECKING:
    from collections.abc import Sequence

    from compare.scenarios.scenario import Scenario
    from groups.tiers import Objective
    from heuristics import AssignorFunction
    from heuristics.time_limit import TimeLimit

FORMAT = "assay-scenario-result/1"


@dataclass(frozen=True)
class JourneyStep:
    """The assignment at the beginning of a scenario, or after one of its rebalances.

    Attributes
    ----------
    event : what happened before it; see :class:`compare.scenarios.scenario.Stage`
    members, partitions : how many there are
    row : the score against the optimum *from the same state*; its stickiness is the number of
        partitions that moved in this step
    best : the value of each tier of that optimum, () if unknown
    course : the rounds and partitions of the rebalance
    """

    event: str
    members: int
    partitions: int
    row: Score
    best: tuple[int, ...]
    course: Course

    def to_dict(self) -> dict[str, object]:
        """Return the step of an ``assay-scenario-result/1`` document."""
        row = self.row.to_dict()
        for key in ("assignor", "seconds", "violations", "rounds", "revoked"):
            del row[key]
        numbers = {"change_hands": self.course.change_hands, **vars(self.course)}
        listener = {key: numbers.pop(key) for key in ("cleaned", "built", "needless")}
        numbers["handed_over"] = [move.to_dict() for move in self.course.handed_over]
        return {
            "event": self.event,
            "members": self.members,
            "partitions": self.partitions,
            **row,
            "violations": len(self.row.violations),
            "optimum": list(self.best),
            **numbers,
            "listener": listener,
        }


@dataclass(frozen=True)
class Journey:
    """An assignor's or the optimum's assignments through all rebalances of a scenario."""

    assignor: str
    objective: Objective
    steps: tuple[JourneyStep, ...]

    @property
    def start(self) -> dict[str, Any]:
        """Sums over the first step, which is no rebalance if members begin with what they hold."""
        return self._sums(self.steps[:1])

    @property
    def rebalances(self) -> tuple[JourneyStep, ...]:
        """The steps after events: all but the first."""
        return self.steps[1:]

    @property
    def total(self) -> dict[str, Any]:
        """Sums over the rebalances after events.

        `terms` are sums by tier over the steps with a valid assignment, `optimum` over the optima
        from the same states; stickiness adds up to all moves. `not_optimal` counts the steps with
        a valid assignment that is not proved to be optimal in every tier, `invalid` those with an
        assignment that is not valid, `without_plan` those without one. The counts of `Course` are
        summed over all steps.
        """
        return self._sums(self.rebalances)

    def _sums(self, steps: Sequence[JourneyStep]) -> dict[str, Any]:
        done = [step for step in steps if step.row.terms is not None]
        valid = [step for step in done if step.row.valid]
        sums = [step.row.terms for step in valid if step.row.terms is not None]
        courses = [step.course for step in steps]
        return {
            "terms": {
                tier: sum(terms[i].value for terms in sums)
                for i, tier in enumerate(self.objective)
            },
            "optimum": {
                tier: sum(step.best[i] for step in valid if step.best)
                for i, tier in enumerate(self.objective)
            },
            "not_optimal": sum(not step.row.is_optimal for step in valid),
            "invalid": len(done) - len(valid),
            "without_plan": len(steps) - len(done),
            **{count: sum(getattr(one, count) for one in courses) for count in COUNTS},
        }

    def to_dict(self) -> dict[str, object]:
        """Return the journey of an ``assay-scenario-result/1`` document."""
        steps = [step.to_dict() for step in self.steps]
        return {
            "assignor": self.assignor,
            "steps": steps,
            "start": self.start,
            "total": self.total,
        }


def play(
    scenario: Scenario,
    assignors: Sequence[str | AssignorFunction],
    limit: TimeLimit,
    objective: str | Sequence[str] = "kip-54",
) -> tuple[Journey, ...]:
    """Return the optimum's journey through a scenario, then that of each assignor, in order.

    Every journey begins with the current assignment, or, if members hold nothing or it is not
    valid, with the assignor's own. Each step starts from the journey's last assignment, and is
    scored against the optimum from the same state. If an assignor refuses, fails or runs out of
    time, members keep what they hold. After an assignment that is not valid, the journey goes on
    with what `compare.scenarios.course.accept` returns.

    Parameters
    ----------
    assignors : names, or functions of yours from a group to an assignment
    limit : for each call of an assignor; its seconds are also those of each solve

    Raises
    ------
    BadInput
        If an assignor's name is unknown, a child process cannot import a function, or the group
        lacks what a tier needs.

    Examples
    --------
    >>> from assay import Scenario, TimeLimit, play
    >>> scenario = Scenario.from_dict(
    ...     {
    ...         "format": "assay-scenario/1",
    ...         "name": "one leaves",
    ...         "group": {
    ...             "format": "assay-group/1",
    ...             "group": "orders",
    ...             "topics": {"t0": 6},
    ...             "members": {member: {"subscription": ["t0"]} for member in ("a", "b", "c")},
    ...         },
    ...         "events": [{"leave": ["a"]}],
    ...     }
    ... )
    >>> with TimeLimit(10) as limit:
    ...     journeys = play(scenario, ["range"], limit)
    >>> [(journey.assignor, journey.total["terms"]["stickiness"]) for journey in journeys]
    [('optimum', 0), ('range', 1)]
    """
    tiers = parse_objective(objective)
    return tuple(_journey(scenario, name, tiers, limit) for name in (OPTIMUM, *assignors))


def result_document(scenario: Scenario, journeys: Sequence[Journey]) -> dict[str, object]:
    """Return the ``assay-scenario-result/1`` document of :func:`play`."""
    return {
        "format": FORMAT,
        "scenario": scenario.name,
        "objective": list(journeys[0].objective),
        "journeys": [journey.to_dict() for journey in journeys],
    }


def _journey(
    scenario: Scenario, asked: str | AssignorFunction, objective: Objective, limit: TimeLimit
) -> Journey:
    assignor = asked if isinstance(asked, str) else assignor_named(asked).name
    state: State | None = None
    steps = []
    for stage in scenario.stages:
        group = Group.from_dict(with_claims(stage.document, state))
        solution = solve(group, objective, time_limit=limit.seconds)
        best = () if solution.assignment is None else values(solution.assignment, objective)
        now = held_now(group) if state is None else None
        if now is not None:
            outcome, accepted, path = Outcome("planned", Plan(now), None, 0.0), {}, Course()
        else:
            outcome = outcome_of(solution) if asked == OPTIMUM else limit.plan(group, asked)
            plan = outcome.plan
            accepted = {} if plan is None else accept(plan.assignment, assignor)
            before = (state or {}).items()
            departed = {m: claims["owned"] for m, claims in before if m not in group.members}
            path = course(group, plan, assignor, accepted=accepted, departed=departed)
        steps.append(
            JourneyStep(
                event=stage.event,
                members=len(group.members),
                partitions=group.n_partitions,
                row=score_outcome(group, outcome, solution, assignor),
                best=best,
                course=path,
            )
        )
        state = claims_after(group, accepted)
    return Journey(assignor, objective, tuple(steps))
