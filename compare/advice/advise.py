"""Advise: what to change about a group, in order of effect, each with its proved gain."""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from compare.advice.advice import (
    CHEAPEST_FIRST,
    PARTS,
    TO_LOWER,
    Advice,
    Change,
    NoGain,
    Peak,
)
from compare.advice.changed import with_members
from compare.advice.members import fewer_members, more_members
from compare.advice.readers import one_more_reader
from compare.advice.topics import more_partitions
from compare.advice.tried import advisable, better_assignor, name_of, not_reached, tried_assignors
from compare.advice.worlds import TIERS_OF, Worlds, least_peak, peak_of, with_few_moves
from compare.deployed import spoken, tried_by_default
from compare.judged import judge, question_of
from compare.lag.condition import if_latest
from compare.lag.fall import Fall, fall_by_few_moves
from compare.lag.lowest import hottest
from compare.sentences import assigned_by
from compare.sizes.resized import reading
from compare.verdict import ALL_ALIKE
from groups.assignment import Assignment
from groups.errors import BadInput
from groups.needs import require_data
from groups.tiers import MOVES, values
from groups.wording import counted
from heuristics.time_limit import TimeLimit
from optimal.solve import solve
from optimal.time_left import TimeLeft

if TYPE_CHECKING:
    from collections.abc import Sequence

    from compare.advice.advice import Lower, Tried
    from compare.advice.worlds import Best
    from compare.judged import Judged
    from groups.group import Group
    from heuristics import AssignorFunction

# Seconds that an assignor gets for a call, at most.
CALL_SECONDS = 5.0


def call_seconds(time_limit: float | None) -> float:
    """Return the seconds that an assignor gets for a call, of those for a group."""
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

    Other partitions for the same members, an assignor, more members, more partitions of a topic,
    one more topic for one member: each with what it gains for sure, the greatest gain first.

    Parameters
    ----------
    lower : the number that decides: ``"peak_load"``, partitions on the busiest member, or
        ``"peak_lag"``, records; None: lag where all of it is known and there is some
    assignors : those that are tried; None: `range`, `roundrobin`, and Kafka's `sticky`,
        `cooperative-sticky` and `uniform`; the rules as written of `kip-429-cooperative` and
        `kip-54-sticky` where no class of Kafka's can be called here; nothing: none
    like : new members read what this one reads; None: every topic that somebody reads
    assume_equal : take unknown subscriptions as all topics of the group. Else what is said holds
        whoever reads what
    time_limit : seconds for everything together but the assignors, which get as many for each
        call, 5 at most
    limit : processes in which assignors run; None: those of this call

    Raises
    ------
    BadInput
        Where the lag that is to be lowered is not known, or there is no such member or assignor.

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
    given = group
    if assume_equal:
        group = group.with_equal_subscriptions()
    worlds = Worlds.of(group)
    chosen = _chosen(worlds, lower)
    total = _total(worlds, chosen)
    start = Advice(
        group=group.name,
        captured_at=group.captured_at,
        lower=chosen,
        members=len(group.members),
        total=total,
        now=None,
        valid=None,
        violation=None,
        best=None,
        judged=_judged(given, time_limit, alike=group is not given),
        condition=_condition(worlds, chosen, alike=group is not given),
        assigned_by=assigned_by(group),
        assumed=group.assumed,
    )
    if not total or not group.members:
        return start
    if like is not None:
        with_members(worlds.most, len(group.members) + 1, like)
    time_left = TimeLeft.of(time_limit)
    share = time_left.share(3)
    now = Assignment.current(worlds.least) if len(group.claims.member) else None
    if now is not None:
        said = None if now.is_valid else str(now.violations[0])
        start = replace(start, now=peak_of(now, chosen), valid=now.is_valid, violation=said)
    best = least_peak(worlds, chosen, share)
    if best is None or (now is None and not worlds.known):
        return start
    here = start.now
    if here is not None and start.valid:
        # What is there may have less than loads as even as can be, and than was found in time.
        least = best.peak
        peak = replace(least, value=min(least.value, here), bound=min(least.bound, here))
        best = replace(best, peak=peak)
    # Where the verdict depends on who reads what, so does what assignors do.
    sure = worlds.known or (start.judged is not None and start.judged.verdict.sure)
    names = assignors if assignors is not None else tried_by_default() if sure else ()
    asked = _Asked(group, names if sure else (), like)
    with TimeLimit(call_seconds(time_limit)) if limit is None else nullcontext(limit) as calls:
        calls.warm_up(asked.names)
        return _advised(start, worlds, best, now, asked, calls, time_left)


@dataclass(frozen=True)
class _Asked:
    """What `advise` is asked; `names` are the assignors to try."""

    group: Group
    names: Sequence[str | AssignorFunction]
    like: str | None


