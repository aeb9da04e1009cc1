"""Advice: the changes to a group, the gain of each, and the kinds of change without a gain."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Literal, get_args

from compare.lag.behind import WORTH
from groups.framed import Framed

if TYPE_CHECKING:
    from collections.abc import Iterator

    from compare.judged import Judged
    from compare.lag.lowest import Hottest
    from compare.sizes.pods import Pods
    from groups.assignment import Assignment

FORMAT = "assay-advice/1"
Lower = Literal["peak_load", "peak_lag"]
TO_LOWER: tuple[Lower, ...] = get_args(Lower)
Kind = Literal[
    "rebalance", "isolate", "assignor", "subscription", "members", "partitions", "fewer members"
]
# Of changes with about the same gain, the one that takes least comes first.
CHEAPEST_FIRST: tuple[Kind, ...] = get_args(Kind)
# Changes that keep members, partitions and subscriptions.
AS_MANY: tuple[Kind, ...] = ("rebalance", "isolate", "assignor")
# A change has to lower the peak by at least 1/100, or 1/10 for lag; moves for load by any amount.
PARTS: dict[Lower, int] = {"peak_load": 100, "peak_lag": WORTH}


@dataclass(frozen=True)
class Peak:
    """The least that the busiest member can have, as far as it is known.

    Attributes
    ----------
    value : the peak of a known assignment
    bound : lower bound on the peak of every assignment
    per : `value` and `bound` count parts of which a partition, or a record, has so many. It is 1
        unless a topic gets more partitions, as each of these is a part of one of today
    proof : the kind of proof if value and bound are equal (`certificate`, `exhaustion`,
        `solver`), else `none`; `as it is` for the peak of a given assignment
    """

    value: int
    bound: int
    per: int = 1
    proof: str = "certificate"

    @property
    def proved(self) -> bool:
        """Whether the value is proved to be the least."""
        return self.value == self.bound

    @property
    def amount(self) -> Fraction:
        """The value in partitions, or records, of today."""
        return Fraction(self.value, self.per)


@dataclass(frozen=True, eq=False)
class Change:
    """One thing to change, and what it gains.

    Attributes
    ----------
    kind : `rebalance` (another assignment to the same members), `isolate` (the same with loads
        that may be uneven, so that a hot partition is alone), `subscription` (a member reads one
        more topic), `assignor`, `members` (more of them), `partitions` (more of one topic), or
        `fewer members` with the same peak
    before : the peak without the change. For `rebalance` and `assignor` it is that of the current
        assignment, as for `isolate` unless a `rebalance` of fewer moves is advised; else it is the
        least of the present group. None if the current assignment is not valid
    after : the peak that the change allows; for an `assignor`, the one it reaches
    assignment : one with that peak, of the changed group
    assignor, members, topic, partitions, member : the assignor to use, the number of members then,
        the topic, its number of partitions then, the member; None if the kind needs none
    partitions_now : how many partitions that topic has now
    leaves : for `fewer members`, the members that leave
    restarts : how many members have to be restarted
    rolling_restarts : for `assignor`, how often each member is restarted at most; 0 if it assigns
        already, None if unknown
    mends : how many violations of the current assignment it removes
    not_reached : for `members`, (assignor, peak) of the assignors tried that leave more than
        `after`; the peak is None if an assignor makes no valid assignment
    """

    kind: Kind
    before: Peak | None
    after: Peak
    assignment: Assignment
    assignor: str | None = None
    members: int | None = None
    topic: str | None = None
    partitions_now: int | None = None
    partitions: int | None = None
    member: str | None = None
    leaves: tuple[str, ...] = ()
    restarts: int = 0
    rolling_restarts: int | None = None
    mends: int = 0
    not_reached: tuple[tuple[str, int | None], ...] = ()

    @property
    def moves(self) -> int:
        """How many partitions it moves away from an owner who could keep them."""
        return len(self.assignment.moved)

    @property
    def at_least(self) -> Fraction:
        """The proved gain: how much less the busiest member has then; 0 if not known."""
        if self.before is None:
            return Fraction(0)
        return Fraction(self.before.bound - self.after.value, self.after.per)

    @property
    def at_most(self) -> Fraction:
        """The greatest possible gain."""
        if self.before is None:
            return Fraction(0)
        return Fraction(self.before.value - self.after.bound, self.after.per)

    @property
    def share(self) -> Fraction:
        """The proved gain as a share of the peak before, 0..1; 1 if `before` is None."""
        if self.before is None:
            return Fraction(1)
        return self.at_least * self.after.per / max(1, self.before.bound)

    def to_dict(self) -> dict[str, object]:
        """Return the change as in the ``assay-advice/1`` document."""
        gain = {"at_least": int(self.at_least * self.after.per)}
        gain |= {"at_most": int(self.at_most * self.after.per), "per": self.after.per}
        return {
            **{name: getattr(self, name) for name in _OF_WHAT},
            "leaves": list(self.leaves),
            "before": None if self.before is None else asdict(self.before),
            "after": asdict(self.after),
            "gain": None if self.before is None else gain,
            **{name: getattr(self, name) for name in ("mends", "restarts", "rolling_restarts")},
            "not_reached": [{"assignor": name, "peak": peak} for name, peak in self.not_reached],
            "moves": self.assignment.moves,
        }


_OF_WHAT = ("kind", "assignor", "members", "topic", "partitions_now", "partitions", "member")


def least_share(lower: Lower) -> str:
    """Return the least gain that a change needs, in percent of the peak, as ``10%``."""
    return f"{100 // PARTS[lower]}%"


def least_gain(peak: int, lower: Lower) -> int:
    """Return the least gain that a change needs, in partitions or records."""
    return max(1, -(-peak // PARTS[lower]))


@dataclass(frozen=True)
class Tried:
    """The trial of an assignor on the group, and after one member joins or leaves.

    Attributes
    ----------
    status, reason : as in a score. There is also a reason if it makes no valid assignment after
        one of the joins and leaves; with a reason it is not advised
    peak : the peak that it reaches; None unless its assignment is valid
    least : whether no assignment with a lower peak is known
    moves : partitions that it moves away from an owner who could keep them
    kept : after how many of the joins and leaves tried it still had the least known peak
    tried : how many joins and leaves were tried
    """

    assignor: str
    status: str
    reason: str | None = None
    peak: int | None = None
    least: bool = False
    moves: int = 0
    kept: int = 0
    tried: int = 0


@dataclass(frozen=True)
class NoGain:
    """A kind of change of which none is known to lower the peak enough.

    Attributes
    ----------
    because : the reason, in a sentence
    proved : whether it is proved that no change of the kind does; else only some were tried
    """

    kind: Kind
    because: str
    proved: bool


@dataclass(frozen=True, eq=False)
class Advice(Framed):
    """What to change about a group, in order of effect.

    Attributes
    ----------
    group, captured_at : its name, and when it was captured
    lower : what to lower: `peak_load`, the partitions of the busiest member, or `peak_lag`, its
        records of lag
    members : number of members
    total : partitions, or records of lag, that the members share
    now : the current peak; None if no member holds a partition
    valid : whether the current assignment is valid; None if no member holds a partition
    violation : why it is not valid, in words
    judged : the verdict on the current assignment, as from `judge`
    best : the least peak of the present group; None if there are no members, nothing is known of
        who reads what, or nothing was found in time
    changes : the changes that surely lower the peak. Of those with at least four fifths of the
        greatest gain, the one that takes least comes first
    hot : a partition with at least half of the least peak lag; None if there is none
    same_peak : changes that keep the peak and save something
    no_gain : the kinds of change that do not lower the peak enough
    assignors : the trials of assignors, in the order given
    assigned_by : the assignor that the members' lists lead to, as in "range"; None if a list is
        unknown
    more_even : how many moves make loads more even, if none lowers the peak; None if none do
    question : a question whose answer decides more, as in "does c-2 read t1?"
    asks : the (member, topic) pairs of the question: does this member read this topic?
    condition : the assumptions on which all of the advice depends
    pods : how even loads are with each number of pods like the present ones; None if hosts are
        not pods of the same size
    new_members : what new members are assumed to read, in a sentence
    assumed : the group's own assumptions
    """

    group: str
    captured_at: str | None
    lower: Lower
    members: int
    total: int
    judged: Judged
    now: int | None = None
    valid: bool | None = None
    violation: str | None = None
    best: Peak | None = None
    changes: tuple[Change, ...] = ()
    hot: Hottest | None = None
    same_peak: tuple[Change, ...] = ()
    no_gain: tuple[NoGain, ...] = ()
    assignors: tuple[Tried, ...] = ()
    assigned_by: str | None = None
    more_even: int | None = None
    question: str | None = None
    asks: tuple[tuple[str, str], ...] = ()
    condition: str | None = None
    pods: Pods | None = None
    new_members: str = ""
    assumed: tuple[str, ...] = ()

    @property
    def share(self) -> Fraction:
        """The proved gain of the first change, as a share of the peak before; 0..1."""
        return self.changes[0].share if self.changes else Fraction(0)

    def to_rows(self) -> Iterator[dict[str, object]]:
        """Return one row for each change that lowers the peak, in order of effect.

        The columns are `kind`, `assignor`, `members`, `topic`, `partitions` and `member` as in
        `Change`; `before` and `after`, the peaks (partitions, or records of lag, by `lower`);
        `at_least` and `at_most`, the gain; `share`, the proved gain as a share of `before` (0..1);
        `moves` (partitions), and `restarts` (members). None if unknown or if the kind has none.
        """
        for change in self.changes:
            before = change.before
            row = {name: getattr(change, name) for name in _OF_WHAT if name != "partitions_now"}
            row["before"] = None if before is None else _number(before.amount)
            row["after"] = _number(change.after.amount)
            for name in ("at_least", "at_most"):
                row[name] = None if before is None else _number(getattr(change, name))
            row["share"] = None if before is None else float(change.share)
            yield row | {"moves": change.moves, "restarts": change.restarts}

    @property
    def in_a_line(self) -> str:
        """The group, the current peak and the best one, as a line."""
        best = "not known" if self.best is None else self.best.value
        now = "nobody holds anything" if self.now is None else f"{self.now} now"
        now = "not valid now" if self.valid is False else now
        return f"{self.group}: {self.lower}: {now}, at best {best}"

    def to_dict(self) -> dict[str, object]:
        """Return the ``assay-advice/1`` document."""
        return {
            "format": FORMAT,
            "group": self.group,
            "captured_at": self.captured_at,
            "lower": self.lower,
            "members_now": self.members,
            "total": self.total,
            "now": self.now,
            "valid": self.valid,
            "violation": self.violation,
            "best": None if self.best is None else asdict(self.best),
            "changes": [change.to_dict() for change in self.changes],
            "hot_partition": self.hot and self.hot._asdict(),
            "same_peak": [change.to_dict() for change in self.same_peak],
            "no_gain": [asdict(kind) for kind in self.no_gain],
            "verdict": self.judged.verdict.to_dict(self.judged.shown),
            "assignors": [asdict(trial) for trial in self.assignors],
            "assigned_by": self.assigned_by,
            "more_even": self.more_even,
            "question": self.question,
            "if": self.condition,
            "pods": None if self.pods is None else self.pods.to_dict(),
            "new_members": self.new_members,
            "assumed": list(self.assumed),
        }


def _number(value: Fraction) -> int | float:
    return int(value) if value.denominator == 1 else float(value)
