"""Promises: what the proposals say of their assignors, each as a question to one group."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from time import perf_counter
from typing import TYPE_CHECKING, Any

import numpy as np

from compare.samples.ordinary import is_ordinary
from groups import Assignment, BadInput, Claims, Failed, Group, Refused, values
from groups.group import NOBODY, valid_owner
from heuristics import assignor_named, kip54_sticky
from heuristics.time_limit import Outcome
from heuristics.unassigned import hand_out
from optimal.fleets import solve_many

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from optimal.solution import Solution

Runner = Callable[[Group], Outcome]
MOST_VIOLATIONS = 3


@dataclass(frozen=True, eq=False)
class Trial:
    """What an assignor makes of one group, beside the optimum for balance > stickiness.

    Attributes
    ----------
    run : runs the assignor, under a time limit if it may hang
    optimum : the reference solution of the group; None where no promise needs it
    """

    assignor: str
    run: Runner
    group: Group
    optimum: Solution | None

    @cached_property
    def outcome(self) -> Outcome:
        """What it makes of the group."""
        return self.run(self.group)

    @cached_property
    def again(self) -> Outcome | None:
        """What it makes of its own result, where there is one.

        Every member claims what it was given, all in the next generation.
        """
        plan = self.outcome.plan
        return None if plan is None else self.run(rejoined(self.group, plan.assignment))

    @cached_property
    def assignment(self) -> Assignment | None:
        """The result, if there is a valid one."""
        plan = self.outcome.plan
        return plan.assignment if plan is not None and plan.assignment.is_valid else None


@dataclass(frozen=True)
class Verdict:
    """Whether a promise holds on a group, and what was measured.

    `holds` is None where the group does not put the promise to the test: the assignor refused it,
    or something that the promise takes for granted is not so.
    """

    holds: bool | None
    measured: Mapping[str, Any]


@dataclass(frozen=True)
class Promise:
    """One promise.

    Attributes
    ----------
    name : as users write it
    text : what is promised, in one line
    source : who promised it
    judge : says whether a trial keeps it
    of : the assignors it can be asked of; empty: all
    needs_optimum : whether a trial needs the reference solution
    """

    name: str
    text: str
    source: str
    judge: Callable[[Trial], Verdict]
    of: tuple[str, ...] = ()
    needs_optimum: bool = False

    def asked_of(self, assignor: str) -> bool:
        """Say whether the promise can be asked of an assignor."""
        return not self.of or assignor in self.of

    def on_ordinary_groups(self) -> Promise:
        """Return the same promise, put to the test by ordinary groups only."""

        def judge(found: Trial) -> Verdict:
            return self.judge(found) if is_ordinary(found.group) else NOT_TESTED

        return replace(self, judge=judge)


NOT_TESTED = Verdict(None, {})


def promise_named(name: str) -> Promise:
    """Return the promise of that name.

    Raises
    ------
    BadInput
        Where no promise has that name.
    """
    if name not in PROMISES:
        raise BadInput(f"promise: unknown name {name!r}, expected one of {', '.join(PROMISES)}")
    return PROMISES[name]


def in_process(name: str) -> Runner:
    """Return a runner of an assignor as written, without a child process: those always end.

    Their loops stop when a state comes back. Anything else belongs under a time limit.

    Raises
    ------
    BadInput
        Where no assignor as written has that name.
    """
    assignor = assignor_named(name)
    if assignor.kind != "written":
        raise BadInput(f"assignor: {name} is not as written, run it under a time limit")

    def run(group: Group) -> Outcome:
        started = perf_counter()
        try:
            plan = assignor.function(group)
        except Refused as refusal:
            return Outcome("refused", None, str(refusal), perf_counter() - started)
        except Failed as failure:
            return Outcome("failed", None, str(failure), perf_counter() - started)
        return Outcome("planned", plan, None, perf_counter() - started)

    return run


def optima(groups: Sequence[Group]) -> list[Solution]:
    """Return the optimum of each group for balance > stickiness, all in one solve."""
    return solve_many(groups, "kip-54")


def rejoined(group: Group, assignment: Assignment) -> Group:
    """Return the group in which every member claims what it was given, in the next generation."""
    member, partition = assignment.holdings
    order = np.lexsort((partition, member))
    who_holds, partition = member[order].astype(np.int32), partition[order]
    claims = Claims(who_holds, group.topic[partition], group.number[partition])
    generation = np.full_like(group.generation, group.generation.max(initial=-1) + 1)
    owner = np.full(group.n_partitions, NOBODY, np.int32)
    what, who = valid_owner(claims, group.partitions, generation, group.first)
    keeps = group.subscribes(who, group.topic[what])
    owner[what[keeps]] = who[keeps]
    return replace(group, owner=owner, generation=generation, raw_claims=claims)


def _terminates(found: Trial) -> Verdict:
    status = found.outcome.status
    if status in ("refused", "unavailable"):
        return NOT_TESTED
    return Verdict(status != "timed-out", {"status": status})


def _answers(found: Trial) -> Verdict:
    status = found.outcome.status
    if status not in ("planned", "failed"):
        return NOT_TESTED
    return Verdict(status == "planned", {"status": status, "reason": found.outcome.reason})


def _valid(found: Trial) -> Verdict:
    plan = found.outcome.plan
    if plan is None:
        return NOT_TESTED
    violations = plan.assignment.violations
    shown = [str(violation) for violation in violations[:MOST_VIOLATIONS]]
    return Verdict(not violations, {"violations": len(violations), "first": shown})


def _balanced(found: Trial) -> Verdict:
    if found.assignment is None:
        return NOT_TESTED
    return Verdict(found.assignment.balanced(), {"loads": found.assignment.loads.tolist()})


def _optimal_balance(found: Trial) -> Verdict:
    if found.assignment is None or found.optimum is None:
        return NOT_TESTED
    balance, best = values(found.assignment, ("balance",))[0], found.optimum.terms[0].value
    return Verdict(balance == best, {"balance": balance, "optimum": best})


def _optimal_moves(found: Trial) -> Verdict:
    if found.assignment is None or found.optimum is None or not _optimal_balance(found).holds:
        return NOT_TESTED
    moves, best = values(found.assignment, ("stickiness",))[0], found.optimum.terms[1].value
    return Verdict(moves == best, {"moves": moves, "optimum": best})


def _idempotent(found: Trial) -> Verdict:
    first, again = found.outcome.plan, None if found.again is None else found.again.plan
    if first is None or again is None:
        return NOT_TESTED
    moved = len(_held(first.assignment) - _held(again.assignment))
    return Verdict(moved == 0, {"moved": moved})


def _held(assignment: Assignment) -> set[tuple[int, int]]:
    member, partition = assignment.holdings
    return set(zip(member.tolist(), partition.tolist(), strict=True))


def _reverts(found: Trial) -> Verdict:
    distributed = hand_out(found.group, found.group.owner)
    moved = kip54_sticky.reassign(found.group, distributed) != distributed
    plan = found.outcome.plan
    if plan is None or not moved.any():
        return NOT_TESTED
    reverted = bool((plan.assignment.owner == distributed).all())
    return Verdict(not reverted, {"moves": int(moved.sum()), "reverted": reverted})


PROMISES: dict[str, Promise] = {
    promise.name: promise
    for promise in (
        Promise(
            "terminates",
            "it comes to an end",
            "every proposal, by describing an algorithm",
            _terminates,
        ),
        Promise(
            "answers",
            "it answers with an assignment, not with an error",
            "every proposal, by describing an algorithm",
            _answers,
        ),
        Promise(
            "valid",
            "every partition that somebody reads is with exactly one member that reads it",
            "the consumer protocol",
            _valid,
        ),
        Promise(
            "balanced",
            "loads differ by at most one, or no single partition can move and improve the score",
            "KIP-54, definition of balanced; KIP-615, where subscriptions are equal",
            _balanced,
        ),
        Promise(
            "optimal-balance",
            "no assignment has a better balance score",
            'StickyAssignor documentation, "distributed as evenly as possible"',
            _optimal_balance,
            needs_optimum=True,
        ),
        Promise(
            "optimal-moves",
            "of the assignments with the best balance, none moves fewer partitions",
            'StickyAssignor documentation, "stay with their previously assigned consumers"',
            _optimal_moves,
            needs_optimum=True,
        ),
        Promise(
            "idempotent",
            "run again on its own result, nothing moves",
            "KIP-615, the same assignment when nothing changed",
            _idempotent,
        ),
        Promise(
            "no-revert",
            "step 5, which takes back moves that did not improve the score, never fires",
            "KIP-54, steps 4 and 5, by the definition of the score",
            _reverts,
            of=("kip-54-sticky",),
        ),
    )
}