def _advised(
    start: Advice,
    worlds: Worlds,
    best: Best,
    now: Assignment | None,
    asked: _Asked,
    limit: TimeLimit,
    time_left: TimeLeft,
) -> Advice:
    """Look for each kind of change, and put in order what is sure to lower the peak."""
    lower = start.lower
    question = None
    if not worlds.known and now is not None and peak_of(now, lower) > best.peak.bound:
        seconds = time_left.share(2)
        question = question_of(asked.group, now, best.solution, best.lowest, seconds)
    # Whoever holds nothing may read all there is: what members more bring is known after that.
    open_ = question is not None and now is not None and len(now.idle) > 0
    plan = None if start.judged is None else start.judged.plan
    by_hand, few = _rebalance(_by_plan(best, plan, lower), now, plan, lower, time_left)
    found = [
        by_hand,
        few,
        _worth(_isolated(best, lower, time_left)),
        _worth(one_more_reader(worlds, best, lower, time_left, total=start.total)),
        None
        if open_
        else more_members(worlds, best, lower, time_left, total=start.total, like=asked.like),
        _worth(_partitions(worlds, best, lower, time_left)),
    ]
    fewer = None if asked.like else fewer_members(worlds, best, lower, time_left)
    even = _more_even(best, now, lower, by_hand, time_left)
    # Assignors have a time of their own, and come when the one for all else is no longer needed.
    trials, assignor = _trials(worlds, best, now, lower, asked.names, limit)
    hung = {trial.assignor for trial in trials if trial.status != "scored"}
    others = [name for name in asked.names if worlds.known and name_of(name) not in hung]
    found = [_with_assignors(one, lower, others, limit) for one in found]
    found.insert(1, _worth(assignor))
    changes = [one for one in found if isinstance(one, Change)]
    return replace(
        start,
        best=best.peak,
        changes=tuple(_by_effect(changes)),
        hot=_hot_partition(best) if lower == "peak_lag" else None,
        same_peak=() if fewer is None else (fewer,),
        no_gain=tuple(one for one in found if isinstance(one, NoGain)),
        assignors=tuple(trials),
        more_even=even,
        question=question,
        new_members=reading(worlds.most, asked.like),
    )


def _by_effect(changes: Sequence[Change]) -> list[Change]:
    """Order changes by effect for cost, what mends first.

    Of all that gain the most, or at least four fifths of that, the one comes first that takes
    least: by its kind, then by moves.
    """
    left, ordered = list(changes), []
    while left:
        most = max((one.mends > 0, one.at_least) for one in left)
        near = [one for one in left if (one.mends > 0, 5 * one.at_least) >= (most[0], 4 * most[1])]
        ordered.append(min(near, key=lambda one: (CHEAPEST_FIRST.index(one.kind), one.moves)))
        left.remove(ordered[-1])
    return ordered


def _worth(change: Change | NoGain | None) -> Change | NoGain | None:
    """Return a change that gains 1% or more; of another, that it does not."""
    if not isinstance(change, Change) or change.share * PARTS >= 1:
        return change
    return NoGain(change.kind, "Less than 1% can be gained.", proved=False)


def _judged(group: Group, time_limit: float | None, *, alike: bool) -> Judged:
    """Return the verdict on a group, as `assay score` has it."""
    (found,) = judge([group], time_limit=time_limit, assume_equal=alike)
    return found


def _condition(worlds: Worlds, lower: Lower, *, alike: bool) -> str | None:
    """Return what all of the advice rests on, as far as it was assumed."""
    latest = if_latest(worlds.most).removeprefix("if ") if lower == "peak_lag" else None
    return " and ".join(filter(None, (ALL_ALIKE if alike else None, latest))) or None


def _chosen(worlds: Worlds, lower: Lower | None) -> Lower:
    """Return the number that decides: lag where all of it is known and there is some."""
    if lower is not None and lower not in TO_LOWER:
        raise BadInput(f"lower: {lower!r} is none of {', '.join(TO_LOWER)}")
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
    """Return how much there is of what the busiest member has a part of."""
    group = worlds.most
    read = group.readers[group.topic] > 0
    if lower == "peak_load":
        return int(read.sum())
    return 0 if group.lag_records is None else int(group.lag_records[read].sum())


