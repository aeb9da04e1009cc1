"""What members hold now, and what assignors would give them, beside the optimum."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from assay.commands.cluster import (
    BootstrapServerInstead,
    CommandConfig,
    Config,
    FilesInstead,
    GroupsAsked,
    Timeout,
    finding,
)
from assay.commands.options import (
    DEFAULT_SECONDS,
    Assignors,
    AssumeEqual,
    FailAbove,
    Format,
    Objective,
    Rate,
    Reads,
    Reset,
    TimeLimitOption,
    limits_of,
    note_passed_over,
    note_unused_capacity,
)
from assay.commands.plans import Plans, plan_rows, read_plans
from assay.printing.terminal import tell
from assay.progress import far
from assay.streams import OPTIONS, complain, note, note_assumed, show_json
from compare.lag.choice import going_for_least_lag
from compare.lag.lowest import lag_document, lowest_peaks
from compare.limits import left_out, too_far
from compare.scores import (
    CURRENT,
    OPTIMUM,
    UNKNOWN,
    Score,
    assignors_asked,
    score_assignors,
    score_whoever_reads_what,
    score_without_subscriptions,
)
from compare.verdict import EMPTY
from groups.tiers import parse_objective
from groups.wording import counted
from heuristics.catalogue import usual_assignors
from live.waiting import DEFAULT_SECONDS as DEFAULT_TIMEOUT

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from compare.judged import Judged
    from groups.errors import Failure
    from groups.group import Group
    from groups.tiers import Objective as Tiers
    from optimal.solution import Solution

MOST_LINES = 20
# Verdicts that --strict takes for none.
OPEN = ("not proved", "depends on who reads what")
NOT_SURE = (
    "nothing is sure of assignors and plans where subscriptions are not known: "
    "use --fail-above-assumed, or add --reads PATTERN=TOPICS"
)


def score(
    files: FilesInstead = None,
    *,
    bootstrap_server: BootstrapServerInstead = None,
    group: GroupsAsked = None,
    command_config: CommandConfig = None,
    config: Config = None,
    timeout: Timeout = DEFAULT_TIMEOUT,
    assignor: Assignors = None,
    plan: Plans = None,
    current: Annotated[
        bool, typer.Option("--current/--no-current", help="score what the members hold now")
    ] = True,
    objective: Objective = "kip-54",
    time_limit: TimeLimitOption = DEFAULT_SECONDS,
    reads: Reads = None,
    assume_equal: AssumeEqual = False,
    reset: Reset = None,
    rate: Rate = None,
    fail_above: FailAbove = None,
    fail_above_assumed: Annotated[
        list[str] | None,
        typer.Option(metavar="TIER=N", help="as --fail-above, also where it rests on assumptions"),
    ] = None,
    strict: Annotated[
        bool, typer.Option("--strict", help="exit code 1 where a group could not be judged")
    ] = False,
    format_: Format = "table",
) -> None:
    """Judge whether a group is as good as can be; score assignors and plans.

    Of one group: what its members hold now and what assignors would give them, beside the best.
    Of several: a line each, worst first.
    """
    from assay.printing import verdicts as tables
    from assay.printing.overview import print_groups, print_not_read
    from compare.judged import judge
    from compare.overview import latest_of

    tiers = parse_objective(objective)
    sure = limits_of(fail_above or [], tiers)
    assumed = limits_of(fail_above_assumed or [], tiers)
    asked = assignors_asked(assignor) if assignor else []
    find, sources = finding(files, bootstrap_server, command_config, config, timeout)
    groups, damaged, not_had = find(group or [], reads or [], reset=reset)
    note_unused_capacity(groups, tiers)
    groups = groups if rate is None else [one.with_rate(rate) for one in groups]
    plans = read_plans(plan or [], groups)
    far(f"solving {counted(len(groups), 'group')}")
    judged = judge(groups, tiers, time_limit=time_limit, assume_equal=assume_equal)
    if assume_equal:
        groups = [one.with_equal_subscriptions() for one in groups]
    seconds = time_limit or DEFAULT_SECONDS
    lowest = lowest_peaks(judged, tiers, assume_equal=assume_equal)
    chosen = None
    if len(judged) == 1:
        judged[0], chosen = going_for_least_lag(judged[0], assume_equal=assume_equal)
    lagging = lowest[0] is not None and lowest[0].records > 0
    names = _names(asked, current=current, few=not plans and len(judged) == 1, lagging=lagging)
    references = [one.lowest if assume_equal else one.reference for one in judged]
    if plans or asked:
        references = _with_fresh(references, groups, tiers, time_limit)
    rows = _rows(judged, references, names, asked, seconds, assume_equal=assume_equal)
    if plans:
        rows[0][current:current] = plan_rows(plans, groups[0], references[0], UNKNOWN)
    counting = latest_of(judged)
    if len(groups) == 1:
        note_assumed(groups[0].assumed)
    else:
        note_passed_over(groups)
    if format_ == "json":
        for i, one in enumerate(judged):
            made = tables.document(one, references[i], rows[i], tiers, groups[i].assumed)
            show_json(made | {"lag": lag_document(one.now, lowest[i], one.fall)})
    elif len(judged) == 1:
        # Of assignors that nobody named, one line says why none was scored.
        shown = [
            row for row in rows[0] if assignor or row.assignor in plans or row.reason != UNKNOWN
        ]
        tables.print_group(judged[0], references[0], shown, lowest[0], chosen)
        print_not_read([] if group else [*not_had, *damaged])
        if len(shown) < len(rows[0]):
            tell(f"no assignor was scored: {UNKNOWN}; {OPTIONS['subscriptions']}")
    else:
        over = [rows[at] for at in sorted(counting)] if assignor else ()
        print_groups(judged, lowest, tiers, sources, damaged, not_had, over)
    named = {*(asked if assignor else [] if plans else [CURRENT]), *plans}
    worse = [
        f"{one.group.name}: {line}"
        for at, (one, scored) in enumerate(zip(judged, rows, strict=True))
        if at in counting
        for line in _worse(one, [row for row in scored if row.assignor in named], sure, assumed)
    ]
    worse += _not_judged([judged[at] for at in sorted(counting)], not_had) if strict else []
    _tell_gate(worse, [row for scored in rows for row in scored if row.assignor in named], sure)
    raise typer.Exit(1 if worse else 2 if damaged else 0)


def _tell_gate(worse: Sequence[str], rows: Sequence[Score], limits: Mapping[str, int]) -> None:
    """Complain of what is beyond the limits, or note what passes them though it is worse."""
    for line in worse[:MOST_LINES]:
        complain(line)
    if len(worse) > MOST_LINES:
        complain(f"and {len(worse) - MOST_LINES} more")
    if not worse and (said := left_out(rows, limits)):
        note(said)


def _not_judged(judged: Sequence[Judged], not_had: Sequence[Failure]) -> list[str]:
    """Return a line for each group without a verdict, or with one that is open."""
    said = [(one.group.name, one.verdict.says) for one in judged]
    lines = [f"{name}: {says}" for name, says in said if says in OPEN]
    return [f"{one.about}: not judged" for one in not_had] + lines


def _names(asked: Sequence[str], *, current: bool, few: bool, lagging: bool) -> list[str]:
    """Return the rows to score: of now, and the assignors asked for, else `few` or none."""
    names = asked or (usual_assignors(lagging=lagging) if few else [])
    return [*([CURRENT] if current else []), *(name for name in names if name != CURRENT)]


def _with_fresh(
    references: Sequence[Solution | None],
    groups: Sequence[Group],
    tiers: Tiers,
    time_limit: float | None,
) -> list[Solution | None]:
    """Add the optima of groups of which nobody holds anything, if who reads what is known."""
    from optimal import solve

    return [
        solve(group, tiers, time_limit=time_limit)
        if made is None and group.members and group.subscription_known.all()
        else made
        for made, group in zip(references, groups, strict=True)
    ]


def _rows(
    judged: Sequence[Judged],
    references: Sequence[Solution | None],
    names: Sequence[str],
    asked: Sequence[str],
    seconds: float,
    *,
    assume_equal: bool,
) -> list[list[Score]]:
    """Return the rows of each group; of one without a reference, why those asked for have none.

    Where nobody holds anything, what is held is a row only if it is asked for.
    """
    from heuristics.time_limit import TimeLimit

    rows: list[list[Score]] = []
    with TimeLimit(seconds) as limit:
        for one, reference in zip(judged, references, strict=True):
            far(f"{len(rows):,} of {counted(len(judged), 'group')} scored")
            if reference is None:
                unscored = asked if one.group.members else ()
                rows.append([Score(name, "refused", UNKNOWN) for name in unscored])
            elif assume_equal or one.group.subscription_known.all():
                limit.warm_up(name for name in names if name not in (CURRENT, OPTIMUM))
                some = asked if asked and one.verdict.says in EMPTY else names
                rows.append(score_assignors(reference.group, reference, some, limit))
            elif one.verdict.sure and not asked:
                rows.append(score_whoever_reads_what(one.group, reference, names, limit))
            else:
                rows.append([score_without_subscriptions(reference, name) for name in names])
    return rows


def _worse(
    judged: Judged, rows: Sequence[Score], sure: Mapping[str, int], assumed: Mapping[str, int]
) -> list[str]:
    """Return a line for each row that is further from the optimum than it may be.

    Where a subscription is unknown, what is sure of now lies between two optima, and nothing is
    sure of an assignor.
    """
    if not (sure or assumed) or judged.verdict.says in ("no members", "nobody reads"):
        return []
    if judged.reference is None and not rows:
        return [judged.verdict.says]
    if judged.reference is None or judged.group.subscription_known.all():
        return [*too_far(rows, sure, sure=True), *too_far(rows, assumed, sure=False)]
    if sure and any(row.assignor != CURRENT for row in rows):
        return [NOT_SURE]
    between = [score_without_subscriptions(judged.reference, row.assignor) for row in rows]
    lines = too_far(between, sure, sure=True, shown=rows)
    return [*lines, *too_far(rows, assumed, sure=False)]
