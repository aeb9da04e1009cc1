"""What members hold now, and what assignors would give them, beside the optimum."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Annotated

import numpy as np
import typer

from assay.commands import cluster
from assay.commands.options import (
    DEFAULT_SECONDS,
    Asked,
    Assignors,
    FailAbove,
    Format,
    GroupOptions,
    Objective,
    StrictGate,
    TimeLimitOption,
    how_to_answer,
    limits_of,
    note_passed_over,
    note_unused_capacity,
    other_objective,
    words_of,
)
from assay.commands.plans import Plans, read_plans, with_plans
from assay.commands.solve import lag_columns
from assay.progress import report_progress
from assay.streams import WHO_READS, complain, note_assumed, show, show_json
from assay.tables import (
    plan_told,
    show_groups,
    show_hosts,
    show_notes,
    show_over_groups,
    show_overview,
    show_scores,
    why_not,
)
from assay.terminal import Column, bar, show_moves, show_table, tell
from compare.gains import early_gain
from compare.history import history_of, sentences_of
from compare.hosts import EVEN_HOSTS
from compare.judged import Judged, judge
from compare.lag.behind import (
    behind,
    if_latest,
    peak_lag,
    sentences_without_reader,
    which_if_latest,
    without_reader,
)
from compare.lag.fall import Fall, lag_falls
from compare.lag.lowest import LowestPeak, lag_document
from compare.lag.peaks import with_lowest
from compare.lag.words import lag_sentences, least_of_as_good, not_compared
from compare.limits import NOT_HELD, OPEN, Beyond, beyond, excess_text, excesses
from compare.moves import moves_to
from compare.over_groups import best_in, standings_of
from compare.overview import NOT_JUDGED, Glance, overview_of, worst_now
from compare.remedy import remedy
from compare.scores import (
    CURRENT,
    UNKNOWN,
    Score,
    ScoredGroup,
    assignors_asked,
    score_all_judged,
    score_plan,
    score_without_subscriptions,
    scores_document,
)
from compare.sentences import hosts_sentence, sentence
from compare.streams import tasks_of, tasks_sentences
from compare.verdict import ALL_ALIKE, NO_MEMBERS, NOBODY_READS
from groups.collection import latest_of
from groups.tiers import LAG_PEAKS, PRESETS, called, in_words, parse_objective
from groups.tiers import Objective as Tiers
from groups.wording import agreed, counted, few, first_lines
from heuristics.catalogue import usual_assignors
from heuristics.protocol import assigned_by, by_broker

if TYPE_CHECKING:
    from collections.abc import Collection, Container, Mapping, Sequence

    from groups import Group
    from groups.errors import Failure

MOST_LINES = 20
AT_THE_END = "consumers start at the end"
MOST_MEMBERS = 12
WIDEST_BAR = 20
NOT_SURE = (
    "assignors are not judged for sure where subscriptions are not known: use "
    "--fail-above-assumed, with --assume-equal, or add --reads PATTERN=TOPICS"
)


def score(
    files: cluster.FilesInstead = None,
    *,
    group: cluster.Patterns = None,
    assignor: Assignors = None,
    plan: Plans = None,
    objective: Objective = "kip-54",
    options: GroupOptions,
    fail_above: FailAbove = None,
    fail_above_assumed: Annotated[
        list[str] | None,
        typer.Option(metavar="TIER=N", help="the same, also where subscriptions are assumed"),
    ] = None,
    strict: StrictGate = False,
    format_: Format = "table",
    time_limit: TimeLimitOption = DEFAULT_SECONDS,
    current: Annotated[
        bool, typer.Option("--current/--no-current", help="score what members hold now")
    ] = True,
    bootstrap_server: cluster.BootstrapServerInstead = None,
    connection: cluster.ConnectionOptions,
) -> None:
    """Judge whether a group is as good as can be; score assignors and plans.

    One group: what its members hold now and what assignors would give them, beside the best.
    Several groups: a line each, worst first.
    """
    tiers = parse_objective(objective)
    sure = limits_of(fail_above, tiers)
    assumed = limits_of(fail_above_assumed, tiers, "--fail-above-assumed")
    asked = assignors_asked(assignor) if assignor else []
    find, sources = cluster.finding(files, bootstrap_server, connection)
    groups, damaged, not_had = find(group, options)
    note_unused_capacity(groups, tiers, options)
    assume_equal = options.assume_equal
    captures, latest = groups, latest_of(groups)
    if format_ == "table" and len(latest) == 1:
        groups = [groups[at] for at in latest]
    plans = read_plans(plan or [], groups)
    report_progress(f"solving {counted(len(captures), 'group')}")
    every: list[Judged] = judge(captures, tiers, time_limit=time_limit, assume_equal=assume_equal)
    judged = every if len(groups) == len(captures) else [every[at] for at in latest]
    if assume_equal:
        groups = [one.with_equal_subscriptions() for one in groups]
    usual = not plans and len(judged) == 1
    names = asked or (usual_assignors([judged[0].group]) if usual else ())
    names = [*([CURRENT] if current else []), *(name for name in names if name != CURRENT)]
    made = score_all_judged(
        judged,
        tiers,
        names,
        time_limit,
        asked=asked,
        fresh=bool(plans or asked),
        assume_equal=assume_equal,
        say=report_progress,
    )
    scored = with_lowest(made, tiers, assume_equal=assume_equal)
    if plans:
        scored = [with_plans(scored[0], plans, groups[0])]
    counting = latest_of([one.group for one in judged])
    named = {*(asked if assignor else [] if plans else [CURRENT]), *plans}
    too_far = {at: _worse(scored[at], named, sure, assumed) for at in counting}
    left_open = {
        at: by
        for at, lines in too_far.items()
        if (by := _left_open(scored[at], named, sure, assumed, lines)) is not None
    }
    not_held = NOT_HELD if CURRENT in named else ()
    worse = [
        (judged[at].group.name, line)
        for at, lines in too_far.items()
        for line in lines
        or [_open_told(judged[at], left_open.get(at, ""))]
        * (strict and (at in left_open or judged[at].verdict.says in not_held))
    ]
    if plans:
        unfit = _unfit(scored[0], limited=bool(sure or assumed), strict=strict)
        worse += [(groups[0].name, line) for line in unfit]
    not_judged = [*dict.fromkeys(one.about for one in not_had)]
    worse += [(name, NOT_JUDGED) for name in not_judged] if strict else []
    # Groups proved to be beyond a limit come before those that could not be judged.
    worse.sort(key=lambda one: not isinstance(one[1], Beyond))
    limits = {"--fail-above": fail_above, "--fail-above-assumed": fail_above_assumed}
    gate = " ".join(words_of({**limits, "--strict": strict or None}))
    if len(groups) == 1:
        note_assumed(groups[0].assumed)
    else:
        note_passed_over([groups[at] for at in counting])
    alike = Asked(
        sources=sources,
        group=groups[0].name if len(groups) == 1 else "NAME",
        options=options,
        assignors=assignor,
        plans=plan,
        time_limit=time_limit,
    )
    if format_ == "table" and gate:
        unsure = {judged[at].group.name: by for at, by in left_open.items()}
        unsure |= dict.fromkeys(not_judged, "")
        tell(_gate_told(gate, worse, [one.name for one in groups], unsure))
    if format_ == "json":
        for one, known in zip(scored, groups, strict=True):
            show_json(score_document(one, tiers, known.assumed))
    elif len(judged) == 1:
        show_group(scored[0], alike)
        _tell_not_read([] if group else [*not_had, *damaged])
        for said in sentences_of(history_of(every)):
            tell(said)
    else:
        best = other_objective(tiers)
        in_full = f"one group in full: {alike.command('score', *best)}"
        if len({one.name for one in groups}) == 1:
            of_one = replace(alike, sources=["FILE"], group=groups[0].name)
            in_full = f"one capture in full: {of_one.command('score', *best)}, with its file"
        failing = [name for name, _ in worse]
        show_all(scored, tiers, in_full, damaged, not_had, failing, over=bool(assignor))
    _complain(worse, damaged if gate else ())
    raise typer.Exit(1 if worse else 2 if damaged else 0)


def _gate_told(
    limits: str,
    worse: Sequence[tuple[str, object]],
    groups: Sequence[str],
    unsure: Mapping[str, str],
) -> str:
    """Return the sentence that says which groups are beyond the limits, and in what.

    Parameters
    ----------
    worse : (group, why) of groups that fail, in any order; a group may occur more than once
    groups : names of all groups
    unsure : those whose verdict is open, by name, each with the excess that is open, if known
    """
    failing: dict[str, list[str]] = {}
    for name, why in worse:
        failing.setdefault(name, []).append(why.short if isinstance(why, Beyond) else str(why))
    every = {*groups, *failing, *unsure}
    left = [f"{name} ({by})" if by else name for name, by in unsure.items() if name not in failing]
    told = [f"{name} ({'; '.join(whys)})" for name, whys in failing.items()]
    within = len(every) - len(failing) - len(left)
    said = []
    if told and len(every) == 1:
        said = [f"{told[0]} fails {limits}."]
    elif told:
        fail = agreed(len(told), "fail")
        some = f"{len(told):,} of {counted(len(every), 'group')}"
        said = [f"{some} {fail} {limits}: {few(told)}. Standard error has a line for each."]
    elif within:
        some = f"{within:,} of {counted(len(every), 'group')}"
        said = [
            f"{groups[0] if len(every) == 1 else some} {agreed(within, 'are')} within {limits}."
        ]
    if left:
        said.append(f"Not judged for sure, so that only --strict fails it: {few(left)}.")
    return " ".join(said)


def _complain(worse: Sequence[tuple[str, object]], damaged: Sequence[Failure]) -> None:
    """Print why each failing group fails, or, if none does, what was not read."""
    for line in first_lines([f"{name}: {why}" for name, why in worse], MOST_LINES):
        complain(line)
    if damaged and not worse:
        complain(f"what was read passes, but not all was read: {_few_of(damaged)}")


def _unfit(scored: ScoredGroup, *, limited: bool, strict: bool) -> list[str]:
    """Return lines on plans that are not valid and, if `strict`, on those without a score.

    Parameters
    ----------
    limited : whether a limit is set, which then reports plans that are not valid
    """
    plans = [row for row in scored.rows if row.assignor in scored.plans]
    invalid = [row.assignor for row in plans if row.status == "scored" and not row.valid]
    lines = [] if limited else [f"{name}: the assignment is not valid" for name in invalid]
    if strict:
        lines += [f"{row.assignor}: {row.reason}" for row in plans if row.status != "scored"]
    return lines


def _worse(
    one: ScoredGroup, named: Container[str], sure: Mapping[str, int], assumed: Mapping[str, int]
) -> list[object]:
    """Return a line for each named row that is further from the optimum than allowed.

    If a subscription is unknown, the excess of what members hold now is only known to lie in a
    range, and the excess of an assignor is not known at all.
    """
    judged, rows = one.judged, [row for row in one.rows if row.assignor in named]
    if not (sure or assumed) or judged.verdict.says in (NO_MEMBERS, NOBODY_READS):
        return []
    if judged.reference is None and not rows:
        return [judged.verdict.says]
    optimum = () if one.reference is None else one.reference.terms
    also = beyond(rows, assumed, optimum, besides=sure)
    if judged.reference is None or judged.group.subscription_known.all():
        found = [*beyond(rows, sure, optimum, sure=True, besides=assumed), *also]
        return [_resting_on(line, judged) for line in found]
    if sure and _has_unsure_rows(one, rows):
        return [NOT_SURE]
    rows_for_sure = _whoever_reads_what(one, rows)
    optimum = judged.reference.terms
    anyhow = beyond(rows_for_sure, assumed, optimum, sure=True, besides=sure)
    known = {line.short for line in anyhow}
    if condition := judged.verdict.condition:
        also = [o if o.short in known else o._replace(given=condition) for o in also]
    found = [*beyond(rows_for_sure, sure, optimum, sure=True, besides=assumed, shown=rows), *also]
    return [_resting_on(line, judged) for line in found]


def _left_open(
    one: ScoredGroup,
    named: Container[str],
    sure: Mapping[str, int],
    assumed: Mapping[str, int],
    too_far: Sequence[object],
) -> str | None:
    """Return what leaves open if a group is within the limits; None if that is known.

    It is the first excess that may be beyond them, as ``balance +0 to 2``, or nothing if no number
    is known. Open are an open verdict, and a group that is improvable by an amount that is not
    known, unless it is within the limits for every possible amount.

    Parameters
    ----------
    assumed : limits that hold for every possible amount, or the group is in `too_far`
    too_far : lines on what is beyond a limit for sure
    """
    reference, verdict = one.judged.reference, one.judged.verdict
    if verdict.says not in OPEN and (not verdict.is_improvable or not sure or too_far):
        return None
    if reference is None:
        return ""
    rows = [row for row in one.rows if row.assignor in named]
    if _has_unsure_rows(one, rows):
        return None if assumed and not sure else ""
    rows = _whoever_reads_what(one, rows)
    far = beyond(rows, sure, reference.terms, besides=assumed)
    if (sure or assumed) and rows and not far:
        return None
    beyond_limits = {(line.assignor, line.tier) for line in far}
    for row in rows:
        for term, excess in excesses(row.terms or (), reference.terms):
            is_open = (row.assignor, term.name) in beyond_limits
            if is_open if sure else isinstance(excess, tuple):
                who = "" if row.assignor == CURRENT else f"{row.assignor}: "
                return f"{who}{called(term.name)} +{excess_text(excess)}"
    return ""


def _open_told(judged: Judged, by: str) -> str:
    """Return the verdict; for "improvable", also its condition, or why the amount is not known.

    Parameters
    ----------
    by : the excess that is open, if known
    """
    said = judged.shown
    if judged.verdict.is_improvable:
        if condition := judged.verdict.condition:
            return f"{said} if {condition}: a limit of --fail-above-assumed takes that as given"
        why = "depends on who reads what" if judged.further_question else "is not proved"
        said = f"{said}, by how much {why}"
    return f"{said}: {by}" if by else said


def _has_unsure_rows(one: ScoredGroup, rows: Sequence[Score]) -> bool:
    """Return whether rows are of assignors, which depend on subscriptions that are unknown."""
    known = bool(one.judged.group.subscription_known.all())
    return not known and any(row.assignor not in {CURRENT, *one.plans} for row in rows)


def _whoever_reads_what(one: ScoredGroup, rows: Sequence[Score]) -> list[Score]:
    """Return rows with excesses that hold whoever reads what."""
    group, reference = one.judged.group, one.judged.reference
    if reference is None or group.subscription_known.all():
        return [*rows]
    return [
        score_plan(group, one.plans[row.assignor], reference, row.assignor)
        if row.assignor in one.plans
        else score_without_subscriptions(group, reference, row.assignor)
        for row in rows
    ]


def _resting_on(line: Beyond, judged: Judged) -> Beyond:
    """Return a line with its condition: lags of partitions without a commit assume a start.

    Only lines on lag get it, and only if a consumer of the group starts at the end.
    """
    if line.tier not in LAG_PEAKS or not if_latest(judged.now.group):
        return line
    return line._replace(given=" and ".join(filter(None, (line.given, AT_THE_END))))


def score_document(scored: ScoredGroup, tiers: Tiers, assumed: Sequence[str]) -> dict[str, object]:
    """Return the ``assay-scores/1`` document of a group, with its verdict."""
    judged = scored.judged
    waiting, plan, streams = without_reader(judged.group), judged.plan, judged.group.streams
    return {
        **scores_document(judged.group, tiers, scored.reference, scored.rows),
        "captured_at": judged.group.captured_at,
        "verdict": judged.verdict.to_dict(judged.shown),
        "question": judged.verdict.question,
        "plan": None if plan is None else plan.moves,
        "assumed": list(assumed),
        "without_reader": None if waiting is None else waiting.to_dict(),
        **({} if streams is None else {"tasks": tasks_of(streams).to_dict()}),
        "lag": lag_document(judged.now, scored.lowest, judged.fall),
    }


def show_group(scored: ScoredGroup, asked: Asked) -> None:
    """Print the verdict on one group, its members' loads, and a row for each assignor."""
    judged, plans = scored.judged, scored.plans
    # Of assignors that nobody named, one line says why none was scored.
    rows = [
        row
        for row in scored.rows
        if asked.assignors or row.assignor in plans or row.reason != UNKNOWN
    ]
    known = judged.group.subscription_known.all() or not asked.options.assume_equal
    given = "" if known else ALL_ALIKE
    told = [plan_told(row, given) for row in rows if row.assignor in plans]
    makes = _which_assignor(scored, [row for row in rows if row.assignor not in plans], asked)
    tell(sentence(judged))
    if judged.verdict.question or judged.further_question:
        tiers = PRESETS["kip-54"] if judged.best is None else judged.best.objective
        how = how_to_answer(
            judged.reads_asked, judged.group, asked, "score", *other_objective(tiers)
        )
        for line in how:
            tell(line)
    for said in filter(None, (*told, makes)):
        tell(said)
    hosts = hosts_sentence(judged, asked.solve(EVEN_HOSTS))
    more = _assigned_by(judged.group), early_gain(judged), hosts, *tasks_sentences(judged.group)
    for said in filter(None, more):
        tell(said)
    _tell_lag(judged, scored.lowest, asked)
    if rows and scored.reference is not None:
        show_plan(judged)
        show_loads(judged)
        if judged.plan is not None and (said := least_of_as_good(judged)):
            tell(said)
        if judged.target is not None:
            show_hosts(judged.now, judged.target, plans)
        most = judged.group.with_equal_subscriptions()
        show_scores(scored.reference, rows, scored.lowest, told=plans, reading_most=most)
    elif scored.reference is None:
        for row in rows:
            if row.assignor not in plans:
                tell(f"{row.assignor}: {why_not(row)}")
    if len(rows) < len(scored.rows):
        hint = "" if judged.verdict.question else f". {WHO_READS}"
        tell(f"no assignor was scored: {UNKNOWN}{hint}")


