"""Source: the input that Spark reads, from any path, address or table, in portions of groups."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import unquote

from compare.fleet.items import BATCH_GROUPS, is_of_lines
from compare.fleet.optima import ANSWERS
from compare.fleet.session import ANY_BYTES, BATCH, NO_COLON, reason_in
from compare.fleet.tables import as_pattern, is_local
from compare.fleet.worker import answer, items_of_files, items_of_lines, items_of_rows
from groups.documents.json_files import END_OF_LINES
from groups.errors import BadInput, Failure
from groups.files import PARQUET, may_hold_groups, nothing_in
from groups.portions import in_portions

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Sequence

    from pyspark.sql import DataFrame, SparkSession

    from compare.fleet.items import Item
    from compare.fleet.job import Job

# A portion is read, solved and written before the next one begins.
PORTION_BYTES = 2**28
# A file is cut into at most this many portions, as each of them reads through all of it.
MOST_CUTS = 8
# Several tasks for each core, so that all cores finish at about the same time.
TASKS_PER_CORE = 6
LEAST_BYTES, MOST_BYTES = 2**17, 2**24
# A batch of lines or files fits a worker's memory, even if one of them is large.
BATCH_BYTES = 2**24
FOR_READING = {
    "spark.sql.files.maxPartitionBytes": str(MOST_BYTES),
    "spark.sql.files.openCostInBytes": str(LEAST_BYTES),
    "spark.sql.files.minPartitionNum": str(TASKS_PER_CORE * (os.cpu_count() or 1)),
    "spark.sql.execution.arrow.maxRecordsPerBatch": str(BATCH_GROUPS),
    BATCH: str(BATCH_BYTES),
    # Up to some 500,000 keys of the tables go to every worker; more are joined by a shuffle.
    "spark.sql.autoBroadcastJoinThreshold": "100m",
}


# Spark's messages on a file that it cannot read, and on one that is gone when it is planned.
_UNREADABLE = re.compile(
    r"(?:reading|read) (?:the )?file:? ?(?P<uri>(?:[\w+.-]+:)?/[^\s\n]+?)[.]?(?:\s|$)"
    r"|Path does not exist: (?P<pattern>.+?)[.](?: SQLSTATE|$)"
)


class File(NamedTuple):
    """A file of the input: Spark's URI, the name that people know, and its size in bytes."""

    uri: str
    name: str
    size: int


@dataclass(frozen=True)
class Portion:
    """A part of the input that is read, solved and written at once.

    Attributes
    ----------
    frame : its rows, as Spark reads them
    items_of : yields the items in batches of `frame`, given the names of the files by address
    files : the files that it reads
    batch_bytes : the most that a worker gets at once
    cuts : the number of portions that share these files
    """

    frame: DataFrame
    items_of: Callable[..., Iterable[Item | Failure]]
    files: Sequence[File]
    batch_bytes: int = BATCH_BYTES
    cuts: int = 1

    @property
    def size(self) -> int:
        """Bytes, roughly; 0 if not known."""
        return sum(file.size for file in self.files) // self.cuts

    def answers(self, job: Job, do: str) -> DataFrame:
        """Return rows of `ANSWERS` for the portion; `do` as in `compare.fleet.worker.answer`."""
        from pyspark.sql.pandas.types import from_arrow_schema

        items_of = partial(self.items_of, {file.uri: file.name for file in self.files})
        answers = partial(answer, job, items_of, do)
        return self.frame.mapInArrow(answers, from_arrow_schema(ANSWERS))


def portions(spark: SparkSession, job: Job, failures: list[Failure]) -> list[Portion]:
    """Return the portions of a job's input.

    Parameters
    ----------
    failures : a list to which files that cannot be read are added

    Raises
    ------
    BadInput
        If the input does not exist, or nothing in it could hold groups.
    """
    source = job.source
    if job.input_is_table:
        return [of_frame(source, spark.table(source))]
    if job.input_format is not None:
        return [of_frame(source, spark.read.format(job.input_format).load(source))]
    files, empty = _listed(spark, source, failures)
    in_folder = [file.name for file in files] != [source]
    if in_folder:
        files = [file for file in files if may_hold_groups(file.name, source)]
        empty = [name for name in empty if may_hold_groups(name, source)]
    if not (files or empty):
        raise nothing_in(source)
    failures += (Failure(name, name, "empty, expected a snapshot", None) for name in empty)
    # Reading them would fail, one after the other.
    refused = [file for file in files if is_local(source) and ":" in os.path.basename(file.name)]
    failures += (Failure(file.name, file.name, NO_COLON, None) for file in refused)
    rest = [file for file in files if file not in refused]
    return portions_of(spark, job, rest, failures)


