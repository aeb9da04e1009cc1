"""Split: a part of the input that one task reads, small enough to be sent to it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from groups.errors import Failure

if TYPE_CHECKING:
    from compare.samples.families import Family


@dataclass(frozen=True)
class File:
    """A file: where it is for whoever reads it, and how people are told of it."""

    path: str
    name: str


@dataclass(frozen=True)
class Lines:
    """Some lines of a file of JSON lines, from one byte to another.

    Attributes
    ----------
    first : number of the first line
    whole : whether it is all of the file
    """

    file: File
    start: int
    end: int
    first: int
    whole: bool

    @property
    def size(self) -> int:
        """How many bytes there are to read."""
        return self.end - self.start


@dataclass(frozen=True)
class PackedLines:
    """A gzip file of JSON lines, which can only be read from its beginning."""

    file: File
    size: int


@dataclass(frozen=True)
class Document:
    """A file of one snapshot, or of several lines although its name does not say so."""

    file: File
    size: int


@dataclass(frozen=True)
class Texts:
    """What tools printed: together the views of some groups.

    Attributes
    ----------
    times : when each file was written, ISO 8601, None where that is not known
    """

    files: tuple[File, ...]
    times: tuple[str | None, ...]
    size: int


@dataclass(frozen=True)
class RowGroup:
    """A row group of a Parquet file in the columnar layout.

    Attributes
    ----------
    number : which one of the file
    first : number of its first row
    """

    file: File
    number: int
    first: int
    size: int


@dataclass(frozen=True)
class Seeds:
    """The groups of a family of a range of seeds."""

    family: Family
    first: int
    count: int

    @property
    def size(self) -> int:
        """How many bytes the groups would have as JSON, roughly."""
        listed = self.family.members * min(self.family.topics, 50)
        return self.count * 10 * (self.family.members * self.family.per_member + listed)


@dataclass(frozen=True)
class Refused:
    """What is known not to be readable before anything is read."""

    failure: Failure
    size: int = 0


@dataclass(frozen=True)
class OutOfReach(Failure):
    """What turned out not to be readable; another time it may be."""


Part = Lines | PackedLines | Document | Texts | RowGroup | Seeds | Refused


@dataclass(frozen=True)
class Split:
    """Parts of the input that one task reads, in their order."""

    parts: tuple[Part, ...]

    @property
    def size(self) -> int:
        """How many bytes there are to read."""
        return sum(part.size for part in self.parts)
