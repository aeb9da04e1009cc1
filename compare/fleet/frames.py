"""Frames: the Python API for many groups: a run, and groups and answers as DataFrames."""

from __future__ import annotations

import os
import re
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing
from functools import reduce
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Literal, NamedTuple

from groups.arguments import taking

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterable, Mapping, Sequence

    import pyarrow as pa
    from pyspark.sql import DataFrame, SparkSession

    from compare.fleet.items import Item
    from compare.fleet.results import RunCounts
    from compare.fleet.worker import Worker
    from groups.errors import Failure
    from heuristics import AssignorFunction

__all__ = ["FleetTables", "groups", "optima", "run", "scores", "tables", "verdicts"]

_A_FRAME = "a DataFrame"


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
    out : folder of the tables: a path or such an address
    objective : a preset, ``"balance > stickiness"``, or the names of the tiers in order
    assignors : names, or functions of yours at the top level of a module, to score beside the
        current assignment; None: those as written
    time_limit : seconds for each solve and each call of an assignor
    assume_equal : take unknown subscriptions as all topics of the group
    reset : ``auto.offset.reset`` where a snapshot does not say it
    say : is called with lines for people on the run
    master : of Spark, as ``--master`` takes it; None: the active session if there is one, else
        all cores of this machine
    conf : Spark settings, which win over the run's own
    spark : a session to use; it is not stopped

    Raises
    ------
    BadInput
        If the input holds no group, the folder cannot be written, an assignor is unknown, or Spark
        or its Java is missing.

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
    from compare.fleet.run import Run
    from compare.fleet.session import spark_session
    from heuristics.shipped.probe.guest import within_reach

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
        with spark_session(master=master, conf=conf, given=spark) as opened:
            return Run(opened, job, say or (lambda _: None)).fill()


@taking
def groups(
    spark: SparkSession,
    source: str | Path,
    *,
    reset: Literal["latest", "earliest"] | None = None,
) -> DataFrame:
    """Return a DataFrame with a row for each group in files, and for each part that holds none.

    Parameters
    ----------
    source : a file or a folder: a path or an address that Spark knows, such as ``s3a://...``
    reset : ``auto.offset.reset`` where a snapshot does not say it

    Returns
    -------
    the columns of the table ``groups`` (docs/reference/formats.md), and `reason`: why the part
    holds no group, null if it does

    Raises
    ------
    BadInput
        If the input does not exist, or nothing in it could hold groups.

    Examples
    --------
    >>> from assay import fleet
    >>> from pyspark.sql import SparkSession
    >>> spark = SparkSession.builder.getOrCreate()
    >>> groups = fleet.groups(spark, "corpus/captures/3.6.2")
    >>> groups.selectExpr("group", "size(members) as members").first()
    Row(group='coop-a', members=4)
    """
    import pyarrow as pa

    from compare.fleet.job import job_of
    from compare.fleet.optima import ANSWERS, failure_answers
    from compare.fleet.source import portions

    job = job_of(source, "", assignors=["current"], reset=reset)
    refused: list[Failure] = []
    # Not read with settings of our own: files must be split the same way when the lines are
    # counted here and when the caller asks for rows.
    found = [part.answers(job, "read") for part in portions(spark, job, refused)]
    if refused:
        found.append(spark.createDataFrame(pa.Table.from_batches([failure_answers(refused)])))
    every = reduce(lambda one, other: one.unionAll(other), found)
    said = ("group", "captured_at", "source", "place")
    columns = [
        f"coalesce(groups.`{name}`, failures.`{name}`) AS `{name}`"
        if name in said
        else f"groups.`{name}`"
        for name in ANSWERS.field("groups").type.names
    ]
    return every.selectExpr(*columns, "failures.reason")