def _which_assignor(scored: ScoredGroup, tried: Sequence[Score], asked: Asked) -> str:
    """Return which assignor makes the moves; without any, which of the named ones is best."""
    makes = remedy(scored.judged, tried, asked)
    if makes or not asked.assignors or scored.reference is None:
        return makes
    return best_in(standings_of(tried, scored.reference.objective))


def _tell_lag(judged: Judged, lowest: LowestPeak | None, asked: Asked) -> None:
    """Print who has most lag, how low it could be, and the records that nobody reads."""
    for said in lag_sentences(judged, lowest):
        tell(said)
    if lowest is not None and judged.now.is_valid and _is_beyond(judged, lowest):
        solve = asked.solve("balance > peak_lag > moves")
        tell(f"The assignment with {lowest.records:,}: {solve}.")
    if waiting := without_reader(judged.group):
        tell(waiting.sentence())
    if lowest is None and (said := not_compared([judged.group])):
        tell(said)


def _is_beyond(judged: Judged, lowest: LowestPeak) -> bool:
    """Return whether the lowest peak lag is worth further moves beyond those of the verdict."""
    there = [peak_lag(one) for one in (judged.now, judged.plan) if one is not None]
    least = min(peak for peak in there if peak is not None)
    return lag_falls(judged.now, Fall.to(lowest.assignment, least, lowest.records))


