"""Stored tables: what runs left under their folder, each row once."""

from __future__ import annotations

import warnings
from functools import reduce
from typing import TYPE_CHECKING

import pyarrow as pa

from compare.runs.tables.files import good
from compare.runs.tables.schemas import TABLES
from groups.errors import BadInput

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    import pandas as pd
    from pyspark.sql import DataFrame, SparkSession

_PATTERN = frozenset("{}[]*?\\")
_PLACE, _FIRST = "_place", "_first"


def read_table(folder: Path, name: str, columns: Sequence[str] | None = None) -> pd.DataFrame:
    """Return a table of a run's folder, each key once; empty where it is not there yet.

    Of rows with one key, the row of the run that started first. Files that are not whole are left
    out, with a warning for each.

    Raises
    ------
    BadInput
        Where the folder cannot be read.
    """
    # It brings pandas along, which workers that write tables do without.
    import pyarrow.dataset as ds

    schema = TABLES[name]
    names = list(columns or schema.names)
    files = _whole(folder, name)
    try:
        table = ds.dataset(files, schema=schema, format="parquet").to_table(columns=names)
    except (pa.ArrowInvalid, OSError) as error:
        reason = str(error).splitlines()[0]
        raise BadInput(f"{folder / name}: cannot be read: {reason}") from None
    rows = table.to_pandas()
    return rows.drop_duplicates("key", ignore_index=True) if "key" in names else rows


def frame(spark: SparkSession, folder: Path, name: str) -> DataFrame:
    """Return a table of a run's folder to Spark, each key once; empty where it is not there yet.

    The rows are those of :func:`read_table`. The files are those of now: what is appended later
    is not in it.

    Raises
    ------
    BadInput
        Where the folder cannot be read.
    """
    from pyspark.sql import functions as sql
    from pyspark.sql.pandas.types import from_arrow_schema

    schema = from_arrow_schema(TABLES[name])
    files = _whole(folder.absolute(), name)
    if not files:
        return spark.createDataFrame([], schema)
    reader = spark.read.schema(schema).option("__globPaths__", "false")
    paths = [f"file:{file}" for file in files]
    # Told not to take a path for a pattern, Spark reads n paths that look like one n times.
    together = [paths] if _PATTERN.isdisjoint(str(folder.absolute())) else [[p] for p in paths]
    place = sql.struct("_metadata.file_name", "_metadata.row_index").alias(_PLACE)
    parts = [reader.parquet(*some).select("*", place) for some in together]
    rows = reduce(lambda one, other: one.unionAll(other), parts)
    if "key" not in schema.names:
        return rows.select(*schema.names)
    # Only keys are shuffled: the few that are there twice are found first, then left out.
    twice = rows.groupBy("key").agg(sql.min(_PLACE).alias(_FIRST), sql.count("*").alias("rows"))
    twice = twice.where("rows > 1").select("key", _FIRST)
    rows = rows.join(sql.broadcast(twice), "key", "left")
    first = sql.col(_FIRST).isNull() | (sql.col(_FIRST) == sql.col(_PLACE))
    return rows.where(first).select(*schema.names)


def _whole(folder: Path, name: str) -> list[Path]:
    files, lines = good(folder, name)
    for line in lines:
        warnings.warn(line, stacklevel=3)
    return files
