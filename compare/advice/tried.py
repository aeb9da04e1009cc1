"""Trials: what assignors do with a group, and whether they keep the least peak from then on."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from compare.advice.advice import Change, Lower, NoGain, Peak, Tried
from compare.advice.worlds import Worlds, least_peaks, peak_of
from compare.remedy import (
    assignments_by,
    assigns_now,
    effort,
    is_ours,
    is_rule,
    name_of,
    rolling_restarts,
    spoken,
)
from compare.scores import DEPENDS
from compare.what_if import what_if

if TYPE_CHECKING:
    from collections.abc import Sequence

    from compare.advice.changes import Changes
    from groups.assignment import Assignment
    from groups.group import Group
    from heuristics import AssignorFunction
    from heuristics.time_limit import TimeLimit

# Members each of whom leaves once.
MOST_LEAVE = 5
# For the least peak after each.
TRIED_SECONDS = 0.5


def tried_assignors(
    changes: Changes, assignors: Sequence[str | AssignorFunction], limit: TimeLimit
) -> tuple[list[Tried], Change | NoGain | None]:
    """Try assignors on a group, and on what they made of it after one member joins or leaves.

    Where it is not known who reads what, an assignor is refused that does not do as well where
    members read the most that they may as where they read the least; no joins and leaves are
    tried.

    Parameters
    ----------
    limit : of each call

    Returns
    -------
    trials : one an assignor, and the best of them where it has a lower peak than now
    """
    trials, valid = _tried(changes, assignors, limit)
    if not assignors or changes.now is None or not changes.now.is_valid:
        return trials, None
    here, best = peak_of(changes.now, changes.lower), changes.best.peak
    # One that makes no valid plan after a join or a leave is not advised, nor is the rule as
    # written of the class that assigns now.
    good = [
        (trial, made)
        for trial, made in valid
        if trial.reason is None
        and not (is_rule(trial.assignor) and assigns_now(trial.assignor, made.group))
    ]
    if changes.lower == "peak_load" and is_ours(changes.now.group):
        # It gives the least at the next rebalance.
        return trials, None
    better = _better_assignor(here, best.value, good)
    if better is not None:
        return trials, better
    depends = all(trial.reason == DEPENDS for trial in trials)
    reason = f"No assignor tried can be advised{', as it is open who reads what' * depends}."
    if good:
        trial, _ = min(good, key=lambda one: (one[0].peak or 0, one[0].moves or 0))
        of = f"The best of {len(good):,} tried" if len(good) > 1 else "The one tried"
        leaves = f"{of}, {spoken(trial.assignor)}, leaves the busiest member with {trial.peak:,}"
        chance = ", by chance: after a join or a leave it never had the least"
        reason = f"{leaves}{chance if _by_chance(trial) else ''}."
    return trials, NoGain("assignor", reason, proved=best.bound >= here)


def _tried(
    changes: Changes, assignors: Sequence[str | AssignorFunction], limit: TimeLimit
) -> tuple[list[Tried], list[tuple[Tried, Assignment]]]:
    """Return a row an assignor, and again those that made a valid assignment, with that."""
    worlds, best, lower = changes.worlds, changes.best, changes.lower
    group = worlds.least
    events = _events(group) if worlds.known and assignors else []
    there = [_after(group, *event) for event in events]
    known = least_peaks([Worlds(one, one) for one in there], lower, TRIED_SECONDS)
    trials: list[Tried] = []
    valid: list[tuple[Tried, Assignment]] = []
    for asked in assignors:
        name = name_of(asked)
        outcome = limit.plan(group, asked)
        if outcome.plan is None:
            trials.append(Tried(name, outcome.status, outcome.reason))
            continue
        made = outcome.plan.assignment
        other = None if worlds.known else limit.plan(worlds.most, asked).plan
        if other is not None:
            if _cost(made, lower) != _cost(other.assignment, lower):
                trials.append(Tried(name, "refused", DEPENDS))
                continue
            made = max(made, other.assignment, key=lambda one: _cost(one, lower))
        if not made.is_valid:
            trials.append(Tried(name, "scored", _not_valid(made)))
            continue
        peak = peak_of(made, lower)
        held = group.with_claims(*made.holdings, generation=group.next_generation)
        kept = tried = 0
        reason = None
        for (stay, joined), least in zip(events, known, strict=True):
            if least is None:
                continue
            after = limit.plan(_after(held, stay, joined), asked)
            tried += 1
            plan = after.plan
            if plan is not None and plan.assignment.is_valid:
                kept += peak_of(plan.assignment, lower) <= least.peak.value
                continue
            why = after.reason if plan is None else _not_valid(plan.assignment)
            reason = reason or f"{why} after {_event(group, stay, joined)}"
            if after.status == "timed-out":
                break
        trial = Tried(
            assignor=name,
            status="scored",
            reason=reason,
            peak=peak,
            least=peak <= best.peak.value,
            moves=len(made.moved),
            kept=kept,
            tried=tried,
        )
        trials.append(trial)
        valid.append((trial, made))
    return trials, valid


def not_reached(
    change: Change,
    lower: Lower,
    assignors: Sequence[str | AssignorFunction],
    limit: TimeLimit,
) -> tuple[tuple[str, int | None], ...]:
    """(assignor, peak) of those that leave the busiest member more than a change allows.

    Those that make no valid assignment of it have None as their peak.

    Parameters
    ----------
    change : its group is as it is then, with what the members hold before
    limit : of each call
    """
    made = assignments_by(change.assignment.group, assignors, limit)
    peaks = ((name, None if one is None else peak_of(one, lower)) for name, one in made)
    return tuple((name, peak) for name, peak in peaks if peak is None or peak > change.after.value)


def _by_chance(trial: Tried) -> bool:
    """Return whether nothing of what an assignor reaches is left after a join or a leave."""
    return trial.tried > 0 and not trial.kept


def _better_assignor(
    now: int, least: int, valid: Sequence[tuple[Tried, Assignment]]
) -> Change | None:
    """Return the assignor with the lowest peak, where that is worth a restart of all members.

    A rule as written comes after all that people can deploy. Of several with the lowest peak the
    one that assigns already, then the one that keeps to the least after most joins and leaves,
    then that with the fewest moves, then the one that takes least to change to. None where all
    gain less than half of what can be gained, or gain it by chance.

    Parameters
    ----------
    now, least : the peak of what the members hold, and the least that they can have
    valid : those that may be advised
    """
    worth = [
        (trial, made)
        for trial, made in valid
        if trial.peak is not None
        and trial.peak < now
        and 2 * (now - trial.peak) >= now - least
        and not _by_chance(trial)
    ]
    if not worth:
        return None

    def order(one: tuple[Tried, Assignment]) -> tuple[object, ...]:
        trial, made = one
        name, group = trial.assignor, made.group
        first = is_rule(name), trial.peak, not assigns_now(name, group)
        return *first, -trial.kept, trial.moves, effort(name, group)

    trial, made = min(worth, key=order)
    peak = trial.peak or 0
    often = rolling_restarts(trial.assignor, made.group)
    return Change(
        "assignor",
        before=Peak(now, now, proof="as it is"),
        after=Peak(peak, peak, proof="as it is"),
        assignment=made,
        assignor=trial.assignor,
        restarts=1 if often == 0 else len(made.group.members),
        rolling_restarts=often,
    )


def _cost(made: Assignment, lower: Lower) -> tuple[bool, int, int]:
    """Order assignments: those that are not valid last, then by peak and moves."""
    return not made.is_valid, peak_of(made, lower), len(made.moved)


def _not_valid(made: Assignment) -> str:
    return f"not valid: {made.violations[0]}"


def _event(group: Group, stay: Sequence[int], members: int) -> str:
    """Return which join or leave it was."""
    if members > len(group.members):
        return "one member has joined"
    (gone,) = set(range(len(group.members))) - set(stay)
    return f"{group.members[gone]} has left"


def _events(group: Group) -> list[tuple[list[int], int]]:
    """(members that stay, how many there are then) of one join, and of some leaves."""
    there = len(group.members)
    everybody = list(range(there))
    events = [(everybody, there + 1)]
    if there > 1:
        few = np.unique(np.linspace(0, there - 1, min(there, MOST_LEAVE)).astype(int)).tolist()
        events += [([m for m in everybody if m != gone], there - 1) for gone in few]
    return events


def _after(group: Group, stay: Sequence[int], members: int) -> Group:
    if members > len(group.members):
        return what_if(group, members=members)
    return group.only(np.array(stay, np.int64))
