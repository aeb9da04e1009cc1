"""Tables of runs: columns, types and units, keys, and how Spark writes and reads them."""

from __future__ import annotations

import hashlib
import json
import os
import re
from dataclasses import dataclass
from functools import cache
from importlib.metadata import version
from typing import TYPE_CHECKING
from uuid import uuid4

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from compare.scores import STORED
from groups.errors import BadInput
from groups.table.key import HEXADECIMAL_DIGITS
from groups.table.layout import LAYOUT

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from datetime import datetime

    import pandas as pd
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.types import StructType

TERMS = pa.list_(pa.struct([("name", pa.string()), ("value", pa.int64()), ("bound", pa.int64())]))
EXCESSES = pa.list_(
    pa.struct(
        [
            ("name", pa.string()),
            ("value", pa.int64()),
            ("excess", pa.int64()),  # null after the first tier that differs, and if not exact
            ("excess_from", pa.int64()),  # the interval if the optimum is not proved, else null
            ("excess_to", pa.int64()),
        ]
    )
)
# Arrow types of a score's fields, by their Python types without None.
KINDS = {
    "bool": pa.bool_(),
    "int": pa.int64(),
    "float": pa.float64(),
    "tuple[int, ...]": pa.list_(pa.int64()),
    "tuple[ScoreTerm, ...]": EXCESSES,
}

STAGES = pa.list_(pa.struct([("stage", pa.string()), ("seconds", pa.float64())]))

# The verdict on a group's current assignment as in `compare.verdict.Verdict`, the partitions to
# move, and what else a line shows as in `compare.overview.Glance`.
VERDICT = pa.struct(
    [
        ("says", pa.string()),
        ("sure", pa.bool_()),
        ("tier", pa.string()),
        ("at_least", pa.int64()),
        ("at_most", pa.int64()),
        ("moves", pa.int64()),
        ("condition", pa.string()),
        ("question", pa.string()),
        ("to_move", pa.int64()),
        ("waiting", pa.int64()),
        ("waiting_unknown", pa.int64()),
        ("without_owner", pa.int64()),  # partitions that have a reader but no owner
        # The busiest member's lag now and after a few moves, and their number; null if none help.
        ("lag_now", pa.int64()),
        ("lag_then", pa.int64()),
        ("lag_moves", pa.int64()),
    ]
)

