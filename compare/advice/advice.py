"""Advice: what to change about a group, what each change gains, and what gains nothing."""

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
# Of changes that gain about the same, the one that takes least comes first.
CHEAPEST_FIRST: tuple[Kind, ...] = get_args(Kind)
# Changes that take no more members or partitions, and no other subscription.
AS_MANY: tuple[Kind, ...] = ("rebalance", "isolate", "assignor")
# Of less than one part in so many of the peak only moves that lower partitions are advised.
PARTS: dict[Lower, int] = {"peak_load": 100, "peak_lag": WORTH}


@dataclass(frozen=True)
class Peak:
    """What is known of the least that the busiest member can have.

    Attributes
    ----------
    value : some assignment has it
    bound : no assignment has less
    per : of how many parts of a partition, or of a record, these are the number; 1 where nothing
        is divided. Where a topic gets more partitions, each of them is a part of one of today
    proof : of the value, or where that is more than the bound, of none: `certificate`,
        `exhaustion`, `solver`, `none`; `as it is` of an assignment that is there
    """

    value: int
    bound: int
    per: int = 1
    proof: str = "certificate"

    @property
    def proved(self) -> bool:
        """Whether it is the least that there can be."""
        return self.value == self.bound

    @property
    def amount(self) -> Fraction:
        """The value in partitions, or records, of today."""
        return Fraction(self.value, self.per)

    def in_parts(self, per: int) -> Peak:
        """Return the same in another part, of which there are a multiple as many."""
        times = per // self.per
        return Peak(self.value * times, self.bound * times, per, self.proof)


@dataclass(frozen=True, eq=False)
class Change:
    """One thing to change, and what it gains.

    Attributes
    ----------
    kind : `rebalance` (other partitions for the same members), `isolate` (likewise, with loads
        that may be uneven, so that a hot partition is alone), `subscription` (one member reads one
        topic more), `assignor`, `members` (more of them), `partitions` (more of one topic), or
        `fewer members` for the same peak
    before : the peak without it: of `rebalance` and `assignor` what the members hold now, and of
        `isolate` where no `rebalance` of fewer moves is advised; else the least that the group as
        it is can have. None where what is there now is not valid
    after : the peak that the change allows, and for an `assignor` the one it leaves
    assignment : one with that peak, of the group as it is then
    assignor, members, topic, partitions, member : what to use, how many then, which, how many
        then, who; None where the kind is not about that
    partitions_now : how many that topic has now
    leaves : of `fewer members`, who leaves
    restarts : members that have to be restarted
    rolling_restarts : of `assignor`, how often each at the most; 0 where it assigns already, None
        where that is not known
    mends : reasons why what is there now is not valid, which it removes
    not_reached : of `members`, the assignors tried that leave more than `after`, and how much;
        None of those that make no valid assignment of it
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
        """How many partitions it takes from an owner who could keep them."""
        return len(self.assignment.moved)

    @property
    def at_least(self) -> Fraction:
        """What is proved that the busiest member has less then; 0 where that is not known."""
        if self.before is None:
            return Fraction(0)
        return Fraction(self.before.bound - self.after.value, self.after.per)

    @property
    def at_most(self) -> Fraction:
        """What the busiest member has less then, at the very most."""
        if self.before is None:
            return Fraction(0)
        return Fraction(self.before.value - self.after.bound, self.after.per)

    @property
    def share(self) -> Fraction:
        """The proved gain as a share of the peak before, 0..1; 1 where that is not valid."""
        if self.before is None:
            return Fraction(1)
        return self.at_least * self.after.per / max(1, self.before.bound)

    def to_dict(self) -> dict[str, object]:
        """Return the change as it stands in the ``assay-advice/1`` document."""
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
    """Return the least gain in percent of the peak, as ``10%``."""
    return f"{100 // PARTS[lower]}%"


def least_gain(peak: int, lower: Lower) -> int:
    """Return the least gain for which more than moves is advised."""
    return max(1, -(-peak // PARTS[lower]))


@dataclass(frozen=True)
class Tried:
    """What an assignor does with the group, and after one member more or less.

    Attributes
    ----------
    status, reason : as of a score: `scored`, or why not; a reason also where it makes no valid
        assignment after one of the joins and leaves. With a reason it is not advised
    peak : what it gives the busiest member; None unless it is valid
    least : whether no assignment is known that has less
    moves : partitions that it takes from an owner who could keep them
    kept : after how many of the joins and leaves tried it is still at the least that is known
    tried : how many were tried: one member joins, and each of some leaves
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
    because : why, in a sentence
    proved : whether none of its kind does; else some were tried
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
    lower : the number that decides: `peak_load`, partitions of the busiest member, or
        `peak_lag`, records
    members, total : how many there are; partitions, or records of lag, that they share
    now : what the busiest has now; None where nobody holds anything
    valid : whether what they hold now is valid; None where nobody holds anything
    violation : why not, in words
    judged : the verdict on what members hold, as `assay score` has it
    best : the least that the group as it is can have; None where there are no members, nothing
        is known of who reads what, or nothing was found in time
    changes : what lowers the peak for sure. Of those that gain most, or at least four fifths of
        that, the one that takes least comes first
    hot : a partition that has half of the busiest member's lag or more, as (topic, partition,
        records); None where there is none
    same_peak : what keeps the peak and saves something
    no_gain : the kinds of change that do not lower it, or not enough
    assignors : what those tried do, in the order asked for
    assigned_by : the assignor that the members end up with by what they list, as in "range"; None
        where not all of them tell
    more_even : moves that make loads more even, where none lowers the peak; None where none do
    question : what would decide more, as in "does c-2 read t1?"
    asks : (member, topic) pairs of which it asks whether the one reads the other
    condition : what was assumed for all of it
    pods : how even it is with each number of pods like those on which the members stand; None
        where hosts are not pods that are alike
    new_members : what new members are taken to read, in a sentence
    assumed : of the group
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
        """Return a row a change that lowers the peak, in order of effect.

        The columns are `kind`, `assignor`, `members`, `topic`, `partitions` and `member`, as a
        `Change` has them; `before` and `after`, what the busiest member has (partitions, or
        records of lag, as `lower` says); `at_least` and `at_most`, by how much that is less;
        `share`, the proved gain as a share of `before` (0..1); `moves` (partitions), and
        `restarts` (members). None where one is not known or the kind is not about it.
        """
        for change in self.changes:
            before = change.before
            told = {name: getattr(change, name) for name in _OF_WHAT if name != "partitions_now"}
            told["before"] = None if before is None else _number(before.amount)
            told["after"] = _number(change.after.amount)
            for name in ("at_least", "at_most"):
                told[name] = None if before is None else _number(getattr(change, name))
            told["share"] = None if before is None else float(change.share)
            yield told | {"moves": change.moves, "restarts": change.restarts}

    @property
    def in_a_line(self) -> str:
        """What the busiest member has now, and at best."""
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
