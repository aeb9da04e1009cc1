"""Source: what Spark reads, from any path, address or table that it knows, as groups."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import unquote

from compare.fleet.items import BATCH_GROUPS, is_of_lines
from compare.fleet.optima import ANSWERS
from compare.fleet.session import ANY_BYTES, BATCH, reason_in
from compare.fleet.tables import as_pattern, is_local
from compare.fleet.worker import answer, of_files, of_lines, of_rows
from groups.errors import BadInput, Failure
from groups.files import PARQUET, may_hold_groups, nothing_in
from groups.portions import in_portions

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from pyspark.sql import DataFrame, SparkSession

    from compare.fleet.items import Item
    from compare.fleet.job import Job

# So much is read, solved and written before the next portion begins.
PORTION_BYTES = 2**28
# One file is cut into so many portions at most: each of them reads through all of it.
MOST_CUTS = 8
# Tasks for each core: the last ones are done at about the same time.
TASKS_PER_CORE = 6
LEAST_BYTES, MOST_BYTES = 2**17, 2**24
# A batch of lines or files fits a worker's memory, also where one of them is large.
BATCH_BYTES = 2**24
FOR_READING = {
    "spark.sql.files.maxPartitionBytes": str(MOST_BYTES),
    "spark.sql.files.openCostInBytes": str(LEAST_BYTES),
    "spark.sql.files.minPartitionNum": str(TASKS_PER_CORE * (os.cpu_count() or 1)),
    "spark.sql.execution.arrow.maxRecordsPerBatch": str(BATCH_GROUPS),
    BATCH: str(BATCH_BYTES),
    # Some 500,000 keys of what the tables hold go to every worker, more are joined by a shuffle.
    "spark.sql.autoBroadcastJoinThreshold": "100m",
}


# What Spark says of a file that it cannot read.
_UNREADABLE = re.compile(
    r"(?:reading|read) (?:the )?file:? ?((?:[\w+.-]+:)?/[^\s\n]+?)[.]?(?:\s|$)"
)


class File(NamedTuple):
    """A file of the input: its URI as Spark's, its name for people, and its bytes."""

    uri: str
    name: str
    size: int


@dataclass(frozen=True)
class Portion:
    """A part of the input that is answered and written at once.

    Attributes
    ----------
    frame : what Spark reads of it
    things : what a worker finds, given the names of files by their addresses, and batches of that
    files : that it reads
    again : returns the portions of some of these files
    batch_bytes : that a worker gets at once, at most
    cuts : portions that read the same files, each a part of them
    """

    frame: DataFrame
    things: Callable[..., Iterable[Item | Failure]]
    files: Sequence[File]
    again: Callable[[Sequence[File]], Iterable[Portion]] = field(default=lambda _: ())
    batch_bytes: int = BATCH_BYTES
    cuts: int = 1

    @property
    def size(self) -> int:
        """Bytes, about; 0 where that is not known."""
        return sum(file.size for file in self.files) // self.cuts

    def answers(self, job: Job, do: str) -> DataFrame:
        """Return what workers answer, given what to do: ``answer`` or ``read``."""
        from pyspark.sql.pandas.types import from_arrow_schema

        things = partial(self.things, {file.uri: file.name for file in self.files})
        told = partial(answer, job, things, do)
        return self.frame.mapInArrow(told, from_arrow_schema(ANSWERS))

    def without(self, error: Exception) -> tuple[list[Portion], Failure] | None:
        """Return the portions without the file that an error of Spark's is about, and a failure.

        None where it is about none.
        """
        found = _UNREADABLE.search(str(error))
        bad = [file for file in self.files if found and _address(file.uri) == _address(found[1])]
        if not bad:
            return None
        rest = [file for file in self.files if file not in bad]
        reason = f"cannot be read: {reason_in(error)}"
        failure = Failure(bad[0].name, bad[0].name, reason, None)
        return list(self.again(rest)) if rest else [], failure


