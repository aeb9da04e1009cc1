"""Pipeline: from groups to optima and scores on Spark, many groups in one solve."""

from __future__ import annotations

import json
import sys
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from importlib.metadata import version
from itertools import islice
from time import perf_counter
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from compare.runs.circumstances import circumstances
from compare.runs.counts import RunCounts
from compare.runs.rows import found_row, group_row, rows_of
from compare.runs.session.spark import spark_session
from compare.runs.tables.files import append, left_out, new_run
from compare.runs.tables.folder import prepared
from compare.runs.tables.schemas import TABLES
from compare.runs.tables.stored import frame, read_table
from groups.errors import AssayError, BadInput
from groups.files import find
from groups.fleet import portions
from groups.group import Group
from groups.wording import counted
from heuristics.child import Child, Lost
from heuristics.time_limit import TimeLimit
from optimal.fleets.solve_many import solve_many
from optimal.solve import solve

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from pyspark.sql import DataFrame, SparkSession

    from compare.runs.job import Job
    from groups.tiers import Objective
    from optimal.solution import Solution

GROUPS_PER_STEP = 1024
PARTITIONS_PER_SOLVE = 200_000
SOLVE_SECONDS = 600.0

FOUND = pa.schema(
    [(name, pa.string()) for name in ("source", "place", "text", "reason", "group", "captured_at")]
)
READ = pa.schema([*TABLES["groups"], ("place", pa.string()), ("reason", pa.string())])
TASK = pa.schema(
    [
        ("group_key", pa.string()),
        ("snapshot", pa.string()),
        ("needs_optimum", pa.bool_()),
        ("assignors", pa.list_(pa.string())),
    ]
)
DONE = pa.schema(
    [
        ("optima", pa.list_(pa.struct(list(TABLES["optima"])))),
        ("scores", pa.list_(pa.struct(list(TABLES["scores"])))),
    ]
)


def run_job(job: Job, say: Callable[[str], None]) -> RunCounts:
    """Fill the tables under ``job.out`` with what is missing of the job.

    Raises
    ------
    BadInput
        Where the input holds nothing, the folder cannot be written, or there is no Java.
    """
    started, clock = datetime.now(UTC), perf_counter()
    found = [found_row(found) for found in find([str(job.source)])]
    if not found:
        raise BadInput(f"{job.source}: empty, expected snapshots")
    run = new_run(started)
    named, job = job.out, replace(job, out=prepared(job.out))
    for line in left_out(job.out):
        say(line)
    say(f"reading {counted(len(found), 'input')} under {job.source}")
    with spark_session(named) as spark:
        table = pa.Table.from_pylist(found, schema=FOUND)
        read = spark.createDataFrame(table).repartition(2)
        read = read.mapInArrow(partial(_read, job), _spark_schema(READ)).persist()
        _append(spark, job, run, "groups", read.where("reason is null"))
        _append(spark, job, run, "failures", read.where("reason is not null"))
        groups = read.where("reason is null").select("key", "group").distinct()
        names = {row.key: row.group for row in groups.collect()}
        keys = sorted(names)
        failures = read.where("reason is not null").count()
        new = _solve_missing(spark, job, run, keys, say)
    _log_run(job, run, started.isoformat(timespec="seconds"), len(keys), failures, clock)
    optima = read_table(job.out, "optima", ["key", "status"])
    wanted = {job.optimum_key(key) for key in keys}
    solved = int(((optima["status"] == "optimal") & optima["key"].isin(wanted)).sum())
    seconds = perf_counter() - clock
    captured = tuple(names[key] for key in keys)
    return RunCounts(named, captured, solved, new, failures, seconds, tuple(keys))


