"""Contents of one group on a page, as plain values that a template can lay out."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from groups.wording import OF_CONSUMERS

if TYPE_CHECKING:
    from collections.abc import Mapping

    from compare.page.drawing import Drawing
    from compare.page.group.strip import Strip
    from groups.wording import Nouns


@dataclass(frozen=True)
class Line:
    """One group in the table of groups.

    Attributes
    ----------
    number : of the line, from 1, the worst group first
    anchor : what stands after ``#`` in the address of its detail
    says, mark : the verdict, and a sign that tells it without colour
    tone : "bad", "open", "good" or "none"
    repeats : whether another line has the same name, so that the time of the capture tells them
        apart
    to_do : what to do, or what would decide the verdict
    now, best : loads as ``4-18``; None where there are none, or what is best is open
    strip : the loads as small bars; None where there are none
    moves : partitions to move; None where it is not known
    lag_now, lag_best : records of the member with most lag, now and with the balanced loads that
        have least; `lag_proved` says whether that is proved to be the least
    nouns : what partitions and members are called
    labels : of members what they are called on the page, where that is not their id
    """

    number: int
    anchor: str
    name: str
    captured_at: str | None
    repeats: bool
    members: int
    partitions: int
    says: str
    mark: str
    tone: str
    to_do: str
    now: str | None = None
    best: str | None = None
    strip: Strip | None = None
    moves: int | None = None
    idle: int = 0
    lag_now: int | None = None
    lag_best: int | None = None
    lag_proved: bool = False
    nouns: Nouns = OF_CONSUMERS
    labels: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Part:
    """Partitions of one topic with one member: `colour` numbers the topic's colour."""

    topic: str
    colour: int
    count: int


@dataclass(frozen=True)
class Holder:
    """A member: partitions by topic and records of lag, now and in the best assignment."""

    name: str
    short: str
    now: tuple[Part, ...]
    best: tuple[Part, ...]
    load_now: int
    load_best: int | None
    lag_now: int | None = None
    lag_best: int | None = None


@dataclass(frozen=True)
class Move:
    """Partitions that go from one member to another; `partitions` as ``t0: 0-3, t1: 2``."""

    origin: str
    target: str
    count: int
    partitions: str


@dataclass(frozen=True)
class MoveGrid:
    """Moves as a grid: of who gives, a row each, of who gets, a column each; short names.

    `left_out` says how many partitions move between members that the grid has no room for.
    """

    gives: tuple[tuple[str, str], ...]
    gets: tuple[tuple[str, str], ...]
    counts: tuple[tuple[int, ...], ...]
    most: int
    left_out: int


@dataclass(frozen=True)
class Planned:
    """What an assignor would make of a group, or why it makes nothing of it."""

    name: str
    strip: Strip | None
    loads: str | None
    valid: bool | None
    balanced: bool | None
    terms: tuple[tuple[str, str], ...]
    seconds: float
    reason: str | None


@dataclass(frozen=True)
class Lines:
    """Members that share the only topics which could even their loads out further."""

    number: str
    members: str
    topics: str
    partitions: int
    holds: str


@dataclass(frozen=True)
class Evidence:
    """What an optimum rests on, and how to check it.

    Attributes
    ----------
    kind : the kind of proof, in the words of the format
    integers : of each member its name, level and price; nothing where it is no such certificate
    group, solution : the documents that ``assay check`` takes; None where a page has no room
    """

    kind: str
    method: str
    terms: tuple[tuple[str, int, int | None], ...]
    integers: tuple[tuple[str, int, int | None], ...]
    group: str | None
    solution: str | None


@dataclass(frozen=True)
class Detail:
    """One group in full.

    Attributes
    ----------
    sentences : what is known and what to do, the verdict first
    next : what becomes of the group if nobody does anything; nothing where that is not known
    holders : members to draw, the fullest first; `more` are left out, whose load changes least
    topics : names of the coloured topics; `other_topics` share the last colour
    limit : no member holds more than that in the best assignment; None where nothing is best
    is_floor : whether no assignment has a lower greatest load
    scale : the greatest load to draw
    data : the loads as CSV, every member of them; None where that is too long for a page
    lag_data, moves_data : likewise; empty where there is no such figure
    choice : why these moves, of all that are as good; None where nothing was searched
    made_by : what makes such moves; None where no assignor of ours does
    trade : what each move buys, as a figure and its data as CSV; None where it is not drawn
    why : why it cannot be better, a sentence each
    """

    line: Line
    sentences: tuple[str, ...]
    next: str = ""
    holders: tuple[Holder, ...] = ()
    more: int = 0
    topics: tuple[str, ...] = ()
    other_topics: int = 0
    limit: int | None = None
    is_floor: bool = False
    scale: int = 1
    lag_scale: int = 0
    unknown_lags: int = 0
    idle: tuple[str, ...] = ()
    changes: bool = False
    moves: tuple[Move, ...] = ()
    choice: str | None = None
    made_by: str | None = None
    more_moves: int = 0
    grid: MoveGrid | None = None
    planned: tuple[Planned, ...] = ()
    who_reads_is_open: bool = False
    tiers: tuple[str, ...] = ()
    assumed: tuple[str, ...] = ()
    why: tuple[str, ...] = ()
    lines: tuple[Lines, ...] = ()
    evidence: Evidence | None = None
    data: str | None = ""
    lag_data: str | None = ""
    moves_data: str | None = ""
    trade: tuple[Drawing, str] | None = None