def portions_of(
    spark: SparkSession, job: Job, files: Sequence[File], failures: list[Failure]
) -> list[Portion]:
    """Return the portions of files of a job's input; `failures` as in :func:`portions`."""
    lines, rows, others = list[File](), list[File](), list[File]()
    for file in files:
        is_parquet = file.name.endswith(PARQUET)
        (rows if is_parquet else lines if is_of_lines(file.name) else others).append(file)
    in_folder = any(file.name != job.source for file in files)
    unread: list[Failure] = []
    try:
        found = [*_portions_of_lines(spark, lines, in_folder)]
        for part in _split_by_size(rows):
            found += _portions_of_parquet(spark, part, unread)
        found += [_portion_of_files(spark, part, in_folder) for part in _split_by_folder(others)]
    except Exception as error:
        return portions_of(spark, job, without_unreadable(files, error, failures), failures)
    failures += unread
    return found


def without_unreadable(
    files: Sequence[File], error: Exception, failures: list[Failure]
) -> list[File]:
    """Return the files without the one that a Spark error names, and add it to `failures`.

    If the error names none of the files, it is raised.
    """
    address = _unreadable_in(error)
    bad = [file for file in files if _address(file.uri) == address]
    if not bad:
        raise error
    failures.append(_cannot_be_read(bad[0].name, error))
    return [file for file in files if file not in bad]


def _unreadable_in(error: Exception) -> str | None:
    """Return the address of the file that a Spark error says it cannot read, None without one."""
    found = _UNREADABLE.search(str(error))
    if found is None:
        return None
    return _address(found["uri"] or re.sub(r"\\(.)", r"\1", found["pattern"]))


def _cannot_be_read(name: str, error: Exception) -> Failure:
    return Failure(name, name, f"cannot be read: {reason_in(error)}", None)


def _listed(
    spark: SparkSession, source: str, failures: list[Failure], gone: Collection[str] = ()
) -> tuple[list[File], list[str]]:
    """Return the files of the input in the order of names, and the names of empty ones.

    A file that vanishes meanwhile is added to `failures`, and all are listed again.

    Parameters
    ----------
    gone : the addresses of those
    """
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
    except Exception as error:
        address = _unreadable_in(error)
        if address is None or address in gone or _name(address, source) == source:
            raise
        if may_hold_groups(_name(address, source), source):
            failures.append(_cannot_be_read(_name(address, source), error))
        return _listed(spark, source, failures, {*gone, address})
    files = [
        File(row["file_path"], _name(_address(row["file_path"]), source), row["length"])
        for row in rows
    ]
    # Spark has no row for an empty file.
    empty = {_name(_address(uri), source) for uri in every} - {file.name for file in files}
    return sorted(files, key=lambda file: file.name), sorted(empty)


def _address(uri: str) -> str:
    """Return a URI from Spark as a path that its readers accept."""
    return unquote(uri).replace("file:///", "file:/")


def _patterns(files: Iterable[File]) -> list[str]:
    return [as_pattern(_address(file.uri)) for file in files]


def _name(address: str, source: str) -> str:
    """Return the name of a file for people: it begins with the source as the user gave it."""
    if not is_local(source):
        return address
    path, above = address.removeprefix("file:"), os.path.abspath(source)
    return f"{source.rstrip('/')}{path[len(above) :]}" if path.startswith(above) else path


def _in_one_task(frame: DataFrame, files: Iterable[File], *by: str) -> DataFrame:
    """Return the rows in one task if they are few: another worker would take longer to start.

    Parameters
    ----------
    by : columns, of which rows that are equal in them stay in one task also if they are many
    """
    if sum(file.size for file in files) <= LEAST_BYTES:
        return frame.coalesce(1)
    return frame.repartition(*by) if by else frame


def _split_by_size(files: Iterable[File]) -> Iterator[list[File]]:
    return in_portions(files, lambda file: file.size, most=PORTION_BYTES)


def _split_by_folder(files: Iterable[File]) -> Iterator[list[File]]:
    """Yield files in portions that keep a folder together: its texts may be views of a group."""
    folders: dict[str, list[File]] = {}
    for file in files:
        folders.setdefault(os.path.dirname(file.name), []).append(file)
    sizes = {name: sum(file.size for file in inside) for name, inside in folders.items()}
    for names in in_portions(sorted(folders), sizes.__getitem__, most=PORTION_BYTES):
        yield [file for name in names for file in folders[name]]


