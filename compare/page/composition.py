"""Composition: the contents of a page, from judged groups and assignors' scores."""

from __future__ import annotations

import os
from collections import Counter
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from platform import python_version
from typing import TYPE_CHECKING

from compare.lag.behind import sentences_without_reader, which_if_latest
from compare.lag.peaks import with_lowest
from compare.page.contents import Made, Material, Page
from compare.page.group.detail import detail_of
from compare.page.group.line import Line, line_of
from compare.page.words import meaning, minute
from compare.sentences import sentence
from compare.verdict import EMPTY
from groups.tiers import in_words
from groups.wording import OF_CONSUMERS, counted

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from compare.judged import Judged
    from compare.overview import Overview
    from compare.remedy import Commands
    from compare.scores import ScoredGroup
    from groups.errors import Failure
    from groups.tiers import Objective

MOST_NAMED = 2
SOLVERS = ("kafka-assay", "numpy", "ortools")


def composed(
    overview: Overview,
    scored: Sequence[ScoredGroup],
    material: Material,
    *,
    tiers: Objective,
    assume_equal: bool = False,
    commands: Commands | None = None,
) -> Page:
    """Return the page of some groups: each in a line, and the worst of them in full.

    Parameters
    ----------
    overview : overview of all groups; its worst groups get a line each
    scored : the groups to show in full, which are the first of these
    assume_equal : whether unknown subscriptions are taken as all topics
    commands : makes the commands that the page suggests; None if the reader's are not known
    """
    often = Counter(one.name for one in overview.worst)
    judged = [one.judged for one in scored]
    scored = with_lowest(scored, tiers, assume_equal=assume_equal)
    lines = tuple(
        line_of(one.judged, number, one.lowest, repeats=often[one.judged.group.name] > 1)
        for number, one in enumerate(scored, start=1)
    )
    details = tuple(
        detail_of(one, line, commands and commands.about(line.name))
        for one, line in zip(scored, lines, strict=True)
    )
    rest = overview.worst[len(judged) :]
    lines += tuple(
        Line(**vars(one), number=number, repeats=often[one.name] > 1)
        for number, one in enumerate(rest, start=len(judged) + 1)
    )
    return Page(
        **vars(material),
        title=_title(overview, material.unread),
        where=_where(material.sources),
        when=_when(material.times),
        lead=_lead(overview, judged),
        history=tuple(overview.history()),
        lines=lines,
        details=details,
        says=overview.tallies(),
        missed=overview.missed,
        lag_given=which_if_latest([one.now.group for one in judged]),
        without_reader=sentences_without_reader([one.group for one in judged]),
        not_solved=_not_solved(overview),
    )


def made_now(command: str, tiers: Objective, time_limit: float, runs: Sequence[str] = ()) -> Made:
    """Return how a page is made now.

    Parameters
    ----------
    runs : a line on each run that wrote the tables
    """
    return Made(
        at=datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
        command=command,
        objective=in_words(tiers),
        meaning=meaning(tiers),
        time_limit=time_limit,
        versions=(*_versions(SOLVERS), ("Python", python_version())),
        runs=tuple(runs),
    )


def _lead(overview: Overview, judged: Sequence[Judged]) -> str:
    """Return the headline that the terminal prints."""
    if not overview.captured:
        return "No group could be read."
    if judged and overview.now == overview.every == 1:
        return sentence(judged[0])
    return overview.headline()


def _title(overview: Overview, unread: Sequence[Failure]) -> str:
    """Return the number of groups on a page; the name of a single group."""
    if overview.worst and overview.now == 1 and not unread:
        alone = overview.worst[0]
        return f"{alone.nouns.group.capitalize()} {alone.name}"
    kinds = {one.nouns.group for one in overview.worst} or {OF_CONSUMERS.group}
    return counted(overview.every, kinds.pop() if len(kinds) == 1 else "group")


def _where(sources: Sequence[str]) -> str:
    """Return the names of what was read; of many files, their number and common folder."""
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


def _not_solved(overview: Overview) -> str | None:
    if overview.unjudged[0] or any(says not in EMPTY for says in overview.says):
        return None
    if not overview.captured:
        return "Nothing was solved: no input is a group."
    parts = [f"{counted(count, 'group')}: {says}" for says, count in overview.says.items()]
    return f"Nothing was solved, for there is nothing to solve: {'; '.join(parts)}."
