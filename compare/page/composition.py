"""Composition: a page of judged groups, of what assignors made of them, and of how it was made."""

from __future__ import annotations

import os
from collections import Counter
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from platform import python_version
from typing import TYPE_CHECKING

from compare.fleet.results import Unread
from compare.judged import worst_first
from compare.lag.choice import going_for_least_lag
from compare.lag.condition import which_if_latest
from compare.lag.lowest import ROUNDS, lowest_peaks, rounds_each
from compare.lag.without_reader import sentences_without_reader
from compare.overview import latest_of, overview_of
from compare.page.comparison import comparison_of
from compare.page.contents import Made, Page
from compare.page.group.detail import detail_of
from compare.page.group.line import line_of, line_of_glance
from compare.page.trials import Trial
from compare.page.words import meaning, minute
from compare.sentences import sentence
from compare.verdict import EMPTY, WORST_FIRST
from groups.wording import counted

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from compare.judged import Judged
    from compare.lag.lowest import LowestPeak
    from compare.overview import Overview
    from compare.page.contents import Comparison
    from compare.page.drawing import Drawing
    from compare.page.group.contents import Detail, Line
    from compare.scores import Score
    from groups.errors import Failure
    from groups.group import Group
    from groups.tiers import Objective

# More would not fit into a page.
MOST_DETAILS = 1_000
MOST_NAMED = 2
SOLVERS = ("kafka-assay", "numpy", "ortools")


def composed(
    judged: Sequence[Judged],
    scores: Mapping[int, Sequence[Score]],
    *,
    sources: Sequence[str],
    unread: Sequence[Failure],
    benchmark: Sequence[Trial],
    made: Made,
    tiers: Objective,
    assume_equal: bool = False,
) -> Page:
    """Return the page of some groups, each with what assignors made of it.

    Parameters
    ----------
    scores : rows of each judged group, by its ``id()``
    sources : what was read, for the title
    benchmark : of groups that are not the reader's
    assume_equal : where subscriptions are unknown, whoever is unknown reads all that is in demand
    """
    counting = latest_of(judged)
    ordered = [judged[i] for i in worst_first(judged) if i in counting]
    overview = overview_of(judged, failed=[one.group for one in unread])
    rows = [scores.get(id(one), ()) for one in ordered]
    often = Counter(one.group.name for one in ordered)
    lines, details = _in_full(ordered, rows, often, tiers, assume_equal=assume_equal)
    groups = [one.group for one in ordered]
    names = unlike_names([(group.name, group.captured_at) for group in groups])
    trials = [
        Trial(name, len(one.group.members), one.group.n_partitions, row)
        for name, one, scored in zip(names, ordered, rows, strict=True)
        for row in scored
    ]
    yours = comparison_of(trials, tiers)
    return Page(
        title=_title(sources),
        when=_when([one.group.captured_at for one in judged]),
        lead=_lead(overview, ordered),
        history=tuple(overview.history()),
        made=made,
        lines=lines,
        details=details,
        unread=tuple(Unread(one.place, one.group or "", one.reason) for one in unread),
        assumed=_assumed(groups, names),
        lag_given=which_if_latest([one.now.group for one in ordered]),
        without_reader=sentences_without_reader(groups),
        yours=yours,
        not_compared=None if yours is not None else _not_compared(_unknown(ordered)),
        benchmark=comparison_of(benchmark, tiers) if benchmark else None,
        not_solved=_not_solved(overview),
    )


def sampled(
    judged: Sequence[Judged],
    scores: Sequence[Sequence[Score]],
    overview: Overview,
    *,
    sources: Sequence[str],
    times: Sequence[str | None],
    unread: Sequence[Unread],
    unread_count: int,
    assumed: Sequence[tuple[str, tuple[str, ...], int]],
    yours: Comparison | None,
    benchmark: Comparison | None,
    unknown: int,
    trend: tuple[tuple[Drawing, str], ...],
    made: Made,
    tiers: Objective,
) -> Page:
    """Return the page of more groups than it has lines for.

    Parameters
    ----------
    judged : the worst groups, to be shown in full; `scores` are what assignors made of them
    overview : of all groups; its worst have a line, and those in full are the first of them
    times : when groups were captured
    unread : the first of the inputs that are no groups; `unread_count` is the number of all
    assumed : what was assumed, of which groups, and of how many
    yours, benchmark : assignors over the reader's groups and over those that are not
    unknown : groups of which it is not known who reads what
    trend : how groups went over time, each drawing with its data
    """
    often = Counter(one.name for one in overview.worst)
    lines, details = _in_full(judged, scores, often, tiers)
    rest = overview.worst[len(judged) :]
    lines += tuple(
        line_of_glance(one, number, repeats=often[one.name] > 1)
        for number, one in enumerate(rest, start=len(judged) + 1)
    )
    return Page(
        title=_title(sources),
        when=_when(times),
        lead=_lead(overview, judged),
        history=tuple(overview.history()),
        made=made,
        lines=lines,
        details=details,
        says=tuple(sorted(overview.says.items(), key=lambda one: WORST_FIRST.index(one[0]))),
        unread=tuple(unread),
        unread_count=unread_count,
        assumed=tuple(assumed),
        lag_given=which_if_latest([one.now.group for one in judged]),
        without_reader=sentences_without_reader([one.group for one in judged]),
        yours=yours,
        not_compared=None if yours is not None else _not_compared(unknown),
        benchmark=benchmark,
        not_solved=_not_solved(overview),
        trend=trend,
    )