def optima(
    rows: DataFrame,
    objective: str | Sequence[str] = "kip-54",
    *,
    time_limit: float = 10.0,
    assume_equal: bool = False,
) -> DataFrame:
    """Return the optimum of each group, proved if the time allows.

    Parameters
    ----------
    rows : groups, as :func:`groups` returns them, or in the columns of groups in Parquet
    objective : a preset, ``"balance > stickiness"``, or the names of the tiers in order
    time_limit : seconds for each group
    assume_equal : take unknown subscriptions as all topics of the group

    Returns
    -------
    the columns of the table ``optima`` (docs/reference/formats.md)
    """
    return _answers(rows, "optima", ["current"], objective, time_limit, assume_equal)


def scores(
    rows: DataFrame,
    assignors: Sequence[str | AssignorFunction] | None = None,
    objective: str | Sequence[str] = "kip-54",
    *,
    time_limit: float = 10.0,
    assume_equal: bool = False,
) -> DataFrame:
    """Return how far each group's current assignment, and each assignor's, is from the optimum.

    Parameters
    ----------
    rows : groups, as :func:`groups` returns them, or in the columns of groups in Parquet
    assignors : names, or functions of yours at the top level of a module, to score beside the
        current assignment; None: those as written
    objective : a preset, ``"balance > stickiness"``, or the names of the tiers in order
    time_limit : seconds for each group, and for each call of an assignor
    assume_equal : take unknown subscriptions as all topics of the group

    Returns
    -------
    the columns of the table ``scores`` (docs/reference/formats.md)
    """
    return _answers(rows, "scores", assignors, objective, time_limit, assume_equal)


def verdicts(
    rows: DataFrame,
    objective: str | Sequence[str] = "kip-54",
    *,
    time_limit: float = 10.0,
    assume_equal: bool = False,
) -> DataFrame:
    """Return the verdict on the current assignment of each group.

    Parameters
    ----------
    rows, objective, time_limit, assume_equal : as in :func:`optima`

    Returns
    -------
    `group`, `captured_at`, `group_key`, and the fields of `verdict` in the table ``optima``
    (docs/reference/formats.md)
    """
    found = optima(rows, objective, time_limit=time_limit, assume_equal=assume_equal)
    return found.select("group", "captured_at", "group_key", "verdict.*")


def _answers(
    rows: DataFrame,
    table: str,
    assignors: Sequence[str | AssignorFunction] | None,
    objective: str | Sequence[str],
    time_limit: float,
    assume_equal: bool,
) -> DataFrame:
    from compare.fleet.job import job_of
    from compare.fleet.source import of_frame

    job = job_of(
        _A_FRAME, "", objective=objective, assignors=assignors, time_limit=time_limit,
        assume_equal=assume_equal,
    )  # fmt: skip
    if "reason" in rows.columns:
        rows = rows.where("reason IS NULL")
    answers = of_frame(_A_FRAME, rows).answers(job, "answer")
    return answers.where(f"{table} IS NOT NULL").select(f"{table}.*")


class FleetTables(NamedTuple):
    """Groups, their optima and scores, and the parts of the input that hold no group.

    Each table has the columns of the table of that name (docs/reference/formats.md), and is sorted
    by group and time of capture.
    """

    groups: pa.Table
    optima: pa.Table
    scores: pa.Table
    failures: pa.Table


