"""Pipeline: groups to optima and scores on Spark, a batch of groups solved together."""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from importlib.metadata import version
from time import perf_counter
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from compare.runs.session import spark_session
from compare.runs.source import find
from compare.runs.stored import read_table
from compare.runs.tables import TABLES, content_key
from compare.score import Excess, Score, ScoreTerm, score_assignors, too_far
from groups.documents.json_files import make_folder
from groups.errors import AssayError, BadInput
from groups.group import Group
from heuristics.child import Child, Lost
from heuristics.time_limit import TimeLimit
from optimal.fleets import solve_many
from optimal.solve import solve

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from pyspark.sql import DataFrame, SparkSession

    from groups.tiers import Objective
    from optimal.solution import Solution

GROUPS_PER_STEP = 1024
PARTITIONS_PER_SOLVE = 200_000
SOLVE_SECONDS = 600.0

FOUND = pa.schema([(name, pa.string()) for name in ("source", "place", "text", "reason", "group")])
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


@dataclass(frozen=True)
class Job:
    """What to run: on which input, into which folder, for which objective and assignors."""

    source: Path
    out: Path
    objective: Objective
    assignors: tuple[str, ...]
    time_limit: float
    assume_equal: bool = False

    def optimum_key(self, group_key: str) -> str:
        """Return the key of a group's row in ``optima``."""
        return content_key({**self._made_by(group_key), "solver": version("ortools")})

    def score_key(self, group_key: str, assignor: str) -> str:
        """Return the key of a group's row in ``scores`` for an assignor."""
        return content_key({**self._made_by(group_key), "assignor": assignor})

    def _made_by(self, group_key: str) -> dict[str, Any]:
        return {
            "group": group_key,
            "objective": self.objective,
            "time_limit": self.time_limit,
            "version": version("kafka-assay"),
        }


@dataclass(frozen=True)
class Summary:
    """What a run found, for the groups of its input."""

    out: Path
    groups: int
    solved: int
    new: int
    failures: int
    seconds: float
    keys: tuple[str, ...]

    def line(self) -> str:
        """Return one line for people."""
        return (
            f"{self.groups} groups, {self.solved} of them with a proved optimum, "
            f"{self.new} of them new in this run, {self.failures} inputs failed, "
            f"{self.seconds:.1f} s; tables in {self.out}"
        )


def run_job(job: Job, say: Callable[[str], None]) -> Summary:
    """Fill the tables under ``job.out`` with what is missing of the job.

    Raises
    ------
    BadInput
        Where the input holds nothing, the folder cannot be written, or there is no Java.
    """
    started, clock = datetime.now(UTC), perf_counter()
    found = find(job.source)
    make_folder(job.out)
    say(f"reading {len(found)} inputs under {job.source}")
    with spark_session() as spark:
        rows = [(f.source, f.place, f.text, f.reason, f.group) for f in found]
        table = pa.Table.from_pylist(
            [dict(zip(FOUND.names, row, strict=True)) for row in rows], schema=FOUND
        )
        read = spark.createDataFrame(table).repartition(2)
        read = read.mapInArrow(partial(_read, job), _spark_schema(READ)).persist()
        _append(spark, job, "groups", read.where("reason is null"))
        _append(spark, job, "failures", read.where("reason is not null"))
        keys = [r.key for r in read.where("reason is null").select("key").distinct().collect()]
        failures = read.where("reason is not null").count()
        new = _solve_missing(spark, job, sorted(keys), say)
    _log_run(job, started.isoformat(timespec="seconds"), len(keys), failures, clock)
    optima = read_table(job.out, "optima", ["key", "status"])
    wanted = {job.optimum_key(key) for key in keys}
    solved = int(((optima["status"] == "optimal") & optima["key"].isin(wanted)).sum())
    seconds = perf_counter() - clock
    return Summary(job.out, len(keys), solved, new, failures, seconds, tuple(keys))


