"""Advise: what to change about a group, each change with its proved gain."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING, Annotated

import typer

from assay.commands import cluster
from assay.commands.options import (
    DEFAULT_SECONDS,
    Asked,
    Assignors,
    Format,
    GroupOptions,
    Like,
    how_to_answer,
    note_passed_over,
    note_unused_capacity,
    seconds_option,
    words_of,
)
from assay.commands.solve import tell_proofs
from assay.progress import report_progress
from assay.streams import OPTIONS, note, note_assumed, show, show_json
from assay.tables import show_given, show_guessed, with_like
from assay.terminal import Column, show_moves, show_table, tell
from compare.advice import words
from compare.advice.advice import AS_MANY, Advice, Change, Lower, Tried
from compare.advice.advise import advise as advised
from compare.advice.advise import call_seconds
from compare.hosts import EVEN_HOSTS
from compare.moves import moves_to
from compare.overview import guessed_in, overview_of
from compare.promises.findings import known_of
from compare.remedy import MOST_RESTARTS, listed_as
from compare.scores import CURRENT, DEPENDS, OPTIMUM
from compare.sentences import on_the_way_sentence
from compare.verdict import NOBODY_READS
from compare.what_if import all_alike
from groups.collection import latest_of
from groups.errors import BadInput, Failure
from groups.tiers import MOVES
from groups.wording import counted, few, first_lines, percent
from heuristics import matching
from heuristics.protocol import assigned_by
from heuristics.time_limit import TimeLimit

if TYPE_CHECKING:
    from collections.abc import Sequence


# Seconds for several groups together, and the most and the least for each of them.
ALL_SECONDS, MOST_EACH, LEAST_EACH = 60.0, 1.0, 0.05
MOST_CONDITIONS = 5
BY_LOAD = ("--lower", "peak_load")


def advise(
    files: cluster.FilesInstead = None,
    *,
    bootstrap_server: cluster.BootstrapServerInstead = None,
    group: cluster.Patterns = None,
    connection: cluster.ConnectionOptions,
    lower: Annotated[
        Lower | None,
        typer.Option(
            help="what decides: partitions of the busiest member, or its records of lag; left "
            "out: lag, where it is known"
        ),
    ] = None,
    assignor: Assignors = None,
    like: Like = None,
    options: GroupOptions,
    time_limit: Annotated[
        float | None,
        seconds_option(
            "seconds for a group, and for each call of an assignor; left out: 10 and 5, of "
            "several groups less"
        ),
    ] = None,
    format_: Format = "table",
) -> None:
    """Advise what to change about a group, and what each change gains for sure.

    Moves, an assignor, more members, more partitions, one more topic for one member. The greatest
    gain comes first; of gains of at least four fifths of that, the change that takes least.
    Of several groups: a line each, without assignors unless named. Of several captures of a
    group: the latest.
    """
    asked = list(matching(assignor, besides=(CURRENT, OPTIMUM))) if assignor else None
    asked = None if asked is None else [name for name in asked if name not in (CURRENT, OPTIMUM)]
    find, sources = cluster.finding(files, bootstrap_server, connection)
    groups, damaged, not_had = find(group, options)
    captured = len(groups)
    groups = [groups[at] for at in latest_of(groups)]
    one = len(groups) == 1
    each = max(LEAST_EACH, min(MOST_EACH, ALL_SECONDS / max(1, len(groups))))
    found: list[Advice] = []
    lacking: list[BadInput] = []
    with TimeLimit(call_seconds(time_limit)) as limit:
        for looked_at, given in enumerate(groups):
            report_progress(f"{looked_at:,} of {counted(len(groups), 'group')} looked at")
            try:
                advice = advised(
                    given,
                    lower=lower,
                    assignors=asked if one or asked is not None else (),
                    like=like,
                    assume_equal=options.assume_equal,
                    time_limit=time_limit or (DEFAULT_SECONDS if one else each),
                    limit=limit,
                )
            except BadInput as error:
                lacking.append(error if one else error.within(given.name))
            else:
                found.append(advice)
    if lacking and not found:
        raise lacking[0]
    for refused in lacking:
        note(str(refused))
    asked_alike = Asked(
        sources=sources,
        group=found[0].group if one else None,
        options=options,
        assignors=assignor,
        time_limit=time_limit,
    )
    second = "peak_lag" if any(advice.lower == "peak_lag" for advice in found) else MOVES
    note_unused_capacity(groups, ("balance", second), options, asked_alike.command("score"))
    if one:
        note_assumed(found[0].assumed)
    else:
        note_passed_over(groups)
    if format_ == "json":
        for advice in found:
            show_json(advice.to_dict())
    elif one:
        _print_advice(found[0], asked_alike)
    else:
        by_load = asked_alike.command("advise", *words_of({"--group": group}), *BY_LOAD)
        decided = () if lower is None else ("--lower", lower)
        in_full = replace(asked_alike, group="NAME").command("advise", *decided)
        several = len(groups) < captured
        _print_all(found, [*not_had, *damaged], in_full, by_load, several=several)
    raise typer.Exit(2 if damaged or lacking else 0)


def _print_advice(advice: Advice, asked: Asked) -> None:
    """Print what to change about one group, and what gains nothing."""
    if said := on_the_way_sentence(advice.judged.group):
        tell(said)
    tell(words.headline(advice))
    if said := words.verdict_sentences(advice, asked.command("advise", *BY_LOAD)):
        tell(said)
    _print_question(advice, asked)
    for line in words.not_advised(advice):
        tell(line)
    for number, change in enumerate(words.to_do(advice), start=1):
        _print_change(f"{number}. ", change, advice, asked)
    hosts = words.hosts_and_pods(advice, asked.solve(EVEN_HOSTS))
    besides = (words.hot_partition(advice), *hosts)
    for line in filter(None, besides):
        tell(line)
    for change in advice.same_peak:
        tell("For the same peak:")
        _print_change("- ", change, advice, asked)
    if said := words.more_even(advice):
        tell(f"{said[0].upper()}{said[1:]}: {asked.command('score')} shows it.")
    nothing = words.gains_nothing(advice)
    if nothing:
        tell("What does not help:")
        for line in nothing:
            tell(f"- {line}")
    if said := words.conclusion(advice):
        tell(said)
    _print_trials(advice)
    shown = (*advice.changes, *advice.same_peak)
    tell_proofs(kind for change in shown for kind in words.proofs_of(change))
    if advice.best is not None:
        tell(words.what_decides(advice))


def _print_question(advice: Advice, asked: Asked) -> None:
    """Print the open question, if there is one, and how to answer it."""
    if said := words.to_find_out(advice):
        tell(said)
        command = "advise", "--lower", advice.lower
        for line in how_to_answer(advice.asks, advice.judged.group, asked, *command):
            tell(line)


def _print_all(
    advice: Sequence[Advice],
    failed: Sequence[Failure],
    in_full: str,
    by_load: str,
    *,
    several: bool,
) -> None:
    """Print a line for each of several groups.

    Groups that nobody reads come first, then those that gain without more members or partitions,
    then the others; within each of these, the greatest gain first.

    Parameters
    ----------
    failed : groups and files that could not be judged
    in_full, by_load : commands that print one group in full, and all groups by partitions
    several : whether a group has several captures, of which the latest is shown
    """

    def urgency(one: Advice) -> tuple[object, ...]:
        takes_more = not one.changes or one.changes[0].kind not in AS_MANY
        return -_waiting(one), takes_more, -_less(one), one.group, one.captured_at or ""

    order = sorted(advice, key=urgency)
    tell(overview_of([one.judged for one in order], failed=failed).headline())
    if not order:
        return
    show("")
    # The time of capture tells several captures of one group apart.
    times = several or len({one.group for one in order}) < len(order)
    show_table(
        order,
        Column("group", lambda one: one.group),
        Column("captured at", lambda one: one.captured_at, shown=times),
        Column("what decides", lambda one: one.lower, gives_way=1),
        Column("now", lambda one: one.now if one.valid else None, right=True),
        Column("then", _then, right=True),
        Column("less", _percent_less, right=True),
        Column("change first", words.in_short),
        Column("moves", lambda one: one.changes[0].moves if one.changes else None, right=True),
        Column("verdict", lambda one: one.judged.shown),
    )
    tell(
        "the greatest gain first; then: what the busiest member has after the change; less: than "
        "now"
    )
    _print_assumed(order)
    tell(f"one group in full: {in_full}")
    if any(one.lower == "peak_lag" for one in advice):
        tell(f"by partitions, not lag: {by_load}")


def _then(advice: Advice) -> str | None:
    """Return what the busiest member has after the first change; None if there is none."""
    return words.rounded(advice.changes[0].after.amount) if advice.changes else None


def _percent_less(advice: Advice) -> str | None:
    if not advice.changes:
        return None
    if advice.changes[0].before is None:
        return "not valid"
    return percent(*_less(advice).as_integer_ratio())


def _less(advice: Advice) -> Fraction:
    """Return the share, 0..1, by which the first change lowers the present peak.

    0 without a change. If what members hold is not valid, the change's own share.
    """
    if not advice.changes:
        return Fraction(0)
    change, now = advice.changes[0], advice.now
    if change.before is None or not now:
        return change.share
    return 1 - change.after.amount / now


def _waiting(advice: Advice) -> int:
    """Return the records that wait in a group that nobody reads; 0 for other groups."""
    verdict = advice.judged.verdict
    return (verdict.waiting or 0) if verdict.says == NOBODY_READS else 0


def _print_assumed(advice: Sequence[Advice]) -> None:
    """Print the guesses and conditions that the advice rests on."""
    show_guessed(guessed_in([one.assumed for one in advice]), len(advice))
    named: dict[str, list[str]] = {}
    for one in advice:
        if one.condition is not None:
            named.setdefault(one.condition, []).append(one.group)
    lines = [f"{few([*dict.fromkeys(all_of)])}: only if {said}" for said, all_of in named.items()]
    for line in first_lines(lines, MOST_CONDITIONS, ": see each group in full"):
        tell(line)


def _print_change(lead: str, change: Change, advice: Advice, asked: Asked) -> None:
    # `assay frontier` needs every subscription.
    known = asked.options.assume_equal or advice.judged.group.subscription_known.all()
    fewer_moves = asked.command("frontier", "moves", "peak_lag") if known else ""
    tell(f"{lead}{words.what_to_do(change, advice)}")
    for line in (words.why(change, advice), *words.depends(change, advice, fewer_moves)):
        tell(f"   {with_like(line)}")
    if change.kind == "isolate":
        tell(f"   {asked.solve('peak_lag > moves')} prints it.")
    if change.mends:
        show_given(change.assignment, indent="   ")
    if change.kind in ("rebalance", "isolate"):
        nouns = advice.judged.group.nouns
        show_moves(moves_to(change.assignment), nouns, indent="   ")
    maker = words.maker_of(change, advice) or change
    if restarts := _restarts(maker, asked):
        tell(f"   What each restart stops: {restarts}")
    name, differ = maker.assignor, not all_alike(advice.judged.group)
    if name and differ and (said := known_of([name])):
        tell(f"   {said}")


def _restarts(maker: Change, asked: Asked) -> str:
    """Return the command that plays two rolling restarts; empty if a change needs none."""
    listed = listed_as(maker.assignor or "")
    if maker.rolling_restarts != MOST_RESTARTS or listed is None:
        return ""
    now = assigned_by(maker.assignment.group) or "ASSIGNOR"
    return asked.command("scenario", "--rollout", "upgrade", "--from", now, "--to", listed)


def _print_trials(advice: Advice) -> None:
    if not advice.assignors:
        return
    later = any(trial.tried for trial in advice.assignors)
    proved = advice.best is not None and advice.best.proved
    least = " (least)" if proved else " (least known)"
    what = "busiest holds" if advice.lower == "peak_load" else "busiest has"
    show_table(
        advice.assignors,
        Column("assignor", lambda trial: trial.assignor),
        Column(what, lambda trial: _busiest(trial, least), right=True),
        Column("moves", lambda trial: None if trial.peak is None else trial.moves),
        Column("best after ±1", _kept, right=True, shown=later),
    )
    if later:
        tell(
            "best after ±1: in how many tries, each with one member more or less, the busiest "
            "member ends with the least possible"
        )
    depend = [trial.assignor for trial in advice.assignors if trial.reason == DEPENDS]
    if depend:
        what = "what the busiest has depends on who reads what"
        tell(f"{', '.join(depend)}: {what}; {OPTIONS['subscriptions']}")


def _busiest(trial: Tried, least: str) -> str:
    if trial.reason == DEPENDS:
        return "unknown"
    if trial.peak is None:
        return "not valid" if trial.status == "scored" else trial.status
    return f"{trial.peak:,}{least if trial.least else ''}"


def _kept(trial: Tried) -> str | None:
    if trial.peak is None or not trial.tried:
        return None
    return f"{trial.kept} of {trial.tried}"