@taking
def tables(
    source: str | Path,
    assignors: Sequence[str | AssignorFunction] | None = None,
    objective: str | Sequence[str] = "kip-54",
    *,
    time_limit: float = 10.0,
    reset: Literal["latest", "earliest"] | None = None,
    assume_equal: bool = False,
    processes: int | None = None,
) -> FleetTables:
    """Solve and score the groups of a file or a folder without Spark; return the rows of a run.

    They are the rows that :func:`assay.run` writes, all held in memory. As there, a group or an
    assignor that hangs, dies or takes too much memory costs only its own result.

    Parameters
    ----------
    source : a path on this machine
    assignors : names, or functions of yours at the top level of a module, to score beside the
        current assignment; None: those as written
    objective : a preset, ``"balance > stickiness"``, or the names of the tiers in order
    time_limit : seconds for each group, and for each call of an assignor
    reset : ``auto.offset.reset`` where a snapshot does not say it
    assume_equal : take unknown subscriptions as all topics of the group
    processes : how many solve at once; None: one for each core

    Raises
    ------
    BadInput
        If the input cannot be read or holds no group, or an assignor is unknown.

    Examples
    --------
    >>> from assay import fleet
    >>> found = fleet.tables("corpus/captures/3.6.2", ["range"])
    >>> found.optima.select(["group", "status"]).to_pylist()
    [{'group': 'coop-a', 'status': 'optimal'}]
    >>> found.scores["assignor"].to_pylist()
    ['current', 'range']
    """
    from compare.fleet.job import job_of
    from compare.fleet.worker import Worker
    from heuristics.shipped.probe.guest import within_reach

    with within_reach(assignors) as asked, ExitStack() as opened:
        job = job_of(
            source, "", objective=objective, assignors=asked, time_limit=time_limit,
            reset=reset, assume_equal=assume_equal,
        )  # fmt: skip
        count = processes or os.cpu_count() or 1
        workers = [opened.enter_context(closing(Worker(job))) for _ in range(count)]
        items, lock = _items(job.source), Lock()

        def next_item() -> Item | Failure | None:
            with lock:
                return next(items, None)

        def rows_of(worker: Worker) -> list[pa.RecordBatch]:
            return [*worker.answers(iter(next_item, None), "answer")]

        def no_more_items() -> None:
            with lock:
                items.close()

        threads = opened.enter_context(ThreadPoolExecutor(count))
        opened.callback(no_more_items)
        parts = [*threads.map(rows_of, workers)]
    return _tables([rows for part in parts for rows in part])


def _items(source: str) -> Generator[Item | Failure, None, None]:
    """Yield the items and failures in the files of a path; the texts of a folder are one item."""
    from compare.fleet.items import is_of_lines, item_of_texts, items_in_file, items_in_stream
    from groups.errors import BadInput, Failure
    from groups.files import files_in, is_folder
    from groups.times import file_time

    in_folder = is_folder(source)
    texts: dict[str, list[tuple[str, bytes, str | None]]] = {}
    for name in files_in(source) if in_folder else [source]:
        # Spark skips these files, too.
        if in_folder and re.search(r"/[_.]", name.removeprefix(source)):
            continue
        try:
            if not os.path.getsize(name):
                yield Failure(name, name, "empty, expected a snapshot", None)
            elif is_of_lines(name):
                with open(name, "rb") as stream:
                    yield from items_in_stream(name, stream, in_folder=in_folder)
            else:
                content = Path(name).read_bytes()
                for one in items_in_file(name, content, in_folder=in_folder):
                    if one is None:
                        views = texts.setdefault(os.path.dirname(name), [])
                        views.append((name, content, file_time(name)))
                    else:
                        yield one
        except (OSError, ValueError) as error:
            reason = error.strerror if isinstance(error, OSError) else error
            if not in_folder:
                raise BadInput(f"{name}: cannot be read: {reason}") from None
            yield Failure(name, name, f"cannot be read: {reason}", None)
    yield from map(item_of_texts, texts.values())


def _tables(parts: Iterable[pa.RecordBatch]) -> FleetTables:
    import pyarrow as pa

    from compare.fleet.optima import ANSWERS, rows_in
    from compare.fleet.worker import first_of_each_key
    from groups.table.layout import joined

    answers = first_of_each_key(joined(parts, ANSWERS))

    def table(name: str, by: str) -> pa.Table:
        order = [(column, "ascending") for column in ("group", "captured_at", by)]
        return pa.Table.from_batches([rows_in(answers, name)]).sort_by(order)

    return FleetTables(
        groups=table("groups", "key"),
        optima=table("optima", "key"),
        scores=table("scores", "assignor"),
        failures=table("failures", "place"),
    )
