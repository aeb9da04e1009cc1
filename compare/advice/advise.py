"""Advise: the changes to a group that lower its peak, most effective first, with proved gains."""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import replace
from typing import TYPE_CHECKING

from compare.advice.advice import (
    AS_MANY,
    CHEAPEST_FIRST,
    PARTS,
    TO_LOWER,
    Advice,
    Change,
    Lower,
    NoGain,
    least_share,
)
from compare.advice.changes import Changes
from compare.advice.tried import not_reached, tried_assignors
from compare.advice.worlds import Worlds, least_peak, peak_of
from compare.judged import judge, judge_with_question
from compare.lag.behind import if_latest
from compare.lag.fall import delay
from compare.lag.lowest import hottest
from compare.remedy import name_of, spoken
from compare.sizes.pods import pods_of
from compare.verdict import ALL_ALIKE
from compare.what_if import reading, what_if
from groups.assignment import Assignment
from groups.errors import BadInput, require_one_of
from groups.needs import require_data
from groups.wording import duration
from heuristics.catalogue import usual_assignors
from heuristics.protocol import assigned_by
from heuristics.time_limit import TimeLimit
from optimal.time_left import TimeLeft

if TYPE_CHECKING:
    from collections.abc import Sequence

    from groups.group import Group
    from heuristics import AssignorFunction

# The most seconds that an assignor gets for a call.
CALL_SECONDS = 5.0


def call_seconds(time_limit: float | None) -> float:
    """Return the seconds that an assignor gets for a call, given the time limit for a group."""
    return min(CALL_SECONDS, time_limit or CALL_SECONDS)


def advise(
    group: Group,
    *,
    lower: Lower | None = None,
    assignors: Sequence[str | AssignorFunction] | None = None,
    like: str | None = None,
    assume_equal: bool = False,
    time_limit: float | None = 10.0,
    limit: TimeLimit | None = None,
) -> Advice:
    """Return what to change about a group so that its busiest member has less.

    The changes are another assignment, an assignor, more members, more partitions of a topic, and
    one more topic for a member, each with its proved gain. The greatest gain comes first; of
    changes with at least four fifths of it, the one that takes least.

    Parameters
    ----------
    lower : what to lower: ``"peak_load"``, the partitions of the busiest member, or
        ``"peak_lag"``, its records of lag; None: lag if all of it is known and there is some
    assignors : assignors to try; None: the usual ones (docs/reference/shipped-assignors.md);
        empty: none
    like : new members read what this member reads; None: every topic that has a reader
    assume_equal : take unknown subscriptions as all topics of the group; else the advice holds
        whatever members read
    time_limit : seconds for everything together except assignors, which get as many for each
        call, 5 at most
    limit : processes in which assignors run; None: new ones for this call

    Raises
    ------
    BadInput
        If the lag to lower is unknown, the group is of Kafka Streams, or a member or an assignor
        does not exist.

    Examples
    --------
    >>> from assay import Group, advise
    >>> document = {"format": "assay-group/1", "group": "orders", "topics": {"t0": 7}}
    >>> document["members"] = {
    ...     "c0": {"subscription": ["t0"], "owned": {"t0": [0, 1, 2, 3, 4]}},
    ...     "c1": {"subscription": ["t0"], "owned": {"t0": [5, 6]}},
    ... }
    >>> found = advise(Group.from_dict(document), assignors=())
    >>> found.now, found.best.value, found.best.proved
    (5, 4, True)
    >>> [(change.kind, str(change.at_least), change.moves) for change in found.changes]
    [('rebalance', '1', 1), ('members', '1', 2), ('partitions', '1/2', 1)]
    """
    if group.of_streams:
        raise BadInput(
            f"group {group.name!r} is of Kafka Streams, and advice is for consumers; assay score "
            "says how even its tasks are and what evens them out"
        )
    given = group
    if assume_equal:
        group = group.with_equal_subscriptions()
    worlds = Worlds.of(group)
    chosen = _chosen(worlds, lower)
    total = _total(worlds, chosen)
    (judged,) = judge([given], time_limit=time_limit, assume_equal=group is not given)
    start = Advice(
        group=group.name,
        captured_at=group.captured_at,
        lower=chosen,
        members=len(group.members),
        total=total,
        judged=judged,
        condition=_condition(worlds, chosen, alike=group is not given),
        assigned_by=assigned_by(group),
        assumed=group.assumed,
    )
    if not total or not group.members:
        return start
    if like is not None:
        what_if(worlds.most, members=len(group.members) + 1, like=like)
    time_left = TimeLeft.of(time_limit)
    share = time_left.share(3)
    now = Assignment.current(worlds.least) if len(group.claims.member) else None
    if now is not None:
        said = None if now.is_valid else str(now.violations[0])
        start = replace(start, now=peak_of(now, chosen), valid=now.is_valid, violation=said)
    best = least_peak(worlds, chosen, share)
    if best is None or (now is None and not worlds.known):
        return start
    peak_now = start.now
    if peak_now is not None and start.valid:
        # The current peak may be lower: its loads may be less even, or the time was too short.
        least = best.peak
        peak = replace(least, value=min(least.value, peak_now), bound=min(least.bound, peak_now))
        best = replace(best, peak=peak)
    # If the verdict depends on who reads what, so does the result of an assignor.
    asked = usual_assignors([group]) if assignors is None else assignors
    names = asked if worlds.known or judged.verdict.sure else ()
    pods = pods_of(worlds.most) if worlds.known else None
    start, pod = replace(start, pods=pods), 1 if pods is None else pods.threads
    changes = Changes(worlds, best, now, judged.plan, chosen, total, time_left, like, pod)
    with TimeLimit(call_seconds(time_limit)) if limit is None else nullcontext(limit) as calls:
        calls.warm_up(names)
        return _with_changes(start, group, changes, names, calls)