# Columns on the group that a row is about.
ABOUT = [
    ("group", pa.string()),
    ("key", pa.string()),
    ("captured_at", pa.string()),  # ISO 8601, null if not known
    ("group_key", pa.string()),
    ("source", pa.string()),
]
TABLES = {
    "groups": pa.schema(
        [
            *LAYOUT,
            ("key", pa.string()),
            ("source", pa.string()),
            ("place", pa.string()),  # the source, with the line if it has several
            ("n_members", pa.int64()),
            ("n_topics", pa.int64()),
            ("n_partitions", pa.int64()),
            ("equal_subscriptions", pa.bool_()),
        ]
    ),
    "optima": pa.schema(
        [
            *ABOUT,
            ("place", pa.string()),
            ("n_members", pa.int64()),
            ("n_partitions", pa.int64()),
            ("lag", pa.int64()),  # total of the partitions whose lag is known, null if none is
            ("subscriptions_known", pa.bool_()),  # of every member
            ("made_by", pa.string()),  # key of all that the row depends on besides the group
            ("objective", pa.string()),
            ("status", pa.string()),
            ("reason", pa.string()),
            ("stopped", pa.string()),
            ("method", pa.string()),
            ("seconds", pa.float64()),
            ("terms", TERMS),
            ("proof", pa.string()),  # kind of proof
            ("assumed", pa.list_(pa.string())),
            ("loads", pa.list_(pa.int64())),  # partitions per member, in the order of ids
            ("verdict", VERDICT),  # null if the group could not be judged
        ]
    ),
    "scores": pa.schema(
        [
            *ABOUT,
            ("n_partitions", pa.int64()),
            ("made_by", pa.string()),  # key of all that the row depends on besides the group
            ("objective", pa.string()),
            *((name, KINDS.get(kind, pa.string())) for name, kind in STORED.items()),
        ]
    ),
    "failures": pa.schema(
        [
            ("group", pa.string()),
            ("key", pa.string()),
            ("captured_at", pa.string()),  # ISO 8601, null if not known
            ("source", pa.string()),
            ("place", pa.string()),
            ("reason", pa.string()),
        ]
    ),
    # A row for each group and each failure that a run has read.
    "inputs": pa.schema(
        [
            ("key", pa.string()),  # in ``groups`` or ``failures``
            ("is_group", pa.bool_()),
        ]
    ),
    "runs": pa.schema(
        [
            ("started_at", pa.string()),  # ISO 8601
            ("ended", pa.string()),  # done, failed or interrupted
            ("reason", pa.string()),  # why it failed, else null
            ("version", pa.string()),
            ("commit", pa.string()),  # of the clone, with + if files differ from it; else null
            ("solvers", pa.list_(pa.string())),  # each with its version
            ("python", pa.string()),
            ("processor", pa.string()),  # of the machine that started the run, and its cores
            ("master", pa.string()),  # of Spark
            ("cores", pa.int64()),  # tasks at once
            ("input", pa.string()),
            ("objective", pa.string()),
            ("assignors", pa.list_(pa.string())),
            ("time_limit_seconds", pa.float64()),
            ("assume_equal", pa.bool_()),
            ("reset", pa.string()),
            ("seed", pa.int64()),  # of random searches
            ("groups", pa.int64()),  # captures of groups in the input
            ("missing", pa.int64()),  # of these, how many lacked a row
            ("proved", pa.int64()),  # of these, how many have a proved optimum
            ("failed", pa.int64()),  # how many the run could not solve
            ("failures", pa.int64()),  # inputs that are no group
            ("files", pa.int64()),  # that the run wrote, with their rows and bytes
            ("rows", pa.int64()),
            ("bytes", pa.int64()),
            ("seconds", pa.float64()),
            ("stages", STAGES),  # where the seconds went, of all cores together
        ]
    ),
    # Sums over the other tables, in a bounded number of rows; `statistic` says what a row counts.
    "aggregates": pa.schema(
        [
            ("state", pa.string()),  # key of the runs that they were made of
            ("objective", pa.string()),
            ("statistic", pa.string()),
            ("family", pa.string()),  # the groups' source: a file of many groups, or a folder
            ("assignor", pa.string()),
            ("tier", pa.string()),
            ("label", pa.string()),  # what is counted: a verdict, a status, a reason
            ("group", pa.string()),
            ("group_key", pa.string()),
            ("optimum_key", pa.string()),  # of the row in ``optima``
            ("captured_at", pa.string()),
            ("x", pa.float64()),
            ("y", pa.float64()),
            ("count", pa.int64()),  # of groups
            ("total", pa.float64()),  # sum of a value over them
            ("most", pa.float64()),  # the greatest
        ]
    ),
}

RUN = "run"
PARQUET = "parquet"
# Formats whose files are read by the columns that are asked for.
OF_FILES = (PARQUET, "json", "orc")
# Cached, as looking up a package's version reads files: too slow for every row.
version_of = cache(version)


def content_key(parts: Mapping[str, object]) -> str:
    """Return a hash of what a row depends on."""
    return _digits(json.dumps(parts, sort_keys=True, ensure_ascii=False, separators=(",", ":")))


def row_keys(made_by: str, group_keys: Iterable[str]) -> list[str]:
    """Return the keys of the rows on groups, in order.

    Parameters
    ----------
    made_by : the content key of all that the rows depend on besides the groups
    """
    return [_digits(f"{made_by}{key}") for key in group_keys]


def _digits(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:HEXADECIMAL_DIGITS]


def new_run(started: datetime) -> str:
    """Return the name of a run; names sort by the start of their runs."""
    return f"{started:%Y%m%dT%H%M%S%fZ}-{uuid4().hex[:8]}"


def is_local(path: str) -> bool:
    """Return whether a path is on this machine, unlike an address such as ``s3a://...``."""
    return re.match(r"[A-Za-z][\w+.-]*:/", path) is None


def as_pattern(path: str) -> str:
    """Return a path escaped for Spark's readers, which take paths as patterns."""
    return "".join(f"\\{one}" if one in "{}[]*?\\" else one for one in path)


