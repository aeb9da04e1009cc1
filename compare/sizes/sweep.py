"""Sweep: the best assignment for each number of members, and the fewest that will do."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from compare.lag.behind import behind, catch_up, rates_of
from compare.lag.lowest import hottest
from compare.sizes.sizing import Size, Sizing, Target
from compare.what_if import all_alike, reading, unassigned, what_if
from groups.assignment import Assignment
from groups.errors import BadInput
from groups.needs import require_data
from groups.seconds import seconds_of
from groups.tiers import LAG_PEAKS, parse_objective, values
from optimal.solve import solve
from optimal.time_left import TimeLeft

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from groups.group import Group
    from groups.tiers import Objective
    from optimal.solution import Solution, Term

# How far a sweep goes where nobody says how far, and how many numbers it looks at.
FEWEST, MOST = 12, 40
# The share of the time in which every number of members has its turn; the rest goes to what is
# open about the target.
FIRST = 0.7
# Seconds that a number of members gets in its turn: what is not proved by then rarely is.
TURN = 1.0
ABOUT_NOW = ("stickiness", "moved_weight", "racks")


def size(
    group: Group,
    *,
    members: Sequence[int] | None = None,
    target: Mapping[str, int] | None = None,
    like: str | None = None,
    objective: str | Sequence[str] | None = None,
    time_limit: float | None = 10.0,
    assume_equal: bool = False,
) -> Sizing:
    """Return for how many members a group is within a target, and how it fares with each number.

    Parameters
    ----------
    members : the numbers to look at; None: from 1 to twice as many as there are, at least 12;
        of more than 40 of them some 40, and all just below the fewest of those that will do; if
        none will do, twice as many each time, at most one for each partition. Where members do not
        all read the same topics at the same rate, those that are there stay, and nothing is looked
        at below their number
    target : one of `peak_lag` (records), `peak_time` (seconds), `peak_load` (partitions on one
        member), `load_spread` and `balance`, and the greatest value that will do:
        ``{"peak_time": 300}``
    like : new members read what this one reads; None: every topic that somebody reads
    objective : what is best; None: ``balance > peak_lag`` where all lags are known, else
        ``balance``. What members hold now does not count: `stickiness`, `moved_weight` and `racks`
        are refused
    time_limit : seconds for all numbers together; a peak that is not proved by then has a bound
    assume_equal : take unknown subscriptions as all topics of the group

    Raises
    ------
    BadInput
        Where something of this is not as it should be, or the group lacks what it needs.

    Examples
    --------
    >>> from assay import Group, size
    >>> document = {"format": "assay-group/1", "group": "orders", "members": {"c0": {}, "c1": {}}}
    >>> document["topics"] = {"t0": {"partitions": 6, "lag": [90, 50, 40, 30, 20, 10]}}
    >>> group = Group.from_dict(document)
    >>> found = size(group, members=range(1, 5), target={"peak_lag": 100}, assume_equal=True)
    >>> [(row.members, row.most_load, row.peak_lag, row.meets) for row in found.rows]
    [(1, 6, 240, False), (2, 3, 120, False), (3, 2, 100, True), (4, 2, 90, True)]
    >>> found.smallest, found.sure
    (3, True)
    """
    if assume_equal:
        group = group.with_equal_subscriptions()
    group.require_subscriptions()
    aim = Target.of(target)
    numbers = _numbers(group, members)
    nobody = unassigned(group)
    groups = {number: what_if(nobody, members=number, like=like) for number in numbers}
    largest = groups[numbers[-1]]
    partitions = int(largest.partitions[largest.readers > 0].sum())
    tiers = _objective(largest, aim, objective)
    _require_rates(group, largest, aim, tiers)
    require_data(largest, tiers)
    time_left = TimeLeft.of(time_limit)
    time_limit = seconds_of(time_limit)
    turns = TimeLeft.of(None if time_limit is None else FIRST * time_limit)
    rows: dict[int, Size] = {}

    def look(number: int, share: float | None) -> bool:
        if number not in groups:
            groups[number] = what_if(nobody, members=number, like=like)
        limit = None if share is None else min(share, TURN)
        rows[number] = _size(solve(groups[number], tiers, time_limit=limit), aim)
        return bool(rows[number].meets)

    for i, number in enumerate(numbers):
        look(number, turns.share(len(numbers) - i + 1))
    if members is None and _may_do_with_more(rows, aim, largest):
        _look_beyond(
            numbers[-1], partitions, lambda number: look(number, time_left.share(4)), time_left
        )
    elif members is None:
        between = _between(rows)
        for i, number in enumerate(between):
            look(number, turns.share(len(between) - i))
    rows = dict(sorted(rows.items()))
    while (still := _open_below(rows)) is not None and not time_left.is_up:
        again = _size(solve(groups[still], tiers, time_limit=time_left.share(2)), aim)
        if again.meets is None:
            break
        rows[still] = again
    smallest = next((number for number, row in rows.items() if row.meets), None)
    below = [row for row in rows.values() if smallest is None or row.members < smallest]
    now = Assignment.current(group)
    return Sizing(
        smallest_uneven=_uneven(groups, rows, smallest, tiers, aim, time_left),
        group=group.name,
        objective=tiers,
        members_now=len(group.members),
        partitions=partitions,
        reads=reading(group, like),
        hottest=hottest(largest),
        target=aim,
        rows=tuple(rows.values()),
        smallest=smallest,
        sure=aim is not None and all(row.meets is False for row in below),
        assumed=group.assumed,
        now=_held(now, aim) if now.is_valid and group.members else None,
    )


def _may_do_with_more(rows: Mapping[int, Size], aim: Target | None, group: Group) -> bool:
    """Return whether no number keeps to a target, and one partition alone does not exceed it."""
    if aim is None or any(row.meets for row in rows.values()):
        return False
    most = hottest(group)
    return aim.aim != "peak_lag" or most is None or most.records <= aim.at_most


def _look_beyond(low: int, most: int, look: Callable[[int], bool], time_left: TimeLeft) -> None:
    """Double a number of members until one will do, then halve what is left below that."""
    high, found = low, False
    while not found and high < most and not time_left.is_up:
        low, high = high, min(2 * high, most)
        found = look(high)
    while found and high - low > 1 and not time_left.is_up:
        middle = (low + high) // 2
        low, high = (low, middle) if look(middle) else (middle, high)


def _uneven(
    groups: Mapping[int, Group],
    rows: Mapping[int, Size],
    smallest: int | None,
    tiers: Objective,
    aim: Target | None,
    time_left: TimeLeft,
) -> int | None:
    """Return the fewest members that keep to a target of lag where loads may be uneven.

    Another member never raises the lowest peak, so halving what is left finds them. None where
    they are no fewer, and where the objective asks for no even loads.
    """
    if aim is None or aim.aim not in LAG_PEAKS or tiers[0] in LAG_PEAKS:
        return None
    free = tuple(tier for tier in tiers if tier in LAG_PEAKS)
    fewer = [number for number in rows if smallest is None or number < smallest]
    found, low, high = None, 0, len(fewer)
    while low < high and not time_left.is_up:
        middle = (low + high) // 2
        share = time_left.share(2)
        limit = None if share is None else min(share, TURN)
        solution = solve(groups[fewer[middle]], free, time_limit=limit)
        if solution.assignment is not None and _size(solution, aim).meets:
            found, high = fewer[middle], middle
        else:
            low = middle + 1
    return found


def _objective(group: Group, aim: Target | None, given: str | Sequence[str] | None) -> Objective:
    """Return the tiers by which the best is judged, fit for the target."""
    lag, rates = group.lag_records, set(rates_of(group))
    known = lag is not None and bool((lag[group.readers[group.topic] > 0] >= 0).all())
    tiers: Objective = ("balance",)
    if given is not None:
        tiers = parse_objective(given)
    elif aim is not None and aim.aim == "peak_time" and len(rates) > 1:
        tiers = ("balance", "peak_time")
    elif known or (aim is not None and aim.aim in LAG_PEAKS):
        tiers = ("balance", "peak_lag")
    now = next((tier for tier in tiers if tier in ABOUT_NOW), None)
    if now is not None:
        raise BadInput(
            f"objective: {now} is about what members hold now; in a group of another size nobody "
            "holds anything"
        )
    if aim is not None and aim.aim not in LAG_PEAKS and tiers[0] != "balance":
        raise BadInput(f"target.{aim.aim}: the objective has to begin with balance")
    if aim is not None and aim.aim in LAG_PEAKS and not {*LAG_PEAKS} & {*tiers}:
        raise BadInput(f"target.{aim.aim}: the objective has to have peak_lag or peak_time")
    return tiers


def _require_rates(group: Group, largest: Group, aim: Target | None, tiers: Objective) -> None:
    """Raise BadInput where the time to catch up is asked for and a member has no rate.

    Parameters
    ----------
    largest : the group with the most members, of whom the first are those of `group`
    """
    asks = "target" if aim is not None and aim.aim == "peak_time" else "tier"
    if asks == "tier" and "peak_time" not in tiers:
        return
    needs = f"but {asks} peak_time needs it"
    there = rates_of(group)
    for member, rate in zip(group.members, there, strict=True):
        if rate is None and asks == "target":
            raise BadInput(f"members.{member}.capacity: unknown, {needs}", remedy="rate")
    if None in rates_of(largest)[len(there) :] and None not in there:
        raise BadInput(
            f"members: capacity of new ones unknown, as those that are there differ, {needs}",
            remedy="like",
        )


def _numbers(group: Group, members: Sequence[int] | None) -> list[int]:
    there = len(group.members)
    if members is not None:
        numbers = sorted(set(members))
        if not numbers or numbers[0] < 1:
            raise BadInput("members: expected one or more numbers of 1 or more")
        return numbers
    least = 1 if all_alike(group) else there
    most = max(FEWEST, 2 * there)
    step = -(-(most - least + 1) // MOST)
    return sorted({least, max(1, there), *range(least, most + 1, step)})


def _size(solution: Solution, aim: Target | None) -> Size:
    """Return what a solution says, and whether the target is met."""
    if solution.assignment is None:
        raise BadInput(
            f"{solution.group.name}: nothing was found for "
            f"{len(solution.group.members)} members in time",
            remedy="time",
        )
    row, rates = _held(solution.assignment, None), set(rates_of(solution.group))
    terms = {term.name: term for term in solution.terms}
    least, soonest = (_bound(terms.get(tier)) for tier in LAG_PEAKS)
    if soonest is None and least is not None and len(rates) == 1:
        soonest = catch_up(least, rates.pop())
    row = replace(
        row,
        peak_lag_bound=None if row.peak_lag is None else least,
        peak_seconds_bound=None if row.peak_seconds is None else soonest,
        proved=solution.status == "optimal",
    )
    return row if aim is None else replace(row, meets=_meets(row, aim))


def _held(assignment: Assignment, aim: Target | None) -> Size:
    """Return what the members of an assignment hold, of which nothing is proved."""
    loads, late = assignment.loads, behind(assignment)
    row = Size(
        members=len(loads),
        least_load=int(loads.min()),
        most_load=int(loads.max()),
        idle=int((loads == 0).sum()),
        balance=values(assignment, ("balance",))[0],
        peak_lag=None if late is None else late.peak,
        peak_lag_bound=None,
        peak_seconds=None if late is None else late.longest,
        peak_seconds_bound=None,
        proved=False,
    )
    value = None if aim is None else row.of(aim.aim)[0]
    return row if aim is None or value is None else replace(row, meets=value <= aim.at_most)


def _bound(term: Term | None) -> int | None:
    return None if term is None else term.bound


def _meets(row: Size, target: Target) -> bool | None:
    """Return whether a row is within the target; None where it is open."""
    value, bound = row.of(target.aim)
    if value is not None and value <= target.at_most:
        return True
    return False if bound is not None and bound > target.at_most else None


def _between(rows: Mapping[int, Size]) -> list[int]:
    """Return the numbers that were left out before the first that will do."""
    first = next((number for number, row in rows.items() if row.meets), None)
    before = max((number for number in rows if first is None or number < first), default=0)
    return [] if first is None or not before else [*range(before + 1, first)]


def _open_below(rows: Mapping[int, Size]) -> int | None:
    """Return the fewest members of whom it is open whether they will do, below those that do."""
    for number, row in rows.items():
        if row.meets:
            return None
        if row.meets is None and not row.proved:
            return number
    return None