def _assigned_by(group: Group) -> str:
    """Return the sentence on which assignor assigns a group; empty if that is not known."""
    assignor = assigned_by(group)
    if by_broker(group):
        by = f"{assignor}, in the broker" if assignor else "the broker"
        return f"Assigned by: {by} (KIP-848). Consumers' assignors need group.protocol=classic."
    return f"Assigned by: {assignor}." if assignor else ""


def show_plan(judged: Judged) -> None:
    """Print the moves that the verdict names, if any."""
    if judged.plan is not None:
        is_optimum = judged.verdict.is_improvable
        less = f"For less lag on one {judged.group.nouns.member}:"
        tell("Moves of the optimum:" if is_optimum else less)
        show_moves(moves_to(judged.plan), judged.plan.group.nouns)


def show_loads(judged: Judged) -> None:
    """Print the members whose load should change, and who gives how many partitions to whom.

    If no load should change, or that is not sure, print the loads that differ by more than one.
    """
    now, best, group = judged.now.loads, judged.target, judged.group
    names = dict(zip(group.members, group.called, strict=True))
    gives: dict[str, list[str]] = {}
    later: list[Column[int]] = []
    if best is not None and judged.verdict.is_improvable:
        then = best.loads
        apart = np.abs(now - then)
        shown = np.flatnonzero(apart)
        if not len(shown):
            before, after = (one.owner[best.moved] for one in (judged.now, best))
            shown = np.union1d(before, after)
        for (origin, target), count in best.moves_by_pair().items():
            gives.setdefault(origin, []).append(f"{count} to {names[target]}")
        later = [
            Column("best", lambda m: then[m]),
            *lag_columns(behind(judged.now), behind(best)),
            Column("gives", lambda m: ", ".join(gives.get(group.members[m], []))),
        ]
    elif len(now) and np.ptp(now) > 1:
        apart, shown = np.abs(now - now.mean()), np.arange(len(now))
    else:
        return
    most = int(now.max(initial=1))
    uneven = shown[np.argsort(-apart[shown], kind="stable")]
    rows = uneven[:MOST_MEMBERS].tolist()
    show_table(
        rows if later else sorted(rows, key=lambda m: (-now[m], m)),
        Column(group.nouns.member, lambda m: group.called[m]),
        Column(
            "", lambda m: bar(int(now[m]), most=most, width=WIDEST_BAR), whole=True, gives_way=1
        ),
        Column("now", lambda m: now[m]),
        *later,
    )
    if len(shown) > MOST_MEMBERS:
        show(f"and {len(shown) - MOST_MEMBERS:,} more")
    if kept := len(now) - len(shown):
        more = counted(kept, f"more {group.nouns.member}")
        tell(f"{more} {agreed(kept, 'hold')} as many then as now")


