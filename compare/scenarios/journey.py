"""Journey: an assignor, or the optimum, through a scenario, each from its own last state."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypedDict

from compare.scenarios.listener import listener, protocol_of
from compare.score import OPTIMUM, Score
from compare.scoring import outcome_of, score_outcome
from groups import Assignment, Group
from groups.tiers import parse_objective, values
from heuristics import assignor_named
from optimal.solve import solve

if TYPE_CHECKING:
    from collections.abc import Sequence

    from compare.scenarios.changes import StageDocument
    from compare.scenarios.scenario import Scenario
    from groups.documents.shapes import MemberDocument
    from groups.tiers import Objective
    from heuristics import AssignorFunction
    from heuristics.time_limit import TimeLimit

FORMAT = "assay-scenario-result/1"
# What each member claims.
State = dict[str, "MemberDocument"]


@dataclass(frozen=True)
class JourneyStep:
    """One rebalance of a scenario.

    Attributes
    ----------
    event : what happened before it
    members, partitions : how many there are
    row : the result against the optimum *from the same state*, as in ``assay score``; its
        stickiness is the partitions that moved in this step
    best : value of each tier of that optimum, () where it is not known
    ownerless : partition-rounds without an owner
    lost, gained : partitions that a member held and holds no more, or holds anew
    needless : partitions whose state a listener that cannot assume stickiness cleans up and
        builds again although they stay where they were: under the eager protocol everything is
        revoked, so these are all that a member gets back; under the cooperative one none
    """

    event: str
    members: int
    partitions: int
    row: Score
    best: tuple[int, ...]
    ownerless: int
    lost: int
    gained: int
    needless: int

    def to_dict(self) -> dict[str, object]:
        """Return the step of an ``assay-scenario-result/1`` document."""
        row = self.row.to_dict()
        for key in ("assignor", "seconds", "violations"):
            del row[key]
        listener = {"lost": self.lost, "gained": self.gained, "needless": self.needless}
        return {
            "event": self.event,
            "members": self.members,
            "partitions": self.partitions,
            **row,
            "violations": len(self.row.violations),
            "optimum": list(self.best),
            "ownerless": self.ownerless,
            "listener": listener,
        }


class JourneyTotal(TypedDict):
    """Sums over the steps of a journey.

    Attributes
    ----------
    terms : of the steps that came to an assignment, by tier; of stickiness: all moves
    optimum : of the optima from the same states, by tier
    not_optimal : steps that are not proved to be optimal in every tier
    open : steps without an assignment
    rounds, revoked, ownerless, lost, gained, needless : as in each step
    """

    terms: dict[str, int]
    optimum: dict[str, int]
    not_optimal: int
    open: int
    rounds: int
    revoked: int
    ownerless: int
    lost: int
    gained: int
    needless: int


@dataclass(frozen=True)
class Journey:
    """An assignor, or the optimum, through all rebalances, each from its own last state."""

    assignor: str
    objective: Objective
    steps: tuple[JourneyStep, ...]

    @property
    def total(self) -> JourneyTotal:
        """Sums over all steps."""
        done = [step for step in self.steps if step.row.terms is not None]
        sums = [step.row.terms for step in done if step.row.terms is not None]
        return {
            "terms": {
                tier: sum(terms[i].value for terms in sums)
                for i, tier in enumerate(self.objective)
            },
            "optimum": {
                tier: sum(step.best[i] for step in done if step.best)
                for i, tier in enumerate(self.objective)
            },
            "not_optimal": sum(not (step.row.valid and step.row.is_optimal) for step in done),
            "open": len(self.steps) - len(done),
            "rounds": sum(step.row.rounds for step in done),
            "revoked": sum(step.row.revoked for step in done),
            "ownerless": sum(step.ownerless for step in self.steps),
            "lost": sum(step.lost for step in self.steps),
            "gained": sum(step.gained for step in self.steps),
            "needless": sum(step.needless for step in self.steps),
        }

    def to_dict(self) -> dict[str, object]:
        """Return the journey of an ``assay-scenario-result/1`` document."""
        steps = [step.to_dict() for step in self.steps]
        return {"assignor": self.assignor, "steps": steps, "total": self.total}


def play(
    scenario: Scenario,
    assignors: Sequence[str | AssignorFunction],
    limit: TimeLimit,
    objective: str | Sequence[str] = "kip-54",
) -> tuple[Journey, ...]:
    """Return the optimum's journey through a scenario, then that of each assignor, in order.

    Every journey goes on from its own last assignment. Each step of an assignor is also held
    against the optimum from the state that the assignor itself had reached. Where an assignor
    refuses, fails or runs out of time, the members keep what they hold and the journey goes on.

    Parameters
    ----------
    assignors : names, or functions of yours from a group to an assignment
    limit : for each call of an assignor; its seconds are also those of each solve

    Raises
    ------
    BadInput
        Where no assignor has a name, a function cannot be imported by a child process, or the
        group lacks what a tier needs.

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
        group = Group.from_dict(_owning(stage.document, state))
        solution = solve(group, objective, time_limit=limit.seconds)
        best = () if solution.assignment is None else values(solution.assignment, objective)
        outcome = outcome_of(solution) if asked == OPTIMUM else limit.plan(group, asked)
        plan = outcome.plan
        made = None if plan is None else plan.assignment
        steps.append(
            JourneyStep(
                event=stage.event,
                members=len(group.members),
                partitions=group.n_partitions,
                row=score_outcome(group, outcome, solution, assignor),
                best=best,
                ownerless=0 if plan is None else plan.ownerless,
                **listener(group, made, protocol_of(assignor)),
            )
        )
        state = _state(group, made)
    return Journey(assignor, objective, tuple(steps))


def _state(group: Group, made: Assignment | None) -> State:
    """Return what each member claims from now on; without an assignment, what it claimed."""
    if made is None:
        members = group.to_dict()["members"]
        return {m: _claimed(said) for m, said in members.items()}
    generation = int(group.generation.max(initial=-1)) + 1
    # An assignor may hand a partition twice to one member, which claims it once.
    owned = {
        member: {topic: sorted(set(numbers)) for topic, numbers in held.items()}
        for member, held in made.to_dict().items()
    }
    return {m: {"owned": o, "generation": generation} for m, o in owned.items()}


def _claimed(member: MemberDocument) -> MemberDocument:
    claimed: MemberDocument = {"owned": member["owned"]}
    if "generation" in member:
        claimed["generation"] = member["generation"]
    return claimed


def _owning(document: StageDocument, state: State | None) -> StageDocument:
    if state is None:
        return document
    members: dict[str, MemberDocument] = {
        m: {**said, **state.get(m, {})} for m, said in document["members"].items()
    }
    return {**document, "members": members}
