"""Limits: which rows are farther from the optimum than somebody allows."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from compare.scores import Excess, Score
    from compare.verdict import Says

# Verdicts that a strict gate does not let pass: two that are open, and a group that nobody serves.
OPEN: tuple[Says, ...] = ("not proved", "depends on who reads what", "nobody reads")
# Those too where what members hold is held to the limits, and no assignor or plan instead.
NOT_HELD: tuple[Says, ...] = ("not valid", "nothing assigned yet")


class Beyond(NamedTuple):
    """What is too far: an assignor, and a tier with its amount, or else why there is no score."""

    assignor: str
    reason: str | None = None
    tier: str = ""
    amount: str = ""
    limit: int = 0

    def __str__(self) -> str:
        if self.reason is not None:
            return f"{self.assignor}: {self.reason}"
        says = f"{self.tier} exceeds the optimum by {self.amount}, more than {self.limit}"
        return f"{self.assignor}: {says}"

    @property
    def sort(self) -> str:
        """Return what it has in common with other groups: all but the amount."""
        if self.reason is not None:
            return str(self)
        return f"{self.assignor}: {self.tier} exceeds the optimum by more than {self.limit}"


def beyond(
    rows: Sequence[Score],
    limits: Mapping[str, int],
    *,
    sure: bool = False,
    shown: Sequence[Score] = (),
) -> list[Beyond]:
    """Return each row and tier whose excess is above the limit.

    A row that is not valid, or did not come to a score, is too far. A tier after the first one
    in which the assignor is worse has no excess of its own: the earlier tier's limit speaks.

    Parameters
    ----------
    sure : of an excess that is an interval, judge the least that it is; else the most, and an
        unknown end is too far
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
        for term in row.terms:
            excess = term.excess
            open_end = unknown or (isinstance(excess, tuple) and not sure and excess[1] is None)
            if isinstance(excess, tuple):
                excess = excess[0] if sure else excess[1]
            if term.name in limits and (open_end or (excess or 0) > limits[term.name]):
                amount = "an unknown amount" if excess is None else str(excess)
                for other in assumed.get(row.assignor, ()):
                    if other.name == term.name and other.excess not in (None, excess):
                        amount = f"{_told(other.excess)}, and {amount} whoever reads what"
                found.append(Beyond(row.assignor, None, term.name, amount, limits[term.name]))
    return found


def left_out(rows: Sequence[Score], limits: Mapping[str, int]) -> Beyond | None:
    """Return which row is worse than the optimum in a tier that no limit is about.

    Only tiers count that come before one with a limit: fewer moves than the optimum's are no
    merit if loads are less even. None if there is no such row.
    """
    for row in rows:
        is_limited = False
        for term in reversed(row.terms or () if row.valid else ()):
            least = term.excess[0] if isinstance(term.excess, tuple) else term.excess
            if term.name in limits:
                is_limited = True
            elif is_limited and least:
                return Beyond(row.assignor, None, term.name, _told(term.excess))
    return None


def _told(excess: Excess) -> str:
    if isinstance(excess, tuple):
        return f"{excess[0]}..{'?' if excess[1] is None else excess[1]}"
    return str(excess)
