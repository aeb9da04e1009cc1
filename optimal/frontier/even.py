"""Even: the point of balance and moves within so many moves, by a flow or by sorting."""

from __future__ import annotations

from typing import TYPE_CHECKING

from optimal.budgets.within import Within
from optimal.frontier.point import Point
from optimal.solve import solve

if TYPE_CHECKING:
    from groups.group import Group
    from optimal.time_left import TimeLeft


def most_even_point(group: Group, moves: int, time_left: TimeLeft) -> Point | None:
    """Return the most even assignment within so many moves; None where the time is up."""
    at_most, objective = {"stickiness": moves}, ("balance", "stickiness")
    for found in Within(group, objective, at_most, time_left, solve).most_even():
        if found.assignment is not None:
            (one, first_bound), (other, second_bound) = ((t.value, t.bound) for t in found.terms)
            return Point(one, other, first_bound, second_bound, found.assignment, found.proof.kind)
    return None
