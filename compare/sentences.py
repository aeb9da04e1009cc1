"""Sentences: verdicts in words, for both the terminal and the page."""

from __future__ import annotations

from typing import TYPE_CHECKING, get_args

import numpy as np

from compare.lag.behind import (
    if_latest,
    lag_unknown,
    of_unknown_lag,
    peak_lag,
    waiting_without_owner,
)
from compare.verdict import (
    ALL_ALIKE,
    GOOD,
    NO_MEMBERS,
    NOBODY_READS,
    NOT_PROVED,
    NOT_VALID,
    NOTHING_ASSIGNED,
    Verdict,
    may_rebalance,
    without_owner,
)
from groups.assignment import Assignment, ViolationKind
from groups.tiers import LAG_PEAKS, called, in_words
from groups.unknown import reading_least
from groups.wording import ON_THE_WAY, agreed, counted, few, listed

if TYPE_CHECKING:
    from collections.abc import Sequence

    from compare.judged import Judged
    from groups import Group, Violation
    from groups.arrays import Int64

UNLESS = "unless it is rebalancing: capture again with 2>&1"
NO_ASSIGNOR_EVENS_HOSTS = (
    "No assignor of Kafka's or ours makes it: they know no hosts. What helps: "
    "docs/how-to/even-out-pods.md#what-makes-it-even."
)
# Who can make moves: any assignor, or one that looks at lag.
AN_ASSIGNOR, LAG_AWARE = "an assignor", "an assignor that looks at lag"
BY_ASSIGNOR = f"{AN_ASSIGNOR}, at a rebalance"
OF_TASKS_PAGE = "docs/how-to/judge-a-streams-application.md"
BY_TASKS = f"the assignor of tasks, at a rebalance; what it would do: {OF_TASKS_PAGE}#score"
# In the classic protocol, what members tell each other of tasks is not known.
BY_CLASSIC_TASKS = (
    "the assignor of tasks, at a rebalance; partitions of one task move together, so the moves "
    f"are a hint. What helps: {OF_TASKS_PAGE}#what-helps"
)
EACH_A_TASK = "each partition is a task of its own"
NONE_BY_LAG = "no assignor of Kafka's, as none looks at lag"
BALANCE = "balance: the sum over all pairs of members of the difference of their loads (KIP-54)"
BALANCED = (
    "balanced: no single partition could move and make loads more even (KIP-54); several may"
)


AT_LEAST = "at least "


def _upper(text: str) -> str:
    return f"{text[:1].upper()}{text[1:]}"


def mover(*, on_lag: bool) -> str:
    """Return who can make the moves: an assignor, or one that looks at lag if `on_lag`."""
    return LAG_AWARE if on_lag else AN_ASSIGNOR


def who_moves(who: str) -> str:
    """Return the sentence on who makes the moves: Kafka has no command that moves partitions."""
    return f"Who makes the moves: {who}"


def by_rebalance(group: Group) -> str:
    """Return the sentence that the group's own assignor makes the moves."""
    if not group.of_streams:
        return f"{who_moves(BY_ASSIGNOR)}."
    return f"{who_moves(BY_CLASSIC_TASKS if group.streams is None else BY_TASKS)}."


def rests_on(group: Group, condition: str | None = None) -> str:
    """Return what a statement on a group's optimum rests on, as what follows "if"; or nothing.

    Parameters
    ----------
    condition : as in `compare.verdict.Verdict`
    """
    # Threads of the classic protocol tell each other, and nobody else, which tasks there are.
    tasks = EACH_A_TASK if group.of_streams and group.streams is None else None
    return listed([*filter(None, (condition, tasks))])


def not_valid(now: Assignment) -> str:
    """Return why an assignment is not valid: partitions without an owner first, then the rest.

    Partitions without an owner are counted, with the records that wait there, as far as their lag
    is known. For every other kind of violation the text gives the first one and the number of
    others.
    """
    by_kind: dict[str, list[Violation]] = {}
    for one in now.violations:
        by_kind.setdefault(one.kind, []).append(one)
    reasons = []
    if unowned := by_kind.pop("unassigned", None):
        owners = f"{agreed(len(unowned), 'have')} no owner"
        named = few([now.group.nouns.one(one.topic, one.partition) for one in unowned])
        waiting = records_waiting(*waiting_without_owner(now))
        waiting = waiting and f"; {waiting} there"
        what = counted(len(unowned), now.group.nouns.partition)
        reasons.append(f"{what} {owners}: {named}{waiting}")
    for kind in get_args(ViolationKind):
        if wrong := by_kind.get(kind):
            more = f", and {len(wrong) - 1:,} more like that" if len(wrong) > 1 else ""
            reasons.append(f"{_wrong(wrong[0], now)}{more}")
    return ". Also ".join(reasons)


def not_valid_sentence(now: Assignment) -> str:
    """Return the sentence that says why the current assignment is not valid.

    Empty if it is valid, or if no member holds a partition.
    """
    if now.is_valid or not len(now.holdings[0]):
        return ""
    return f"{now.group.name}: what the members hold is not valid: {not_valid(now)}."


