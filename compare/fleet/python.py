"""Python: a run on Spark that is started from a program."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from pyspark.sql import SparkSession

    from compare.fleet.results import RunCounts
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
    master: str | None = None,
    conf: Mapping[str, str] | None = None,
    spark: SparkSession | None = None,
) -> RunCounts:
    """Solve and score many groups on Spark, as ``assay run`` does; fill only what is missing.

    Parameters
    ----------
    source : a file of groups or a folder: a path, or an address that Spark knows, ``s3a://...``
    out : folder of the tables, likewise
    objective : a preset, ``"balance > stickiness"``, or the names of the tiers in order
    assignors : names, or functions of yours at the top of a module, beside what the members hold
        now; None: those as written
    time_limit : seconds for each solve and each call of an assignor
    assume_equal : take unknown subscriptions as all topics of the group
    reset : ``auto.offset.reset``, where a snapshot does not say it
    say : takes lines for people on how far the run is
    master : of Spark, as ``--master`` takes it; None: all cores of this machine, and a session
        that is there already is used
    conf : settings of Spark's, which win over the run's own
    spark : a session to use, which stays

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
    >>> counts.captured, counts.solved, counts.failures
    (1, 1, 0)
    """
    from groups.extras import require

    require("pyspark", "pyarrow", "pandas", extra="spark")
    from compare.fleet.job import job_of
    from compare.fleet.run import run_job
    from compare.fleet.session import spark_session
    from heuristics.shipped.probe.door import within_reach

    session = partial(spark_session, master=master, conf=conf, given=spark)
    with within_reach(assignors) as asked:
        job = job_of(
            source,
            out,
            objective=objective,
            assignors=asked,
            time_limit=time_limit,
            assume_equal=assume_equal,
            reset=reset,
        )
        with session() as opened:
            return run_job(opened, job, say or (lambda _: None))
