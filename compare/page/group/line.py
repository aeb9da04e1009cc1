"""Line: a group's row in the table of groups, loads as small bars, and short names of members."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

from markupsafe import Markup

from compare.overview import Glance, glance_of
from compare.page.words import MARKS
from compare.sentences import uneven_hosts_in_short
from groups.wording import counted

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from compare.judged import Judged
    from compare.lag.lowest import LowestPeak
    from groups.assignment import Assignment
    from groups.group import Group

_IN_BRACKETS = re.compile(r" \(([^()]*)\)")
# A UUID at the end of an id, or before the thread in the client id of Kafka Streams.
_UUID = re.compile(
    r"-[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"
    r"(?:(?P<thread>-StreamThread-\d+)-consumer)?$",
    re.I,
)
_WORD = re.compile(r"[^\s,;:()?\u201c\u201d]+")
# Only so many groups say what a few moves buy, which takes time, and have documents, which take
# space.
MOST_WEIGHED = 50
DIGITS = 4
MOST_BARS = 48
HEIGHT = 24
GAP = 1
# A bar's width with its gap, from ROOM divided by the number of bars.
NARROWEST, WIDEST, ROOM = 4, 10, 40


def labels_of(group: Group) -> list[str]:
    """Return a distinct short name for each member.

    It is the client id if the group has it once, or the id without its UUID if that is unique, or
    else the id with the UUID's first digits. If these are not distinct, all have their full id.
    """
    details = group.details or [None] * len(group.members)
    clients = [None if one is None else one.client_id for one in details]
    stems = [
        cut(client) if client else _UUID.sub("", name)
        for client, name in zip(clients, group.members, strict=True)
    ]
    often = Counter(stems)
    labels = [
        stem if often[stem] == 1 else cut(name)
        for stem, name in zip(stems, group.members, strict=True)
    ]
    return labels if len(set(labels)) == len(labels) else list(group.members)


def cut(name: str) -> str:
    """Return a name with its UUID cut to the first digits.

    Examples
    --------
    >>> uuid = "9e9480e3-fb86-495b-a540-9a7c10bdb384"
    >>> cut(f"app-0-{uuid}"), cut("app-1"), cut(f"shop-{uuid}-StreamThread-2-consumer")
    ('app-0-9e94…', 'app-1', 'shop-9e94…-StreamThread-2')
    """
    return _UUID.sub(lambda found: f"{found[0][: 1 + DIGITS]}…{found['thread'] or ''}", name)


def in_short(text: str, labels: Mapping[str, str]) -> Markup:
    """Return a text with short names for ids of members; hovering over one shows the id.

    A short name that is the client id stands for the id and the client id in brackets after it.

    Parameters
    ----------
    labels : short names by id; in other words that end with a UUID, it is cut
    """
    found = Markup()
    end = 0
    words = [(text, 0)] if text in labels else [(w[0], w.start()) for w in _WORD.finditer(text)]
    for word, start in words:
        name = word if word in labels else word.rstrip(".")
        label = labels.get(name, cut(name))
        if label != name:
            found += text[end:start] + Markup('<span title="{}">{}</span>').format(name, label)
            end = start + len(name)
            client = _IN_BRACKETS.match(text, end)
            if client and cut(client[1]) == label:
                end = client.end()
    return found + text[end:]


@dataclass(frozen=True)
class Strip:
    """Bars in a box of `width` x `height`, as paths of SVG.

    Attributes
    ----------
    below, above : the parts of the bars below and above the line
    line : distance of the line from the top; None if there is none
    told : the same in words
    """

    width: int
    height: int
    below: str
    above: str
    line: float | None
    told: str


def strip(loads: Sequence[int], limit: int | None, *, most: int | None = None) -> Strip | None:
    """Return bars of loads, the greatest first; None if nobody holds anything.

    If there are more than `MOST_BARS` members, evenly spaced ones of the sorted loads are drawn.

    Parameters
    ----------
    limit : the greatest load in the best assignment, where the line is drawn
    most : the load at the top of the box; None: the greatest
    """
    ordered = sorted(loads, reverse=True)
    if not ordered or not ordered[0]:
        return None
    if len(ordered) > MOST_BARS:
        last = len(ordered) - 1
        ordered = [ordered[round(i * last / (MOST_BARS - 1))] for i in range(MOST_BARS)]
    top = max(ordered[0], limit or 0, most or 0)
    step = max(NARROWEST, min(WIDEST, ROOM // len(ordered)))
    below, above = [], []
    for i, load in enumerate(ordered):
        under = load if limit is None else min(load, limit)
        below.append(_bar(i * step, step, 0, under, top))
        if under < load:
            above.append(_bar(i * step, step, under, load, top))
    least = "" if min(loads) == max(loads) else f"{min(loads):,} to "
    told = f"{counted(len(loads), 'member')} with {least}{max(loads):,} each"
    if limit is not None:
        told += f"; {limit:,} at most in the best assignment"
    return Strip(
        width=len(ordered) * step,
        height=HEIGHT,
        below="".join(below),
        above="".join(above),
        line=None if limit is None else _down(limit, top),
        told=told,
    )


def _bar(left: int, step: int, low: int, high: int, top: int) -> str:
    if high <= low:
        return ""
    foot, head = _down(low, top), _down(high, top)
    return f"M{left} {foot:g}V{head:g}h{step - GAP}V{foot:g}z"


def _down(load: int, top: int) -> float:
    return round(HEIGHT - HEIGHT * load / top, 1)


@dataclass(frozen=True, kw_only=True)
class Line(Glance):
    """A group's row in the table of groups.

    Attributes
    ----------
    number : number of the row from 1, the worst group first
    repeats : whether another row has the same name, so that times of capture tell them apart
    uneven_hosts : the hosts with most and least, if they could be more even; else empty
    labels : short names of members by id, where they differ from the id
    """

    number: int
    repeats: bool
    uneven_hosts: str = ""
    labels: Mapping[str, str] = field(default_factory=dict)

    @property
    def anchor(self) -> str:
        """The anchor of the group's detail."""
        return f"group-{self.number}"

    @property
    def says(self) -> str:
        """The verdict, for filtering and counting; people read :attr:`shown`."""
        return self.verdict.shown(self.fall)

    @property
    def mark(self) -> str:
        """A sign that tells the verdict without colour."""
        return MARKS[self.says].sign

    @property
    def tone(self) -> str:
        """The verdict's tone: "bad", "open", "good" or "none"."""
        return MARKS[self.says].tone

    @cached_property
    def strip(self) -> Strip | None:
        """The loads as small bars; None if there are none."""
        limit = None if self.best is None else int(self.best.rpartition("-")[2])
        return strip(self.loads, limit) if self.loads else None


def line_of(judged: Judged, number: int, lowest: LowestPeak | None, *, repeats: bool) -> Line:
    """Return the line of a judged group.

    Parameters
    ----------
    lowest : the lowest possible peak lag; None if not known
    repeats : whether another line has its name
    """
    labels = zip(judged.group.members, labels_of(judged.group), strict=True)
    return Line(
        **vars(glance_of(judged, lowest)),
        number=number,
        repeats=repeats,
        uneven_hosts=uneven_hosts_in_short(judged) if number <= MOST_WEIGHED else "",
        labels={name: label for name, label in labels if name != label},
    )


def shown_best(judged: Judged) -> Assignment | None:
    """Return the best assignment; None if it depends on an open question."""
    return None if judged.verdict.question else judged.target
