"""From groups: a page made directly from groups, without Spark."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING

from compare.fleet.aggregates import aggregates_of
from compare.fleet.facts import MOST_WORST
from compare.judged import judge
from compare.overview import overview_of, worst_now
from compare.page.comparison import comparison_in
from compare.page.composition import composed
from compare.page.contents import Material
from compare.page.drawing import as_csv
from compare.scores import CURRENT, NO_TASKS, UNKNOWN, score_all_judged, score_many
from groups.wording import counted
from optimal.solve import solve_many

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from compare.judged import Judged
    from compare.page.contents import Comparison, Made, Page
    from compare.remedy import Commands
    from compare.scores import Score
    from groups.errors import Failure
    from groups.group import Group
    from groups.tiers import Objective


def page_of_groups(
    groups: Sequence[Group],
    tiers: Objective,
    *,
    sources: Sequence[str],
    unread: Sequence[Failure],
    benchmark: Sequence[Group],
    assignors: Sequence[str],
    assume_equal: bool,
    made: Made,
    say: Callable[[str], None],
    commands: Commands | None = None,
) -> Page:
    """Return the page of some groups.

    Parameters
    ----------
    sources : names of what was read, for the title
    unread : inputs that could not be read, and why
    benchmark : groups of others, for which only the assignors' results are shown
    assignors : names of assignors to try on each group with known subscriptions
    made : holds the time limit of each solve and each assignor
    say : called with a line on progress
    commands : makes the commands that the page suggests; None if the reader's are not known
    """
    time_limit = made.time_limit
    judged: list[Judged] = judge(groups, tiers, time_limit=time_limit, assume_equal=assume_equal)
    if assume_equal:
        judged = [replace(one, group=one.group.with_equal_subscriptions()) for one in judged]
    tried = score_all_judged(
        judged,
        tiers,
        [CURRENT, *assignors],
        time_limit,
        assume_equal=assume_equal,
        say=say,
    )
    order = worst_now(judged)
    own = [judged[at].group for at in order]
    mixed = len({group.of_streams for group in own}) > 1
    # Beside consumer groups, it is no news that consumers' assignors assign no tasks.
    hidden_reasons = (UNKNOWN, NO_TASKS) if mixed else (UNKNOWN,)
    latest = [
        replace(
            tried[at], rows=[row for row in tried[at].rows if row.reason not in hidden_reasons]
        )
        for at in order
    ]
    compared = [
        one for one in latest if not (mixed and one.judged.group.of_streams) or len(one.rows) > 1
    ]
    material = Material(
        sources=sources,
        times=[one.group.captured_at for one in judged],
        unread=unread,
        unread_count=len(unread),
        assumed=_assumed(own),
        yours=compared_of(
            [one.judged.group for one in compared], [one.rows for one in compared], tiers
        ),
        benchmark=_of_benchmark(benchmark, tiers, assignors, time_limit, say),
        unknown=sum(
            one.judged.best is not None and not one.judged.group.subscription_known.all()
            for one in latest
        ),
        made=made,
    )
    return composed(
        overview_of(judged, failed=unread),
        latest[:MOST_WORST],
        material,
        tiers=tiers,
        assume_equal=assume_equal,
        commands=commands,
    )


def _of_benchmark(
    groups: Sequence[Group],
    tiers: Objective,
    names: Sequence[str],
    seconds: float,
    say: Callable[[str], None],
) -> Comparison | None:
    """Return the comparison of assignors over benchmark groups."""
    equal = [group.with_equal_subscriptions() for group in groups]
    solutions = solve_many(equal, tiers, time_limit=seconds)
    say(f"{counted(len(names), 'assignor')} on {counted(len(equal), 'group')} of the benchmark")
    rows = score_many([one.group for one in solutions], solutions, names, seconds)
    return compared_of(equal, rows, tiers)


def compared_of(
    groups: Sequence[Group], rows: Sequence[Sequence[Score]], tiers: Objective
) -> Comparison | None:
    """Return the comparison of assignors, with their scores of each group as its data."""
    called = distinct_names([(group.name, group.captured_at) for group in groups])
    records = [
        {"group": name, "members": len(group.members), "partitions": group.n_partitions} | row
        for name, group, scores in zip(called, groups, rows, strict=True)
        for score in scores
        for row in score.to_rows()
    ]
    # Rows without a score lack the columns of the tiers.
    heads = [*max(records, key=len, default={})]
    data = as_csv(heads, ([row.get(head) for head in heads] for row in records))
    return comparison_in(aggregates_of(groups, rows, tiers), tiers, data=data)


def distinct_names(captures: Sequence[tuple[str, str | None]]) -> list[str]:
    """Return distinct names of captured groups: with time of capture, then number, if needed."""
    often = Counter(name for name, _ in captures)
    seen: Counter[str] = Counter()
    found: list[str] = []
    for name, time in captures:
        called = f"{name} at {time}" if often[name] > 1 and time else name
        seen[called] += 1
        found.append(called if seen[called] == 1 else f"{called} ({seen[called]})")
    return found


def _assumed(
    groups: Sequence[Group],
) -> tuple[tuple[str, tuple[str, ...], int], ...]:
    """Return (line, names of groups, number of groups) of what was assumed, most groups first."""
    names_of: dict[str, list[str]] = {}
    names = distinct_names([(group.name, group.captured_at) for group in groups])
    for group, name in zip(groups, names, strict=True):
        for line in group.assumed:
            names_of.setdefault(line, []).append(name)
    ranked = sorted(names_of.items(), key=lambda item: (-len(item[1]), item[0]))
    return tuple((line, tuple(names), len(names)) for line, names in ranked)
