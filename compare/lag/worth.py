"""Worth: whether the peak can fall by enough to be worth any move, and the fewest that do it."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from groups.assignment import Assignment
from groups.errors import BadInput
from groups.tiers import MOVES, PEAKS, parse_objective, values
from optimal.solve import solve
from optimal.time_left import TimeLeft

if TYPE_CHECKING:
    from collections.abc import Sequence

    from groups.group import Group
    from groups.tiers import Objective
    from optimal.solution import Solution

FORMAT = "assay-worth/1"


@dataclass(frozen=True, eq=False)
class Worth:
    """Whether moving is worth it.

    Attributes
    ----------
    group : its name
    objective : the tiers up to the peak, those before it at their best
    now : the peak of what the members hold
    wanted : the greatest peak that is enough lower
    found : the lowest peak that was found; bound : no assignment has a lower one
    solution : the best with the fewest moves that were found for a peak of at most `wanted`; None
        where it is to be left alone
    fewest : no fewer moves do it
    sure : whether that is proved: that there is none, or that there is
    """

    group: str
    objective: Objective
    now: int
    wanted: int
    found: int
    bound: int
    solution: Solution | None
    fewest: int
    sure: bool

    @property
    def leave(self) -> bool:
        """Whether what the members hold is to be left alone."""
        return self.solution is None

    def to_dict(self) -> dict[str, object]:
        """Return the ``assay-worth/1`` document."""
        return {
            "format": FORMAT,
            "group": self.group,
            "objective": list(self.objective),
            "leave": self.leave,
            "sure": self.sure,
            "fewest": self.fewest,
            "now": self.now,
            "wanted": self.wanted,
            "found": self.found,
            "bound": self.bound,
            "solution": None if self.solution is None else self.solution.to_dict(),
        }


def worth_moving(
    group: Group,
    falls_by: Fraction | float | str,
    objective: str | Sequence[str] = "balance > peak_lag",
    *,
    time_limit: float | None = 10.0,
) -> Worth:
    """Return whether the peak can fall by a share of what it is, and the fewest moves that do it.

    Parameters
    ----------
    falls_by : more than 0 and at most 1; a text may be ``"1/8"`` or ``"0.125"``
    objective : has `peak_lag`, `peak_time` or `peak_weight`; the tiers before that are to be at
        their best, those after it do not count
    time_limit : seconds for everything together

    Raises
    ------
    BadInput
        Where the objective has no peak, the share is none, the group lacks what is needed, or what
        its members hold is not valid, so that it cannot be left alone.

    Examples
    --------
    >>> from assay import Group, worth_moving
    >>> document = {"format": "assay-group/1", "group": "orders"}
    >>> document["topics"] = {"t0": {"partitions": 4, "lag": [50, 40, 5, 5]}}
    >>> document["members"] = {
    ...     "c0": {"subscription": ["t0"], "owned": {"t0": [0, 1]}},
    ...     "c1": {"subscription": ["t0"], "owned": {"t0": [2, 3]}},
    ... }
    >>> found = worth_moving(Group.from_dict(document), "0.3")
    >>> found.now, found.wanted, found.leave
    (90, 63, False)
    >>> len(found.solution.assignment.moved), found.found
    (2, 55)
    >>> worth_moving(Group.from_dict(document), 0.5).leave
    True
    """
    share = _share(falls_by)
    tiers = parse_objective(objective)
    peak = next((tier for tier in tiers if tier in PEAKS), None)
    if peak is None:
        raise BadInput(f"objective: no peak in {' > '.join(tiers)}; expected one as in peak_lag")
    tiers = tiers[: tiers.index(peak) + 1]
    time_left = TimeLeft.of(time_limit)
    best = solve(group, tiers, time_limit=time_left.share(2))
    current = Assignment.current(group)
    if current.violations:
        raise BadInput(
            f"{group.name}: what the members hold cannot be left alone, it is not valid: "
            f"{current.violations[0]}"
        )
    (now,) = values(current, (peak,))
    wanted = (now * (share.denominator - share.numerator)) // share.denominator
    bound = best.terms[-1].bound if best.terms else None
    found = best.terms[-1].value if best.terms else now
    known = 0 if bound is None else bound
    made, least = None, 0
    if found <= wanted and now:
        made, least = _fewest(best, wanted, time_left)
    return Worth(
        group=group.name,
        objective=tiers,
        now=now,
        wanted=wanted,
        found=found,
        bound=known,
        solution=made,
        fewest=least,
        sure=made is not None or not now or known > wanted,
    )


def _fewest(best: Solution, wanted: int, time_left: TimeLeft) -> tuple[Solution, int]:
    """Return the solution with the fewest moves and a peak of at most `wanted`, and a bound.

    First the fewest moves within that peak, then the lowest peak within so many moves.
    """
    group, (*before, peak) = best.group, best.objective
    reached = [term.value for term in best.terms[:-1]]
    tiers = tuple(dict.fromkeys((*before, MOVES)))
    few = solve(group, tiers, at_most={peak: wanted}, time_limit=time_left.share(2))
    if [term.value for term in few.terms[: len(before)]] != reached or few.assignment is None:
        return best, 0
    least = next(term.bound or 0 for term in few.terms if term.name == MOVES)
    if not all(term.bound == term.value for term in few.terms[: tiers.index(MOVES)]):
        least = 0
    if _moves(few) > _moves(best):
        return best, least
    low = solve(group, best.objective, at_most={MOVES: _moves(few)}, time_limit=time_left.share(1))
    as_good = [term.value for term in low.terms[:-1]] == reached
    enough = low.assignment is not None and as_good and low.terms[-1].value <= wanted
    return (low if enough else few), least


def _moves(solution: Solution) -> int:
    return 0 if solution.assignment is None else len(solution.assignment.moved)


def _share(given: Fraction | float | str) -> Fraction:
    try:
        share = Fraction(str(given) if isinstance(given, float) else given)
    except (ValueError, ZeroDivisionError, TypeError):
        raise BadInput(f"falls_by: {given!r}, expected a share as in 0.1") from None
    if not 0 < share <= 1:
        raise BadInput(f"falls_by: {given!r}, expected more than 0 and at most 1")
    return share
