"""Load problem: an objective and budgets in the form that the exchange search takes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from groups.tiers import MOVES, OF_COUNTS, PEAKS
from optimal.case import EVENS
from optimal.proof import PRICED

if TYPE_CHECKING:
    from collections.abc import Mapping

    from groups.tiers import Objective


@dataclass(frozen=True)
class LoadProblem:
    """An objective and budgets, split into flows first and the rest by exchange.

    Attributes
    ----------
    earlier : the tiers that flows minimise first
    rest : the other tiers, in the objective's order: a peak, moves, a spread or balance
    peak : the peak that the objective or the budgets are about, None without any
    at_most : the budgets that earlier tiers do not imply
    """

    earlier: Objective
    rest: Objective
    peak: str | None
    at_most: Mapping[str, int]

    @property
    def loads(self) -> str | None:
        """A tier that says which loads are minimised: lag, weight or time; None if none are."""
        return self.peak or next((tier for tier in self.rest if tier in EVENS), None)

    @staticmethod
    def of(objective: Objective, at_most: Mapping[str, int]) -> LoadProblem | None:
        """Split an objective and budgets; None if exchanges do not serve them."""
        peaks = [tier for tier in PEAKS if tier in (*objective, *at_most)]
        evens = [tier for tier in objective if tier in EVENS]
        if len(peaks) > 1 or len(evens) > 1 or not {*peaks, MOVES, *OF_COUNTS} >= set(at_most):
            return None
        peak = peaks[0] if peaks else None
        if evens and (objective[-1] != evens[0] or peak not in (None, EVENS[evens[0]])):
            return None
        about_counts = "balance" not in objective and set(OF_COUNTS) & set(at_most)
        if not (peaks or evens or about_counts):
            return None
        late = {*peaks, *evens}
        if peak not in objective and (peaks or not evens):
            late.add(MOVES)
        places = [place for place, tier in enumerate(objective) if tier in late]
        if not places:
            return None
        earlier, rest = objective[: places[0]], objective[places[0] :]
        if not {MOVES, *peaks, *evens} >= set(rest):
            return None
        if earlier == ("topic_balance",):
            counts = set(at_most) & set(OF_COUNTS)
            return None if counts else LoadProblem(earlier, rest, peak, at_most)
        if not {*PRICED} >= set(earlier):
            return None
        # The least majorised loads have the least spread and the fewest idle members.
        if earlier[:1] == ("balance",):
            at_most = {tier: k for tier, k in at_most.items() if tier not in OF_COUNTS}
        # With idle members allowed, it is open which ones; windows cannot express that.
        if at_most.get("idle_members", 0) > 0:
            return None
        return LoadProblem(earlier, rest, peak, at_most)
