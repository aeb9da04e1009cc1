"""Exchange: minimises loads tier after tier, within budgets (docs/explanation/lag.md)."""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from groups.arrays import NOBODY
from groups.assignment import Assignment
from groups.errors import BadInput
from groups.tiers import MOVES, SAFE_TOTAL, TIERS, in_words, is_flow, values
from optimal.answer import LIMITS, Answer, NothingWithin, require_costs_within
from optimal.cpsat import cpsat, least_within
from optimal.elastic import Elastic, pack
from optimal.flow.algorithm import flow
from optimal.formulations import AUTO_DOES
from optimal.loads.bin_completion import Dealing, are_few
from optimal.loads.candidates import Windows, candidates_of, column_of, owner_of
from optimal.loads.incumbent import Incumbent, fewest_moves, longest_first
from optimal.loads.load_problem import LoadProblem
from optimal.loads.local_search import even_out, fewer_moves, lower_peak, score_of
from optimal.loads.lower_bounds import FewestMoves, highest_floor, least_score, weighted_average
from optimal.proof import Proof, ProofKind
from optimal.solution import Stopped
from optimal.time_left import TimeLeft

if TYPE_CHECKING:
    from collections.abc import Mapping

    from groups.arrays import Int32, Int64
    from groups.group import Group
    from groups.tiers import Objective
    from optimal.cpsat import ConstraintProgram, Cost
    from optimal.loads.candidates import Candidates
    from optimal.proof import Floor


# The search stops after so many rounds without a lower peak: SMALL_PATIENCE with up to SMALL
# cells (pairs of a partition and a member that may hold it), where CP-SAT proves the rest faster.
PATIENCE, SMALL_PATIENCE, SMALL = 3000, 30, 200
# The share of the time for exchanges before CP-SAT, and for deals if members hold few partitions.
FIRST, DEALT = 0.7, 0.95
# The share of the time for packing, and the most partitions, in all and per member, to try it on:
# with more, exchanges reach the average.
PACKED, MOST_PACKED, MOST_EACH = 0.6, 500, 6
# Evening out stops after so many rounds over all members without a better score.
EVEN_PATIENCE = 20
# CP-SAT scores pairs of members up to so many members and below so great a value.
MOST_PAIRED, SCORED = 100, LIMITS["cp-sat"]
# CP-SAT hardly ever proves an optimum with more cells than this.
MOST_CLOSED = 20_000
# The table of kinds of partitions by members stays below so many entries.
MOST_CELLS = 2**26
# If rounds are limited: CP-SAT's deterministic time for each round, which takes about as many
# seconds on an idle machine, and the cells for each round up to which CP-SAT is tried.
EFFORT, CLOSED = 0.001, 10
# CP-SAT starts from a hint with more candidates than HINTED; with fewer it proves the optimum
# before a hint is found. The hint has 1/HINT_PARTS of the time, or HINT_SECONDS without a limit.
HINTED, HINT_PARTS, HINT_SECONDS = 500, 4, 5.0


def is_worth_it(group: Group, objective: Objective, at_most: Mapping[str, int]) -> bool:
    """Return whether exchanges serve an objective and budgets, for a group of this size."""
    if LoadProblem.of(objective, at_most) is None:
        return False
    kinds = min(group.n_partitions, len(group.topics) * (1 + len(group.members)))
    greatest = max(TIERS[tier].greatest(group) for tier in (*objective, *at_most))
    return kinds * len(group.members) <= MOST_CELLS and greatest < LIMITS["exchange"]


def exchange(group: Group, objective: Objective, *, time_limit: float | None = None) -> Answer:
    """Minimise the tiers of an objective one after the other, with a bound on each.

    Parameters
    ----------
    time_limit : seconds after which the best so far is returned, with a true bound

    Raises
    ------
    BadInput
        If the objective is not one that exchanges serve, or costs would leave 64 bits.
    """
    found = exchange_within(group, objective, {}, TimeLeft.of(time_limit))
    return found or Answer(None, (None,) * len(objective), Stopped.TIME_LIMIT)


