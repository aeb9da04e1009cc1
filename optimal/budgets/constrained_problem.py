"""Constrained problem: the best assignment within budgets, by the method that proves most.

If the optimum without budgets keeps to them, it is the answer, with its certificate. Balance
within a budget on moves is a flow, with a certificate of its own if there is a least majorised
load vector; racks within a budget on moves or moved weight are sorted. Everything else is
enumerated if the group is small, otherwise a constraint program.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from importlib import import_module
from time import perf_counter
from typing import TYPE_CHECKING

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
    from collections.abc import Callable, Iterable, Sequence

    from groups.arrays import Int32
    from groups.group import Group
    from groups.tiers import Objective
    from optimal.budgets.budget import Budgets


# Beyond so many pairs of a partition and a reader, CP-SAT hardly ever proves an optimum.
MOST_CANDIDATES = 20_000
TAKE_BUDGETS = ("auto", "flow", "exchange", "cp-sat", "brute")
# Objectives whose optimum within a budget on moves can be proved by one integer per member.
PROVED_WITHIN = (("balance",), ("balance", "stickiness"))
# Seconds for an optimum without budgets if there is no time limit and no flow serves it.
PATIENCE = 5.0


@dataclass(frozen=True, eq=False)
class ConstrainedProblem:
    """A group, an objective, and the budgets to keep to.

    Attributes
    ----------
    plain : solves a group for an objective within `time_limit` seconds, without budgets
    loading : seconds spent on loading solvers, which do not count as seconds of the solve
    """

    group: Group
    objective: Objective
    at_most: Budgets
    time_left: TimeLeft
    plain: Callable[..., Solution]
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
        """Return what flows prove, otherwise the best answer that any method finds.

        Raises
        ------
        NothingWithin
            If no assignment keeps to the budgets.
        """
        known: list[Solution] = []
        by_flow = is_flow(self.objective)
        if method in ("auto", "flow") and by_flow:
            optimum = self._solve_plain(self.objective)
            relaxed = self._without_budgets(optimum)
            if relaxed is not None:
                return relaxed
            known = self._by_flows(optimum)
        exchanged = self._by_exchange(method) if method in ("auto", "exchange") else None
        if exchanged is not None:
            return exchanged
        if method == "auto" and not by_flow:
            relaxed = self._without_budgets(self._solve_plain(self.objective))
            if relaxed is not None:
                return relaxed
        for solution in known:
            if solution.status is Status.OPTIMAL:
                return solution
        large = self.group.n_candidates > MOST_CANDIDATES
        if method == "flow" and not self._is_most_even:
            raise BadInput("method: flow serves only stickiness=K under balance > stickiness")
        if method == "flow" or (method == "auto" and large and by_flow):
            nothing = Answer(None, self._only_first(None), Stopped.TIME_LIMIT)
            return _best(known) if known else self._confirm(nothing, "flow")
        return _best([self._by_search(method, known), *known])

    def _least(self, tier: str, at_most: Budgets) -> int | None:
        """Return a lower bound on a tier within some of the budgets."""
        return _first_bound(replace(self, objective=(tier,), at_most=at_most).best_by("auto"))

    def _least_possible(self, tier: str) -> int | None:
        """Return a lower bound on a tier without budgets.

        A least majorised load vector also has the least spread and the fewest idle members.
        """
        if tier in OF_COUNTS:
            assignment = self._solve_plain(("balance",)).assignment
            return None if assignment is None else values(assignment, (tier,))[0]
        return _first_bound(self._solve_plain((tier,)))

    @property
    def _is_most_even(self) -> bool:
        """Whether the answer is the most even assignment within a budget on moves."""
        return MOVES in self.at_most and self.objective in PROVED_WITHIN

    def _solve_plain(self, objective: Objective) -> Solution:
        """Return the best assignment for an objective without budgets that is found in time."""
        limit = self.time_left.share(4)
        if limit is None and not is_flow(objective):
            limit = PATIENCE
        return self.plain(self.group, objective, time_limit=limit)

    def _without_budgets(self, optimum: Solution) -> Solution | None:
        """Return an optimum without budgets that keeps to them, None if none is found.

        It is `optimum` itself, or the optimum that is least in the tiers of the budgets.
        """
        if optimum.status is not Status.OPTIMAL:
            return None
        best, proof, kept = optimum, optimum.proof, self._owner_if_kept(optimum)
        others = tuple(tier for tier in self.at_most if tier not in self.objective)
        if kept is None and others:
            best = self._solve_plain((*self.objective, *others))
            counted = best.proof.kind is ProofKind.EXHAUSTION
            proof = best.proof if counted else Proof(ProofKind.SOLVER)
            kept = self._owner_if_kept(best)
        if kept is None or best.terms[: len(optimum.terms)] != optimum.terms:
            return None
        bounds = tuple(term.bound for term in optimum.terms)
        return self._confirm(Answer(kept, bounds, proof=proof, method=best.method), "flow")

    def _by_flows(self, optimum: Solution) -> list[Solution]:
        """Return answers by flows that keep to the budgets; a proved answer is the only one.

        They are the most even assignment within a budget on moves, and the best assignment among
        those that are least in the budgets' tiers, with the optimum without budgets as its bound.
        """
        if optimum.assignment is None:
            return []
        bound = optimum.terms[0].value
        if is_about_racks(self.objective, self.at_most):
            from optimal.budgets.trades import nearest

            ((moved, most),) = self.at_most.items()
            owner = nearest(self.group, moved, most)
            bounds = values(Assignment(self.group, owner), self.objective)
            answer = Answer(owner, bounds, proof=Proof(ProofKind.SOLVER), method="closed-form")
            return [self._confirm(answer, "flow")]
        found = []
        if self._is_most_even:
            found = self._most_even(bound)
            if found and found[0].status is Status.OPTIMAL:
                return found
        rest = tuple(tier for tier in self.objective if tier not in self.at_most)
        kept = self._owner_if_kept(self._solve_plain((*self.at_most, *rest)))
        if kept is not None:
            answer = Answer(kept, self._only_first(bound), Stopped.TIME_LIMIT, method="flow")
            found.append(self._confirm(answer, "flow"))
        return found

    def _most_even(self, optimum: int) -> list[Solution]:
        """Return the most even assignment within the budget on moves, with its proof if any.

        Parameters
        ----------
        optimum : the least balance without budgets, a lower bound

        Returns
        -------
        one answer, or none if the time is up or it does not keep to another budget
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
        answer = Answer(owner, self._only_first(max(bound, optimum)), stopped, proof, method=ran)
        return [self._confirm(answer, "flow")]

    def _by_exchange(self, method: str) -> Solution | None:
        """Return what exchanges find, None if they do not serve or another method is quicker.

        Raises
        ------
        BadInput
            If they were asked for by name and do not serve.
        """
        from optimal.enumeration import enumerates_at_once
        from optimal.loads.load_problem import LoadProblem

        is_served = LoadProblem.of(self.objective, self.at_most) is not None
        if method == "auto" and (not is_served or enumerates_at_once(self.group)):
            return None
        self._load("optimal.loads.exchange")
        from optimal.loads.exchange import exchange_within, is_worth_it

        if method == "auto" and not is_worth_it(self.group, self.objective, self.at_most):
            return None
        answer = exchange_within(self.group, self.objective, self.at_most, self.time_left)
        return None if answer is None else self._confirm(answer, "exchange")

    def _by_search(self, method: str, known: list[Solution]) -> Solution:
        """Return the best assignment that enumeration or a constraint program finds."""
        from optimal.brute import brute

        limit = self.time_left.share(1)
        if method == "auto":
            # If no search covers the tiers, CP-SAT's error says why.
            method = search_for(self.group, (*self.objective, *self.at_most)) or "cp-sat"
        if method == "brute":
            answer = brute(self.group, self.objective, time_limit=limit, at_most=self.at_most)
            return self._confirm(answer, "brute")
        self._load("optimal.cpsat")
        from optimal.cpsat import cpsat

        best = _best(known).assignment if known else None
        start = None if best is None else best.owner
        answer = cpsat(
            self.group, self.objective, time_limit=limit, at_most=self.at_most, start=start
        )
        return self._confirm(answer, "cp-sat")

    def _load(self, module: str) -> None:
        start = perf_counter()
        import_module(module)
        self.loading.append(perf_counter() - start)

    def _only_first(self, first: int | None) -> tuple[int | None, ...]:
        """Return bounds of which only the first tier has one."""
        return (first, *(None for _ in self.objective[1:]))

    def _confirm(self, answer: Answer, method: str) -> Solution:
        return confirmed(self.group, self.objective, answer, method, 0.0, self.at_most)

    def _owner_if_kept(self, solution: Solution) -> Int32 | None:
        """Return the owners of a solution if it keeps to the budgets, otherwise None."""
        if solution.assignment is None or not self._keeps(solution.assignment):
            return None
        return solution.assignment.owner

    def _keeps(self, assignment: Assignment) -> bool:
        found = values(assignment, tuple(self.at_most))
        return all(v <= most for v, most in zip(found, self.at_most.values(), strict=True))


def is_about_racks(objective: Sequence[str], at_most: Iterable[str]) -> bool:
    """Return whether sorting finds the least racks within one budget on moves or moved weight."""
    budgets = tuple(at_most)
    of_moves = budgets in (("stickiness",), ("moved_weight",))
    return of_moves and tuple(objective) in (("racks",), ("racks", *budgets))


def _first_bound(solution: Solution) -> int | None:
    return solution.terms[0].bound if solution.terms else None


def _best(found: list[Solution]) -> Solution:
    """Return the answer of least values, with the greatest bound of all answers on its first tier.

    The first answer is returned as it is if it is optimal.
    """
    there = [solution for solution in found if solution.terms]
    if not there or found[0].status is Status.OPTIMAL:
        return found[0]
    best = min(there, key=lambda solution: [term.value for term in solution.terms])
    bounds = [one.terms[0].bound for one in there if one.terms[0].bound is not None]
    first = replace(best.terms[0], bound=max(bounds, default=None))
    return replace(best, terms=(first, *best.terms[1:]))
