"""Dealing: the least peak where members hold few partitions each, from below and from above."""

from __future__ import annotations

from math import ceil
from typing import TYPE_CHECKING

import numpy as np

from optimal.loads.few.deals import Undecided, first_deal, likely_deal
from optimal.loads.few.parts import extreme_first, parts_within
from optimal.loads.few.prices import with_prices
from optimal.loads.incumbent import Incumbent
from optimal.seed import SEED
from optimal.time_left import TimeLeft

if TYPE_CHECKING:
    from optimal.loads.candidates import Candidates
    from optimal.loads.few.parts import Parts

# Partitions in all and with one member, beyond which nobody holds few.
MOST_PARTITIONS, MOST_HELD = 512, 6
# What the first round may look at, how much more the next ones may, and how many there are.
DEALS, WORK = 200_000, 10_000
# So many deals are looked at before prices are made to look at fewer.
FEW_DEALS = 20_000
MORE_DEALS, MORE_WORK = 8, 3
# Most deals that a round looks at, and of how many parts of the time left they get one; less
# where the bound did not rise in the round before.
MOST_DEALS, SHARE, STUCK_SHARE = 10**8, 2, 20
ROUNDS = 8
# By what part of the way that it came from the average the peak rises that is ruled out next.
RISE = 0.15


def are_few(candidates: Candidates) -> bool:
    """Return whether all members may hold the same, and few partitions each."""
    if len(candidates.least) != 1 or not candidates.members or not candidates.may.all():
        return False
    least, most = candidates.least[0], candidates.most[0]
    alike = bool((least == least[0]).all() and (most == most[0]).all())
    return (
        alike
        and 1 <= int(least[0]) <= int(most[0]) <= MOST_HELD
        and len(candidates.size) <= MOST_PARTITIONS
    )


class Dealing:
    """What is known of the least peak while parts are dealt.

    Attributes
    ----------
    incumbent : the best assignment so far
    bound : no peak is below it: all deals below were looked at
    """

    def __init__(self, incumbent: Incumbent, bound: int) -> None:
        """Start from an assignment and a bound."""
        self.incumbent, self.bound = incumbent, bound
        candidates = incumbent.candidates
        self.counts = range(int(candidates.least[0, 0]), int(candidates.most[0, 0]) + 1)
        self.order = extreme_first(candidates.size)
        self.average = -(-candidates.total // candidates.members)
        self.rng = np.random.default_rng(SEED)

    @property
    def is_closed(self) -> bool:
        """Whether the assignment is as good as the bound."""
        return self.incumbent.peak <= self.bound

    def run(self, time_left: TimeLeft) -> None:
        """Raise the bound and lower the peak in turns, each time with more effort."""
        deals, work, risen = DEALS, WORK, True
        for _ in range(ROUNDS):
            share = SHARE if risen else STUCK_SHARE
            risen = self._rule_out(TimeLeft.of(time_left.share(share)), deals)
            deals = min(MORE_DEALS * deals, MOST_DEALS)
            above = self._step if risen else 0
            while self.bound + above < self.incumbent.peak and not time_left.is_up:
                parts = self._parts(self.bound + above)
                if parts is None:
                    break
                found = likely_deal(parts, self.rng, time_left, work)
                if found is not None:
                    self._take(parts, found)
                    break
                above = max(2 * above, self._step)
            work *= MORE_WORK
            if self.is_closed or time_left.is_up:
                return

    @property
    def _step(self) -> int:
        """How far above the bound the next peak is tried."""
        return max(1, ceil(RISE * (self.bound - self.average)))

    def _rule_out(self, time_left: TimeLeft, most: int) -> bool:
        """Look at all deals of one peak after the other, from the bound; say if it rose."""
        before, step = self.bound, 0
        while not self.is_closed:
            parts = self._parts(min(self.incumbent.peak - 1, self.bound + step))
            if parts is None:
                break
            try:
                found = self._dealt(parts, time_left, most)
            except Undecided:
                break
            if found is None:
                self.bound = parts.peak + 1
                step = self._step - 1
            else:
                self._take(parts, found)
        return self.bound > before

    def _dealt(self, parts: Parts, time_left: TimeLeft, most: int) -> list[int] | None:
        """Look at all deals, with prices where they are not few."""
        try:
            return first_deal(parts, time_left, FEW_DEALS)
        except Undecided:
            return first_deal(with_prices(parts, time_left), time_left, most)

    def _parts(self, peak: int) -> Parts | None:
        candidates = self.incumbent.candidates
        return parts_within(candidates.size[self.order], candidates.members, self.counts, peak)

    def _take(self, parts: Parts, found: list[int]) -> None:
        """Let each member hold one of the parts."""
        holder = np.empty(len(self.order), np.int64)
        member, partition = np.nonzero(parts.holds(found))
        holder[self.order[partition]] = member
        self.incumbent = Incumbent(self.incumbent.candidates, holder)