def _wrong(violation: Violation, now: Assignment) -> str:
    """Return a violation in words."""
    group, topic = now.group, violation.topic
    with_whom = f"{group.nouns.one(topic, violation.partition)} is with {violation.member}"
    if violation.kind == "unsubscribed":
        return f"{with_whom}, which does not read {topic}"
    if topic not in group.topics:
        return f"{with_whom}, and there is no topic {topic}"
    t = group.topics.index(topic)
    if violation.kind == "no-such-partition":
        return f"{with_whom}, and {topic} has {counted(int(group.partitions[t]), 'partition')}"
    owner = now.owner[np.flatnonzero(group.topic == t)[violation.partition]]
    return f"{with_whom} and with {group.members[owner]}"


def sentence(judged: Judged) -> str:
    """Return one or two sentences on a group: its verdict, and what to do."""
    said, on_the_way = _sentence(judged), on_the_way_sentence(judged.group)
    if not on_the_way:
        return said
    said = said.removeprefix(f"{judged.group.name}: ")
    return f"{on_the_way} {_upper(said)}"


def on_the_way_sentence(group: Group) -> str:
    """Return that a group is judged by the end of its rebalance; empty if it is stable."""
    lines = [line for line in group.assumed if line.startswith(ON_THE_WAY)]
    return f"{group.name}: {lines[0]}." if lines else ""


def _sentence(judged: Judged) -> str:
    verdict, name = judged.verdict, judged.group.name
    waiting = _waiting(verdict)
    unless = f", {UNLESS}, which tells" if may_rebalance(judged.group.assumed) else ""
    if verdict.says == NOBODY_READS:
        return (
            f"{name}: {judged.shown}. The group has no members{unless}. {_waits(judged)} Start "
            "its consumers; one that calls assign() is no member and is not seen here."
        )
    if verdict.says == NO_MEMBERS:
        unknown = lag_unknown(of_unknown_lag(judged.group))
        return f"{name}: no members, so there is nothing to assign{unless}.{unknown}"
    nouns = judged.group.nouns
    members = counted(len(judged.group.members), nouns.member)
    if verdict.says == NOTHING_ASSIGNED:
        return (
            f"{name}: nothing assigned yet to its {members}.{waiting and f' {_upper(waiting)}.'}"
        )
    if verdict.says == NOT_VALID:
        if not without_owner(judged.now):
            return f"{name}: not valid. {not_valid(judged.now)}."
        return (
            f"{name}: {not_valid(judged.now)}. Capture again: a rebalance may be under way. If it "
            "stays so, nobody reads them."
        )
    fall, given = judged.fall, f", if {verdict.condition}" if verdict.condition else ""
    if verdict.says == GOOD:
        if fall is None:
            asked = "" if judged.best is None else f" in {in_words(judged.best.objective)}"
            return f"{name}: {GOOD}{asked}{given}. {_holds(judged)}."
        return (
            f"{name}: {nouns.partition}s are as even as can be{given}; the lag of the busiest "
            f"{nouns.member} could fall {fall.sentence(nouns.partition)}. {_holds(judged)}."
        )
    if verdict.is_improvable:
        busiest = f"The lag of the busiest {nouns.member}"
        lag = f" {busiest} falls {fall.from_to} with just these moves." if fall else ""
        more = f" {question}" if (question := further(judged)) else ""
        return f"{name}: {_improvable(judged)}{lag}{more}"
    lag = f"The lag of the busiest {nouns.member} could fall"
    lag = "" if fall is None else f" {lag} {fall.sentence(nouns.partition)}."
    if verdict.says == NOT_PROVED:
        lead = "not proved in the time given, so a better assignment may exist."
    else:
        lead = f"depends on who reads what: {verdict.question} {if_so(judged)}"
    return f"{name}: {lead} {_holds(judged)}.{lag}"


def if_so(judged: Judged) -> str:
    """Return what can improve if the answer to the verdict's question is yes."""
    tier = judged.verdict.tier or "balance"
    if tier == "balance":
        return "If so, partitions can be more even."
    if tier in LAG_PEAKS:
        return "If so, the busiest member can have less lag."
    return f"If so, {called(tier)} can be less."


def further(judged: Judged) -> str:
    """Return the question that decides how far a group can improve, as a sentence.

    Empty if that is known, or if no question was found in the time given.
    """
    if judged.further_question is None:
        return ""
    return f"How good it can be depends on who reads what: {judged.further_question}"


def _holds(judged: Judged) -> str:
    """Return how many partitions each member holds now, and how many hold none."""
    nouns = judged.group.nouns
    partitions = counted(int((judged.now.owner >= 0).sum()), nouns.partition)
    members, idle = len(judged.group.members), len(judged.now.idle)
    if members == 1:
        return f"1 {nouns.member} holds {partitions}"
    none = f"; {idle:,} {agreed(idle, 'hold')} none" if idle else ""
    return (
        f"{members:,} {nouns.member}s hold {spread(judged.now.loads)} each of {partitions}{none}"
    )


