"""Constrained problem: the best of the assignments within budgets, by the method that proves most.

A budget that the optimum keeps to anyway costs nothing, and its certificate stays. Balance within
a budget on moves is a flow, with a certificate of its own where a least majorised load vector can
be had. The rest is enumerated where that is quick, or a constraint program.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from importlib import import_module
from time import perf_counter
from typing import TYPE_CHECKING, Protocol

from groups.assignment import Assignment
from groups.errors import BadInput
from groups.needs import require_data
from groups.tiers import MOVES, OF_COUNTS, is_flow, values
from optimal.answer import Answer, NothingWithin
from optimal.budgets.budget import reason, require_possible
from optimal.proof import Proof, ProofKind
from optimal.search import search_for
from optimal.solution import Solution, Status, Stopped
from optimal.solutions import confirmed
from optimal.time_left import OutOfTime, TimeLeft

if TYPE_CHECKING:
    from groups.arrays import Int32
    from groups.group import Group
    from groups.tiers import Objective
    from optimal.budgets.budget import Budgets


# Readers of all partitions added up: a constraint program of more is hardly ever proved.
MOST_CANDIDATES = 20_000
TAKE_BUDGETS = ("auto", "flow", "exchange", "cp-sat", "brute")
# Objectives whose optimum within a budget on moves one integer per member can prove.
PROVED_WITHIN = (("balance",), ("balance", "stickiness"))
# Seconds for the optimum without budgets where there is no time limit and it may take for ever.
PATIENCE = 5.0


class Plain(Protocol):
    """Solves a group without budgets."""

    def __call__(
        self, group: Group, objective: Objective, /, *, time_limit: float | None
    ) -> Solution:
        """Return the best assignment that is found within so many seconds."""


@dataclass(frozen=True, eq=False)
class ConstrainedProblem:
    """A group, an objective, and the budgets to keep to."""

    group: Group
    objective: Objective
    at_most: Budgets
    time_left: TimeLeft
    plain: Plain
    # Seconds that went into loading solvers, which are no part of the solve.
    loading: list[float] = field(default_factory=list)

    def solved(self, method: str) -> Solution:
        """Return the best assignment that a method finds, checked.

        Raises
        ------
        BadInput
            If no assignment keeps to the budgets, with the least value that one can have;
            where the method does not serve them.
        """
        if method not in TAKE_BUDGETS:
            known = ", ".join(TAKE_BUDGETS)
            raise BadInput(f"method: {method} takes no budgets; expected one of {known}")
        require_data(self.group, tuple(self.at_most))
        start = perf_counter()
        for module in ("flow.algorithm", "budgets.move_levels", "budgets.trades"):
            self._load(f"optimal.{module}")
        require_possible(self.at_most, self._least_possible)
        try:
            found = self.best_by(method)
        except NothingWithin:
            raise BadInput(reason(self.at_most, self._least)) from None
        return replace(found, seconds=perf_counter() - start - sum(self.loading))

    def best_by(self, method: str) -> Solution:
        """Return what flows prove, else the best that any method finds.

        Raises
        ------
        NothingWithin
            If no assignment keeps to the budgets.
        """
        known: list[Solution] = []
        if method in ("auto", "flow") and self._is_flow:
            optimum = self._plain(self.objective)
            relaxed = self._relaxed(optimum)
            if relaxed is not None:
                return relaxed
            known = self._flows(optimum)
        exchanged = self._exchanged(method) if method in ("auto", "exchange") else None
        if exchanged is not None:
            return exchanged
        if method == "auto" and not self._is_flow:
            relaxed = self._relaxed(self._plain(self.objective))
            if relaxed is not None:
                return relaxed
        proved = [solution for solution in known if solution.status is Status.OPTIMAL]
        if proved:
            return proved[0]
        large = self.group.n_candidates > MOST_CANDIDATES
        if method == "flow" and not (MOVES in self.at_most and self.objective in PROVED_WITHIN):
            raise BadInput("method: flow serves only stickiness=K under balance > stickiness")
        if method == "flow" or (method == "auto" and large and (known or self._is_flow)):
            nothing = Answer(None, self._bounded(None), Stopped.TIME_LIMIT)
            return _best(known) if known else self._confirmed(nothing, "flow")
        return _best([self._searched(method, known), *known])

    def _least(self, tier: str, at_most: Budgets) -> int | None:
        """Return a bound on a tier within some of the budgets."""
        return _first_bound(replace(self, objective=(tier,), at_most=at_most).best_by("auto"))

    def _least_possible(self, tier: str) -> int | None:
        """Return a bound on a tier without budgets.

        A least majorised load vector has the least spread and the fewest idle members, too.
        """
        if tier in OF_COUNTS:
            assignment = self._plain(("balance",)).assignment
            return None if assignment is None else values(assignment, (tier,))[0]
        return _first_bound(self._plain((tier,)))

    @property
    def _is_flow(self) -> bool:
        return is_flow(self.objective)

    def _plain(self, objective: Objective) -> Solution:
        """Return the optimum for an objective without budgets, as far as it is found in time."""
        limit = self.time_left.share(4)
        if limit is None and not is_flow(objective):
            limit = PATIENCE
        return self.plain(self.group, objective, time_limit=limit)

    def _relaxed(self, optimum: Solution) -> Solution | None:
        """Return an optimum without budgets that keeps to them, None if none is found.

        The given one, which may be any of several, or the one of those with the least budgets.
        """
        kept = self._kept(optimum)
        if kept is not None and optimum.status is Status.OPTIMAL:
            answer = Answer(kept, _bounds(optimum), proof=optimum.proof, method=optimum.method)
            return self._confirmed(answer, "flow")
        others = tuple(tier for tier in self.at_most if tier not in self.objective)
        if not others or optimum.status is not Status.OPTIMAL:
            return None
        thrifty = self._plain((*self.objective, *others))
        kept = self._kept(thrifty)
        if kept is None or thrifty.terms[: len(optimum.terms)] != optimum.terms:
            return None
        proof = Proof(ProofKind.SOLVER)
        answer = Answer(kept, _bounds(optimum), proof=proof, method=thrifty.method)
        return self._confirmed(answer, "flow")

    def _flows(self, optimum: Solution) -> list[Solution]:
        """Return answers made of flows that keep to the budgets; one that is proved comes alone.

        The most even assignment within a budget on moves; the best of the least budgets, bounded
        by the optimum without budgets.
        """
        if optimum.assignment is None:
            return []
        bound = optimum.terms[0].value
        found = []
        if MOVES in self.at_most and self.objective in PROVED_WITHIN:
            found = self.most_even(bound)
            if found and found[0].status is Status.OPTIMAL:
                return found
        rest = tuple(tier for tier in self.objective if tier not in self.at_most)
        kept = self._kept(self._plain((*self.at_most, *rest)))
        if kept is not None:
            answer = Answer(kept, self._bounded(bound), Stopped.TIME_LIMIT, method="flow")
            found.append(self._confirmed(answer, "flow"))
        return found

    def most_even(self, optimum: int = 0) -> list[Solution]:
        """Return the most even assignment within the budget on moves, with what proves it.

        Parameters
        ----------
        optimum : the least balance of all, whatever moves
        """
        from optimal.budgets.move_levels import proved_within
        from optimal.budgets.trades import most_even

        most = self.at_most[MOVES]
        try:
            owner, ran = most_even(self.group, most, self.time_left)
        except OutOfTime:
            return []
        if not self._keeps(Assignment(self.group, owner)):
            return []
        level, bound = proved_within(self.group, owner, most, needed=MOVES in self.objective)
        proof, stopped = Proof(ProofKind.CERTIFICATE, level=level), Stopped.PROOF
        if level is None:
            proof, stopped = Proof(ProofKind.NONE), Stopped.TIME_LIMIT
        answer = Answer(owner, self._bounded(max(bound, optimum)), stopped, proof, method=ran)
        return [self._confirmed(answer, "flow")]

    def _exchanged(self, method: str) -> Solution | None:
        """Return what exchanges find, None if they do not serve, or something else is quicker.

        Raises
        ------
        BadInput
            If they were asked for by name and do not serve.
        """
        from optimal.enumeration import enumerates_at_once
        from optimal.loads.load_problem import LoadProblem

        if method == "auto" and LoadProblem.of(self.objective, self.at_most) is None:
            return None
        self._load("optimal.loads.exchange")
        from optimal.loads.exchange import exchange_within, is_worth_it

        if method == "auto" and enumerates_at_once(self.group):
            return None
        if method == "auto" and not is_worth_it(self.group, self.objective, self.at_most):
            return None
        answer = exchange_within(self.group, self.objective, self.at_most, self.time_left)
        return None if answer is None else self._confirmed(answer, "exchange")

    def _searched(self, method: str, known: list[Solution]) -> Solution:
        """Return what enumeration or a constraint program finds."""
        from optimal.brute import brute

        limit = self.time_left.share(1)
        if method == "auto":
            # Where none covers it, the refusal of CP-SAT says why.
            method = search_for(self.group, (*self.objective, *self.at_most)) or "cp-sat"
        if method == "brute":
            answer = brute(self.group, self.objective, time_limit=limit, at_most=self.at_most)
            return self._confirmed(answer, "brute")
        self._load("optimal.cpsat")
        from optimal.cpsat import cpsat

        start: Int32 | None = None
        if known and (best := _best(known).assignment) is not None:
            start = best.owner
        answer = cpsat(
            self.group, self.objective, time_limit=limit, at_most=self.at_most, start=start
        )
        return self._confirmed(answer, "cp-sat")

    def _load(self, module: str) -> None:
        start = perf_counter()
        import_module(module)
        self.loading.append(perf_counter() - start)

    def _bounded(self, first: int | None) -> tuple[int | None, ...]:
        """Return the bounds of an answer of which only the first tier has one."""
        return (first, *(None for _ in self.objective[1:]))

    def _confirmed(self, answer: Answer, method: str) -> Solution:
        return confirmed(self.group, self.objective, answer, method, 0.0, self.at_most)

    def _kept(self, solution: Solution) -> Int32 | None:
        """Return the owners of a solution that keeps to the budgets, else None."""
        if solution.assignment is None or not self._keeps(solution.assignment):
            return None
        return solution.assignment.owner

    def _keeps(self, assignment: Assignment) -> bool:
        found = values(assignment, tuple(self.at_most))
        return all(v <= most for v, most in zip(found, self.at_most.values(), strict=True))


def _first_bound(solution: Solution) -> int | None:
    return solution.terms[0].bound if solution.terms else None


def _bounds(solution: Solution) -> tuple[int | None, ...]:
    return tuple(term.bound for term in solution.terms)


def _best(found: list[Solution]) -> Solution:
    """Return the answer of the least values, with the greatest bound of all on its first tier."""
    there = [solution for solution in found if solution.terms]
    if not there or found[0].status is Status.OPTIMAL:
        return found[0]
    best = min(there, key=lambda solution: [term.value for term in solution.terms])
    bounds = [one.terms[0].bound for one in there if one.terms[0].bound is not None]
    first = replace(best.terms[0], bound=max(bounds, default=None))
    return replace(best, terms=(first, *best.terms[1:]))
