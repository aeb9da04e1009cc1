"""Within budgets: the best of the assignments that keep to them, by what proves most.

A budget that the optimum keeps to anyway costs nothing, and its certificate stays. Balance within
a budget on moves is a flow, with a certificate of its own where a least majorised load vector can
be had. The rest is enumerated where that is quick, or a constraint program.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from time import perf_counter
from typing import TYPE_CHECKING, Protocol

from groups.assignment import Assignment
from groups.errors import BadInput
from groups.needs import require_data
from groups.tiers import TIERS, values
from optimal.answer import Answer, NothingWithin
from optimal.budgets.budget import shown
from optimal.budgets.certificate import PROVED_WITHIN
from optimal.confirmation import confirmed
from optimal.solution import Proof, ProofKind, Solution, Status, Stopped
from optimal.time_left import OutOfTime, TimeLeft

if TYPE_CHECKING:
    from groups.arrays import Int32
    from groups.group import Group
    from groups.tiers import Objective
    from optimal.budgets.budget import Budgets

# Readers of all partitions added up: a constraint program of more is hardly ever proved.
MOST_CHOICES = 20_000
MOVES = "stickiness"
# All owners can keep what they own, so that these tiers can always be 0.
CAN_BE_0 = (MOVES, "moved_weight")


class Plain(Protocol):
    """Solves a group without budgets."""

    def __call__(
        self, group: Group, objective: Objective, /, *, time_limit: float | None
    ) -> Solution:
        """Return the best assignment that is found within so many seconds."""


@dataclass(frozen=True, eq=False)
class Within:
    """A group, an objective, and the budgets to keep to."""

    group: Group
    objective: Objective
    at_most: Budgets
    time_left: TimeLeft
    plain: Plain

    def solved(self, method: str) -> Solution:
        """Return the best assignment that a method finds, checked.

        Raises
        ------
        BadInput
            Where no assignment keeps to the budgets, with the least value that one can have;
            where the method does not serve them.
        """
        if method == "ilp":
            raise BadInput("method: ilp takes no budgets; use flow, cp-sat or brute")
        require_data(self.group, tuple(self.at_most))
        start = perf_counter()
        for tier in self.at_most:
            if tier not in CAN_BE_0:
                self._require_possible(tier)
        try:
            found = self.best_by(method)
        except NothingWithin:
            raise BadInput(self._reason()) from None
        return replace(found, seconds=perf_counter() - start)

    def best_by(self, method: str) -> Solution:
        """Return what flows prove, else the best that any method finds.

        Raises
        ------
        NothingWithin
            Where no assignment keeps to the budgets.
        """
        known: list[Solution] = []
        if method in ("auto", "flow") and all(TIERS[tier].is_flow for tier in self.objective):
            known = self._flows()
        proved = [solution for solution in known if solution.status is Status.OPTIMAL]
        if proved:
            return proved[0]
        if method == "flow":
            if MOVES in self.at_most and self.objective in PROVED_WITHIN and known:
                return _best(known)
            raise BadInput("method: flow serves only stickiness=K under balance > stickiness")
        if method == "auto" and known and self._choices > MOST_CHOICES:
            return _best(known)
        return _best([self._searched(method, known), *known])

    def _flows(self) -> list[Solution]:
        """Return answers made of flows that keep to the budgets; one that is proved comes alone.

        The optimum without budgets, which bounds the others, and the one of the least budgets;
        the most even assignment within a budget on moves; the best of the least budgets.
        """
        optimum = self.plain(self.group, self.objective, time_limit=self.time_left.share(3))
        if optimum.assignment is None:
            return []
        owner, bound = optimum.assignment.owner, optimum.terms[0].value
        if self._keeps(owner):
            answer = Answer(owner, (bound,), proof=optimum.proof, method=optimum.method)
            return [self._confirmed(answer, "flow")]
        others = tuple(tier for tier in self.at_most if tier not in self.objective)
        thrifty = self._plain((*self.objective, *others)) if others else None
        if thrifty is not None and self._keeps(thrifty):
            answer = Answer(thrifty, (bound,), proof=Proof(ProofKind.SOLVER), method="flow")
            return [self._confirmed(answer, "flow")]
        found = []
        if MOVES in self.at_most and self.objective in PROVED_WITHIN:
            found = self.most_even(bound)
            if found and found[0].status is Status.OPTIMAL:
                return found
        rest = tuple(tier for tier in self.objective if tier not in self.at_most)
        thrifty = self._plain((*self.at_most, *rest))
        if thrifty is not None and self._keeps(thrifty):
            answer = Answer(thrifty, self._bounded(bound), Stopped.TIME_LIMIT, method="flow")
            found.append(self._confirmed(answer, "flow"))
        return found

    def _plain(self, objective: Objective) -> Int32 | None:
        """Return the owners that are best for an objective without budgets."""
        solution = self.plain(self.group, objective, time_limit=self.time_left.share(4))
        return None if solution.assignment is None else solution.assignment.owner

    def most_even(self, optimum: int = 0) -> list[Solution]:
        """Return the most even assignment within the budget on moves, with what proves it.

        Parameters
        ----------
        optimum : the least balance of all, whatever moves
        """
        from optimal.budgets.levels import Held, least_balance
        from optimal.budgets.most_even import most_even

        most = self.at_most[MOVES]
        try:
            owner, ran = most_even(self.group, most, self.time_left)
        except OutOfTime:
            return []
        if not self._keeps(owner):
            return []
        held = Held.of(self.group, owner)
        level = held.levels()
        above, least, needs_all = held.bounds(level, most)
        even = bool((least >= above).all())
        needed = MOVES not in self.objective or needs_all.any() or not held.moved.any()
        if even and needed:
            proof = Proof(ProofKind.CERTIFICATE, level=level)
            answer = Answer(owner, self._bounded(None), proof=proof, method=ran)
        else:
            bound = least_balance(held.least(level, most), len(self.group.members)) or 0
            first = max(bound, optimum)
            answer = Answer(owner, self._bounded(first), Stopped.TIME_LIMIT, method=ran)
        return [self._confirmed(answer, "flow")]

    def _searched(self, method: str, known: list[Solution]) -> Solution:
        """Return what enumeration or a constraint program finds."""
        from optimal.brute import brute, enumerates_at_once

        limit = self.time_left.share(1)
        if method == "brute" or (method == "auto" and enumerates_at_once(self.group)):
            answer = brute(self.group, self.objective, time_limit=limit, at_most=self.at_most)
            return self._confirmed(answer, "brute")
        from optimal.cpsat import cpsat

        start: Int32 | None = None
        if known and (best := _best(known).assignment) is not None:
            start = best.owner
        answer = cpsat(
            self.group, self.objective, time_limit=limit, at_most=self.at_most, start=start
        )
        return self._confirmed(answer, "cp-sat")

    @property
    def _choices(self) -> int:
        return int((self.group.readers * self.group.partitions).sum())

    def _bounded(self, first: int | None) -> tuple[int | None, ...]:
        """Return the bounds of an answer of which only the first tier has one."""
        return (first, *(None for _ in self.objective[1:]))

    def _confirmed(self, answer: Answer, method: str) -> Solution:
        return confirmed(self.group, self.objective, answer, method, 0.0, self.at_most)

    def _keeps(self, owner: Int32) -> bool:
        found = values(Assignment(self.group, owner), tuple(self.at_most))
        return all(v <= most for v, most in zip(found, self.at_most.values(), strict=True))

    def _require_possible(self, tier: str) -> None:
        """Raise BadInput where the least value of a tier is above its budget."""
        solution = self.plain(self.group, (tier,), time_limit=self.time_left.share(4))
        if solution.terms and self.at_most[tier] < (solution.terms[0].bound or 0):
            raise BadInput(
                f"at_most.{tier}: {self.at_most[tier]}, but the least that is possible is "
                f"{solution.terms[0].bound}"
            )

    def _reason(self) -> str:
        """Say which budget cannot be kept to beside those before it."""
        earlier: Budgets = {}
        for tier, most in self.at_most.items():
            if earlier:
                one = replace(self, objective=(tier,), at_most=dict(earlier))
                bound = one.best_by("auto").terms[0].bound
                if bound is not None and bound > most:
                    return (
                        f"at_most.{tier}: {most}, but with {shown(earlier)} the least that is "
                        f"possible is {bound}"
                    )
            earlier[tier] = most
        return f"at_most: no assignment has {shown(self.at_most)}"


def _best(found: list[Solution]) -> Solution:
    """Return the answer of the least values, with the greatest bound of all on its first tier."""
    there = [solution for solution in found if solution.terms]
    if not there or found[0].status is Status.OPTIMAL:
        return found[0]
    best = min(there, key=lambda solution: [term.value for term in solution.terms])
    bounds = [one.terms[0].bound for one in there if one.terms[0].bound is not None]
    first = replace(best.terms[0], bound=max(bounds, default=None))
    return replace(best, terms=(first, *best.terms[1:]))
