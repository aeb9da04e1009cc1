"""Promise: what a KIP says of its assignor, as a check on one group, and who promises what."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from time import monotonic
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from compare.promises.trial import Trial, optima
from compare.samples.drawn import is_ordinary
from groups import Assignment, values
from groups.errors import require_one_of
from heuristics.catalogue import WRITTEN
from heuristics.protocol import FOR_EVER
from heuristics.written import kip54
from heuristics.written.kip54 import hand_out

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from compare.promises.trial import Runner
    from groups import Group
    from heuristics.assignor import Outcome

BATCH = 100
MOST_VIOLATIONS = 3


class Judgement(Struct, frozen=True, forbid_unknown_fields=True):
    """Whether a promise holds on a group, and what was measured.

    `holds` is None if the group does not test the promise: the assignor refused the group, or the
    promise does not apply to the result.
    """

    holds: bool | None
    measured: dict[str, Any]


@dataclass(frozen=True)
class Promise:
    """One promise.

    Attributes
    ----------
    name : as users write it
    text : the promise in one line
    source : the text that makes it
    judge : returns whether it holds in a trial
    of : names or patterns of the assignors that it applies to; empty: all
    needs_optimum : whether a trial needs the reference solution
    of_balance : whether assignors that go topic by topic or in turn do not make it
    """

    name: str
    text: str
    source: str
    judge: Callable[[Trial], Judgement]
    of: tuple[str, ...] = ()
    needs_optimum: bool = False
    of_balance: bool = False

    def asked_of(self, assignor: str) -> bool:
        """Return whether the promise applies to an assignor."""
        return not self.of or any(fnmatchcase(assignor, name) for name in self.of)

    def judge_each(
        self, run: Runner, groups: Sequence[Group], *, until: float | None = None
    ) -> Iterator[tuple[Group, Judgement]]:
        """Yield each group with its judgement, in order; optima are solved in batches.

        Parameters
        ----------
        until : time of ``monotonic()`` after which no further group is judged; None: no limit
        """
        for start in range(0, len(groups), BATCH):
            batch = groups[start : start + BATCH]
            known = optima(batch) if self.needs_optimum else [None] * len(batch)
            for group, optimum in zip(batch, known, strict=True):
                if until is not None and monotonic() > until:
                    return
                yield group, self.judge(Trial(run, group, optimum))

    def on_ordinary_groups(self) -> Promise:
        """Return the same promise, which only ordinary groups test."""

        def judge(trial: Trial) -> Judgement:
            return self.judge(trial) if is_ordinary(trial.group) else NOT_TESTED

        return replace(self, judge=judge)


NOT_TESTED = Judgement(None, {})


def promise_named(name: str) -> Promise:
    """Return the promise of this name.

    Raises
    ------
    BadInput
        If there is none.
    """
    require_one_of("promise", name, PROMISES)
    return PROMISES[name]


def _terminates(trial: Trial) -> Judgement:
    status = trial.outcome.status
    if status in ("refused", "unavailable"):
        return NOT_TESTED
    return Judgement(status != "timed-out", {"status": status})


def _answers(trial: Trial) -> Judgement:
    status = trial.outcome.status
    if status not in ("planned", "failed") or _is_circling(trial.outcome):
        return NOT_TESTED
    return Judgement(status == "planned", {"status": status, "reason": trial.outcome.reason})


def _settles(trial: Trial) -> Judgement:
    plan = trial.outcome.plan
    if _is_circling(trial.outcome):
        return Judgement(False, {"status": "failed", "reason": trial.outcome.reason})
    return NOT_TESTED if plan is None else Judgement(True, {"rounds": plan.rounds})


def _is_circling(outcome: Outcome) -> bool:
    """Return whether the cooperative rounds never end, as an earlier state came back."""
    return outcome.plan is None and (outcome.reason or "").endswith(FOR_EVER)


def _valid(trial: Trial) -> Judgement:
    plan = trial.outcome.plan
    if plan is None:
        return NOT_TESTED
    violations = plan.assignment.violations
    shown = [str(violation) for violation in violations[:MOST_VIOLATIONS]]
    return Judgement(not violations, {"violations": len(violations), "first": shown})


def _balanced(trial: Trial) -> Judgement:
    if trial.assignment is None:
        return NOT_TESTED
    return Judgement(trial.assignment.balanced(), {"loads": trial.assignment.loads.tolist()})


def _optimal_balance(trial: Trial) -> Judgement:
    if trial.assignment is None or trial.optimum is None:
        return NOT_TESTED
    balance, best = values(trial.assignment, ("balance",))[0], trial.optimum.terms[0].value
    return Judgement(balance == best, {"balance": balance, "optimum": best})


def _optimal_moves(trial: Trial) -> Judgement:
    if trial.assignment is None or trial.optimum is None or not _optimal_balance(trial).holds:
        return NOT_TESTED
    moves, best = values(trial.assignment, ("stickiness",))[0], trial.optimum.terms[1].value
    return Judgement(moves == best, {"moves": moves, "optimum": best})


def _idempotent(trial: Trial) -> Judgement:
    first = trial.outcome.plan
    second = None if trial.second_outcome is None else trial.second_outcome.plan
    if first is None or second is None:
        return NOT_TESTED
    moved = len(_held(first.assignment) - _held(second.assignment))
    return Judgement(moved == 0, {"moved": moved})


def _held(assignment: Assignment) -> set[tuple[int, int]]:
    member, partition = assignment.holdings
    return set(zip(member.tolist(), partition.tolist(), strict=True))


def _reverts(trial: Trial) -> Judgement:
    distributed = hand_out(trial.group, trial.group.owner)
    moved = kip54.reassign(trial.group, distributed) != distributed
    plan = trial.outcome.plan
    if plan is None or not moved.any():
        return NOT_TESTED
    reverted = bool((plan.assignment.owner == distributed).all())
    return Judgement(not reverted, {"moves": int(moved.sum()), "reverted": reverted})


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
            "settles",
            "its cooperative rounds come to an end: what the members own never comes back",
            "KIP-429, a rebalance ends once nobody has anything to revoke",
            _settles,
            of=("kip-429-cooperative", "*/cooperative-sticky@*"),
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
            of_balance=True,
        ),
        Promise(
            "optimal-balance",
            "no assignment has a better balance score",
            'StickyAssignor documentation, "distributed as evenly as possible"',
            _optimal_balance,
            needs_optimum=True,
            of_balance=True,
        ),
        Promise(
            "optimal-moves",
            "of the assignments with the best balance, none moves fewer partitions",
            'StickyAssignor documentation, "stay with their previously assigned consumers"',
            _optimal_moves,
            needs_optimum=True,
            of_balance=True,
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


# Assignors that go topic by topic or in turn; KafkaJS's roundrobin has a name of its own.
_DEALS_OUT = {"RoundRobinAssigner", *(one.name for one in WRITTEN.values() if not one.balances)}


def is_promised(promise: str, assignor: str) -> bool:
    """Return whether an assignor makes a promise; an unknown assignor counts as making it.

    Assignors that go topic by topic or in turn promise neither balance over all topics nor few
    moves: `range`, `roundrobin`, and those as written for which the catalogue says so.

    Parameters
    ----------
    assignor : name of one as written, of a shipped one with client and version, or of a function
        of the user's

    Raises
    ------
    BadInput
        If no promise has the name.
    """
    kind = assignor.partition("@")[0].rpartition("/")[2]
    asked = promise_named(promise)
    return asked.asked_of(assignor) and not (asked.of_balance and kind in _DEALS_OUT)


def promises_of(assignor: str) -> tuple[str, ...]:
    """Return the promises that an assignor makes, in the order of `PROMISES`."""
    return tuple(name for name in PROMISES if is_promised(name, assignor))
