"""Many groups: scored on Spark, and the page about a run."""

import sys
from functools import partial
from time import monotonic
from typing import Annotated

import typer

from assay.commands.options import (
    DEFAULT_SECONDS,
    Assignors,
    AssumeEqual,
    FailAbove,
    Objective,
    Reset,
    TimeLimitOption,
    limits_of,
)
from assay.progress import far
from assay.signals import ending_on_signals
from assay.streams import complain, note, show
from groups.tiers import parse_objective

MOST_LINES = 20
# How often a file or a pipe is told how far a run is; a terminal sees it all the time.
EVERY_SECONDS = 10.0


@ending_on_signals("interrupted: what was done is kept; the same command goes on")
def run(
    source: Annotated[str, typer.Argument(metavar="INPUT", help="a .jsonl file, or a folder")],
    *,
    out: Annotated[str, typer.Option("--out", help="folder of the tables")],
    assignor: Assignors = None,
    objective: Objective = "kip-54",
    time_limit: TimeLimitOption = DEFAULT_SECONDS,
    assume_equal: AssumeEqual = False,
    reset: Reset = None,
    fail_above: FailAbove = None,
    master: Annotated[
        str | None,
        typer.Option(
            "--master",
            metavar="URL",
            help="local[N], spark://HOST:PORT, yarn, k8s://URL, or sc://HOST:PORT of Spark "
            "Connect; where it is not given, all cores of this machine",
        ),
    ] = None,
    conf: Annotated[
        list[str] | None,
        typer.Option("--conf", metavar="KEY=VALUE", help="a setting of Spark's; may be repeated"),
    ] = None,
    show_timings: Annotated[
        bool, typer.Option("--timings", help="say where the time went")
    ] = False,
) -> None:
    """Solve and score many groups on Spark.

    A second run fills only what is missing.
    """
    from compare.score import CURRENT
    from groups.extras import require

    require("pyspark", "pyarrow", "pandas", extra="spark")
    from compare.runs.job import job_of
    from compare.runs.pipeline import run_job
    from compare.runs.rows import worse_rows
    from compare.runs.session.master import conf_of
    from compare.runs.session.spark import spark_session
    from compare.runs.work.stages import timings

    limits = limits_of(fail_above or [], parse_objective(objective))
    job = job_of(
        source,
        out,
        objective=objective,
        assignors=assignor,
        time_limit=time_limit or DEFAULT_SECONDS,
        assume_equal=assume_equal,
        reset=reset,
    )

    def say(line: str) -> None:
        note(line)
        far(line)

    told = monotonic()

    def how_far(line: str) -> None:
        nonlocal told
        far(line)
        if not sys.stderr.isatty() and monotonic() - told > EVERY_SECONDS:
            told = monotonic()
            note(line)

    session = partial(spark_session, master=master, conf=conf_of(conf or []))
    counts = run_job(job, say, far=how_far, session=session)
    for line in timings(counts.stages) if show_timings else ():
        note(line)
    show(counts.line())
    worse = (
        worse_rows(job, counts.keys, job.assignors if assignor else [CURRENT], limits)
        if limits
        else []
    )
    for line in worse[:MOST_LINES]:
        complain(line)
    if len(worse) > MOST_LINES:
        complain(f"and {len(worse) - MOST_LINES} more")
    raise typer.Exit(1 if worse else 0)
