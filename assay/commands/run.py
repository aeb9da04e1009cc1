"""Run: many groups, solved and scored on Spark."""

from __future__ import annotations

import sys
from contextlib import ExitStack
from dataclasses import asdict
from functools import partial
from shlex import quote
from time import monotonic
from typing import TYPE_CHECKING, Annotated

import typer

from assay.commands.guests import Guests
from assay.commands.options import (
    DEFAULT_SECONDS,
    Assignors,
    AssumeEqual,
    FailAbove,
    Format,
    Objective,
    Reset,
    StrictGate,
    TimeLimitOption,
    limits_of,
    note_one_time,
)
from assay.progress import report_progress
from assay.signals import ending_on_signals
from assay.streams import complain, note, show, show_json, who_reads
from assay.tables import show_groups, show_notes, show_overview, show_unscored
from assay.terminal import tell
from compare.fleet.results import MOST_LINES
from compare.limits import NOT_HELD, OPEN
from compare.overview import NOT_JUDGED
from compare.verdict import NOBODY_READS
from groups.errors import BadInput
from groups.tiers import Objective as Tiers
from groups.tiers import in_words, parse_objective
from groups.wording import counted, few

if TYPE_CHECKING:
    from compare.fleet.results import RunCounts
    from heuristics import Assignor

FORMAT = "assay-run/1"
MOST_UNREAD = 10
# Seconds between lines of progress in a file or a pipe; a terminal has the line of progress.
EVERY_SECONDS = 10.0


@ending_on_signals("interrupted: what was done is kept; the same command goes on")
def run(
    source: Annotated[
        str,
        typer.Argument(
            metavar="INPUT",
            help="JSON lines, Parquet, or a folder of snapshots and texts: a path, or an address "
            "such as s3a://BUCKET/FOLDER",
        ),
    ],
    *,
    out: Annotated[
        str,
        typer.Option("--out", metavar="DIR", help="folder of the tables, or its address"),
    ],
    assignor: Assignors = None,
    objective: Objective = "kip-54",
    assume_equal: AssumeEqual = False,
    fail_above: FailAbove = None,
    strict: StrictGate = False,
    format_: Format = "table",
    time_limit: TimeLimitOption = DEFAULT_SECONDS,
    reset: Reset = None,
    master: Annotated[
        str | None,
        typer.Option(
            "--master",
            metavar="URL",
            help="local[N], spark://HOST:PORT, yarn, k8s://URL, or sc://HOST:PORT of Spark "
            "Connect; left out: all cores of this machine",
        ),
    ] = None,
    conf: Annotated[
        list[str] | None,
        typer.Option("--conf", metavar="KEY=VALUE", help="a setting of Spark's"),
    ] = None,
    input_format: Annotated[
        str | None,
        typer.Option(
            "--input-format",
            metavar="FORMAT",
            help="read INPUT as a format of Spark's, such as delta: the columns of groups in "
            "Parquet, or JSON in a column `value`",
        ),
    ] = None,
    input_table: Annotated[
        bool, typer.Option("--input-table", help="INPUT is a table of a catalogue")
    ] = False,
    output_format: Annotated[
        str,
        typer.Option(
            "--output-format", metavar="FORMAT", help="write tables as a format of Spark's"
        ),
    ] = "parquet",
    output_tables: Annotated[
        bool,
        typer.Option("--output-tables", help="--out is a database of a catalogue, not a folder"),
    ] = False,
    show_timings: Annotated[
        bool, typer.Option("--timings", help="say how long each stage took")
    ] = False,
    guests: Guests,
) -> None:
    """Solve and score many groups on Spark.

    A second run does only what is missing. At the end it says which groups are worst. Without
    --assignor, the assignors as written are scored beside what the members hold now.
    """
    from compare.scores import CURRENT, assignors_asked
    from groups.extras import require

    require("pyspark", "pyarrow", "pandas", extra="spark")
    from compare.fleet.ending import too_far_in_run
    from compare.fleet.job import job_of
    from compare.fleet.run import Run, prepare, timings
    from compare.fleet.session import conf_of, runs_here, spark_session
    from heuristics.shipped.probe.guest import within_reach

    tiers = parse_objective(objective)
    limits = limits_of(fail_above, tiers)
    job_with = partial(
        job_of,
        source,
        out,
        objective=objective,
        time_limit=time_limit,
        assume_equal=assume_equal,
        reset=reset,
        input_format=input_format,
        input_is_table=input_table,
        output_format=output_format,
        output_in_catalogue=output_tables,
    )
    if guests.probe and not runs_here(master):
        raise BadInput("--probe: only where Spark runs on this machine alone: --master local[N]")
    # Wrong arguments fail here, before anybody waits for a client.
    prepare(job_with(assignors=assignor))

    def say(line: str) -> None:
        note(line)
        report_progress(line)

    told = monotonic()

    def how_far(line: str) -> None:
        nonlocal told
        report_progress(line)
        if not sys.stderr.isatty() and monotonic() - told > EVERY_SECONDS:
            told = monotonic()
            note(line)

    settings = conf_of(conf or [])
    with ExitStack() as opened:
        joined = opened.enter_context(guests.joined(seconds=time_limit))
        asked: list[str | Assignor] = [*(assignor or ()), *(one.assignor for one in joined)]
        job = job_with(assignors=opened.enter_context(within_reach(asked)) or None)
        begun = monotonic()
        spark = opened.enter_context(spark_session(master=master, conf=settings))
        counts = Run(spark, job, say, how_far, {"start": monotonic() - begun}).fill()
        named = [CURRENT] if not assignor or CURRENT in assignors_asked(assignor) else []
        named += job.assignors[1:] if assignor or joined else []
        worse = too_far_in_run(spark, job, counts.run, named, limits, MOST_LINES, sure=not strict)
    for line in timings(counts.stages) if show_timings else ():
        note(line)
    for line in not_read(counts):
        note(line)
    many, first = counts.found.one_time
    if many:
        apart = "give each cluster a folder of tables of its own"
        note_one_time([f"{name} (the last file counts)" for name in first], many, apart)
    if format_ == "json":
        show_json(run_document(counts, tiers, source))
    else:
        show_run(counts, tiers, page=job.tables.is_parquet)
    held = CURRENT in named
    lines = [*worse, *(missed(counts, limited=bool(limits), held=held) if strict else [])]
    if not counts.captured:
        lines.append(f"{source}: no group in it")
    for line in lines:
        complain(line)
    raise typer.Exit(2 if not counts.captured else 1 if lines else 0)


