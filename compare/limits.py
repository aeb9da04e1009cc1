"""Limits: which scores are farther from the optimum than the user allows."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from compare.scores import CURRENT
from compare.verdict import DEPENDS, NOBODY_READS, NOT_PROVED, NOT_VALID, NOTHING_ASSIGNED
from groups.tiers import called

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Mapping, Sequence

    from compare.scores import Excess, Score, ScoreTerm
    from compare.verdict import Says
    from optimal.solution import Term

# Verdicts that a strict gate rejects: two that are not decided, and a group without readers.
OPEN: tuple[Says, ...] = (NOT_PROVED, DEPENDS, NOBODY_READS)
# It rejects these, too, if the limits are for the current assignment, not an assignor or a plan.
NOT_HELD: tuple[Says, ...] = (NOT_VALID, NOTHING_ASSIGNED)


# What stands for an excess, or an end of one, that is unknown.
UNKNOWN = "?"


class Beyond(NamedTuple):
    """A score beyond the limits: an assignor, and a tier with its excess, or else a reason.

    `reason` is why the assignor has no valid score. `amount` is the excess, as `excess_text` has
    it. `later` is the tier with the limit if `tier` itself has none. `given` is the assumption
    that it depends on. `is_open` says that the excess may be within the limit, too.
    """

    assignor: str
    reason: str | None = None
    tier: str = ""
    amount: str = ""
    limit: int = 0
    later: str = ""
    given: str = ""
    is_open: bool = False

    def __str__(self) -> str:
        if self.is_open:
            by = "an unknown amount" if self.amount == UNKNOWN else self.amount
            return f"{self.sort}: by {by}"
        return self._text(f"exceeds the optimum by {self.amount}, more than {self.limit}")

    @property
    def sort(self) -> str:
        """The text without the amount, which several groups may have in common."""
        exceeds = "may exceed" if self.is_open else "exceeds"
        return self._text(f"{exceeds} the optimum by more than {self.limit}")

    @property
    def short(self) -> str:
        """The text in short, to follow a group's name in brackets: ``balance +4, if ...``."""
        who = "" if self.assignor == CURRENT else f"{self.assignor}: "
        return f"{who}{self.reason or f'{called(self.tier)} +{self.amount}'}{self._condition()}"

    def _condition(self) -> str:
        return f", if {self.given}" if self.given else ""

    def _text(self, exceeds: str) -> str:
        """Return the text: assignor, tier, amount, and the later tier whose limit applies."""
        if self.reason is not None:
            return f"{self.assignor}: {self.reason}"
        why = f" (a limit on {called(self.later)} sets 0 for earlier tiers that have none)"
        return f"{self.assignor}: {self.tier} {exceeds}{why * bool(self.later)}{self._condition()}"


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

    A row that is not valid or has no score is beyond the limits. If a tier has no limit but a
    later one has, its limit is 0. After the first tier in which an assignor is worse, tiers are
    compared with the optimum's value.

    Parameters
    ----------
    optimum : the terms of the solution that the rows are scored against
    sure : compare the lower end of an excess that is an interval; else the upper end, and an
        unknown end is beyond the limits
    besides : tiers that have limits elsewhere, so that a later tier's limit sets none for them
    shown : the same rows under an assumption, if these are what the user sees: the text then gives
        their excess, and the one that is sure without the assumption
    """
    assumed = {row.assignor: row.terms or () for row in shown}
    found = []
    for row in rows if limits else ():
        if row.terms is None or not row.valid:
            found.append(Beyond(row.assignor, row.reason or "the assignment is not valid"))
            continue
        held = with_earlier(limits, [term.name for term in row.terms], besides)
        for term, excess in excesses(row.terms, optimum):
            if term.name not in held:
                continue
            limit = held[term.name]
            least, most = excess if isinstance(excess, tuple) else (excess, excess)
            if least is not None and least > limit:
                amount = excess_text(least if sure else excess)
                for other in assumed.get(row.assignor, ()):
                    if other.name == term.name and other.excess not in (None, least):
                        amount = f"{excess_text(other.excess)}, and {amount} whoever reads what"
            elif not sure and (most is None or most > limit):
                amount = excess_text(excess)
            else:
                continue
            later = "" if term.name in limits else [*held][-1]
            is_open = least is None or least <= limit
            found.append(
                Beyond(row.assignor, None, term.name, amount, limit, later, is_open=is_open)
            )
    return found


def excesses(
    terms: Sequence[ScoreTerm], optimum: Sequence[Term]
) -> Iterator[tuple[ScoreTerm, Excess]]:
    """Yield each term with its excess, also after the first tier that differs.

    After it, the excess is value - optimum as long as all earlier tiers are proved.
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
    """Return the limits, with 0 for each tier without a limit that comes before one with a limit.

    Without it, fewer moves than the optimum's would pass though loads are less even.
    """
    limited = [at for at, tier in enumerate(tiers) if tier in limits]
    held = tiers[: limited[-1] + 1 if limited else 0]
    return {t: limits.get(t, 0) for t in held if t in limits or t not in besides}


def signed(excess: Excess, told: Callable[[int], str] = "{:,}".format) -> str:
    """Return an excess with its sign: ``+2``, ``-1``, ``+0 to 2``; empty if it is 0 or None."""
    if isinstance(excess, tuple):
        return f"+{excess_text(excess, told)}"
    return f"{'-' if excess < 0 else '+'}{told(abs(excess))}" if excess else ""


def excess_text(excess: Excess, told: Callable[[int], str] = "{:,}".format) -> str:
    """Return an excess: ``2``, ``0 to 2`` for one that is open, ``?`` for an unknown one.

    An open one is 0 at least, even if the assignment is better than the best known.
    """
    if isinstance(excess, tuple):
        least, most = excess
        return f"{told(max(least, 0))} to {UNKNOWN if most is None else told(most)}"
    return UNKNOWN if excess is None else told(excess)
