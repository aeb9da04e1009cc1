"""Trials: the assignment of each assignor, and whether it keeps the least peak after changes."""

from __future__ import annotations

from functools import partial
from operator import methodcaller
from typing import TYPE_CHECKING

import numpy as np

from compare.advice.advice import Change, Lower, NoGain, Peak, Tried
from compare.advice.worlds import least_peaks, peak_of
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
    from collections.abc import Callable, Sequence

    from compare.advice.changes import Changes
    from groups.assignment import Assignment
    from groups.group import Group
    from heuristics import AssignorFunction
    from heuristics.time_limit import TimeLimit

# At most this many members leave, one in each trial.
MOST_LEAVE = 5
# Seconds for the least peak after a join or a leave.
TRIED_SECONDS = 0.5


def tried_assignors(
    changes: Changes, assignors: Sequence[str | AssignorFunction], limit: TimeLimit
) -> tuple[list[Tried], Change | NoGain | None]:
    """Try assignors on a group, and again after one member joins or leaves.

    With unknown subscriptions, an assignor is refused unless it does as well where members read
    the most that they may as where they read the least, and no joins and leaves are tried.

    Parameters
    ----------
    limit : for each call

    Returns
    -------
    trials : one for each assignor
    best : the change to the best assignor, or why none is advised; None without assignors, for a
        current assignment that is not valid, and if our own assignor lowers load anyway
    """
    trials, valid = _trials_of(changes, assignors, limit)
    if not assignors or changes.now is None or not changes.now.is_valid:
        return trials, None
    peak_now, best = peak_of(changes.now, changes.lower), changes.best.peak
    # Not advised: an assignor without a valid plan after a join or a leave, and a rule written
    # from a KIP's text whose own class assigns now.
    good = [
        (trial, made)
        for trial, made in valid
        if trial.reason is None
        and not (is_rule(trial.assignor) and assigns_now(trial.assignor, made.group))
    ]
    if changes.lower == "peak_load" and is_ours(changes.now.group):
        # Our own assignor reaches the least peak at the next rebalance.
        return trials, None
    better = _better_assignor(peak_now, best.value, good, changes.lower)
    if better is not None:
        return trials, better
    depends = all(trial.reason == DEPENDS for trial in trials)
    reason = f"No assignor tried can be advised{', as it is open who reads what' * depends}."
    if good:
        reason = _best_tried([trial for trial, _ in good], peak_now, changes.lower)
    return trials, NoGain("assignor", reason, proved=best.bound >= peak_now)


def _best_tried(trials: Sequence[Tried], now: int, lower: Lower) -> str:
    """Return what the best of some assignors leaves to the busiest member, in a sentence."""
    best = min(trials, key=lambda one: (one.peak or 0, one.moves or 0))
    leaves = f"the busiest member with {best.peak:,}"
    if len({one.peak for one in trials}) == 1 < len(trials):
        return f"All {len(trials):,} tried leave {leaves}."
    of = f"The best of {len(trials):,} tried" if len(trials) > 1 else "The one tried"
    lost, tries = best.tried - best.kept, "tries with one member more or less"
    is_chance = best.peak is not None and best.peak < now and _by_chance(best, lower)
    chance = f", by chance: it has more than the least in {lost:,} of {best.tried:,} {tries}"
    chance = chance if is_chance else ""
    return f"{of}, {spoken(best.assignor)}, leaves {leaves}{chance}."


def _trials_of(
    changes: Changes, assignors: Sequence[str | AssignorFunction], limit: TimeLimit
) -> tuple[list[Tried], list[tuple[Tried, Assignment]]]:
    """Return the trial of each assignor, and (trial, assignment) of those that are valid."""
    worlds, best, lower = changes.worlds, changes.best, changes.lower
    group = worlds.least
    events = _events(group) if worlds.known and assignors else {}
    changed = [worlds.changed(event) for event in events.values()]
    known = least_peaks(changed, lower, TRIED_SECONDS)
    trials: list[Tried] = []
    valid: list[tuple[Tried, Assignment]] = []
    for asked in assignors:
        name = name_of(asked)
        outcome = limit.plan(group, asked)
        other = None if worlds.known else limit.plan(worlds.most, asked).plan
        if outcome.plan is None:
            is_open = other is not None and outcome.status == "refused"
            trials.append(Tried(name, outcome.status, DEPENDS if is_open else outcome.reason))
            continue
        made = outcome.plan.assignment
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
        for (said, event), least in zip(events.items(), known, strict=True):
            if least is None:
                continue
            after = limit.plan(event(held), asked)
            tried += 1
            plan = after.plan
            if plan is not None and plan.assignment.is_valid:
                kept += peak_of(plan.assignment, lower) <= least.peak.value
                continue
            why = after.reason if plan is None else _not_valid(plan.assignment)
            reason = reason or f"{why} after {said}"
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
    """(assignor, peak) of the assignors whose peak is greater than a change allows.

    The peak is None if an assignor makes no valid assignment.

    Parameters
    ----------
    change : the group of its assignment is the changed one, with what members hold before
    limit : for each call
    """
    made = assignments_by(change.assignment.group, assignors, limit)
    peaks = ((name, None if one is None else peak_of(one, lower)) for name, one in made)
    return tuple((name, peak) for name, peak in peaks if peak is None or peak > change.after.value)


def _by_chance(trial: Tried, lower: Lower) -> bool:
    """Return whether an assignor has a lower peak by chance, and a rebalance may undo that.

    It then had the least peak after none of the joins and leaves tried; or, for lag, at which
    assignors do not look, not after all of them.
    """
    return trial.kept < (trial.tried if lower == "peak_lag" else min(1, trial.tried))


def _better_assignor(
    now: int, least: int, valid: Sequence[tuple[Tried, Assignment]], lower: Lower
) -> Change | None:
    """Return the change to the assignor with the lowest peak; None if none is worth a restart.

    A rule written from a KIP's text comes after all assignors that can be deployed. Ties go to the
    assignor that assigns now, then to the one that kept the least peak after most joins and
    leaves, then to fewer moves, then to the one that is easiest to deploy. An assignor is not
    worth it if it gains less than half of what is possible, or gains it by chance.

    Parameters
    ----------
    now, least : the current peak, and the least possible
    valid : (trial, assignment) of the assignors that may be advised
    """
    worth = [
        (trial, made)
        for trial, made in valid
        if trial.peak is not None
        and trial.peak < now
        and 2 * (now - trial.peak) >= now - least
        and not _by_chance(trial, lower)
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
    """Return the key that sorts assignments: valid ones first, then by peak and moves."""
    return not made.is_valid, peak_of(made, lower), len(made.moved)


def _not_valid(made: Assignment) -> str:
    return f"not valid: {made.violations[0]}"


def _events(group: Group) -> dict[str, Callable[[Group], Group]]:
    """Return one join and a few leaves in words, each with what makes a group the one after it.

    Of two members none leaves: the other would get all partitions from every assignor.
    """
    count = len(group.members)
    events: dict[str, Callable[[Group], Group]] = {
        "one member has joined": partial(what_if, members=count + 1)
    }
    if count > 2:
        few = np.unique(np.linspace(0, count - 1, min(count, MOST_LEAVE)).astype(int)).tolist()
        for gone in few:
            stay = np.delete(np.arange(count), gone)
            events[f"{group.members[gone]} has left"] = methodcaller("only", stay)
    return events