def _portions_of_lines(
    spark: SparkSession, files: Sequence[File], in_folder: bool
) -> Iterator[Portion]:
    from pyspark.sql import functions as sql

    for part in _split_by_size(files):
        frame = (
            spark.read.option("lineSep", "\n")
            .text(_patterns(part))
            .select(
                sql.col("_metadata.file_path").alias("path"),
                sql.col("_metadata.file_block_start").alias("block"),
                sql.col("value").cast("binary").alias("value"),
            )
        )
        before: dict[tuple[str, int], int] = {}
        if any(file.size > LEAST_BYTES for file in part):
            # Several tasks may read a file, but lines are numbered through all of it.
            ends: dict[str, int] = {}
            for path, block, count in sorted(frame.groupBy("path", "block").count().collect()):
                before[path, block] = ends.get(path, 0)
                ends[path] = before[path, block] + count
        frame = _in_one_task(frame, part)
        size = sum(file.size for file in part)
        cuts = min(max(size // PORTION_BYTES, 1), MOST_CUTS, len(before) or 1)
        blocks = sorted(before)
        for number in range(cuts):
            own = blocks[number * len(blocks) // cuts : (number + 1) * len(blocks) // cuts]
            first, last = (own[0][1], own[-1][1]) if cuts > 1 else (0, 0)
            chosen = frame.where(sql.col("block").between(first, last)) if cuts > 1 else frame
            items_of = partial(items_of_lines, before=before, in_folder=in_folder)
            yield Portion(chosen, items_of, part, cuts=cuts)


def _portions_of_parquet(
    spark: SparkSession, files: Sequence[File], failures: list[Failure]
) -> Iterator[Portion]:
    """Yield the portions of Parquet files; each file is one if their columns do not fit."""
    from py4j.protocol import Py4JError
    from pyspark.errors import PySparkException
    from pyspark.sql import functions as sql

    try:
        frame = spark.read.option("mergeSchema", "true").parquet(*_patterns(files))
        names = [name for name in frame.columns if not name.startswith("_")]
    except (PySparkException, Py4JError) as error:
        if len(files) > 1:
            for file in files:
                yield from _portions_of_parquet(spark, [file], failures)
            return
        (file,) = files
        reason = f"cannot be read as Parquet: {reason_in(error)}"
        failures.append(Failure(file.name, file.name, reason, None))
        return
    place = (
        sql.col("_metadata.file_path").alias("path"),
        sql.col("_metadata.row_index").alias("row"),
    )
    frame = _in_one_task(frame.select(*names, *place), files)
    yield Portion(frame, items_of_rows, files, ANY_BYTES)


def _portion_of_files(spark: SparkSession, files: Sequence[File], in_folder: bool) -> Portion:
    """Return the portion of whole files.

    A snapshot or a file of lines stands alone; the texts of a folder are read together.
    """
    from pyspark.sql import functions as sql

    read = spark.read.format("binaryFile").load(_patterns(files))
    start = sql.substring("content", 1, 4096).cast("string")
    alone = start.contains('"assay-') | sql.col("path").rlike(END_OF_LINES)
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
    frame = _in_one_task(frame, files, "together").sortWithinPartitions("together", "path")
    frame = frame.select("together", sql.col("uri").alias("path"), "time", "content")
    return Portion(frame, partial(items_of_files, in_folder=in_folder), files)


def of_frame(source: str, frame: DataFrame) -> Portion:
    """Return the portion of a DataFrame with the columns of the layout, or JSON in `value`.

    Raises
    ------
    BadInput
        If it has neither.
    """
    from pyspark.sql import functions as sql

    files = [File(source, source, 0)]
    numbered = frame.withColumn("path", sql.lit(source))
    numbered = numbered.withColumn("row", sql.monotonically_increasing_id())
    if "members" in frame.columns:
        return Portion(numbered, items_of_rows, files, ANY_BYTES)
    if "value" not in frame.columns:
        raise BadInput(
            f"{source}: expected the columns of groups in Parquet, or JSON in a column `value`"
        )
    # Blocks are far apart, so that no two lines have one number: as in `row`.
    lines = numbered.select(
        "path", sql.shiftleft(sql.spark_partition_id().cast("long"), 33).alias("block"),
        sql.col("value").cast("binary").alias("value"),
    )  # fmt: skip
    return Portion(lines, partial(items_of_lines, before={}), files)