def exchange_within(
    group: Group,
    objective: Objective,
    at_most: Mapping[str, int],
    time_left: TimeLeft,
    *,
    rounds: int | None = None,
) -> Answer | None:
    """Minimise the tiers of an objective one after the other, within budgets.

    Parameters
    ----------
    rounds : at most so many rounds of the search, so that the answer does not depend on the speed
        of the machine unless the time limit is met; None: as many as there is time for

    Returns
    -------
    None if no assignment was found that is optimal in the first tiers and within the budgets:
    then another method has to decide

    Raises
    ------
    BadInput
        If the problem is not one that exchanges serve, or costs would leave 64 bits.
    NothingWithin
        If no assignment keeps to the budgets.
    """
    problem = LoadProblem.of(objective, at_most)
    if problem is None:
        shown = in_words(objective)
        if at_most:
            shown += f" within {' and '.join(at_most)}"
        raise BadInput(f"method: exchange does not serve {shown}; {AUTO_DOES}")
    require_costs_within(group, (*objective, *at_most), "exchange")
    start = _open_windows(group, problem, time_left)
    if start is None:
        return Answer(None, (None,) * len(objective), Stopped.TIME_LIMIT)
    windows, proof, holder = start
    searching = time_left
    if rounds is None and (limit := time_left.share(1)) is not None:
        searching = TimeLeft.of(FIRST * limit)
    search = Search(group, objective, at_most, problem, windows, time_left, searching, rounds)
    if not search.starts(holder):
        if problem.earlier:
            return None
        raise NothingWithin
    bounds = search.bounds_of_rest()
    if bounds is None:
        return None
    owner = owner_of(group, windows.hull, search.incumbent.holder)
    reached = values(Assignment(group, owner), objective)
    bounds = (*reached[: len(problem.earlier)], *bounds)
    if reached != bounds:
        return Answer(owner, bounds, Stopped.TIME_LIMIT)
    kind = search.kind
    if kind is ProofKind.CERTIFICATE and not search.has_certificate:
        kind = ProofKind.SOLVER
    if kind is not ProofKind.CERTIFICATE:
        return Answer(owner, bounds, proof=Proof(kind))
    return Answer(owner, bounds, proof=replace(proof, floor=search.floor, givers=search.givers))


def _open_windows(
    group: Group, problem: LoadProblem, time_left: TimeLeft
) -> tuple[Windows, Proof, Int64] | None:
    """Return the candidates that earlier tiers and budgets leave open; None if the time is up.

    Returns
    -------
    the candidates, the certificate of the earlier tiers, and the assignment that the flow found
    for them, (read,) int64 members
    """
    earlier, limit = problem.earlier, time_left.share(1)
    found = flow(group, earlier or (MOVES,), time_limit=limit)
    if found.owner is None:
        return None
    proof = found.proof
    if "balance" not in earlier:
        proof = Proof(ProofKind.CERTIFICATE)
    elif earlier == ("balance",):
        # The flow's prices are about moves, which do not count here.
        proof = replace(proof, price=np.zeros(len(group.members), np.int64), scale=())
    column = np.zeros(group.n_partitions, np.int64)
    if problem.loads is not None:
        column = column_of(group, problem.loads)
    candidates = candidates_of(group, earlier, proof, column)
    candidates = replace(candidates, moves=problem.at_most.get(MOVES))
    if problem.peak == "peak_time":
        rate = np.clip(group.capacity, 1, max(candidates.total, 1))
        candidates = replace(candidates, rate=rate)
    even = np.zeros(candidates.members, np.int64)
    if "load_spread" in problem.at_most:
        most_even = flow(group, tuple(dict.fromkeys((*earlier, "balance"))), time_limit=limit)
        if most_even.owner is None:
            return None
        even = Assignment(group, most_even.owner).loads
    windows = Windows.of(candidates, problem.at_most, even)
    return windows, proof, found.owner[candidates.read].astype(np.int64)


def counted_peak(
    group: Group, objective: Objective, rounds: int, time_left: TimeLeft
) -> tuple[Int32, int] | None:
    """Lower the peak, the last tier of an objective, in a fixed number of rounds.

    The answer does not depend on the speed of the machine unless the time is up.

    Returns
    -------
    (all partitions,) int32, the holders, -1 where nobody reads; and a lower bound on the peak with
    the earlier tiers at their optimum. None if the search does not serve the objective, its
    numbers are too great, or nothing was found in time.
    """
    exact = all(TIERS[tier].greatest(group) < LIMITS["exchange"] for tier in objective)
    if not exact or LoadProblem.of(objective, {}) is None:
        return None
    found = exchange_within(group, objective, {}, time_left, rounds=rounds)
    if found is None or found.owner is None or (bound := found.bounds[-1]) is None:
        return None
    return found.owner, bound


