"""Limits: which rows are farther from the optimum than somebody allows."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from compare.scores import CURRENT
from compare.verdict import DEPENDS, NOBODY_READS, NOT_PROVED, NOT_VALID, NOTHING_ASSIGNED
from groups.tiers import called

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence

    from compare.scores import Excess, Score, ScoreTerm
    from compare.verdict import Says
    from optimal.solution import Term

# Verdicts that a strict gate does not let pass: two that are open, and a group that nobody serves.
OPEN: tuple[Says, ...] = (NOT_PROVED, DEPENDS, NOBODY_READS)
# Those too where what members hold is held to the limits, and no assignor or plan instead.
NOT_HELD: tuple[Says, ...] = (NOT_VALID, NOTHING_ASSIGNED)


class Beyond(NamedTuple):
    """What is too far: an assignor, and a tier with its amount, or else why there is no score.

    `later` is the tier that has the limit, where the one that is too far has none; `given` is what
    is assumed for it.
    """

    assignor: str
    reason: str | None = None
    tier: str = ""
    amount: str = ""
    limit: int = 0
    later: str = ""
    given: str = ""

    def __str__(self) -> str:
        return self._told(f"{self.amount}, more than {self.limit}")

    @property
    def sort(self) -> str:
        """Return what it has in common with other groups: all but the amount."""
        return self._told(f"more than {self.limit}")

    @property
    def short(self) -> str:
        """Return the same in brackets behind a group's name: ``balance +4, if ...``."""
        who = "" if self.assignor == CURRENT else f"{self.assignor}: "
        return f"{who}{self.reason or f'{called(self.tier)} +{self.amount}'}{self._if()}"

    def _if(self) -> str:
        return f", if {self.given}" if self.given else ""

    def _told(self, by: str) -> str:
        """Return what is too far, by how much, and which later tier's limit says so."""
        if self.reason is not None:
            return f"{self.assignor}: {self.reason}"
        why = f" (a limit on {called(self.later)} sets 0 for earlier tiers that have none)"
        says = f"{self.tier} exceeds the optimum by {by}{why if self.later else ''}"
        return f"{self.assignor}: {says}{self._if()}"


def beyond(
    rows: Sequence[Score],
    limits: Mapping[str, int],
    optimum: Sequence[Term],
    *,
    sure: bool = False,
    besides: Collection[str] = (),
    shown: Sequence[Score] = (),
) -> list[Beyond]:
    """Return each row and tier whose excess is above the limit.

    A row that is not valid, or did not come to a score, is too far. An earlier tier's limit is 0
    where only a later one has a limit. A tier after the first one in which the assignor is worse
    is held against what the optimum has there.

    Parameters
    ----------
    optimum : the terms of the solution that the rows are scored against
    sure : of an excess that is an interval, judge the least that it is; else the most, and an
        unknown end is too far
    besides : tiers that have limits elsewhere, so that a later tier's sets none for them
    shown : the same rows under an assumption, where people see those: a line has their number,
        and what is sure without the assumption
    """
    assumed = {row.assignor: row.terms or () for row in shown}
    found = []
    for row in rows if limits else ():
        if row.terms is None or not row.valid:
            found.append(Beyond(row.assignor, row.reason or "the assignment is not valid"))
            continue
        # Nothing is known of the optimum, not even of the first tier.
        unknown = not sure and bool(row.terms) and row.terms[0].excess is None
        held = with_earlier(limits, [term.name for term in row.terms], besides)
        for term, excess in excesses(row.terms, optimum):
            open_end = unknown or (isinstance(excess, tuple) and not sure and excess[1] is None)
            if isinstance(excess, tuple):
                excess = excess[0] if sure else excess[1]
            if term.name in held and (open_end or (excess or 0) > held[term.name]):
                amount = "an unknown amount" if excess is None else str(excess)
                for other in assumed.get(row.assignor, ()):
                    if other.name == term.name and other.excess not in (None, excess):
                        amount = f"{_told(other.excess)}, and {amount} whoever reads what"
                later = "" if term.name in limits else [*held][-1]
                limit = held[term.name]
                found.append(Beyond(row.assignor, None, term.name, amount, limit, later))
    return found


def excesses(
    terms: Sequence[ScoreTerm], optimum: Sequence[Term]
) -> Iterator[tuple[ScoreTerm, Excess]]:
    """Yield each term with its excess, also after the first tier that differs.

    There it is what the row has more than the optimum, as far as all tiers before are proved.
    """
    bests = {term.name: term for term in optimum}
    proved = True
    for term in terms:
        excess, best = term.excess, bests.get(term.name)
        if excess is None and best is not None and proved:
            high = None if best.bound is None else term.value - best.bound
            low = term.value - best.value
            excess = low if low == high else (low, high)
        proved = proved and best is not None and best.bound == best.value
        yield term, excess


def with_earlier(
    limits: Mapping[str, int], tiers: Sequence[str], besides: Collection[str] = ()
) -> dict[str, int]:
    """Return the limits with 0 for each tier that has none and comes before one with a limit.

    Fewer moves than the optimum's are no merit if loads are less even.
    """
    limited = [at for at, tier in enumerate(tiers) if tier in limits]
    held = tiers[: limited[-1] + 1 if limited else 0]
    return {t: limits.get(t, 0) for t in held if t in limits or t not in besides}


def _told(excess: Excess) -> str:
    if isinstance(excess, tuple):
        return f"{excess[0]}..{'?' if excess[1] is None else excess[1]}"
    return str(excess)