def missed(counts: RunCounts, *, limited: bool, held: bool = True) -> list[str]:
    """Return what ``--strict`` refuses: failed inputs, groups not judged, groups nobody serves.

    Parameters
    ----------
    limited : whether there are limits; they decide on groups whose verdict is open, and on what
        members hold
    held : whether the gate is about what members hold, not about assignors
    """
    many, names = counts.found.overview.without_verdict
    says = counts.found.overview.says
    lines = [f"failed: {counted(counts.failures, 'input')}"] * bool(counts.failures)
    lines += [f"{NOT_JUDGED}: {counted(many, 'group')}: {few(names, many)}"] * bool(many)
    refused = (NOBODY_READS,) if limited else (*(NOT_HELD if held else ()), *OPEN)
    return lines + [f"{one}: {counted(says[one], 'group')}" for one in refused if says.get(one)]


def show_run(counts: RunCounts, tiers: Tiers, *, page: bool = True) -> None:
    """Print a sentence about the groups of a run, its worst groups and its counts.

    Parameters
    ----------
    page : whether ``assay report`` can read the tables
    """
    found = counts.found
    many, names = found.overview.without_verdict
    show_overview(found.overview)
    if counts.failures:
        tell(f"{counted(counts.failures, 'input')} failed, see the messages.")
    show("")
    shown = found.overview.worst[:MOST_LINES]
    if shown or names:
        several = found.overview.now > found.overview.groups
        room = MOST_LINES - len(shown)
        named = (*names[:room], *found.overview.rebalancing[:MOST_LINES])
        missed = {name: found.overview.missed.get(name, NOT_JUDGED) for name in named}
        show_groups(shown, missed, several=several)
        judged = sum(found.overview.says.values()) - len(shown)
        for left, what in ((judged, "no worse than the last line"), (many - room, NOT_JUDGED)):
            if left > 0:
                show(f"and {counted(left, 'group')} more, {what}")
        show_notes(found.overview, who_reads("give assay score"))
        show_unscored(found.not_scored)
        report = f"; every group on a page: assay report {quote(counts.out)}"
        show(f"{in_words(tiers)}{report if page else ''}")
    show(counts.line())


def not_read(counts: RunCounts) -> list[str]:
    """Return lines for the first inputs that could not be read, then how many more there are."""
    many, first = counts.found.unread
    lines = [
        f"{one.place}: {f'group {one.group}: ' if one.group else ''}{one.reason}"
        for one in first[:MOST_UNREAD]
    ]
    more = many - len(lines)
    return lines + [f"and {more:,} more; the table failures has all"] * (more > 0)


def run_document(counts: RunCounts, tiers: Tiers, source: str) -> dict[str, object]:
    """Return the ``assay-run/1`` document."""
    found = counts.found
    return {
        "format": FORMAT,
        "input": source,
        "out": str(counts.out),
        "objective": list(tiers),
        "captured": counts.captured,
        "groups": found.groups,
        "proved": counts.solved,
        "new": counts.new,
        "failed": counts.failures,
        "not_judged": found.overview.without_verdict[0],
        "rebalancing": len(found.overview.rebalancing),
        "verdicts": dict(sorted(found.overview.says.items())),
        "lag_could_fall": found.overview.lagging,
        "seconds": round(counts.seconds, 3),
        "worst": [
            {
                "group": one.name,
                "captured_at": one.captured_at,
                "members": one.members,
                "partitions": one.partitions,
                "loads": one.now,
                "best_loads": one.best,
                "moves": one.moves,
                "verdict": one.verdict.to_dict(one.shown),
                "question": one.verdict.question,
                "without_owner": one.without_owner,
                "could_fall": None if one.fall is None else asdict(one.fall),
            }
            for one in found.overview.worst[:MOST_LINES]
        ],
        "changes": [one._asdict() for one in found.overview.changes[:MOST_LINES]],
        "not_scored": [
            {**one._asdict(), "assignors": list(one.assignors)}
            for one in found.not_scored[:MOST_LINES]
        ],
        "failures": [
            {"name": one.about, "place": one.place, "reason": one.reason}
            for one in found.unread[1]
        ],
    }