def _in_full(
    ordered: Sequence[Judged],
    rows: Sequence[Sequence[Score]],
    often: Mapping[str, int],
    tiers: Objective,
    *,
    assume_equal: bool = False,
) -> tuple[tuple[Line, ...], tuple[Detail, ...]]:
    """Return a line for each group, and the first of them in full.

    Parameters
    ----------
    often : how often a name of a group is there
    """
    lowest = lowest_peaks(ordered, tiers, assume_equal=assume_equal)
    ordered, chosen = _going_for_least_lag(ordered, assume_equal)
    lines = tuple(
        line_of(one, number, least, repeats=often[one.group.name] > 1)
        for number, (one, least) in enumerate(zip(ordered, lowest, strict=True), start=1)
    )
    details = tuple(
        detail_of(*given)
        for given in zip(ordered[:MOST_DETAILS], lines, rows, lowest, chosen, strict=False)
    )
    return lines, details


def _going_for_least_lag(
    judged: Sequence[Judged], assume_equal: bool
) -> tuple[list[Judged], list[LowestPeak | None]]:
    """Return each group with the best that has least lag, and that peak, as `score` does of one.

    The groups share the rounds of search, those that are shown in full.
    """
    improvable = sum(one.verdict.says == "improvable" for one in judged[:MOST_DETAILS])
    rounds = rounds_each(ROUNDS, improvable)
    found = [
        going_for_least_lag(one, assume_equal=assume_equal, rounds=rounds)
        if rounds and number < MOST_DETAILS
        else (one, None)
        for number, one in enumerate(judged)
    ]
    return [one for one, _ in found], [peak for _, peak in found]


def made_now(command: str, tiers: Objective, time_limit: float, runs: Sequence[str] = ()) -> Made:
    """Return how a page is made at this moment; `runs` says of each run what left the tables."""
    return Made(
        at=datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
        command=command,
        objective=" > ".join(tiers),
        meaning=meaning(tiers),
        time_limit=time_limit,
        versions=(*_versions(SOLVERS), ("Python", python_version())),
        runs=tuple(runs),
    )


def unlike_names(captures: Sequence[tuple[str, str | None]]) -> list[str]:
    """Return the names of captured groups, with the time of the capture where a name repeats."""
    often = Counter(name for name, _ in captures)
    seen: Counter[str] = Counter()
    found: list[str] = []
    for name, time in captures:
        told = f"{name} at {time}" if often[name] > 1 and time else name
        seen[told] += 1
        found.append(told if seen[told] == 1 else f"{told} ({seen[told]})")
    return found


def _lead(overview: Overview, judged: Sequence[Judged]) -> str:
    if not overview.captured:
        return "No group could be read."
    alone = overview.now == 1 and not overview.not_judged
    return sentence(judged[0]) if alone else overview.sentence()


def _title(sources: Sequence[str]) -> str:
    """Return what was read: its name, or of several files their number and where they are."""
    if len(sources) <= MOST_NAMED:
        return ", ".join(sources)
    try:
        folder = os.path.commonpath(sources)
    except ValueError:
        folder = ""
    return f"{len(sources):,} files{f' in {folder}' if folder else ''}"


def _versions(packages: Iterable[str]) -> list[tuple[str, str]]:
    found = []
    for package in packages:
        try:
            found.append((package, version(package)))
        except PackageNotFoundError:
            continue
    return found


def _when(times: Sequence[str | None]) -> str:
    known = sorted({minute(time) for time in times if time})
    if not known:
        return "capture time not known"
    if len(known) == 1:
        return f"captured {known[0]}"
    return f"captured {known[0]} to {known[-1]}"


def _assumed(
    groups: Sequence[Group], names: Sequence[str]
) -> tuple[tuple[str, tuple[str, ...], int], ...]:
    """Return each line that was assumed with the groups that it is about, most groups first."""
    of: dict[str, list[str]] = {}
    for group, name in zip(groups, names, strict=True):
        for line in group.assumed:
            of.setdefault(line, []).append(name)
    ranked = sorted(of.items(), key=lambda item: (-len(item[1]), item[0]))
    return tuple((line, tuple(names), len(names)) for line, names in ranked)


def _unknown(judged: Sequence[Judged]) -> int:
    """Return of how many groups it is not known who reads what."""
    return sum(not one.group.subscription_known.all() for one in judged if one.best is not None)


def _not_compared(unknown: int) -> str:
    if unknown:
        return (
            f"No assignor was tried: of {counted(unknown, 'group')} it is not known who reads "
            "what, which consoles do not print. Add --reads PATTERN=TOPICS for what you know, or "
            "--assume-equal."
        )
    return "No assignor was tried: there is no group that has members with partitions."


def _not_solved(overview: Overview) -> str | None:
    if any(says not in EMPTY for says in overview.says):
        return None
    if not overview.captured:
        return "Nothing was solved: no input is a group."
    parts = [f"{counted(count, 'group')}: {says}" for says, count in overview.says.items()]
    return f"Nothing was solved, for there is nothing to solve: {'; '.join(parts)}."