def _with_changes(
    start: Advice,
    group: Group,
    changes: Changes,
    names: Sequence[str | AssignorFunction],
    limit: TimeLimit,
) -> Advice:
    """Search each kind of change, and sort those that surely lower the peak.

    Parameters
    ----------
    names : assignors to try
    """
    worlds, best, now, lower = changes.worlds, changes.best, changes.now, changes.lower
    # The verdict's question comes first, also if lag is to be lowered.
    question, asks = start.judged.verdict.question, start.judged.asks
    is_open = question is None and not worlds.known
    if is_open and now is not None and peak_of(now, lower) > best.peak.bound:
        seconds = changes.time_left.share(2)
        further = judge_with_question(group, now, best.solution, best.lowest, seconds)
        question, asks = further.verdict.question, further.asks
    # An idle member may read every topic. Until that is known, so is no gain of more members.
    open_ = question is not None and now is not None and len(now.idle) > 0
    every, few = changes.rebalance()
    by_hand = _if_enough(every, changes)
    isolated = _if_enough(
        changes.isolated(by_hand if isinstance(by_hand, Change) else None), changes
    )
    reader = _if_enough(changes.one_more_reader(), changes)
    members = None if open_ else changes.more_members()
    partitions = _if_enough(changes.more_partitions(), changes)
    fewer, even = changes.fewer_members(), changes.more_even(by_hand)
    # Assignors come last, as their time is not part of the time limit for all else.
    trials, assignor = tried_assignors(changes, names, limit)
    if isinstance(members, Change):
        hung = {trial.assignor for trial in trials if trial.status != "scored"}
        others = [name for name in names if worlds.known and name_of(name) not in hung]
        members = replace(members, not_reached=not_reached(members, lower, others, limit))
    found = [by_hand, _if_enough(assignor, changes), few, isolated, reader, members, partitions]
    hot = hottest(best.assignment.group) if lower == "peak_lag" else None
    return replace(
        start,
        best=best.peak,
        changes=tuple(_most_effective_first([one for one in found if isinstance(one, Change)])),
        hot=None if hot is None or 2 * hot.records < best.peak.value else hot,
        same_peak=() if fewer is None else (fewer,),
        no_gain=tuple(one for one in found if isinstance(one, NoGain)),
        assignors=tuple(trials),
        more_even=even,
        question=question,
        asks=asks,
        new_members=reading(worlds.most, changes.like),
    )