@dataclass(frozen=True)
class Tables:
    """The tables that runs fill: folders on any file system that Spark knows, or in a catalogue.

    A run writes only below ``TABLE/run=RUN``, and Spark writes each portion of rows at once. Runs
    at the same time never touch each other's files, and written files never change.

    Attributes
    ----------
    place : a folder; if `in_catalogue`, a database such as ``catalogue.database``
    format : a format of Spark's writers
    """

    place: str
    format: str = PARQUET
    in_catalogue: bool = False

    def __str__(self) -> str:
        return self.place

    @property
    def is_parquet(self) -> bool:
        """Whether they are folders of Parquet, which pages and `read_table` read without Spark."""
        return self.format == PARQUET and not self.in_catalogue

    def where(self, name: str) -> str:
        """Return the folder or the full name of a table."""
        return f"{self.place}.{name}" if self.in_catalogue else f"{self.place}/{name}"

    def require(self, spark: SparkSession) -> None:
        """Require that a catalogue's database exists and that its tables hold all that is written.

        Spark would miss the database only when it writes, and drop fields that a column lacks.

        Raises
        ------
        BadInput
            If there is no such database, or a column of its tables is of another type.
        """
        if not self.in_catalogue:
            return
        if not spark.catalog.databaseExists(self.place):
            raise BadInput(f"{self.place}: no such database in the catalogue")
        for name in filter(lambda one: spark.catalog.tableExists(self.where(one)), TABLES):
            columns = spark.table(self.where(name)).schema
            held = {one.name: one.dataType.simpleString() for one in columns}
            for one in _schema_of(name):
                if held.get(one.name) not in (None, one.dataType.simpleString()):
                    raise BadInput(
                        f"{self.where(name)}: its column {one.name} has the type of another "
                        "version: name another database"
                    )

    def runs_of(self, run: str) -> str:
        """Return the path pattern of the folders that a run has written."""
        return f"{as_pattern(self.place)}/*/{RUN}={run}"

    def write(self, rows: DataFrame, name: str, run: str) -> None:
        """Add rows to a table, in one Spark write."""
        if self.is_parquet:
            rows.write.mode("append").parquet(f"{self.where(name)}/{RUN}={run}")
            return
        from pyspark.sql import functions as sql

        writer = rows.withColumn(RUN, sql.lit(run)).write.format(self.format).mode("append")
        if self.in_catalogue:
            self._add_columns(rows, name)
            writer.saveAsTable(self.where(name))
        else:
            writer.option("mergeSchema", True).partitionBy(RUN).save(self.where(name))

    def _add_columns(self, rows: DataFrame, name: str) -> None:
        """Add the columns that a catalogue's table lacks if an earlier version made it."""
        spark, where = rows.sparkSession, self.where(name)
        existing = {*spark.table(where).columns} if spark.catalog.tableExists(where) else None
        lacking = [
            f"{one.name} {one.dataType.simpleString()}"
            for one in rows.schema
            if existing is not None and one.name not in existing
        ]
        if lacking:
            spark.sql(f"ALTER TABLE {where} ADD COLUMNS ({', '.join(lacking)})")

    def read(self, spark: SparkSession, name: str) -> DataFrame:
        """Return all rows of a table, with the column `run`; no rows if it does not exist yet."""
        found = self.read_if_there(spark, name)
        return spark.createDataFrame([], _schema_of(name)) if found is None else found

    def read_if_there(self, spark: SparkSession, name: str) -> DataFrame | None:
        """Return all rows of a table, with the column `run`; None if it does not exist yet.

        Columns and fields that an earlier version or the format did not write are null.
        """
        from pyspark.errors import AnalysisException

        schema = _schema_of(name)
        try:
            if self.in_catalogue:
                found = spark.table(self.where(name))
            else:
                reader = spark.read.format(self.format).option("mergeSchema", True)
                # Other formats keep their columns themselves, and refuse to be given them.
                of_files = reader.schema(schema) if self.format in OF_FILES else reader
                found = of_files.load(self.where(name))
            # With Spark Connect, it is here that a table turns out not to exist.
            return found.to(schema) if found.columns else None
        except AnalysisException as error:
            if (error.getCondition() or "") in _NOT_THERE:
                return None
            raise


