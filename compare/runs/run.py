"""Run: many groups from a folder or file to tables, in one call."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from compare.runs.counts import RunCounts
    from heuristics import AssignorFunction


def run(
    source: str | Path,
    out: str | Path,
    *,
    objective: str | Sequence[str] = "kip-54",
    assignors: Sequence[str | AssignorFunction] | None = None,
    time_limit: float = 10.0,
    assume_equal: bool = False,
    reset: Literal["latest", "earliest"] | None = None,
    say: Callable[[str], None] | None = None,
) -> RunCounts:
    """Solve and score many groups on Spark, as ``assay run`` does; fill only what is missing.

    Parameters
    ----------
    source : a file of groups, or a folder
    out : folder of the tables, which is made
    objective : a preset, ``"balance > stickiness"``, or the names of the tiers in order
    assignors : names, or functions of yours at the top of a module; None: what the members hold
        now and all that can be called here
    time_limit : seconds for each solve and each call of an assignor
    assume_equal : take unknown subscriptions as all topics of the group
    reset : ``auto.offset.reset``, where a snapshot does not say it
    say : takes lines for people on how far the run is

    Raises
    ------
    BadInput
        Where the input holds nothing, the folder cannot be written, an assignor is not known, or
        Spark or its Java is missing.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> from assay import run
    >>> with TemporaryDirectory() as out:
    ...     counts = run("corpus/captures/3.6.2", out, assignors=["range"], assume_equal=True)
    >>> counts.names, counts.solved, counts.failures
    (('coop-a',), 1, 0)
    """
    from groups.extras import require

    require("pyspark", "pyarrow", "pandas", extra="spark")
    from compare.runs.job import job_of
    from compare.runs.pipeline import run_job

    job = job_of(
        source,
        out,
        objective=objective,
        assignors=assignors,
        time_limit=time_limit,
        assume_equal=assume_equal,
        reset=reset,
    )
    return run_job(job, say or (lambda _: None))
