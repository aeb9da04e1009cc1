"""Overview: many groups in one sentence, and one line of a table for each."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, TypeVar

from compare.history import Trend, history_of, sentences_of
from compare.judged import Judged, worst_first
from compare.lag.behind import behind, is_read, peak_lag
from compare.sentences import (
    BY_ASSIGNOR,
    NONE_BY_LAG,
    UNLESS,
    captures,
    mover,
    not_valid,
    records_waiting,
    spread,
    start_consumers,
    who_moves,
)
from compare.verdict import (
    BAD,
    DEPENDS,
    EVEN_LAGGING,
    GOOD,
    NO_MEMBERS,
    NOBODY_READS,
    NOT_PROVED,
    NOT_VALID,
    NOTHING_ASSIGNED,
    SHOWN,
    Says,
    Verdict,
    distance,
    may_rebalance,
    without_owner,
)
from groups.collection import latest_of
from groups.importers.seen import may_be_rebalancing, rebalancing
from groups.tiers import LAG_PEAKS
from groups.wording import (
    HIGHEST_SEEN,
    HOLDERS_ALONE,
    NO_MEMBER_SHOWN,
    OF_CONSUMERS,
    OF_STREAMS,
    Nouns,
    agreed,
    counted,
    few,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from compare.lag.fall import PeakFall
    from compare.lag.lowest import LowestPeak
    from groups.errors import Failure


# Groups with one of these verdicts, and those whose lag could fall, need attention.
URGENT: tuple[Says, ...] = (NOBODY_READS, *BAD, DEPENDS, NOT_PROVED)
# Verdicts that are no attributes, after a number of groups.
AFTER_NUMBER: Mapping[str, str] = {
    NOBODY_READS: "that nobody reads",
    NOTHING_ASSIGNED: "with nothing assigned yet",
    NO_MEMBERS: "without members",
}
# So many things to do fit the first screen of a phone.
MOST_TO_DO = 5
# What a source may leave out that could change a verdict: the words in `assumed`, and a remedy.
GUESSES = {
    HOLDERS_ALONE: "members that hold nothing: add kafka-consumer-groups --describe --members",
    NO_MEMBER_SHOWN: "whether a group without members is rebalancing: capture again with 2>&1",
    HIGHEST_SEEN: "how many partitions a topic has: add kafka-topics --describe",
}


# What tables show as the verdict of a group that is rebalancing.
REBALANCING = "rebalancing"
# And of one without a snapshot, if nothing else is known of it.
NOT_JUDGED = "not judged"


@dataclass(frozen=True)
class Glance:
    """A line of a table on one group.

    Attributes
    ----------
    partitions : number of partitions that have a reader; all if no member holds any
    now, best : loads as ``4-18``; None if there are none, or if the best is not known
    to_move : how many partitions move to the target; None if not known
    idle : number of members that hold nothing
    loads : of each member now, in the order of ids
    peak, then, lowest : lag in records of the member with most: now, after the moves, and the
        lowest possible; None if not known
    longest, longest_best : seconds until the last member has caught up, now and at that lowest
    lowest_proved : whether it is proved that no assignment as balanced has less
    fall : how far the lag of the busiest member could fall by a few moves; None if not worth it
    without_owner : number of partitions that have a reader but no owner
    has_tasks : whether its partitions are tasks of a Kafka Streams group
    may_rebalance : whether it may be rebalancing: its text shows no members
    wrong : what is wrong with its assignment if it is not valid; empty if not known
    """

    name: str
    captured_at: str | None
    members: int
    partitions: int
    verdict: Verdict
    now: str | None = None
    best: str | None = None
    to_move: int | None = None
    idle: int = 0
    loads: tuple[int, ...] = ()
    peak: int | None = None
    then: int | None = None
    lowest: int | None = None
    longest: int | None = None
    longest_best: int | None = None
    lowest_proved: bool = False
    fall: PeakFall | None = None
    without_owner: int = 0
    has_tasks: bool = False
    may_rebalance: bool = False
    wrong: str = ""

    @property
    def nouns(self) -> Nouns:
        """The words for its partitions and members."""
        return OF_STREAMS if self.has_tasks else OF_CONSUMERS

    @property
    def shown(self) -> str:
        """The verdict in a few words, as tables and headings show it."""
        return self.verdict.shown(self.fall, may_rebalance=self.may_rebalance)

    @property
    def moves(self) -> int | None:
        """Partitions to move: 0 if as good as can be, None if neither that nor improvable."""
        return distance(self.verdict.says, self.to_move)

    @property
    def advised_moves(self) -> int | None:
        """Partitions to move, or, if only lag could fall, the few moves for that."""
        return self.fall.moves if self.fall is not None and is_lagging(self) else self.moves

    @property
    def needs_attention(self) -> bool:
        """Whether there is something to do, or to find out."""
        return self.verdict.says in URGENT or is_lagging(self)

    @property
    def to_do(self) -> str:
        """What to do about the group, or its open question."""
        verdict, nouns = self.verdict, self.nouns
        if verdict.question:
            return verdict.question
        given = f", if {verdict.condition}" if verdict.condition else ""
        unless = f", {UNLESS}" if self.may_rebalance else ""
        if verdict.says == NOBODY_READS:
            return f"{start_consumers(verdict)}{unless}"
        if verdict.says == NOT_VALID:
            return self.wrong or self._without_owner()
        if verdict.is_improvable:
            by, moves = mover(on_lag=verdict.tier in LAG_PEAKS), self.to_move
            what = f"{nouns.partition}s" if moves is None else counted(moves, nouns.partition)
            return f"let {by} move {what}{given}"
        if verdict.says == NOT_PROVED:
            return "allow more time"
        if is_lagging(self) and self.fall is not None:
            moved = f"let {mover(on_lag=True)} move {counted(self.fall.moves, nouns.partition)}"
            falls = f"the lag of the busiest {nouns.member} falls {self.fall.from_to} records"
            return f"{moved}: {falls}{given}"
        if verdict.says == GOOD:
            return f"nothing{given}"
        if verdict.says == NOTHING_ASSIGNED:
            return "capture it again when it is stable"
        return f"nothing: there is nobody to assign to{unless}"

    def _without_owner(self) -> str:
        partition, member = self.nouns.partition, self.nouns.member
        if not self.without_owner:
            return f"put each {partition} with one {member} that reads it"
        unowned = counted(self.without_owner, partition)
        records = records_waiting(self.verdict.waiting, self.verdict.waiting_unknown)
        return f"{unowned} without an owner{records and f', where {records}'}"


G = TypeVar("G", bound=Glance)


@dataclass(frozen=True)
class Overview:
    """The number of groups with each verdict, and the worst groups.

    Attributes
    ----------
    captured, groups : number of snapshots, and of groups that they are of
    says : number of snapshots with each verdict; of a group with several, only the latest counts,
        and those without a time
    unjudged : number of these snapshots without a verdict, and the names of the first such groups
    needing : number of groups that need attention
    guessed : how many groups rely on each guess in `GUESSES`
    missed : for further groups, which have no snapshot, what tables show as their verdict
    worst : most urgent first; of a run not all, but at least the first ones of each verdict in
        `compare.fleet.facts.NAMED`
    changes : changes of groups over their snapshots, greatest first
    changed : number of groups with each kind of change
    lagging : number of these snapshots whose partitions are even but whose busiest member could
        have less lag; 0 if that was not examined
    """

    captured: int
    groups: int
    says: Mapping[str, int]
    needing: int = 0
    guessed: Mapping[str, int] = field(default_factory=dict)
    unjudged: tuple[int, Sequence[str]] = (0, ())
    missed: Mapping[str, str] = field(default_factory=dict)
    worst: Sequence[Glance] = ()
    changes: Sequence[Trend] = ()
    changed: Mapping[str, int] = field(default_factory=dict)
    lagging: int = 0

    @property
    def not_judged(self) -> list[str]:
        """Names of groups without a snapshot that are not known to be rebalancing."""
        return [name for name, shown in self.missed.items() if shown != REBALANCING]

    @property
    def rebalancing(self) -> list[str]:
        """Names of groups without an assignment because they are rebalancing."""
        return [name for name, shown in self.missed.items() if shown == REBALANCING]

    @property
    def now(self) -> int:
        """Number of snapshots that count: the latest of each group."""
        return sum(self.says.values()) + self.unjudged[0]

    @property
    def every(self) -> int:
        """Number of groups, with those that were not judged or are rebalancing."""
        return self.groups + len(self.missed)

    @property
    def without_verdict(self) -> tuple[int, list[str]]:
        """Number of groups without a verdict, and the names of the first ones."""
        return self.unjudged[0] + len(self.not_judged), [*self.unjudged[1], *self.not_judged]

    def with_missed(self, missed: Mapping[str, str]) -> Overview:
        """Return the overview with groups that have no snapshot, given the reason of each."""
        shown = {
            name: REBALANCING
            if why == rebalancing(name)
            else "may be rebalancing"
            if why == may_be_rebalancing(name)
            else NOT_JUDGED
            for name, why in sorted(missed.items())
        }
        return replace(self, missed=shown)

    def history(self) -> list[str]:
        """Return sentences on the changes of groups over their snapshots."""
        return sentences_of(self.changes, self.changed)

    def headline(self) -> str:
        """Return the number of groups with each verdict, worst first, in one sentence."""
        of = captures(self.now + self.every - self.groups, self.every)
        if self.now < self.captured:
            its = "its latest capture" if self.every == 1 else "their latest captures"
            of = f"{of}, judged by {its}"
        found = [_numbered(says, count) for says, count in self.tallies()]
        moving = len(self.rebalancing), self.rebalancing
        for says, (many, names) in ((REBALANCING, moving), (NOT_JUDGED, self.without_verdict)):
            found += [f"{many:,} {says} ({few(names, many)})"] * bool(many)
        return f"{of}: {'; '.join(found)}." if found else f"{of}."

    def attention(self) -> tuple[list[Glance], int]:
        """Return the first groups that need attention, and how many more there are."""
        shown = attention_of(self.worst)[:MOST_TO_DO]
        return shown, self.needing - len(shown)

    def tallies(self) -> tuple[tuple[str, int], ...]:
        """Return the number of groups with each verdict as tables show it, worst first."""
        found = {**self.says, EVEN_LAGGING: self.lagging}
        found[GOOD] = self.says.get(GOOD, 0) - self.lagging
        return tuple((says, found[says]) for says in SHOWN if found.get(says))

    def who_moves(self) -> str:
        """Return the sentence on who makes the moves; empty if there are none."""
        tiers = {one.verdict.tier for one in self.worst if one.verdict.is_improvable}
        on_lag = {*LAG_PEAKS}
        makers = [BY_ASSIGNOR] if tiers - on_lag else []
        if self.lagging or tiers & on_lag:
            makers.append(f"for lag, {NONE_BY_LAG}" if makers else NONE_BY_LAG)
        return f"{who_moves('; '.join(makers))}." if makers else ""


def _numbered(says: str, many: int) -> str:
    """Return how many groups have a verdict, in words that follow a number."""
    if says == DEPENDS:
        return f"{many:,} that {agreed(many, 'depend')} on who reads what"
    return f"{many:,} {AFTER_NUMBER.get(says, says)}"


def attention_of(glances: Sequence[G]) -> list[G]:
    """Return the lines of groups that need attention, one of each group.

    Captures of a group without a time all count; only the first of them is returned.
    """
    first: dict[str, G] = {}
    for one in glances:
        if one.needs_attention:
            first.setdefault(one.name, one)
    return [*first.values()]


def overview_of(
    judged: Sequence[Judged],
    lowest: Sequence[LowestPeak | None] = (),
    failed: Iterable[Failure] = (),
) -> Overview:
    """Return the overview of judged groups, with a line for each.

    `compare.fleet.facts` counts the same by columns; the terminal needs no Arrow.

    Parameters
    ----------
    lowest : (groups,) the lowest peak lag of each, or empty if there was no search for it
    failed : inputs that could not be judged
    """
    counting = {*latest_of([one.group for one in judged])}
    changes = history_of(judged) if len(counting) < len(judged) else []
    peaks = lowest or [None] * len(judged)
    worst = [glance_of(judged[i], peaks[i]) for i in worst_now(judged)]
    now = [one for at, one in enumerate(judged) if at in counting]
    known = {one.group.name for one in judged}
    missed = {one.group: one.reason for one in failed if one.group and one.group not in known}
    overview = Overview(
        captured=len(judged),
        groups=len(known),
        says=Counter(one.verdict.says for one in now),
        needing=len(attention_of(worst)),
        guessed=guessed_in([one.group.assumed for one in now]),
        worst=worst,
        changes=changes,
        changed=Counter(one.what for one in changes),
        lagging=sum(map(is_lagging, worst)),
    )
    return overview.with_missed(missed)


def is_lagging(glance: Glance) -> bool:
    """Return whether partitions are as even as can be but the busiest member's lag could fall."""
    return glance.verdict.shown(glance.fall) == EVEN_LAGGING