def _most_effective_first(changes: Sequence[Change]) -> list[Change]:
    """Sort changes by effect and cost; those that make the assignment valid come first.

    Of the changes with at least four fifths of the greatest gain, the first is the one that takes
    least, by its kind and then by moves.
    """
    left, ordered = list(changes), []
    while left:
        most = max((one.mends > 0, one.at_least) for one in left)
        near = [one for one in left if (one.mends > 0, 5 * one.at_least) >= (most[0], 4 * most[1])]
        ordered.append(min(near, key=lambda one: (CHEAPEST_FIRST.index(one.kind), one.moves)))
        left.remove(ordered[-1])
    return ordered


def _if_enough(change: Change | NoGain | None, changes: Changes) -> Change | NoGain | None:
    """Return a change if it gains enough, else a `NoGain` with the reason.

    Lag has to fall by a tenth, and the last member may not catch up later, as for the moves of a
    verdict. The greatest load has to fall by 1% of itself, or by any amount if moves are enough
    for that.
    """
    if not isinstance(change, Change) or change.before is None:
        return change
    of_lag, before, then = changes.lower == "peak_lag", change.before, change.after.value
    by = f"With {spoken(change.assignor)} lag" if change.assignor else "Lag"
    later = delay(changes.now, change.assignment) if of_lag and changes.now is not None else None
    if later is not None:
        now, last = map(duration, later)
        other = "" if change.assignor else "; no assignment without that delay is known"
        because = (
            f"{by} falls to {then:,}, but the last member then catches up in {last}, not in "
            f"{now}{other}."
        )
        return NoGain(change.kind, because, proved=False)
    any_gain = not of_lag and change.kind == "rebalance"
    if any_gain or change.share * PARTS[changes.lower] >= 1:
        return change
    enough = least_share(changes.lower)
    if not of_lag:
        return NoGain(change.kind, f"Less than {enough} can be gained.", proved=False)
    because = (
        f"{by} falls from {before.value:,} to {then:,}, and less than {enough} is not advised."
    )
    least = min(change.after.bound, changes.best.peak.bound)
    gain = before.value - least
    proved = change.kind in AS_MANY and gain * PARTS[changes.lower] < before.value
    return NoGain(change.kind, because, proved=proved)


def _condition(worlds: Worlds, lower: Lower, *, alike: bool) -> str | None:
    """Return the assumptions on which all of the advice depends, None if there are none."""
    latest = if_latest(worlds.most).removeprefix("if ") if lower == "peak_lag" else None
    return " and ".join(filter(None, (ALL_ALIKE if alike else None, latest))) or None


def _chosen(worlds: Worlds, lower: Lower | None) -> Lower:
    """Return what to lower: lag, unless given, if all of it is known and there is some."""
    if lower is not None:
        require_one_of("lower", lower, TO_LOWER)
    if lower == "peak_load":
        return lower
    try:
        require_data(worlds.most, ("peak_lag",))
        require_data(worlds.least, ("peak_lag",))
    except BadInput:
        if lower is not None:
            raise
        return "peak_load"
    return lower or ("peak_lag" if _total(worlds, "peak_lag") else "peak_load")


def _total(worlds: Worlds, lower: Lower) -> int:
    """Return the partitions, or records of lag, that all members share."""
    group = worlds.most
    read = group.readers[group.topic] > 0
    if lower == "peak_load":
        return int(read.sum())
    return 0 if group.lag_records is None else int(group.lag_records[read].sum())
