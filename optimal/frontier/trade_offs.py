"""Trade-offs: what one tier costs in units of another, from end to end."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from typing import TYPE_CHECKING

from groups.assignment import Assignment
from groups.errors import BadInput, SolverContradiction
from groups.needs import require_data
from groups.tiers import MOVES, parse_objective, values
from optimal.frontier.point import Frontier, Point
from optimal.proof import ProofKind
from optimal.solve import solve
from optimal.time_left import TimeLeft

if TYPE_CHECKING:
    from groups.group import Group
    from groups.tiers import Objective
    from optimal.frontier.trades import Trades
    from optimal.solution import Solution


def frontier(
    group: Group,
    first: str,
    second: str,
    *,
    time_limit: float | None = None,
    points: int | None = None,
    assume_equal: bool = False,
) -> Frontier:
    """Return the efficient trade-offs of two tiers, from the least of `first` to that of `second`.

    From one point to the next `first` grows and `second` shrinks: what the next unit of the one
    costs in the other. The two ends are the answers of `solve` to ``first > second`` and
    ``second > first``, with a certificate where both tiers are flows. The points between follow
    from sorting for moves or moved weight against racks, and for balance against stickiness
    where all members read alike. Everything else is searched by the epsilon-constraint
    method (Haimes, Lasdon & Wismer 1971): the least of `first` with `second` below the last
    point, then the least of `second` with that. For balance against stickiness a flow finds most
    of them with a certificate (`solve` with `at_most`), the rest is CP-SAT. Weighted flows would
    find only the points on the convex hull, and not even those of balance: away from its optimum
    KIP-54's score is no flow cost. For a peak against stickiness each point is the lowest peak
    within so many moves: 1, 2, 3 and so on, then in steps that grow.

    Parameters
    ----------
    first, second : names of two tiers
    time_limit : seconds for everything together; when they are up the points found so far are
        returned, with `complete` False where some may be missing
    points : at most so many, 2 or more, spread over the range of `second`, or of the moves where
        one tier is stickiness and the other balance; None: all. Each holds an assignment of its
        own.
    assume_equal : take unknown subscriptions as all topics of the group

    Returns
    -------
    points : none of them is dominated by another or comes twice. Those that are proved
        are efficient; where all are proved and complete these are all trade-offs there are, and
        `left_out` is None; else it says in words what is not here, and why. Where the points
        between the ends would have to be searched, and the readers of all partitions add up to
        more than 20,000, only the ends are here, and what flows find. Empty where the time was up
        before anything was found.

    Raises
    ------
    BadInput
        Where a tier is not known or comes twice, the group lacks what one needs, or its values
        leave the integers that a solver tells apart.

    Examples
    --------
    >>> from assay import Group, frontier
    >>> group = Group.from_dict(
    ...     {
    ...         "format": "assay-group/1",
    ...         "group": "orders",
    ...         "topics": {"t0": 2, "t1": 3},
    ...         "members": {
    ...             "c0": {"subscription": ["t0", "t1"], "owned": {"t0": [0, 1], "t1": [0, 1, 2]}},
    ...             "c1": {"subscription": ["t1"]},
    ...         },
    ...     }
    ... )
    >>> points = frontier(group, "balance", "stickiness")
    >>> [(point["balance"], point["stickiness"]) for point in points]
    [(1, 2), (3, 1), (5, 0)]
    >>> print(points.left_out)
    None
    >>> frontier(group, "balance", "stickiness", points=2).left_out
    'at most 2 points were asked for: there may be others between them'
    """
    if assume_equal:
        group = group.with_equal_subscriptions()
    objective = parse_objective((first, second))
    require_data(group, objective)
    if points is not None and points < 2:
        raise BadInput(f"points: {points}, expected 2 or more")
    time_left = TimeLeft.of(time_limit)
    found, by_search = _found(group, objective, time_left, points)
    left_out = _left_out(group, objective, found, points, time_left, by_search=by_search)
    first, second = objective
    return Frontier((replace(point, tiers=(first, second)) for point in found), left_out)


def _found(
    group: Group, objective: Objective, time_left: TimeLeft, points: int | None
) -> tuple[tuple[Point, ...], bool]:
    """Return the trade-offs, and whether those between the ends had to be searched."""
    from optimal.frontier.peaks import is_about_peaks, peaks_within

    if is_about_peaks(objective):
        peak = next(tier for tier in objective if tier != MOVES)
        within = peaks_within(group, peak, time_left, points)
        return (within if objective[0] == MOVES else _turned(within)), False
    left = _end(solve(group, objective, time_limit=time_left.share(4)))
    right = _end(solve(group, objective[::-1], time_limit=time_left.share(3)), turned=True)
    if left is None or right is None:
        return tuple(end for end in (left, right) if end is not None), False
    if left.weakly_dominates(right) or right.weakly_dominates(left):
        return (_only(left, right),), False
    if left.proved and right.proved:
        from optimal.frontier.trades import trades

        most = dict(zip(objective, (right.first_value, left.second_value), strict=True))
        known = trades(group, objective, most)
        if known is not None:
            return _picked(group, objective, (left, right), known, time_left, points), False
    from optimal.frontier.epsilon_constraint import searched

    if objective == ("stickiness", "balance"):
        ends = _turned((left, right))
        found = searched(group, objective[::-1], (ends[0], ends[1]), time_left, points)
        return _turned(found), True
    return searched(group, objective, (left, right), time_left, points), True


def _left_out(
    group: Group,
    objective: Objective,
    found: tuple[Point, ...],
    points: int | None,
    time_left: TimeLeft,
    *,
    by_search: bool,
) -> str | None:
    """Return what is missing and why; None where it is proved that nothing is."""
    if found and all(point.complete for point in found):
        return None
    between = "there may be others between them"
    if by_search:
        from optimal.frontier.epsilon_constraint import MOST_CANDIDATES

        if (many := group.n_candidates) > MOST_CANDIDATES:
            flows = set(objective) == {"balance", "stickiness"}
            here = "the ends, and what flows find" if flows else "the ends"
            return (
                f"only {here}: the readers of all partitions add up to {many:,}, and no more "
                f"than {MOST_CANDIDATES:,} are searched for what is between"
            )
    if time_left.is_up:
        return f"the time was up: {between}" if len(found) > 1 else "the time was up"
    if points is not None and len(found) >= points:
        return f"at most {points} points were asked for: {between}"
    return f"not everything is proved: {between}"


def _turned(points: tuple[Point, ...]) -> tuple[Point, ...]:
    """Return the trade-offs of the same two tiers the other way round."""
    least = points[0].first_value == points[0].first_bound
    complete = (*(point.complete for point in points[-2::-1]), least)
    return tuple(
        replace(
            point,
            first_value=point.second_value,
            second_value=point.first_value,
            first_bound=point.second_bound,
            second_bound=point.first_bound,
            complete=known,
        )
        for point, known in zip(points[::-1], complete, strict=True)
    )


def _end(solution: Solution, *, turned: bool = False) -> Point | None:
    """Return what a solution says as a point; `turned`: its objective is the second tier first.

    The bound on its second tier is one on the point only where its first tier is proved.
    """
    if solution.assignment is None:
        return None
    one, other = solution.terms
    bounds = (one.bound, other.bound if one.bound == one.value else None)
    found = (one.value, other.value)
    if turned:
        bounds, found = bounds[::-1], found[::-1]
    return Point(
        *found,
        *bounds,
        assignment=solution.assignment,
        proof=solution.proof.kind,
        complete=turned and one.bound == one.value,
    )


def _only(left: Point, right: Point) -> Point:
    """Return the one of two ends that is as good as the other in both tiers.

    It is the only trade-off where no assignment has less in either of the tiers.
    """
    best = left if left.weakly_dominates(right) else right
    if best is left and right.proved and right.weakly_dominates(left):
        best = right
    ideal = (left.first_bound, right.second_bound)
    return replace(best, complete=best.at == ideal)


def _picked(
    group: Group,
    objective: Objective,
    ends: tuple[Point, Point],
    known: Trades,
    time_left: TimeLeft,
    points: int | None,
) -> tuple[Point, ...]:
    """Return the points that sorting finds, as many as asked for, between the ends."""
    left, right = ends
    picked = list(range(known.count))
    if points is not None and points < known.count:
        picked = [i * (known.count - 1) // (points - 1) for i in range(points)]
    if known.moved == objective[1]:
        picked = [known.count - 1 - i for i in picked]
    found = [left]
    for before, i in pairwise(picked):
        if time_left.is_up:
            return (*found, right)
        point = _sorted_out(group, objective, known, i)
        if known.moved == "stickiness" and "balance" in objective:
            point = _certified(group, objective, point, time_left)
        if found[-1].weakly_dominates(point) or point.weakly_dominates(found[-1]):
            raise SolverContradiction(
                f"{group.name}: of the trade-offs {found[-1].at} and {point.at} one "
                "dominates the other"
            )
        found[-1] = replace(found[-1], complete=abs(i - before) == 1)
        found.append(point)
    one = _sorted_out(group, objective, known, picked[0])
    if (one.at, found[-1].at) != (left.at, right.at):
        raise SolverContradiction(
            f"{group.name}: sorting finds trade-offs from {one.at} to {found[-1].at}, "
            f"but solve finds {left.at} and {right.at}"
        )
    return (*found[:-1], right)


def _certified(group: Group, objective: Objective, point: Point, time_left: TimeLeft) -> Point:
    """Return a point of balance and moves with its certificate."""
    from optimal.frontier.epsilon_constraint import most_even_point

    moves = dict(zip(objective, point.at, strict=True))["stickiness"]
    found = most_even_point(group, moves, time_left)
    if found is None or found.proof is not ProofKind.CERTIFICATE:
        return point
    if point.at != (found.at if objective[0] == "balance" else found.at[::-1]):
        raise SolverContradiction(f"{group.name}: {point.at} and {found.at} are not both optimal")
    return replace(point, proof=found.proof)


def _sorted_out(group: Group, objective: Objective, known: Trades, number: int) -> Point:
    assignment = Assignment(group, known.owner(number))
    assignment.require_valid()
    first, second = values(assignment, objective)
    return Point(first, second, first, second, assignment, ProofKind.SOLVER)
