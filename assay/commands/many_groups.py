"""Many groups: scored on Spark, and the page about a run."""

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
from assay.streams import complain, note, show
from groups.tiers import parse_objective

MOST_LINES = 20


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

    counts = run_job(job, say)
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
