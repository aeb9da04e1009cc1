"""Captures for tests of the importers, and imports that raise the first failure."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from groups.errors import BadInput
from groups.importers import import_each
from groups.importers.console.headers import LONG

if TYPE_CHECKING:
    from collections.abc import Sequence

CAPTURES = Path(__file__).parents[1] / "captures"


# The headers of --describe, and of --members --verbose since Kafka 4.
OFFSETS = "GROUP TOPIC PARTITION CURRENT-OFFSET LOG-END-OFFSET LAG CONSUMER-ID HOST CLIENT-ID\n"
KIP_848 = (
    "GROUP CONSUMER-ID HOST CLIENT-ID #PARTITIONS CURRENT-EPOCH CURRENT-ASSIGNMENT TARGET-EPOCH"
    " TARGET-ASSIGNMENT\n"
)


def text_of(name: str) -> str:
    return (CAPTURES / name).read_text()


def capture(*names: str) -> list[tuple[str, bytes]]:
    return [(name, (CAPTURES / name).read_bytes()) for name in names]


def tables() -> dict[str, str]:
    """Return by header, cells one blank apart, the longest table of one group that is below it."""
    found: dict[str, str] = {}
    for path in sorted(CAPTURES.glob("*/*.txt")):
        for table in path.read_text().strip().split("\n\n"):
            header, *rows = table.split("\n")
            columns, groups = " ".join(header.split()), {row.split(None, 1)[0] for row in rows}
            longer = len(rows) > found.get(columns, "").count("\n")
            if columns in LONG and len(groups) == 1 and longer:
                found[columns] = table
    return found


def only(*texts: str) -> dict[str, Any]:
    """Return the only group of up to three texts, whose sources are named a, b, c."""
    (document,) = import_texts([(n, t.encode()) for n, t in zip("abc", texts, strict=False)])
    return document


def squeezed(text: str) -> str:
    """Return a table with a single blank between its cells."""
    return "\n".join(" ".join(line.split()) for line in text.split("\n"))


def wrapped(text: str, width: int, *, stripped: bool = False) -> str:
    """Return a text with its lines broken as by a terminal of this width."""
    pieces = [
        line[at : at + width]
        for line in text.split("\n")
        for at in range(0, max(len(line), 1), width)
    ]
    return "\n".join(piece.rstrip() if stripped else piece for piece in pieces)


def owners(document: dict[str, Any]) -> dict[tuple[str, int], str]:
    """Return the owner of each partition in a document."""
    return {
        (topic, number): member
        for member, described in document["members"].items()
        for topic, numbers in described["owned"].items()
        for number in numbers
    }


def import_texts(
    sources: Sequence[tuple[str, bytes]],
    *,
    dialect: str = "auto",
    captured_at: str | None = None,
) -> list[dict[str, Any]]:
    """Return the groups of these sources as ``assay-group/1`` documents, ascending by group."""
    imported, failures = import_each(sources, dialect=dialect, captured_at=captured_at)
    if failures:
        raise BadInput(f"{failures[0].place}: {failures[0].reason}")
    if not imported:
        names = ", ".join(name for name, _ in sources)
        raise BadInput(f"{names}: no group in it, add kafka-consumer-groups --describe")
    return [found.document for found in imported]