def hinted(group: Group, objective: Objective, *, time_limit: float | None = None) -> Answer:
    """Find the best assignment by CP-SAT, which starts from a good one.

    The start is the best assignment found for the longest prefix of the objective that flows or
    exchanges serve; it is the answer if CP-SAT finds none.
    """
    time_left = TimeLeft.of(time_limit)
    start: Int32 | None = None
    if group.n_candidates > HINTED:
        limit = time_left.share(HINT_PARTS)
        seconds = HINT_SECONDS if limit is None else limit
        for length in range(len(objective) - 1, 0, -1):
            first = objective[:length]
            if is_flow(first) or is_worth_it(group, first, {}):
                method = flow if is_flow(first) else exchange
                start = method(group, first, time_limit=seconds).owner
                break
    return cpsat(group, objective, time_limit=time_left.share(1), start=start)


@dataclass(eq=False)
class Search:
    """A search through the tiers that come after those of the flow.

    Attributes
    ----------
    searching : the time for exchanges; the rest of `time_left` is for the constraint program
    rounds : at most so many rounds, None: as many as there is time for
    peak : the greatest peak allowed, by a budget or by an earlier tier of the search
    kind, floor, givers : what the bounds rest on so far, as in `optimal.proof.Proof`
    incumbent : the best assignment so far
    fewest, first : for each window the assignment with the fewest moves, if moves matter, and the
        assignment to start from
    """

    group: Group
    objective: Objective
    at_most: Mapping[str, int]
    problem: LoadProblem
    windows: Windows
    time_left: TimeLeft
    searching: TimeLeft
    rounds: int | None = None
    peak: int | None = None
    kind: ProofKind = ProofKind.CERTIFICATE
    floor: Floor | None = None
    givers: tuple[int, ...] = ()
    fewest: list[Incumbent] = field(default_factory=list)
    first: list[Incumbent] = field(default_factory=list)

    def starts(self, holder: Int64) -> bool:
        """Find an assignment to start from; return False if none keeps to the budget on moves."""
        self.peak = self.problem.at_most.get(str(self.problem.peak))
        for candidates in self.windows.each:
            kept, few = [holder] if candidates.keeps(holder) else [], None
            if self.at_most or MOVES in self.problem.rest or not kept:
                few = fewest_moves(candidates)
                if few is None:
                    continue
                fewest = Incumbent(candidates, few)
                if candidates.moves is not None and fewest.moves > candidates.moves:
                    continue
                self.fewest.append(fewest)
            found = [few]
            if candidates.moves is None:
                found += [longest_first(candidates), *kept]
            incumbents = [Incumbent(candidates, one) for one in found if one is not None]
            self.first.append(min(incumbents, key=lambda incumbent: incumbent.peak))
        if not self.first:
            return False
        self.incumbent = min(self.first, key=lambda incumbent: incumbent.peak)
        return True

    @property
    def has_certificate(self) -> bool:
        """Whether a certificate can express what was proved."""
        rest = self.problem.rest
        if self.problem.peak not in rest:
            return bool(self.givers) or MOVES not in rest
        by_moves = self.floor is None and MOVES in self.problem.at_most
        return len(rest) == 1 or not by_moves

    def bounds_of_rest(self) -> tuple[int | None, ...] | None:
        """Minimise the rest tier by tier; return the bounds, None if the peak is over budget."""
        if self.peak is not None:
            least = self._lower_peak(self.peak)
            if self.incumbent.peak > self.peak:
                if not self.problem.earlier and least > self.peak:
                    raise NothingWithin
                return None
            self.floor, self.givers, self.kind = None, (), ProofKind.CERTIFICATE
        bounds: list[int | None] = []
        for tier in self.problem.rest:
            if tier == MOVES:
                value, bound = self._save_moves()
                # From now on no more moves are allowed.
                each = [replace(one, moves=value) for one in self.windows.each]
                hull = replace(self.windows.hull, moves=value)
                self.windows = replace(self.windows, hull=hull, each=each)
                self.incumbent = self._in_a_window(self.incumbent.holder)
            elif tier == self.problem.peak:
                bound = self._lower_peak(0)
                value = self.peak = self.incumbent.peak
            else:
                value, bound = self._even_out(tier)
            bounds.append(bound)
            if bound < value:
                break
        return (*bounds, *(None for _ in self.problem.rest[len(bounds) :]))

    def _lower_peak(self, target: int) -> int:
        """Lower the peak until it is at a target; return a lower bound on the peak."""
        hull = self.windows.hull
        bound, self.floor = highest_floor(hull)
        if hull.moves is not None:
            bound = self._bound_by_moves(bound)
        kind = ProofKind.CERTIFICATE
        if self.rounds is None and not target and hull.rate is None:
            kind, bound = self._raise_bound(bound)
        least = max(bound, target)
        for number, start in enumerate(self.first):
            if self.incumbent.peak <= least:
                break
            left = len(self.first) - number
            searching = TimeLeft.of(self.searching.share(left))
            patience = max(1, self._patience // left)
            found = lower_peak(start.copy(), least, searching, patience, most=self.rounds)
            if found.peak < self.incumbent.peak:
                self.incumbent = found
        if self.incumbent.peak > least and self._is_closable:
            proved = self._lower_by_program(str(self.problem.peak), least, self.incumbent.peak)
            if proved > least:
                kind, bound = ProofKind.SOLVER, proved
        if self.incumbent.peak == bound and kind is not ProofKind.CERTIFICATE:
            self.kind = kind
        return bound

    def _raise_bound(self, bound: int) -> tuple[ProofKind, int]:
        """Return the highest bound by a relaxation, by deals or by bins, and its kind of proof."""
        hull, kind = self.windows.hull, ProofKind.CERTIFICATE
        if self.problem.earlier == ("topic_balance",) and not hull.may.all():
            relaxed = weighted_average(hull)
            kind, bound = (ProofKind.SOLVER, relaxed) if relaxed > bound else (kind, bound)
        if hull.moves is None and len(self.first) == 1 and are_few(hull):
            start = lower_peak(self.first[0].copy(), bound, self.searching, SMALL_PATIENCE)
            dealing, limit = Dealing(start, bound), self.time_left.share(1)
            dealing.run(TimeLeft.of(None if limit is None else DEALT * limit))
            if dealing.bound > bound:
                kind, bound = ProofKind.EXHAUSTION, dealing.bound
            self.incumbent = dealing.incumbent
            self.first = [self.incumbent.copy()]
        if bound < self.incumbent.peak and self._is_packable:
            return self._raise_by_packing(kind, bound)
        return kind, bound

    def _raise_by_packing(self, kind: ProofKind, bound: int) -> tuple[ProofKind, int]:
        """Return a higher bound, and its kind, by packing under one capacity after another.

        A peak can be kept if the partitions fit into the members as bins of that size. The bound
        is tried first, then the interval is bisected. Only a proof that they do not fit raises
        the bound.
        """
        hull = self.windows.hull
        start = lower_peak(self.first[0].copy(), bound, self.searching, SMALL_PATIENCE)
        self.incumbent = min(start, self.incumbent, key=lambda incumbent: incumbent.peak)
        limit, sizes = self.time_left.share(1), tuple(hull.size.tolist())
        packing = TimeLeft.of(None if limit is None else PACKED * limit)
        capacity = low = bound = max(bound, *sizes)
        while low < self.incumbent.peak and not packing.is_up:
            elastic = Elastic(sizes, capacity, (NOBODY,) * len(sizes))
            found = pack(elastic, time_limit=packing.share(2))
            if found.members <= hull.members:
                self.incumbent = Incumbent(hull, np.array(found.owner, np.int64))
            else:
                low = capacity + 1
                if (found.terms[0].bound or 0) > hull.members:
                    kind, bound = ProofKind.SOLVER, low
            capacity = (low + self.incumbent.peak) // 2
        self.first = [self.incumbent.copy()]
        return kind, bound

    def _bound_by_moves(self, bound: int) -> int:
        """Return the lowest peak, `bound` or more, that the allowed moves might reach."""
        hull = self.windows.hull
        under, allowed = FewestMoves.of(hull), hull.moves or 0
        peaks = range(bound, self.incumbent.peak)
        low = bound + bisect_left(
            peaks, True, key=lambda peak: under.needed(hull.room(peak)) <= allowed
        )
        if low > bound:
            self.floor, self.givers = None, under.givers(hull.room(low - 1))
        return low

    def _save_moves(self) -> tuple[int, int]:
        """(fewest moves found, a lower bound on moves), under the peak so far."""
        hull, start = self.windows.hull, min(self.fewest, key=lambda incumbent: incumbent.moves)
        without_peak = start.moves
        if self.peak is None:
            self.incumbent, self.kind = start, ProofKind.SOLVER
            return without_peak, without_peak
        fewest_moves_under, room = FewestMoves.of(hull), hull.room(self.peak)
        needed = fewest_moves_under.needed(room)
        least = max(without_peak, needed)
        self.incumbent = fewer_moves(
            self.incumbent, start, self.peak, least, self.searching, self._patience
        )
        value = self.incumbent.moves
        if value > least and self._is_closable:
            least = self._lower_by_program(MOVES, least, value)
            value = self.incumbent.moves
        if value == least > needed and value > 0:
            self.kind = ProofKind.SOLVER
        elif value == least:
            self.givers = fewest_moves_under.givers(room)
        return value, least

    def _even_out(self, tier: str) -> tuple[int, int]:
        """(the best score found in a spread or balance, a lower bound on it) under the peak."""
        hull, members = self.windows.hull, len(self.group.members)
        # A budget only bounds the peak from above; as a tier, the peak is known exactly.
        reached = self.incumbent.peak if self.problem.peak in self.problem.rest else 0
        least = least_score(tier, hull, reached)
        even_out(self.incumbent, tier, least, self.searching, EVEN_PATIENCE)
        value = score_of(tier, self.incumbent.loads)
        few = members <= MOST_PAIRED and TIERS[tier].greatest(self.group) < SCORED
        if value == least or not (few and self._is_closable):
            return value, least
        self.kind = ProofKind.SOLVER
        bound = self._lower_by_program(tier, least, value)
        return score_of(tier, self.incumbent.loads), bound

    def _lower_by_program(self, tier: str, least: int, most: int) -> int:
        """Lower a tier from `most` by a constraint program; return a lower bound on it.

        It keeps to the candidates, the peak so far and the moves allowed. If the solver finds
        nothing, the incumbent stays: it is feasible, so the solver's claim is not believed.
        """
        hull = self.windows.hull
        limits = {}
        if self.peak is not None:
            limits[str(self.problem.peak)] = 0, self.peak
        if hull.moves is not None:
            limits[MOVES] = 0, hull.moves
        if self.windows.spread is not None:
            limits["load_spread"] = 0, self.windows.spread
        limits[tier] = least, most
        owner, bound = least_within(
            self.group,
            tier,
            limits,
            start=owner_of(self.group, hull, self.incumbent.holder),
            seconds=self.time_left.share(1),
            effort=None if self.rounds is None else EFFORT * self.rounds,
            other_tiers=self.problem.earlier,
            narrow=partial(_keep_to, hull),
        )
        if owner is None:
            return least
        self.incumbent = self._in_a_window(owner[hull.read].astype(np.int64))
        return bound

    @property
    def _patience(self) -> int:
        if self.rounds is not None:
            return min(self.rounds, SMALL_PATIENCE) if self._is_small else self.rounds
        return SMALL_PATIENCE if self._is_small else PATIENCE

    @property
    def _is_small(self) -> bool:
        """Whether the constraint program can soon prove the rest."""
        most = SMALL if self.rounds is None else CLOSED * self.rounds
        return self.windows.hull.cells <= most

    @property
    def _is_packable(self) -> bool:
        """Whether members are alike and may hold any number of partitions, as bins may."""
        hull = self.windows.hull
        few = len(hull.size) <= min(MOST_PACKED, MOST_EACH * hull.members) and not self._is_small
        free = not hull.least.any() and bool((hull.most.sum(axis=0) >= len(hull.size)).all())
        alone = hull.moves is None and len(self.first) == 1
        return few and free and alone and bool(hull.may.all())

    @property
    def _is_closable(self) -> bool:
        """Whether the constraint program is worth running: it is small enough, with time left."""
        wanted = self.rounds is None or self._is_small
        hull = self.windows.hull
        heaviest = max(hull.rates.tolist(), default=1) * self.incumbent.peak
        exact = hull.total < LIMITS["cp-sat"] and heaviest < SAFE_TOTAL
        return wanted and exact and hull.cells <= MOST_CLOSED and not self.time_left.is_up

    def _in_a_window(self, holder: Int64) -> Incumbent:
        """Return an incumbent of the first window that the assignment keeps to."""
        return Incumbent(next(one for one in self.windows.each if one.keeps(holder)), holder)


def _keep_to(candidates: Candidates, program: ConstraintProgram) -> None:
    """Restrict a program to the candidates: who may hold what, and how many of each pile."""
    place = np.full(len(program.of_partition), NOBODY)
    place[candidates.read] = np.arange(len(candidates.read))
    at = place[program.example]
    kind, pile = candidates.kind[at].tolist(), candidates.pile[at].tolist()
    held: dict[tuple[int, int], list[Cost]] = {}
    for (c, m), gets in program.gets.items():
        if candidates.may[kind[c], m]:
            held.setdefault((pile[c], m), []).append(gets)
        else:
            program.model.add(gets == 0)
    for (number, m), counts in held.items():
        least, most = int(candidates.least[number, m]), int(candidates.most[number, m])
        program.model.add_linear_constraint(sum(counts), least, most)
