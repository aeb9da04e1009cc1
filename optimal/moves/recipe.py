"""The recipe within budgets: exchanges that count moves, tier after tier."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np

from groups.assignment import Assignment
from groups.errors import BadInput
from groups.tiers import MOVES, TIERS, values
from optimal.answer import Answer, NothingWithin
from optimal.cpsat import least_within
from optimal.exchange.bounds import highest_floor
from optimal.exchange.choices import Choices, choices_of, column_of, owner_of, timed
from optimal.exchange.closing import Closing, is_closable
from optimal.exchange.even import even_out, least_score, score_of
from optimal.exchange.hands import Hands
from optimal.exchange.recipe import (
    EVEN_PATIENCE,
    FIRST,
    MOST_CELLS,
    PATIENCE,
    SMALL,
    SMALL_PATIENCE,
    exchange,
    is_scorable,
    of_earlier,
    serves,
)
from optimal.exchange.search import lower_peak
from optimal.exchange.start import longest_first
from optimal.flow.recipe import flow
from optimal.limits import LIMITS, require_costs_within
from optimal.moves.asked import Asked
from optimal.moves.even import even_out_within
from optimal.moves.fewer import fewer_moves
from optimal.moves.fewest import fewest_moves
from optimal.moves.leavers import Leavers
from optimal.moves.search import lower_peak_within, moves_of
from optimal.moves.windows import Windows
from optimal.proof import Proof, ProofKind
from optimal.solution import Stopped
from optimal.time_left import TimeLeft

if TYPE_CHECKING:
    from collections.abc import Mapping

    from groups.arrays import Int64
    from groups.group import Group
    from groups.tiers import Objective
    from optimal.exchange.floor import Floor


def is_worth_it(group: Group, objective: Objective, at_most: Mapping[str, int]) -> bool:
    """Return whether exchanges within budgets serve an objective of a group."""
    if Asked.of(objective, at_most) is None:
        return False
    kinds = min(group.n_partitions, len(group.topics) * (1 + len(group.members)))
    tiers = (*objective, *at_most)
    greatest = max(TIERS[tier].greatest(group) for tier in tiers)
    return kinds * len(group.members) <= MOST_CELLS and greatest < LIMITS["exchange"]


def exchanged(group: Group, objective: Objective, *, time_limit: float | None = None) -> Answer:
    """Bring the tiers of an objective as low as can be, without budgets.

    Raises
    ------
    BadInput
        Where the objective is not one that exchanges serve, or costs would leave 64 bits.
    """
    if serves(objective):
        return exchange(group, objective, time_limit=time_limit)
    found = exchange_within(group, objective, {}, TimeLeft.of(time_limit))
    return found or Answer(None, (None,) * len(objective), Stopped.TIME_LIMIT)


def exchange_within(
    group: Group, objective: Objective, at_most: Mapping[str, int], time_left: TimeLeft
) -> Answer | None:
    """Bring tier after tier as low as the earlier ones and the budgets allow.

    Returns
    -------
    None where the tiers that come first cannot be at their optimum within the budgets, or it was
    not found that they can: then another method has to say what they can be

    Raises
    ------
    NothingWithin
        Where no assignment keeps to the budgets.
    """
    asked = Asked.of(objective, at_most)
    if asked is None:
        shown = " > ".join(objective)
        if at_most:
            shown += f" within {' and '.join(at_most)}"
        raise BadInput(f"method: exchange does not serve {shown}; use cp-sat or brute")
    require_costs_within(group, (*objective, *at_most), "exchange")
    limit = time_left.share(1)
    found = flow(group, asked.earlier or (MOVES,), time_limit=limit)
    if found.owner is None:
        return Answer(None, (None,) * len(objective), Stopped.TIME_LIMIT)
    proof = of_earlier(group, asked.earlier, found.proof)
    choices = _choices(group, asked, proof)
    even = np.zeros(choices.members, np.int64)
    if "load_spread" in asked.at_most:
        order = tuple(dict.fromkeys((*asked.earlier, "balance")))
        most_even = flow(group, order, time_limit=limit)
        if most_even.owner is None:
            return Answer(None, (None,) * len(objective), Stopped.TIME_LIMIT)
        even = Assignment(group, most_even.owner).loads
    home = group.owner[choices.read].astype(np.int64)
    windows = Windows.of(choices, asked.at_most, even)
    searching = TimeLeft.of(None if limit is None else FIRST * limit)
    search = Search(group, objective, at_most, asked, home, windows, time_left, searching)
    if not search.starts(found.owner[choices.read].astype(np.int64)):
        if asked.earlier:
            return None
        raise NothingWithin
    bounds = search.bounds_of_rest()
    if bounds is None:
        return None
    hands = search.hands
    owner = owner_of(group, choices, hands.holder)
    reached = values(Assignment(group, owner), objective)
    bounds = (*reached[: len(asked.earlier)], *bounds)
    if reached != bounds:
        return Answer(owner, bounds, Stopped.TIME_LIMIT)
    if search.kind is ProofKind.SOLVER or not search.can_be_told:
        return Answer(owner, bounds, proof=Proof(ProofKind.SOLVER))
    proof = replace(proof, floor=search.floor, givers=search.givers)
    return Answer(owner, bounds, proof=proof)


def _choices(group: Group, asked: Asked, proof: Proof) -> Choices:
    """Return what the earlier tiers leave open, of loads that are 0 where none are asked for."""
    column = np.zeros(group.n_partitions, np.int64)
    if asked.loads is not None:
        column = column_of(group, asked.loads)
    choices = choices_of(group, asked.earlier, proof, column)
    return timed(group, choices) if asked.peak == "peak_time" else choices


@dataclass(eq=False)
class Search:
    """A search through the tiers that come after those of the flow.

    Attributes
    ----------
    home : (read,) int64, the owner of each partition, -1 nobody
    searching : the time for exchanges; what is left of `time_left` is for the constraint program
    most, peak : the budgets on moves and on the peak that hold by now
    hands : the best that was met
    """

    group: Group
    objective: Objective
    at_most: Mapping[str, int]
    asked: Asked
    home: Int64
    windows: Windows
    time_left: TimeLeft
    searching: TimeLeft
    most: int | None = None
    peak: int | None = None
    kind: ProofKind = ProofKind.CERTIFICATE
    floor: Floor | None = None
    givers: tuple[int, ...] = ()
    fewest: list[Hands] = field(default_factory=list)
    first: list[Hands] = field(default_factory=list)

    def starts(self, holder: Int64) -> bool:
        """Find where to start from; False where no choice keeps to the budget on moves."""
        at_most = self.asked.at_most
        self.most = at_most.get(MOVES)
        self.peak = at_most.get(str(self.asked.peak))
        for choices in self.windows.each:
            start = fewest_moves(choices, self.home)
            if start is None or not self._is_within(moves_of(self.home, start)):
                continue
            self.fewest.append(Hands(choices, start))
            self.first.append(Hands(choices, self._first(choices, start, holder)))
        if not self.fewest:
            return False
        self.hands = min(self.first, key=lambda hands: hands.peak)
        return True

    @property
    def can_be_told(self) -> bool:
        """Whether the form of a certificate has a place for what was proved."""
        if self.asked.peak not in self.asked.rest:
            return bool(self.givers) or MOVES not in self.asked.rest
        by_moves = self.floor is None and MOVES in self.asked.at_most
        return len(self.asked.rest) == 1 or not by_moves

    def _is_within(self, moves: int) -> bool:
        return self.most is None or moves <= self.most

    def bounds_of_rest(self) -> tuple[int | None, ...] | None:
        """Bring tier after tier as low as can be; None where the budget on the peak is not met."""
        if self.peak is not None:
            least = self._lower_peak(self.peak)
            if self.hands.peak > self.peak:
                if not self.asked.earlier and least > self.peak:
                    raise NothingWithin
                return None
            self.floor, self.givers, self.kind = None, (), ProofKind.CERTIFICATE
        bounds: list[int | None] = []
        for tier in self.asked.rest:
            if tier == MOVES:
                value, bound = self._fewer_moves()
                self.most = value
            elif tier == self.asked.peak:
                bound = self._lower_peak(0)
                value = self.peak = self.hands.peak
            else:
                value, bound = self._even_out(tier)
            bounds.append(bound)
            if bound < value:
                break
        return (*bounds, *(None for _ in self.asked.rest[len(bounds) :]))

    def _first(self, choices: Choices, start: Int64, holder: Int64) -> Int64:
        """Return the lower peak of longest first, the flow and what moves the fewest."""
        if self.most is not None:
            return start
        found = [start, longest_first(choices)]
        if choices.keeps(holder):
            found.append(holder)
        some = [one for one in found if one is not None]
        return min(some, key=lambda one: Hands(choices, one).peak)

    def _lower_peak(self, target: int) -> int:
        """Lower the peak, to a target at the most; return what no peak is below."""
        hull = self.windows.hull
        bound, self.floor = highest_floor(hull)
        if self.most is not None:
            bound = self._bound_by_moves(bound)
        certain = bound
        bounds = [bound] * len(self.first)
        if len(self.first) > 1:
            bounds = [max(bound, highest_floor(one.choices)[0]) for one in self.first]
            bound = min(bounds)
        order = np.argsort(bounds, kind="stable").tolist()
        for number, i in enumerate(order):
            aim = max(bounds[i], target)
            if self.hands.peak <= aim:
                break
            left = len(order) - number
            searching = TimeLeft.of(self.searching.share(left))
            start = Hands(self.first[i].choices, self.first[i].holder)
            if self.most is None:
                found = lower_peak(start, aim, searching, self._patience)
            else:
                found = lower_peak_within(
                    start, self.home, self.most, aim, searching, self._patience // left
                )
            if found.peak < self.hands.peak:
                self.hands = found
        if self.hands.peak > max(bound, target) and self._is_closable:
            program = self._program()
            top = program.top(max(bound, target))
            if self.most is not None:
                program.model.add(program.moves(self.home) <= self.most)
            holder, least = program.least(top, max(bound, target), self.time_left)
            self.hands = Hands(self._window(holder), holder)
            bound = max(bound, least if least > target else bound)
        if bound > certain and self.hands.peak == bound:
            self.kind = ProofKind.SOLVER
        return bound

    def _bound_by_moves(self, bound: int) -> int:
        """Return the lowest peak for which so many moves may be enough, at least a bound."""
        leavers, hull = Leavers.of(self.windows.hull, self.home), self.windows.hull
        low, high = bound, max(bound, self.hands.peak)
        while low < high:
            middle = (low + high) // 2
            if leavers.needed(hull.room(middle)) <= (self.most or 0):
                high = middle
            else:
                low = middle + 1
        if low > bound:
            self.floor, self.givers = None, leavers.givers(hull.room(low - 1))
        return low

    def _fewer_moves(self) -> tuple[int, int]:
        """(fewest moves that were found, what no assignment is below), under the peak so far."""
        home, hull = self.home, self.windows.hull
        start = min(self.fewest, key=lambda hands: moves_of(home, hands.holder))
        by_counts = moves_of(home, start.holder)
        if self.peak is None:
            self.hands, self.kind = start, ProofKind.SOLVER
            return by_counts, by_counts
        leavers = Leavers.of(hull, home)
        needed = leavers.needed(hull.room(self.peak))
        least = max(by_counts, needed)
        self.hands = fewer_moves(
            self.hands, home, start, self.peak, least, self.searching, self._patience
        )
        value = moves_of(home, self.hands.holder)
        if value > least and self._is_closable:
            program = self._program()
            program.keep_under(self.peak)
            holder, least = program.least(program.moves(home), least, self.time_left)
            self.hands = Hands(self._window(holder), holder)
            value = moves_of(home, holder)
        if value == least > needed and value > 0:
            self.kind = ProofKind.SOLVER
        elif value == least:
            self.givers = leavers.givers(hull.room(self.peak))
        return value, least

    def _even_out(self, tier: str) -> tuple[int, int]:
        """(the most even score that was found, what no assignment is below) under the peak."""
        # A budget on the peak says what it is at most, the objective what it is.
        reached = self.hands.peak if self.asked.peak in self.asked.rest else 0
        least = least_score(tier, self.windows.hull, reached)
        if self.most is None:
            even_out(self.hands, tier, least, self.searching, EVEN_PATIENCE)
        else:
            even_out_within(
                self.hands, self.home, self.most, (tier, least), self.searching, EVEN_PATIENCE
            )
        value = score_of(tier, self.hands.loads)
        if value == least or not is_scorable(self.group, self.objective, self.windows.hull):
            return value, least
        owner = owner_of(self.group, self.hands.choices, self.hands.holder)
        costs = values(Assignment(self.group, owner), self.objective)
        limits = {one: (0, most) for one, most in self.at_most.items()}
        limits |= {one: (v, v) for one, v in zip(self.objective, costs, strict=True)}
        limits[tier] = least, value
        seconds = self.time_left.share(1)
        found = least_within(self.group, tier, limits, start=owner, seconds=seconds)
        if found.owner is None:
            return value, least
        holder = found.owner[self.windows.hull.read].astype(np.int64)
        self.hands, self.kind = Hands(self._window(holder), holder), ProofKind.SOLVER
        return score_of(tier, self.hands.loads), found.bound

    @property
    def _patience(self) -> int:
        return SMALL_PATIENCE if self.windows.hull.cells <= SMALL else PATIENCE

    @property
    def _is_closable(self) -> bool:
        return is_closable(self.windows.hull, self.hands.peak) and not self.time_left.is_up

    def _program(self) -> Closing:
        program = Closing.of(Hands(self.windows.hull, self.hands.holder))
        if self.windows.spread is not None:
            program.keep_together(self.windows.spread)
        return program

    def _window(self, holder: Int64) -> Choices:
        """Return the window that an assignment keeps to."""
        return next(one for one in self.windows.each if one.keeps(holder))