def portions(spark: SparkSession, job: Job, failures: list[Failure]) -> list[Portion]:
    """Return the portions of the input of a job.

    Parameters
    ----------
    failures : to which is added what cannot be read

    Raises
    ------
    BadInput
        Where there is no such input, or nothing in it that could be used.
    """
    source = job.source
    if job.input_is_table:
        return [of_frame(source, spark.table(source))]
    if job.input_format is not None:
        return [of_frame(source, spark.read.format(job.input_format).load(source))]
    files, empty = _listed(spark, source)
    in_folder = [file.name for file in files] != [source]
    if in_folder:
        files = [file for file in files if may_hold_groups(file.name, source)]
        empty = [name for name in empty if may_hold_groups(name, source)]
    if not (files or empty):
        raise nothing_in(source)
    failures += (Failure(name, name, "empty, expected a snapshot", None) for name in empty)
    lines, rows, others = list[File](), list[File](), list[File]()
    for file in files:
        is_parquet = file.name.endswith(PARQUET)
        (rows if is_parquet else lines if is_of_lines(file.name) else others).append(file)
    found = list(_lines_of(spark, lines))
    for some in _together(rows):
        found += _rows_of(spark, some, failures)
    return found + [_files_of(spark, some, in_folder) for some in _folders(others)]


def _listed(spark: SparkSession, source: str) -> tuple[list[File], list[str]]:
    """Return the files of the input, ascending by name, and those that are empty, not reading."""
    from pyspark.errors import AnalysisException

    path = source
    if is_local(source) and os.path.exists(source):
        path = as_pattern(os.path.abspath(source))
    try:
        reader = spark.read.format("binaryFile").option("recursiveFileLookup", "true")
        found = reader.load(path)
        rows = found.select("_metadata.file_path", "length").collect()
        every = found.inputFiles()
    except AnalysisException as error:
        if error.getCondition() == "PATH_NOT_FOUND":
            raise BadInput(f"{source}: cannot be read: No such file or directory") from None
        raise
    files = [
        File(row["file_path"], _name(_address(row["file_path"]), source), row["length"])
        for row in rows
    ]
    # Spark reads nothing of what is empty.
    empty = {_name(_address(uri), source) for uri in every} - {file.name for file in files}
    return sorted(files, key=lambda file: file.name), sorted(empty)


def _address(uri: str) -> str:
    """Return a URI of Spark's as a path that its readers take."""
    return unquote(uri).replace("file:///", "file:/")


def _patterns(files: Iterable[File]) -> list[str]:
    return [as_pattern(_address(file.uri)) for file in files]


def _name(address: str, source: str) -> str:
    """Return how people know a file: below the source, as that was given."""
    if not is_local(source):
        return address
    path, above = address.removeprefix("file:"), os.path.abspath(source)
    return f"{source.rstrip('/')}{path[len(above) :]}" if path.startswith(above) else path


def _is_little(files: Iterable[File]) -> bool:
    """Whether one task reads it all: to start another worker and its child takes longer."""
    return sum(file.size for file in files) <= LEAST_BYTES


def _gathered(frame: DataFrame, files: Iterable[File]) -> DataFrame:
    return frame.coalesce(1) if _is_little(files) else frame


def _together(files: Iterable[File]) -> Iterator[list[File]]:
    return in_portions(files, lambda file: file.size, most=PORTION_BYTES)


def _folders(files: Iterable[File]) -> Iterator[list[File]]:
    """Yield files in portions; those of one folder, which may be views of a group, in one."""
    folders: dict[str, list[File]] = {}
    for file in files:
        folders.setdefault(os.path.dirname(file.name), []).append(file)
    sizes = {name: sum(file.size for file in some) for name, some in folders.items()}
    for names in in_portions(sorted(folders), sizes.__getitem__, most=PORTION_BYTES):
        yield [file for name in names for file in folders[name]]


