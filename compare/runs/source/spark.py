"""Spark: the data source ``assay``, groups from wherever they are as a DataFrame."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pyspark.sql.datasource import DataSource, DataSourceReader, InputPartition
from pyspark.sql.pandas.types import from_arrow_schema

from compare.runs.source.planning import LINE_BYTES, SPLIT_BYTES, seeded_splits, splits
from compare.runs.source.rows import INPUT, Given, read_split
from compare.samples.families import family_named
from groups.errors import BadInput

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    import pyarrow as pa
    from pyspark.sql.types import StructType

    from compare.runs.source.split import Split

OPTIONS = frozenset(
    {
        "path", "family", "seeds", "first_seed", "reset", "assume_equal", "split_bytes",
        "line_bytes",
    }
)  # fmt: skip


class GroupSource(DataSource):  # type: ignore[misc]
    """Groups of files, of folders, or of seeded families; a row a group, or a failure."""

    @classmethod
    def name(cls) -> str:
        """Return what ``spark.read.format`` is given."""
        return "assay"

    def schema(self) -> StructType:
        """Return the columns: those of the layout, `key`, `source`, `place` and `reason`."""
        return from_arrow_schema(INPUT)

    def reader(self, schema: StructType) -> GroupReader:
        """Return what reads the groups that the options name."""
        return GroupReader.of(self.options)


@dataclass
class GroupReader(DataSourceReader):  # type: ignore[misc]
    """What reads the groups: plans on the driver, reads where the tasks are.

    Attributes
    ----------
    path : a file or a folder, or None
    families : names of families, of which `seeds` groups each are made
    """

    path: str | None
    families: tuple[str, ...]
    seeds: int
    first_seed: int
    given: Given
    split_bytes: int
    line_bytes: int

    @staticmethod
    def of(options: Mapping[str, str]) -> GroupReader:
        """Return the reader of some options.

        Raises
        ------
        BadInput
            Where an option is not known, or is not what it is to be.
        """
        found = {key.lower(): value for key, value in options.items()}
        unknown = sorted(found.keys() - OPTIONS)
        if unknown:
            raise BadInput(
                f"option {unknown[0]!r} is not known, expected {', '.join(sorted(OPTIONS))}"
            )
        path, family = found.get("path"), found.get("family")
        if (path is None) == (family is None):
            raise BadInput("expected load(PATH) or option('family', NAME), one of them")
        reset = found.get("reset")
        if reset not in (None, "latest", "earliest"):
            raise BadInput(f"option reset: {reset!r}, expected latest or earliest")
        assume_equal = found.get("assume_equal", "false").lower()
        if assume_equal not in ("true", "false"):
            raise BadInput(f"option assume_equal: {assume_equal!r}, expected true or false")
        return GroupReader(
            path,
            tuple(name.strip() for name in family.split(",")) if family else (),
            _number(found, "seeds", 1),
            _number(found, "first_seed", 1, least=0),
            Given(reset, assume_equal == "true"),
            _number(found, "split_bytes", SPLIT_BYTES),
            _number(found, "line_bytes", LINE_BYTES),
        )

    def partitions(self) -> list[InputPartition]:
        """Return the splits, one a partition."""
        if self.path is not None:
            planned = splits([self.path], split_bytes=self.split_bytes, line_bytes=self.line_bytes)
        else:
            families = [family_named(name) for name in self.families]
            planned = seeded_splits(
                families, self.seeds, first=self.first_seed, split_bytes=self.split_bytes
            )
        return [InputPartition(split) for split in planned]

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        """Yield the rows of a split."""
        split: Split = partition.value
        yield from read_split(split, given=self.given, line_bytes=self.line_bytes)


def _number(options: Mapping[str, Any], name: str, otherwise: int, *, least: int = 1) -> int:
    text = options.get(name, str(otherwise))
    if not (text.isascii() and text.isdigit() and int(text) >= least):
        raise BadInput(f"option {name}: {text!r}, expected an integer of {least} or more")
    return int(text)
