"""What tests take of an importer: captures, groups of texts, the first reason against."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from groups.errors import BadInput
from groups.importers import import_each

if TYPE_CHECKING:
    from collections.abc import Sequence

CAPTURES = Path(__file__).parents[1] / "captures"


def text_of(name: str) -> str:
    return (CAPTURES / name).read_text()


def capture(*names: str) -> list[tuple[str, bytes]]:
    return [(name, (CAPTURES / name).read_bytes()) for name in names]


def only(*texts: str) -> dict[str, Any]:
    """The one group of some texts, named a, b, c."""
    (document,) = import_texts([(n, t.encode()) for n, t in zip("abc", texts, strict=False)])
    return document


def owners(document: dict[str, Any]) -> dict[tuple[str, int], str]:
    """Who holds each partition of a document."""
    return {
        (topic, number): member
        for member, said in document["members"].items()
        for topic, numbers in said["owned"].items()
        for number in numbers
    }


def import_texts(
    sources: Sequence[tuple[str, bytes]], *, dialect: str = "auto"
) -> list[dict[str, Any]]:
    """Return the groups of some texts as ``assay-group/1`` documents, ascending by group."""
    imported, failures = import_each(sources, dialect=dialect)
    if failures:
        raise BadInput(f"{failures[0].place}: {failures[0].reason}")
    if not imported:
        names = ", ".join(name for name, _ in sources)
        raise BadInput(f"{names}: no group in it, add kafka-consumer-groups --describe")
    return [found.document for found in imported]