def _lines_of(spark: SparkSession, files: Sequence[File]) -> Iterator[Portion]:
    from pyspark.sql import functions as sql

    for some in _together(files):
        frame = (
            spark.read.option("lineSep", "\n")
            .text(_patterns(some))
            .select(
                sql.col("_metadata.file_path").alias("path"),
                sql.col("_metadata.file_block_start").alias("block"),
                sql.col("value").cast("binary").alias("value"),
            )
        )
        before: dict[tuple[str, int], int] = {}
        if any(file.size > LEAST_BYTES for file in some):
            # Lines are numbered through a file, which several tasks read.
            ends: dict[str, int] = {}
            for path, block, count in sorted(frame.groupBy("path", "block").count().collect()):
                before[path, block] = ends.get(path, 0)
                ends[path] = before[path, block] + count
        frame = _gathered(frame, some)
        size = sum(file.size for file in some)
        cuts = min(max(size // PORTION_BYTES, 1), MOST_CUTS, len(before) or 1)
        blocks = sorted(before)
        for number in range(cuts):
            part = blocks[number * len(blocks) // cuts : (number + 1) * len(blocks) // cuts]
            first, last = (part[0][1], part[-1][1]) if cuts > 1 else (0, 0)
            chosen = frame.where(sql.col("block").between(first, last)) if cuts > 1 else frame
            things, again = partial(of_lines, before=before), partial(_lines_of, spark)
            yield Portion(chosen, things, some, again, cuts=cuts)


def _rows_of(
    spark: SparkSession, files: Sequence[File], failures: list[Failure]
) -> Iterator[Portion]:
    """Yield the portions of Parquet, each file by itself where their columns differ."""
    from py4j.protocol import Py4JError
    from pyspark.errors import PySparkException
    from pyspark.sql import functions as sql

    try:
        frame = spark.read.option("mergeSchema", "true").parquet(*_patterns(files))
        names = [name for name in frame.columns if not name.startswith("_")]
    except (PySparkException, Py4JError) as error:
        if len(files) > 1:
            for file in files:
                yield from _rows_of(spark, [file], failures)
            return
        (file,) = files
        reason = f"cannot be read as Parquet: {reason_in(error)}"
        failures.append(Failure(file.name, file.name, reason, None))
        return
    place = (
        sql.col("_metadata.file_path").alias("path"),
        sql.col("_metadata.row_index").alias("row"),
    )
    again = partial(_rows_of, spark, failures=failures)
    frame = _gathered(frame.select(*names, *place), files)
    yield Portion(frame, of_rows, files, again, ANY_BYTES)


def _files_of(spark: SparkSession, files: Sequence[File], in_folder: bool) -> Portion:
    """Return a portion of whole files: what is one snapshot or of lines stands by itself."""
    from pyspark.sql import functions as sql

    read = spark.read.format("binaryFile").load(_patterns(files))
    start = sql.substring("content", 1, 4096).cast("string")
    alone = start.contains('"assay-') | sql.col("path").rlike(r"[.]jsonl([.]gz)?$")
    folder = sql.regexp_replace("path", "/[^/]*$", "")
    frame = read.select(
        sql.when(alone, sql.col("path")).otherwise(folder).alias("together"),
        "path",
        sql.col("_metadata.file_path").alias("uri"),
        sql.date_format(
            sql.to_utc_timestamp("modificationTime", sql.current_timezone()),
            "yyyy-MM-dd'T'HH:mm:ss'Z'",
        ).alias("time"),
        "content",
    )
    frame = frame.coalesce(1) if _is_little(files) else frame.repartition("together")
    frame = frame.sortWithinPartitions("together", "path")
    frame = frame.select("together", sql.col("uri").alias("path"), "time", "content")

    def again(rest: Sequence[File]) -> list[Portion]:
        return [_files_of(spark, rest, in_folder)]

    return Portion(frame, partial(of_files, in_folder=in_folder), files, again)


def of_frame(source: str, frame: DataFrame) -> Portion:
    """Return the portion of a DataFrame: of the columns of the layout, or of JSON in `value`."""
    from pyspark.sql import functions as sql

    files = [File(source, source, 0)]
    numbered = frame.withColumn("path", sql.lit(source))
    numbered = numbered.withColumn("row", sql.monotonically_increasing_id())
    if "members" in frame.columns:
        return Portion(numbered, of_rows, files, batch_bytes=ANY_BYTES)
    if "value" not in frame.columns:
        raise BadInput(
            f"{source}: expected the columns of groups in Parquet, or JSON in a column `value`"
        )
    lines = numbered.select(
        "path", sql.spark_partition_id().cast("long").alias("block"),
        sql.col("value").cast("binary").alias("value"),
    )  # fmt: skip
    return Portion(lines, partial(of_lines, before={}), files)