def worst_now(judged: Sequence[Judged]) -> list[int]:
    """Return the indices of the judged groups that count, most urgent first."""
    counting = {*latest_of([one.group for one in judged])}
    return [at for at in worst_first(judged) if at in counting]


def guessed_in(assumed: Sequence[Sequence[str]]) -> dict[str, int]:
    """Return how many groups rely on each guess in `GUESSES`, given what each assumes."""
    return {
        guess: sum(any(guess in line for line in lines) for lines in assumed) for guess in GUESSES
    }


def glance_of(judged: Judged, lowest: LowestPeak | None = None) -> Glance:
    """Return the line of a judged group."""
    verdict, group, target = judged.verdict, judged.group, judged.target
    is_solved, now = judged.best is not None, behind(judged.now)
    # Not comparable: partitions that have no owner now have one at the lowest peak.
    lowest = None if verdict.says == NOT_VALID else lowest
    least = None if lowest is None else behind(lowest.assignment)
    # If members have different rates, the lowest peak need not be the shortest time.
    same_rates = least is not None and len(set(least.rates)) <= 1
    return Glance(
        name=group.name,
        captured_at=group.captured_at,
        members=len(group.members),
        partitions=int(is_read(group).sum()) if is_solved else group.n_partitions,
        verdict=verdict,
        now=spread(judged.now.loads) if is_solved else None,
        best=None if target is None or verdict.question else spread(target.loads),
        to_move=judged.to_move,
        idle=len(judged.now.idle) if is_solved else 0,
        loads=tuple(judged.now.loads.tolist()) if is_solved else (),
        peak=None if now is None else now.peak,
        then=None if judged.plan is None else peak_lag(judged.plan),
        lowest=None if lowest is None else lowest.records,
        longest=None if now is None else now.longest,
        longest_best=least.longest if least is not None and same_rates else None,
        lowest_proved=lowest is not None and lowest.proved,
        fall=None if judged.fall is None else judged.fall.in_numbers,
        without_owner=without_owner(judged.now) if is_solved else 0,
        has_tasks=group.streams is not None,
        may_rebalance=may_rebalance(group.assumed),
        wrong=not_valid(judged.now) if verdict.says == NOT_VALID else "",
    )