def show_all(
    scored: Sequence[ScoredGroup],
    tiers: Tiers,
    in_full: str,
    unread: Sequence[Failure],
    not_had: Sequence[Failure],
    failing: Collection[str] = (),
    *,
    over: bool,
) -> None:
    """Print a sentence about all groups, then a line for each, worst first.

    Parameters
    ----------
    in_full : the command that prints one group in full
    unread : groups and files that could not be read
    not_had : groups that could not be judged in their state, such as rebalancing
    failing : names of groups beyond a limit
    over : whether to print how assignors did on all groups
    """
    judged = [one.judged for one in scored]
    overview = overview_of(judged, [one.lowest for one in scored], [*not_had, *unread])
    ordered = [judged[at] for at in worst_now(judged)]
    show_overview(overview)
    _tell_not_read(unread)
    show("")
    has_lag = show_groups(overview.worst, overview.missed, failing=failing)
    if has_lag or any(behind(one.now) is not None for one in judged):
        _tell_without_lag(overview.worst)
    if has_lag:
        _tell_meaning_of_lag(overview.worst, tiers)
        if said := which_if_latest([one.now.group for one in ordered]):
            tell(said)
        if said := not_compared([one.group for one in ordered]):
            tell(said)
    for said in sentences_without_reader([one.group for one in ordered]):
        tell(said)
    if uneven := [one.group.name for one in ordered if one.uneven_hosts is not None]:
        tell(f"hosts uneven: {few(uneven)}")
    show_notes(overview)
    if judged:
        show(f"{in_words(tiers)}; {in_full}")
    if over:
        show("")
        counting = [scored[at] for at in latest_of([one.group for one in judged])]
        rows = [(one.judged.group.name, row) for one in counting for row in one.rows]
        show_over_groups(rows, tiers)


def _tell_not_read(unread: Sequence[Failure]) -> None:
    """Print what could not be read, if anything."""
    if unread:
        tell(f"Not read, see the messages: {_few_of(unread)}.")


def _few_of(failures: Sequence[Failure]) -> str:
    return few(list(dict.fromkeys(one.about for one in failures)))


def _tell_without_lag(worst: Sequence[Glance]) -> None:
    """Print the groups whose lag is not known."""
    if without := [one.name for one in worst if any(one.loads) and one.peak is None]:
        its = "its latest capture does" if len(without) == 1 else "their latest captures do"
        tell(f"no lag of {few(without)}: {its} not show it of every partition")


def _tell_meaning_of_lag(worst: Sequence[Glance], tiers: Tiers) -> None:
    """Print what the three peak lags of the table mean."""
    known = [one for one in worst if one.peak is not None and one.lowest is not None]
    if not known:
        return
    which = f"the best in {in_words(tiers)}" if "peak_lag" in tiers else "balanced loads"
    tell(
        "peak lag: of the member with most lag; then: after the moves of the optimum (an "
        f"assignor may make others); least: that {which} can have"
    )
