"""Sizing: the best assignment for each number of members, and the fewest that meet a target."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Literal, get_args

import numpy as np

from compare.lag.behind import behind, catch_up, rates_of
from compare.lag.lowest import Hottest, hottest
from compare.remedy import assignments_by
from compare.what_if import all_alike, fewest, reading, turn_seconds, unassigned, what_if
from groups.arguments import require_whole
from groups.assignment import Assignment
from groups.errors import BadInput, require_one_of
from groups.framed import Framed
from groups.needs import require_data
from groups.seconds import seconds_of
from groups.tiers import LAG_PEAKS, MOVES, Objective, parse_objective, values
from groups.wording import SECONDS_IN, SIZES, counted, whole_number
from optimal.search import load_searches
from optimal.solve import solve
from optimal.time_left import TimeLeft

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    import altair as alt

    from groups.group import Group
    from heuristics.time_limit import TimeLimit
    from optimal.solution import Solution

FORMAT = "assay-size/1"
Aim = Literal["peak_lag", "peak_time", "peak_load", "load_spread", "balance"]
AIMS: tuple[Aim, ...] = get_args(Aim)
# Unless numbers are given, a sweep goes at least this far, and tries at most so many of them.
FEWEST, MOST = 12, 40
# The share of the time for a first solve with each number; the rest is for open questions about
# the target.
FIRST = 0.7
ABOUT_NOW = ("stickiness", "moved_weight", "racks")


@dataclass(frozen=True)
class Target:
    """The limit that a group of the right size meets.

    Attributes
    ----------
    aim : `peak_lag` (records on one member), `peak_time` (seconds that a member takes to catch
        up), `peak_load` (partitions on one member), `load_spread` (partitions of the fullest minus
        those of the emptiest) or `balance` (KIP-54's score)
    at_most : the greatest value that meets it
    """

    aim: Aim
    at_most: int

    def is_below(self, most: Hottest | None) -> bool:
        """Return whether one partition alone has more, so that no number of members meets it."""
        return self.aim == "peak_lag" and most is not None and most.records > self.at_most

    @staticmethod
    def of(given: Mapping[str, int] | None) -> Target | None:
        """Return the target in ``{"peak_time": 300}``; None if it is empty or None.

        Raises
        ------
        BadInput
            If there are several, the name is unknown, or the number is below 0.
        """
        if not given:
            return None
        if not isinstance(given, Mapping):
            raise BadInput(f"target: {given!r}, expected a mapping as in {{'peak_lag': 1000}}")
        if len(given) > 1:
            raise BadInput(f"target: {' and '.join(given)}, expected one")
        ((name, most),) = given.items()
        aim = require_one_of("target", name, AIMS)
        if type(most) is not int or most < 0:
            raise BadInput(f"target.{name}: {most!r}, expected a whole number of 0 or more")
        return Target(aim, most)


def parse_target(text: str, group: Group) -> dict[str, int]:
    """Return the target in ``peak_time=5m``, ``peak_lag=400k``, or ``peak_lag=50%``.

    Parameters
    ----------
    group : N% is that share of the group's current value, rounded down

    Raises
    ------
    BadInput
        If it is not written like that, or the group's current value is unknown.
    """
    name, _, value = text.partition("=")
    aim = require_one_of(f"target {text}", name, AIMS)
    if share := re.fullmatch(r"([0-9]{1,9})%", value):
        held = Assignment.current(group)
        now = _row(held).of(aim)[0] if held.is_valid and group.members else None
        if now is None:
            raise BadInput(f"target {text}: the {name} of what members hold now is not known")
        return {name: now * int(share[1]) // 100}
    found = whole_number(value, SECONDS_IN if name == "peak_time" else SIZES)
    if re.fullmatch(r"[0-9]{19,} ?[A-Za-z]*", value):
        raise BadInput(f"target {text}: N is too big; expected at most 18 digits")
    if found is None:
        what = "a time as in 300, 5m or 2h" if name == "peak_time" else "a number as in 8 or 400k"
        what += ", or 50% of what is there now"
        raise BadInput(f"target {text}: expected {name}=N, with N {what}")
    return {name: found}


@dataclass(frozen=True)
class Size:
    """The best assignment with a number of members.

    Attributes
    ----------
    members : the number
    least_load, most_load : partitions of the emptiest and the fullest member
    idle : how many members hold nothing
    balance : KIP-54's score
    peak_lag : records on the member with most; None if a lag is unknown
    peak_lag_bound : lower bound on it for assignments that are as good in the tiers before
    peak_seconds, peak_seconds_bound : how long the slowest member takes to catch up, and a lower
        bound; None if unknown
    proved : whether the assignment is proved to be optimal
    meets : whether the target is met; None if not decided, or there is none
    """

    members: int
    least_load: int
    most_load: int
    idle: int
    balance: int
    peak_lag: int | None
    peak_lag_bound: int | None
    peak_seconds: int | None
    peak_seconds_bound: int | None
    proved: bool
    meets: bool | None = None

    def of(self, aim: Aim) -> tuple[int | None, int | None]:
        """(value, bound) of the number that a target limits; None if unknown."""
        if aim == "peak_lag":
            return self.peak_lag, self.peak_lag_bound
        if aim == "peak_time":
            return self.peak_seconds, self.peak_seconds_bound
        spread = self.most_load - self.least_load
        found = {"peak_load": self.most_load, "load_spread": spread, "balance": self.balance}[aim]
        return found, found


@dataclass(frozen=True)
class Sizing(Framed):
    """The best assignments of a group with several numbers of members.

    Attributes
    ----------
    group : its name
    objective : what is best
    members_now, partitions : number of members now, and of partitions that have a reader
    reads : what new members are assumed to read, in a sentence
    hottest : the partition with most lag, a lower bound on the peak with any number of members;
        None if no lag is known
    target : the target, or None
    rows : one for each number of members, ascending
    smallest : the fewest members found that meet the target; None if none do
    smallest_uneven : the fewest members found that meet a target on lag if loads may be uneven;
        None if they are no fewer
    sure : whether it is proved that none of the smaller numbers tried meets the target
    assumed : the group's own assumptions
    now : the current assignment as a row; None if it is not valid
    change : the fewest moves found that make the group meet the target, with the present members
        if they are enough, else with `smallest`; tiers before lag stay at their optimum. None if
        no partition has to move, or no moves were found
    change_uneven : the fewest moves found if loads may be uneven; None if they are no fewer
    """

    group: str
    objective: Objective
    members_now: int
    partitions: int
    reads: str
    hottest: Hottest | None
    target: Target | None
    rows: tuple[Size, ...]
    smallest: int | None
    sure: bool
    assumed: tuple[str, ...] = ()
    smallest_uneven: int | None = None
    now: Size | None = None
    change: Solution | None = None
    change_uneven: Solution | None = None

    def to_rows(self) -> Iterator[dict[str, object]]:
        """Return one row for each number of members.

        The columns are the attributes of `Size`: `members`, `least_load` and `most_load`
        (partitions of one member), `idle` (members that hold nothing), `balance` (KIP-54's score),
        `peak_lag` and `peak_lag_bound` (records), `peak_seconds` and `peak_seconds_bound`,
        `proved` and `meets`; None if unknown.
        """
        yield from map(asdict, self.rows)

    @property
    def by_lag(self) -> bool:
        """Whether the busiest member is the one with most lag, not the one with most partitions.

        Without a target on lag it is if all lag is known and there is some.
        """
        if self.target is not None:
            return self.target.aim in LAG_PEAKS
        return self.hottest is not None and all(row.peak_lag is not None for row in self.rows)

    def busiest(self, row: Size) -> int:
        """Return the lag or the partitions of the busiest member in a row."""
        return row.peak_lag if self.by_lag and row.peak_lag is not None else row.most_load

    @property
    def in_a_line(self) -> str:
        """The group and the fewest members that meet the target, as a line."""
        if self.target is None:
            return f"{self.group}: {counted(self.members_now, 'member')} now"
        found = "none of these" if self.smallest is None else counted(self.smallest, "member")
        bounded = "" if self.sure else ", and fewer may"
        return f"{self.group}: within {self.target.aim} {self.target.at_most}: {found}{bounded}"

    def to_dict(self) -> dict[str, object]:
        """Return the ``assay-size/1`` document."""
        most, aim = self.hottest, self.target
        return {
            "format": FORMAT,
            "group": self.group,
            "objective": list(self.objective),
            "target": aim and {"tier": aim.aim, "at_most": aim.at_most},
            "smallest": self.smallest,
            "smallest_uneven": self.smallest_uneven,
            "change": self.change and self.change.to_dict(),
            "change_uneven": self.change_uneven and self.change_uneven.to_dict(),
            "sure": self.sure,
            "members_now": self.members_now,
            "partitions": self.partitions,
            "new_members": self.reads,
            "most_in_one_partition": most and most._asdict(),
            "rows": [asdict(row) for row in self.rows],
            "assumed": list(self.assumed),
        }


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
    """Return the fewest members that meet a target, and the best assignment with each number.

    Parameters
    ----------
    members : the numbers to try; None: from 1 to twice as many as now, at least to 12. Of more
        than 40 numbers only some 40 are tried, then all just below the first that meets the
        target; if none does, ever twice as many are tried, up to one for each partition. If
        members differ in their topics or rates, all present ones stay, so no smaller numbers are
        tried
    target : one of `peak_lag` (records), `peak_time` (seconds), `peak_load` (partitions on one
        member), `load_spread` and `balance`, with the greatest value that meets it:
        ``{"peak_time": 300}``
    like : new members read what this member reads; None: every topic that has a reader
    objective : what is best; None: ``balance > peak_lag`` if all lags are known, else
        ``balance``. The current assignment does not count: `stickiness`, `moved_weight` and
        `racks` are refused
    time_limit : seconds for all numbers together; a peak that is not proved by then has a bound
    assume_equal : take unknown subscriptions as all topics of the group

    Raises
    ------
    BadInput
        If a parameter is not as described, or the group lacks what it needs.

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
    if not partitions:
        raise BadInput(f"{group.name}: nobody reads a partition, so there is nothing to size")
    tiers = _objective(largest, aim, objective)
    _require_rates(group, largest, aim, tiers)
    require_data(largest, tiers)
    load_searches(tiers)
    time_left = TimeLeft.of(time_limit)
    time_limit = seconds_of(time_limit)
    turns = TimeLeft.of(None if time_limit is None else FIRST * time_limit)
    rows: dict[int, Size] = {}

    def try_number(number: int, clock: TimeLeft, parts: int) -> bool:
        if number not in groups:
            groups[number] = what_if(nobody, members=number, like=like)
        solution = solve(groups[number], tiers, time_limit=turn_seconds(clock, parts))
        rows[number] = _row_of(solution, aim)
        return bool(rows[number].meets)

    for i, number in enumerate(numbers):
        try_number(number, turns, len(numbers) - i + 1)
    met = any(row.meets for row in rows.values())
    if members is None and aim and not met and not aim.is_below(hottest(largest)):
        _try_beyond(numbers[-1], partitions, lambda one: try_number(one, time_left, 4), time_left)
    elif members is None:
        between = _untried_below(rows)
        for i, number in enumerate(between):
            try_number(number, turns, len(between) - i)
    rows = dict(sorted(rows.items()))
    while (undecided := _undecided_below(rows)) is not None and not time_left.is_up:
        row = _row_of(solve(groups[undecided], tiers, time_limit=time_left.share(2)), aim)
        if row.meets is None:
            break
        rows[undecided] = row
    smallest = next((number for number, row in rows.items() if row.meets), None)
    below = [row for row in rows.values() if smallest is None or row.members < smallest]
    uneven = _uneven(groups, rows, smallest, tiers, aim, time_left)
    held = Assignment.current(group)
    now = _row(held, aim) if held.is_valid and group.members else None
    change = change_uneven = None
    if (
        aim is not None
        and (to_move := _group_to_change(group, rows, now, smallest, like)) is not None
    ):
        change, change_uneven = _fewest_moves(to_move, aim, tiers, time_left)
    return Sizing(
        smallest_uneven=uneven,
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
        now=now,
        change=change,
        change_uneven=change_uneven,
    )


def reached(
    sizing: Sizing, assignors: Sequence[str], limit: TimeLimit
) -> Mapping[str, int | None]:
    """Return the value of the target's tier that each assignor reaches in the group of `change`.

    It is None for an assignor without a valid assignment. Empty if no partition has to move.
    """
    target, change = sizing.target, sizing.change
    if target is None or change is None or not change.group.subscription_known.all():
        return {}
    made = assignments_by(change.group, assignors, limit)
    return {name: None if one is None else _row(one).of(target.aim)[0] for name, one in made}


def _try_beyond(high: int, most: int, meets: Callable[[int], bool], time_left: TimeLeft) -> None:
    """Double the number of members until one will do, then search below it by bisection."""
    low, found = high, False
    while not found and high < most and not time_left.is_up:
        low, high = high, min(2 * high, most)
        found = meets(high)
    if found:
        fewest(low, high, meets, time_left)


def _uneven(
    groups: Mapping[int, Group],
    rows: Mapping[int, Size],
    smallest: int | None,
    tiers: Objective,
    aim: Target | None,
    time_left: TimeLeft,
) -> int | None:
    """Return the fewest members that meet a target on lag if loads may be uneven.

    One more member never raises the lowest peak then, so bisection finds them. None if they are no
    fewer, or if the objective begins with lag.
    """
    if aim is None or aim.aim not in LAG_PEAKS or tiers[0] in LAG_PEAKS:
        return None
    free = tuple(tier for tier in tiers if tier in LAG_PEAKS)
    fewer = [number for number in rows if smallest is None or number < smallest]

    def will_do(at: int) -> bool:
        solution = solve(groups[fewer[at]], free, time_limit=turn_seconds(time_left))
        return solution.assignment is not None and bool(_row_of(solution, aim).meets)

    return next(iter(fewer[fewest(-1, len(fewer), will_do, time_left) :]), None)


def _group_to_change(
    group: Group,
    rows: Mapping[int, Size],
    now: Size | None,
    smallest: int | None,
    like: str | None,
) -> Group | None:
    """Return the group in which partitions have to move to meet a target; None if none have to.

    It has the present members if they are enough, else as many as `smallest`.
    """
    present = len(group.members)
    if now is None or now.meets or smallest is None:
        return None
    if present in rows and rows[present].meets:
        return group
    return what_if(group, members=smallest, like=like) if smallest > present else None


def _fewest_moves(
    group: Group, aim: Target, tiers: Objective, time_left: TimeLeft
) -> tuple[Solution | None, Solution | None]:
    """Return the fewest moves found to a target with even loads, and the fewest with any loads.

    With even loads, the tiers before lag stay at their optimum. The second is None if it has no
    fewer moves. The greatest load is no tier: to lower it takes at least as many moves as members
    hold partitions above the target; if the most even loads by these moves do not meet it, the
    best balance does.
    """
    at_most: dict[str, int] = {aim.aim: aim.at_most}
    before = tiers[:0]
    if aim.aim == "peak_load":
        held = Assignment.current(group).loads
        most = {MOVES: int(np.maximum(held - aim.at_most, 0).sum())}
        few = solve(group, ("balance",), at_most=most, time_limit=time_left.share(2))
        if few.assignment is not None and few.assignment.loads.max() <= aim.at_most:
            return few, None
        at_most, before = {}, ("balance",)
    elif aim.aim in LAG_PEAKS:
        before = tiers[: min(tiers.index(tier) for tier in LAG_PEAKS if tier in tiers)]
    found = solve(group, (*before, MOVES), at_most=at_most, time_limit=time_left.share(2))
    first = found.terms[: len(before)]
    if found.assignment is None or any(term.value != term.bound for term in first):
        return None, None
    if not before or not at_most or found.terms[-1].value < 2:
        return found, None
    free = solve(group, (MOVES,), at_most=at_most, time_limit=time_left.share(1))
    is_less = free.assignment is not None and free.terms[-1].value < found.terms[-1].value
    return found, free if is_less else None


def _objective(group: Group, aim: Target | None, given: str | Sequence[str] | None) -> Objective:
    """Return the objective: the given one, or one that fits the target.

    Raises
    ------
    BadInput
        If a tier is about the current assignment, or the tiers do not fit the target.
    """
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
    """Raise BadInput if the time to catch up is needed but a member has no rate.

    Parameters
    ----------
    largest : the group with the most members, of whom the first are those of `group`
    """
    asks = "target" if aim is not None and aim.aim == "peak_time" else "tier"
    if asks == "tier" and "peak_time" not in tiers:
        return
    needs = f"but {asks} peak_time needs it"
    present = rates_of(group)
    for member, rate in zip(group.members, present, strict=True):
        if rate is None and asks == "target":
            raise BadInput(f"members.{member}.capacity: unknown, {needs}", remedy="rate")
    if None in rates_of(largest)[len(present) :] and None not in present:
        raise BadInput(
            f"members: capacity of new ones unknown, as those that are there differ, {needs}",
            remedy="like",
        )


def _numbers(group: Group, members: Sequence[int] | None) -> list[int]:
    """Return the numbers of members to try, ascending.

    Raises
    ------
    BadInput
        If there is none, or one is below 1.
    """
    present = len(group.members)
    if members is not None:
        numbers = sorted({require_whole("members", number, least=1) for number in members})
        if not numbers:
            raise BadInput("members: expected one or more numbers of 1 or more")
        return numbers
    least = 1 if all_alike(group) else present
    most = max(FEWEST, 2 * present)
    step = -(-(most - least + 1) // MOST)
    return sorted({least, max(1, present), *range(least, most + 1, step)})


def _row_of(solution: Solution, aim: Target | None) -> Size:
    """Return the row of a solution, with its bounds and whether it meets the target."""
    group, assignment = solution.group, solution.assignment
    if assignment is None:
        raise BadInput(
            f"{group.name}: nothing was found for {len(group.members)} members in time",
            remedy="time",
        )
    bounds = {term.name: term.bound for term in solution.terms}
    rates = set(rates_of(group))
    least, soonest = (bounds.get(tier) for tier in LAG_PEAKS)
    if soonest is None and least is not None and len(rates) == 1:
        soonest = catch_up(least, rates.pop())
    return _row(assignment, aim, (least, soonest), proved=solution.status == "optimal")


def _row(
    assignment: Assignment,
    aim: Target | None = None,
    bounds: tuple[int | None, int | None] | None = None,
    *,
    proved: bool = False,
) -> Size:
    """Return the row of an assignment.

    Parameters
    ----------
    bounds : lower bounds on the peak lag and on the time to catch up; None: their values
    """
    loads, late = assignment.loads, behind(assignment)
    peak, longest = (None, None) if late is None else (late.peak, late.longest)
    least, soonest = (peak, longest) if bounds is None else bounds
    row = Size(
        members=len(loads),
        least_load=int(loads.min()),
        most_load=int(loads.max()),
        idle=int((loads == 0).sum()),
        balance=values(assignment, ("balance",))[0],
        peak_lag=peak,
        peak_lag_bound=None if peak is None else least,
        peak_seconds=longest,
        peak_seconds_bound=None if longest is None else soonest,
        proved=proved,
    )
    if aim is None:
        return row
    value, bound = row.of(aim.aim)
    if value is not None and value <= aim.at_most:
        return replace(row, meets=True)
    return replace(row, meets=False if bound is not None and bound > aim.at_most else None)


def _untried_below(rows: Mapping[int, Size]) -> list[int]:
    """Return the numbers between the first that meets the target and the one tried before it."""
    first = next((number for number, row in rows.items() if row.meets), None)
    before = max((number for number in rows if first is None or number < first), default=0)
    return [] if first is None or not before else [*range(before + 1, first)]


def _undecided_below(rows: Mapping[int, Size]) -> int | None:
    """Return the first number without a decision or a proof, if below all that meet the target."""
    for number, row in rows.items():
        if row.meets:
            return None
        if row.meets is None and not row.proved:
            return number
    return None


def drawn(sizing: Sizing) -> alt.LayerChart:
    """Draw what the busiest member has with each number of members, and the target.

    The unit is records of lag if `Sizing.by_lag` says so, else partitions.
    """
    from compare import figures

    rows, target, lag = sizing.rows, sizing.target, sizing.by_lag
    table: list[dict[str, object]] = [
        {"members": row.members, "most": row.peak_lag}
        if lag
        else {"members": row.members, "most": row.most_load, "least": row.least_load}
        for row in rows
    ]
    is_drawn = target is not None and target.aim in ("peak_lag", "peak_load")
    most = target.at_most if target is not None and is_drawn else None
    return figures.sizes(table, target=most, what="records of lag" if lag else "partitions")