def _rebalance(
    best: Best,
    now: Assignment | None,
    plan: Assignment | None,
    lower: Lower,
    time_left: TimeLeft,
) -> tuple[Change | NoGain | None, Change | None]:
    """Return the assignment to go to, where it has a lower peak or mends what is there.

    The second is one with fewer moves that brings most of that, where there is one.

    Parameters
    ----------
    plan : what the verdict names, where it names one
    """
    if now is None:
        return None, None
    here, mends = peak_of(now, lower), len(now.violations)
    if not mends and best.peak.value >= here:
        even = "" if lower == "peak_load" else " with loads as even as can be"
        less = "has less" if best.peak.bound == here else "is known to have less"
        reason = f"No assignment of these members{even} {less}."
        return NoGain("rebalance", reason, proved=best.peak.bound == here), None
    best = with_few_moves(best, lower, time_left.share(4))
    before = Peak(here, here, proof="as it is")
    every = Change(
        "rebalance",
        before=None if mends else before,
        after=best.peak,
        assignment=best.assignment,
        moves=len(best.assignment.moved),
        mends=mends,
    )
    if mends or lower == "peak_load":
        return every, None
    is_even = values(now, ("balance",)) == values(best.assignment, ("balance",))
    if is_even and not Fall(here, best.peak.value, best.assignment).is_worth_it:
        moves = counted(every.moves, "partition")
        reason = f"By moving {moves} lag falls from {here:,} to {best.peak.value:,}: under 10%."
        return NoGain("rebalance", reason, proved=best.peak.proved), None
    if is_even:
        few = fall_by_few_moves(now)
    else:
        few = None if plan is None else Fall(here, peak_of(plan, lower), plan)
    worth_it = few is not None and (few.is_worth_it if is_even else few.then < here)
    if few is None or not worth_it or few.moves >= every.moves:
        return every, None
    # Another 1% is worth more moves.
    after = Peak(few.then, min(few.then, best.peak.bound), proof="as it is")
    fewer = Change("rebalance", before, after, few.assignment, few.moves)
    if PARTS * (few.then - best.peak.value) >= here:
        return every, fewer
    return fewer, None


def _by_plan(best: Best, plan: Assignment | None, lower: Lower) -> Best:
    """Return the best with the assignment that the verdict names, where that is as good."""
    if plan is None or peak_of(plan, lower) > best.peak.value:
        return best
    there = values(best.assignment, ("balance", MOVES))
    return best if values(plan, ("balance", MOVES)) > there else replace(best, assignment=plan)


def _isolated(best: Best, lower: Lower, time_left: TimeLeft) -> Change | None:
    """Return the assignment with less lag where loads may be uneven; None where it has no less."""
    if lower != "peak_lag":
        return None
    found = solve(best.assignment.group, (lower, MOVES), time_limit=time_left.share(4))
    if found.assignment is None or found.terms[0].value >= best.peak.bound:
        return None
    value, bound = found.terms[0].value, found.terms[0].bound
    after = Peak(value, bound or 0, proof=str(found.proof.kind if bound == value else "none"))
    moves = len(found.assignment.moved)
    return Change("isolate", best.peak, after, found.assignment, moves)


def _hot_partition(best: Best) -> tuple[str, int, int] | None:
    """(topic, partition, records) of a partition with half of the least peak or more."""
    group, found = best.assignment.group, hottest(best.assignment.group)
    if found is None or 2 * found[1] < best.peak.value:
        return None
    at, records = found
    return group.topics[group.topic[at]], int(group.number[at]), records


def _trials(
    worlds: Worlds,
    best: Best,
    now: Assignment | None,
    lower: Lower,
    names: Sequence[str | AssignorFunction],
    limit: TimeLimit,
) -> tuple[list[Tried], Change | NoGain | None]:
    """Return what assignors do, and the best of them where it has a lower peak than now."""
    if not names:
        return [], None
    trials, valid = tried_assignors(worlds, best, lower, names, limit)
    if now is None or not now.is_valid:
        return trials, None
    here = peak_of(now, lower)
    good = advisable(valid)
    better = better_assignor(here, best.peak.value, good)
    if better is not None:
        return trials, better
    reason = "No assignor tried can be advised."
    if good:
        trial, _ = min(good, key=lambda one: one[0].peak or 0)
        of = f"The best of {len(good):,} tried" if len(good) > 1 else "The one tried"
        reason = f"{of}, {spoken(trial.assignor)}, leaves the busiest member with {trial.peak:,}."
    return trials, NoGain("assignor", reason, proved=best.peak.bound >= here)


def _with_assignors(
    change: Change | NoGain | None,
    lower: Lower,
    names: Sequence[str | AssignorFunction],
    limit: TimeLimit,
) -> Change | NoGain | None:
    """Return more members with the assignors that do not reach what these allow."""
    if not isinstance(change, Change) or change.kind != "members":
        return change
    return replace(change, not_reached=not_reached(change, lower, names, limit))


def _partitions(worlds: Worlds, best: Best, lower: Lower, time_left: TimeLeft) -> Change | NoGain:
    if lower == "peak_load":
        return more_partitions(worlds, best, time_left)
    reason = "The lag that is there stays in the partitions where it is."
    return NoGain("partitions", reason, proved=True)


def _more_even(
    best: Best,
    now: Assignment | None,
    lower: Lower,
    by_hand: Change | NoGain | None,
    time_left: TimeLeft,
) -> int | None:
    """Return the moves to more even loads, where that does not lower the peak."""
    if now is None or not isinstance(by_hand, NoGain):
        return None
    even: Assignment | None = best.assignment
    if lower == "peak_lag":
        # Of those with the least lag some move more than balance takes.
        even = solve(now.group, TIERS_OF["peak_load"], time_limit=time_left.share(4)).assignment
    if even is None or values(even, ("balance",)) >= values(now, ("balance",)):
        return None
    return len(even.moved)