def records_waiting(records: int | None, unknown: int = 0) -> str:
    """Return ``1,328 records wait``; empty if none waits or the number is unknown.

    Parameters
    ----------
    unknown : in how many further partitions an unknown number waits
    """
    least = AT_LEAST if unknown else ""
    return f"{least}{counted(records, 'record')} {agreed(records, 'wait')}" if records else ""


def _waiting(verdict: Verdict) -> str:
    return records_waiting(verdict.waiting, verdict.waiting_unknown)


def _waits(judged: Judged) -> str:
    """Return how many records wait in a group without members, and what that number assumes."""
    given, verdict = if_latest(judged.group), judged.verdict
    waiting = _upper(_waiting(verdict))
    return f"{waiting}{given and f', {given}'}.{lag_unknown(verdict.waiting_unknown)}"


def start_consumers(verdict: Verdict) -> str:
    """Return what to do about a group that nobody reads, in a few words."""
    return f"start its consumers: {_waiting(verdict)}"


def spread(loads: Int64 | Sequence[int]) -> str:
    """Return loads as ``4-18``, or ``10`` if all are equal; a dash if there are none."""
    if not len(loads):
        return "-"
    least, most = int(min(loads)), int(max(loads))
    return str(least) if least == most else f"{least}-{most}"


def hosts_sentence(judged: Judged, command: str | None) -> str | None:
    """Return a text on the fullest and emptiest host; None if hosts cannot be more even.

    Parameters
    ----------
    command : the command that prints the group's assignment with even hosts; None if not known
    """
    if (hosts := judged.uneven_hosts) is None:
        return None
    (many, most, of_many), (fewest, least, of_few) = hosts.fullest, hosts.emptiest
    nouns, could = judged.group.nouns, spread(hosts.could)
    could = could if "-" in could else f"{could} each"
    uneven = (
        f"{nouns.hosts.capitalize()} are uneven: {many} has {most:,} for "
        f"{counted(of_many, nouns.member)}, {fewest} {least:,} for "
        f"{counted(of_few, nouns.member)}. With loads as even they could have {could}."
    )
    written = f"{command} prints that assignment." if command else ""
    # Assignors of Kafka Streams know the processes of their threads.
    return " ".join(
        filter(None, (uneven, written, "" if judged.group.of_streams else NO_ASSIGNOR_EVENS_HOSTS))
    )


def uneven_hosts_in_short(judged: Judged) -> str:
    """Return the fullest and emptiest host in short; empty if hosts cannot be more even."""
    if (hosts := judged.uneven_hosts) is None:
        return ""
    (many, most, _), (fewest, least, _) = hosts.fullest, hosts.emptiest
    return f"{judged.group.nouns.hosts} are uneven: {many} {most:,}, {fewest} {least:,}"


def captures(captured: int, groups: int) -> str:
    """Return ``3 groups``, or ``4 captures of 3 groups`` where a group was captured twice."""
    of_groups = counted(groups, "group")
    return of_groups if captured == groups else f"{captured:,} captures of {of_groups}"


def _improvable(judged: Judged) -> str:
    verdict, target = judged.verdict, judged.target
    given = rests_on(judged.group, verdict.condition)
    anyhow = "" if judged.group.subscription_known.all() else ", whoever reads what"
    surely = f" if {given}" if given else anyhow
    if target is None:
        return f"{verdict.says}{surely}."
    partitions = counted(int((judged.now.owner >= 0).sum()), judged.group.nouns.partition)
    moving = f"moving {len(target.moved):,} of {partitions}"
    moving = f"{_if_alike(judged, target)}{moving}"
    moving = _upper(moving)
    if verdict.tier != "balance":
        by = "" if verdict.at_least is None else f" by {verdict.at_least:,}"
        return f"{verdict.says}{surely}. {moving} lowers {verdict.tier}{by}."
    now = judged.now.loads
    gives = "gives everyone" if target.loads.min() else "makes loads of"
    lag = ""
    if judged.best is not None and {*LAG_PEAKS} & {*judged.best.objective}:
        before, after = peak_lag(judged.now), peak_lag(target)
        lag = f" and takes the lag of the busiest {judged.group.nouns.member} "
        lag = f"{lag}from {before:,} to {after:,}"
    when = "after the rebalance" if on_the_way_sentence(judged.group) else "now"
    return (
        f"{verdict.says}{surely}. {moving} {gives} {spread(target.loads)}{lag}; {when} "
        f"{_holding(judged.now, now.max())} and {_holding(judged.now, now.min())}."
    )


def _if_alike(judged: Judged, target: Assignment) -> str:
    """Return ``if ..., `` for a target that relies on unknown subscriptions, else nothing."""
    group = judged.group
    if judged.verdict.condition or group.subscription_known.all():
        return ""
    anyhow = Assignment(reading_least(group), target.owner).is_valid
    return "" if anyhow else f"if {ALL_ALIKE}, "


def _holding(now: Assignment, load: int) -> str:
    """Return ``a holds 4``, or ``a and 2 more hold 4`` where several do."""
    those = [now.group.called[m] for m in np.flatnonzero(now.loads == load)]
    return f"{few(those[:1], len(those))} {agreed(len(those), 'hold')} {load:,}"