def _solve_missing(
    spark: SparkSession, job: Job, run: str, keys: Sequence[str], say: Callable[[str], None]
) -> int:
    """Solve and score, in steps, what the tables do not hold yet; return how many groups."""
    have_optimum = set(read_table(job.out, "optima", ["key"])["key"])
    have_score = set(read_table(job.out, "scores", ["key"])["key"])
    wanted = []
    for key in keys:
        missing = [a for a in job.assignors if job.score_key(key, a) not in have_score]
        needs = job.optimum_key(key) not in have_optimum
        if needs or missing:
            wanted.append((key, needs, missing))
    if wanted:
        say(f"solving {counted(len(wanted), 'group')} for {' > '.join(job.objective)}")
    for start in range(0, len(wanted), GROUPS_PER_STEP):
        step = wanted[start : start + GROUPS_PER_STEP]
        chosen = spark.createDataFrame(
            step, "group_key string, needs_optimum boolean, assignors array<string>"
        )
        stored = frame(spark, job.out, "groups").select("key", "snapshot")
        tasks = chosen.join(stored, chosen.group_key == stored.key)
        tasks = tasks.select(*TASK.names).repartition(2)
        done = tasks.mapInArrow(partial(_solve, job), _spark_schema(DONE)).persist()
        for name in ("optima", "scores"):
            _append(spark, job, run, name, done.selectExpr(f"inline({name})"))
        done.unpersist()
        done_now = min(start + GROUPS_PER_STEP, len(wanted))
        say(f"{done_now:,} of {counted(len(wanted), 'group')}")
    return len(wanted)


def _read(job: Job, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Turn snapshots into groups, or into the reason why they are none."""
    for batch in batches:
        yield pa.RecordBatch.from_pylist([group_row(job, r) for r in batch.to_pylist()], READ)


def _solve(job: Job, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Solve a batch of groups together, then score each; one row a group."""
    # A worker of Spark finds the user's assignors where the process that started the run does.
    sys.path += [folder for folder in job.folders if folder not in sys.path]
    with TimeLimit(job.time_limit) as limit, Child() as child:
        for batch in batches:
            tasks = batch.to_pylist()
            groups = [Group.from_dict(json.loads(task["snapshot"])) for task in tasks]
            left = iter(tasks)
            for some in portions(groups, lambda group: group.n_partitions, PARTITIONS_PER_SOLVE):
                answers = _solved(job, some, child)
                rows = [
                    rows_of(job, task, group, answer, limit)
                    for group, answer, task in zip(
                        some, answers, islice(left, len(some)), strict=True
                    )
                ]
                yield pa.RecordBatch.from_pylist(rows, DONE)


def _solved(job: Job, groups: Sequence[Group], child: Child) -> list[Solution | str]:
    """Solve together; where that fails, each by itself, so that one cannot harm the others."""
    together = child.call(_together, groups, job.objective, job.time_limit, seconds=SOLVE_SECONDS)
    if not isinstance(together, (Lost, str)):
        return list(together)
    answers: list[Solution | str] = []
    for group in groups:
        answer = child.call(_alone, group, job.objective, job.time_limit, seconds=SOLVE_SECONDS)
        answers.append(answer.reason if isinstance(answer, Lost) else answer)
    return answers


def _together(
    groups: Sequence[Group], objective: Objective, time_limit: float
) -> list[Solution] | str:
    try:
        return solve_many(groups, objective, time_limit=time_limit * len(groups))
    except Exception as error:
        return f"{type(error).__name__}: {error}"


def _alone(group: Group, objective: Objective, time_limit: float) -> Solution | str:
    try:
        return solve(group, objective, time_limit=time_limit)
    except AssayError as error:
        return str(error)
    except Exception as error:
        return f"{type(error).__name__}: {error}"


def _append(spark: SparkSession, job: Job, run: str, name: str, rows: DataFrame) -> None:
    """Append the rows whose keys the table does not hold yet."""
    rows = rows.select(*TABLES[name].names).dropDuplicates(["key"])
    rows = rows.join(frame(spark, job.out, name).select("key"), "key", "left_anti")
    append(job.out, name, rows.toArrow(), run)


def _spark_schema(schema: pa.Schema) -> Any:
    from pyspark.sql.pandas.types import from_arrow_schema

    return from_arrow_schema(schema)


def _log_run(job: Job, run: str, started: str, groups: int, failures: int, clock: float) -> None:
    row = {
        "started_at": started,
        "version": version("kafka-assay"),
        **circumstances(),
        "input": str(job.source),
        "objective": " > ".join(job.objective),
        "assignors": list(job.assignors),
        "time_limit_seconds": job.time_limit,
        "groups": groups,
        "failures": failures,
        "seconds": perf_counter() - clock,
    }
    append(job.out, "runs", pa.Table.from_pylist([row], TABLES["runs"]), run)