def worse_rows(
    job: Job, keys: Sequence[str], assignors: Sequence[str], limits: Mapping[str, int]
) -> list[str]:
    """Return a line for each row of a run that is worse than the limits allow.

    The rule is that of one group: :func:`compare.score.too_far`.
    """
    wanted = {job.score_key(key, name) for key in keys for name in assignors}
    scores = read_table(job.out, "scores").sort_values(["group", "assignor", "key"])
    lines = []
    for _, row in scores[scores["key"].isin(wanted)].iterrows():
        terms = None
        if row["terms"] is not None:
            terms = tuple(_stored_term(term) for term in row["terms"])
        valid = None if row["valid"] is None else bool(row["valid"])
        found = Score(row["assignor"], row["status"], row["reason"], valid, terms=terms)
        lines += [f"{row['group']}: {line}" for line in too_far([found], limits)]
    return lines


def _stored_term(term: Mapping[str, Any]) -> ScoreTerm:
    low, high = term["excess_from"], term["excess_to"]
    excess: Excess = None if term["excess"] is None else int(term["excess"])
    if low is not None:
        excess = (int(low), None if high is None else int(high))
    return ScoreTerm(term["name"], int(term["value"]), excess)


def _solve_missing(
    spark: SparkSession, job: Job, keys: Sequence[str], say: Callable[[str], None]
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
        say(f"solving {len(wanted)} groups for {' > '.join(job.objective)}")
    for start in range(0, len(wanted), GROUPS_PER_STEP):
        step = wanted[start : start + GROUPS_PER_STEP]
        chosen = spark.createDataFrame(
            step, "group_key string, needs_optimum boolean, assignors array<string>"
        )
        stored = spark.read.parquet(str(job.out / "groups")).select("key", "snapshot")
        tasks = chosen.join(stored.dropDuplicates(["key"]), chosen.group_key == stored.key)
        tasks = tasks.select(*TASK.names).repartition(2)
        done = tasks.mapInArrow(partial(_solve, job), _spark_schema(DONE)).persist()
        for name in ("optima", "scores"):
            _append(spark, job, name, done.selectExpr(f"inline({name})"))
        done.unpersist()
        say(f"{min(start + GROUPS_PER_STEP, len(wanted))} of {len(wanted)} groups")
    return len(wanted)


def _read(job: Job, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Turn texts into groups, or into the reason why not."""
    for batch in batches:
        yield pa.RecordBatch.from_pylist([_read_one(job, r) for r in batch.to_pylist()], READ)


def _read_one(job: Job, row: Mapping[str, Any]) -> dict[str, Any]:
    from groups.documents.json_files import parse_json

    try:
        if row["text"] is None:
            raise BadInput(row["reason"])
        group = Group.from_dict(parse_json(row["text"]))
        if job.assume_equal:
            group = group.with_equal_subscriptions()
    except BadInput as error:
        made_by = {k: row[k] for k in ("source", "place", "text")}
        return {
            "group": row["group"],
            "key": content_key({**made_by, "reason": str(error)}),
            "source": row["source"],
            "place": row["place"],
            "reason": str(error),
        }
    document = group.to_dict()
    rows = [tuple(m["subscription"] or ()) for m in document["members"].values()]
    return {
        "group": group.name,
        "key": content_key(document),
        "source": row["source"],
        "place": row["place"],
        "members": len(group.members),
        "topics": len(group.topics),
        "partitions": group.n_partitions,
        "equal_subscriptions": len(set(rows)) <= 1,
        "assumed": list(group.assumed),
        "snapshot": json.dumps(document, ensure_ascii=False),
    }


def _solve(job: Job, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Solve a batch of groups together, then score each; one row a group."""
    with TimeLimit(job.time_limit) as limit, Child() as child:
        for batch in batches:
            tasks = batch.to_pylist()
            groups = [Group.from_dict(json.loads(task["snapshot"])) for task in tasks]
            for some in _portions(groups):
                answers = _solved(job, [groups[i] for i in some], child)
                rows = [
                    _row(job, tasks[i], groups[i], answer, limit)
                    for i, answer in zip(some, answers, strict=True)
                ]
                yield pa.RecordBatch.from_pylist(rows, DONE)


def _portions(groups: Sequence[Group]) -> Iterator[list[int]]:
    portion: list[int] = []
    size = 0
    for index, group in enumerate(groups):
        if portion and size + group.n_partitions > PARTITIONS_PER_SOLVE:
            yield portion
            portion, size = [], 0
        portion.append(index)
        size += group.n_partitions
    if portion:
        yield portion


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


def _together(groups: list[Group], objective: Objective, time_limit: float) -> Any:
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


def _row(
    job: Job,
    task: Mapping[str, Any],
    group: Group,
    answer: Solution | str,
    limit: TimeLimit,
) -> dict[str, Any]:
    common = {
        "group": group.name,
        "group_key": task["group_key"],
        "objective": " > ".join(job.objective),
    }
    optimum = {**common, "key": job.optimum_key(task["group_key"])}
    if isinstance(answer, str):
        optimum |= {"status": "failed", "reason": answer, "assumed": list(group.assumed)}
        rows = [Score(name, "failed", f"no optimum: {answer}") for name in task["assignors"]]
    else:
        optimum |= _optimum_row(answer)
        rows = score_assignors(group, answer, task["assignors"], limit)
    scores = [
        {**common, "key": job.score_key(task["group_key"], row.assignor), **_score_row(row)}
        for row in rows
    ]
    return {"optima": [optimum] if task["needs_optimum"] else [], "scores": scores}


def _optimum_row(solution: Solution) -> dict[str, Any]:
    found = solution.assignment
    return {
        "status": str(solution.status),
        "stopped": str(solution.stopped),
        "method": solution.method,
        "seconds": solution.seconds,
        "terms": [vars(term) for term in solution.terms],
        "proof": str(solution.proof.kind),
        "assumed": list(solution.group.assumed),
        "loads": None if found is None else found.loads.tolist(),
    }


def _score_row(row: Score) -> dict[str, Any]:
    columns = ("assignor", "status", "reason", "valid", "balanced", "rounds", "revoked", "seconds")
    terms = None
    if row.terms is not None:
        terms = []
        for term in row.terms:
            low, high = term.excess if isinstance(term.excess, tuple) else (None, None)
            exact = None if isinstance(term.excess, tuple) else term.excess
            terms.append(
                {
                    "name": term.name,
                    "value": term.value,
                    "excess": exact,
                    "excess_from": low,
                    "excess_to": high,
                }
            )
    return {**{c: getattr(row, c) for c in columns}, "terms": terms, "loads": row.loads}


def _append(spark: SparkSession, job: Job, name: str, rows: DataFrame) -> None:
    """Append the rows whose keys the table does not hold yet."""
    rows = rows.select(*TABLES[name].names).dropDuplicates(["key"])
    folder = job.out / name
    if folder.is_dir() and any(folder.glob("*.parquet")):
        stored = spark.read.parquet(str(folder)).select("key")
        rows = rows.join(stored, "key", "left_anti").select(*TABLES[name].names)
    rows.coalesce(1).write.mode("append").parquet(str(folder))


def _spark_schema(schema: pa.Schema) -> Any:
    from pyspark.sql.pandas.types import from_arrow_schema

    return from_arrow_schema(schema)


def _log_run(job: Job, started: str, groups: int, failures: int, clock: float) -> None:
    import pyarrow.parquet as pq

    row = {
        "started_at": started,
        "version": version("kafka-assay"),
        "input": str(job.source),
        "objective": " > ".join(job.objective),
        "assignors": list(job.assignors),
        "time_limit_seconds": job.time_limit,
        "groups": groups,
        "failures": failures,
        "seconds": perf_counter() - clock,
    }
    folder = job.out / "runs"
    folder.mkdir(parents=True, exist_ok=True)
    name = f"{content_key(row)}.parquet"
    pq.write_table(pa.Table.from_pylist([row], TABLES["runs"]), folder / name)
