"""CalledOn: the joins on which an assignor was called, by their size, as they are recorded."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from studies.page import read, write

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from studies.page import Cell

RECORDS = Path("docs/findings/joins.csv")
KEY = ("assignor", "members", "topics", "partitions", "adjoining")


def put(file: Path, row: Mapping[str, Cell]) -> None:
    """Write a record in its place; an older one of the same size goes."""
    before = read(file) if file.is_file() else []
    rows = {tuple(str(one[key]) for key in KEY): one for one in [*before, row]}
    write(file, [rows[key] for key in sorted(rows, key=_order)])


def shapes_of(records: Sequence[Mapping[str, str]], adjoining: str) -> dict[tuple[int, int], int]:
    """Return by members and topics the most partitions of the joins that were called.

    Parameters
    ----------
    adjoining : "yes" or "no": of which joins
    """
    most: dict[tuple[int, int], int] = {}
    for record in records:
        if record["adjoining"] == adjoining:
            sizes = int(record["members"]), int(record["topics"])
            most[sizes] = max(most.get(sizes, 0), int(record["partitions"]))
    return most


def sentence_of(records: Sequence[Mapping[str, str]]) -> str:
    """Return on which joins an assignor was called, for people; "" where there are none."""
    parts = []
    for adjoining in ("no", "yes"):
        shapes = [
            f"{members} members and {topics} topics up to {most} partitions"
            for (members, topics), most in shapes_of(records, adjoining).items()
        ]
        if shapes:
            held = ", each with one run of a topic's partitions" if adjoining == "yes" else ""
            parts.append(f"{'; '.join(shapes)}{held}")
    total = sum(int(record["joins"]) for record in records)
    return f"every join of one new member ({total:,} in all): {'; '.join(parts)}" if parts else ""


def _order(key: Sequence[str]) -> tuple[str, str, int, int, int]:
    assignor, members, topics, partitions, adjoining = key
    return assignor, adjoining, int(members), int(topics), int(partitions)