def _schema_of(name: str) -> StructType:
    from pyspark.sql.pandas.types import from_arrow_schema

    fields = [one.with_nullable(True) for one in TABLES[name]]
    return from_arrow_schema(pa.schema([*fields, (RUN, pa.string())]))


_NOT_THERE = frozenset({"PATH_NOT_FOUND", "TABLE_OR_VIEW_NOT_FOUND"})


# SQL for `groups.collection.file_order`.
FILE_ORDER = ("source", "length(place)", "place")


def latest(rows: DataFrame) -> DataFrame:
    """Return one row for each `key`, that of the latest run."""
    return _greatest(rows, ["key"], [RUN])


def latest_captures(optima: DataFrame) -> DataFrame:
    """Return the captures that count, as in `groups.collection.latest_in`."""
    classes = ["group", "CASE WHEN captured_at IS NULL THEN group_key END"]
    return _greatest(optima, classes, ["captured_at", *FILE_ORDER])


def _greatest(rows: DataFrame, by: Sequence[str], columns: Sequence[str]) -> DataFrame:
    """Return the row that is the greatest in some columns, of each class of rows.

    Parameters
    ----------
    by, columns : SQL that tells classes apart, and that is compared
    """
    from pyspark.sql import Window
    from pyspark.sql import functions as sql

    order = Window.partitionBy(*map(sql.expr, by)).orderBy(
        *(sql.expr(one).desc() for one in columns)
    )
    placed = rows.withColumn("_place", sql.row_number().over(order))
    return placed.where("_place = 1").drop("_place")


def read_table(
    folder: str | os.PathLike[str], name: str, columns: Sequence[str] | None = None
) -> pd.DataFrame:
    """Return a table of a run's folder to pandas, each row once, without Spark.

    Parameters
    ----------
    folder : a path, or an address that PyArrow knows, such as ``s3://bucket/tables``
    columns : None: all

    Raises
    ------
    BadInput
        If the folder cannot be read.
    """
    found = stored(folder, name, columns or [*TABLES[name].names, RUN])
    rows: pd.DataFrame = found.to_pandas()
    return rows


def stored(
    folder: str | os.PathLike[str],
    name: str,
    columns: Sequence[str],
    *,
    by: str = "key",
    keys: Sequence[str] | None = None,
) -> pa.Table:
    """Return rows of a table in a run's folder, one for each `key`: that of the latest run.

    Parameters
    ----------
    by : the column to filter by
    keys : the values of that column to keep; None: all

    Raises
    ------
    BadInput
        If the folder cannot be read.
    """
    import pyarrow.dataset as ds

    schema = TABLES[name].append(pa.field(RUN, pa.string()))
    once = "key" in schema.names
    read = [*dict.fromkeys((*columns, RUN, *(("key",) if once else ())))]
    place = f"{re.sub('^s3[an]://', 's3://', os.fspath(folder))}/{name}"
    try:
        partitioning = ds.partitioning(pa.schema([(RUN, pa.string())]), flavor="hive")
        found = ds.dataset(place, schema=schema, format=PARQUET, partitioning=partitioning)
        chosen = None if keys is None else ds.field(by).isin(pa.array(keys, pa.string()))
        rows = found.to_table(columns=read, filter=chosen)
    except FileNotFoundError:
        rows = schema.empty_table().select(read)
    except (pa.ArrowInvalid, OSError) as error:
        raise BadInput(f"{place}: cannot be read: {str(error).splitlines()[0]}") from None
    latest_first = [(RUN, "descending")]
    rows = first_of(rows, ["key"], latest_first, 1) if once else rows.sort_by(latest_first)
    return rows.select([*columns])


def first_of(
    rows: pa.Table, by: Sequence[str], order: Sequence[tuple[str, str]], most: int
) -> pa.Table:
    """Return the first rows of each class of rows that are equal in some columns.

    Parameters
    ----------
    by : the columns that tell classes apart
    order : columns and directions to sort by
    most : rows to keep of each class
    """
    rows = rows.sort_by(order)
    rows = rows.append_column("_at", pa.array(np.arange(len(rows))))
    alike = rows.group_by([*by], use_threads=False).aggregate([("_at", "list")])["_at_list"]
    first = pc.list_flatten(pc.list_slice(alike, 0, most))
    return rows.take(first.sort()).drop_columns("_at")
