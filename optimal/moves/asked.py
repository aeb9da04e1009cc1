"""Asked: which tiers come first, which peak, and which budgets are left to keep to."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from optimal.case import BY_PARTITION
from optimal.exchange.certificate import EVENED, PEAKS

if TYPE_CHECKING:
    from collections.abc import Mapping

    from groups.tiers import Objective

OF_COUNTS = ("load_spread", "idle_members")
MOVES = "stickiness"


@dataclass(frozen=True)
class Asked:
    """An objective and budgets, taken apart.

    Attributes
    ----------
    earlier : the tiers that flows bring to their optimum first
    rest : the peak, the moves and how even the rest is, in the objective's order
    peak : the peak that the objective or the budgets are about, None without any
    at_most : the budgets
    """

    earlier: Objective
    rest: Objective
    peak: str | None
    at_most: Mapping[str, int]

    @staticmethod
    def of(objective: Objective, at_most: Mapping[str, int]) -> Asked | None:
        """Take an objective and budgets apart; None where exchanges do not serve them."""
        peaks = [tier for tier in PEAKS if tier in (*objective, *at_most)]
        if len(peaks) > 1 or not {*peaks, MOVES, *OF_COUNTS} >= set(at_most):
            return None
        peak = peaks[0] if peaks else None
        late = {MOVES, *peaks} if peak not in objective else set(peaks)
        if not peaks and ("balance" in objective or not set(OF_COUNTS) & set(at_most)):
            return None
        places = [place for place, tier in enumerate(objective) if tier in late]
        if not places:
            return None
        earlier, rest = objective[: places[0]], objective[places[0] :]
        even = EVENED.get(str(peak), ()) if peak in objective else ()
        middle = rest[:-1] if rest[-1] in even else rest
        if not {MOVES, *peaks} >= set(middle):
            return None
        if earlier == ("topic_balance",):
            return None if set(at_most) & set(OF_COUNTS) else Asked(earlier, rest, peak, at_most)
        if not {*BY_PARTITION, "balance"} >= set(earlier):
            return None
        # The least majorised loads have the least spread and the fewest idle members.
        if earlier[:1] == ("balance",):
            at_most = {tier: k for tier, k in at_most.items() if tier not in OF_COUNTS}
        # Which members are idle is open where some may be.
        if at_most.get("idle_members", 0) > 0:
            return None
        return Asked(earlier, rest, peak, at_most)
