"""Records: all figures of a study, as CSV beside its page.

The page shows what differs; whoever wants the rest reads this. The page is made of the records,
so that it can be written anew without the study.
"""

from __future__ import annotations

import csv
from io import StringIO
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

Cell = str | int | float | None


def as_text(records: Iterable[Mapping[str, Cell]]) -> str:
    """Return records as CSV, a row each; their keys, the same in each, are the first line."""
    rows = list(records)
    text = StringIO()
    writer = csv.DictWriter(text, [*rows[0]], lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue()


def write(path: Path, records: Iterable[Mapping[str, Cell]]) -> None:
    """Write records as CSV."""
    path.write_text(as_text(records), encoding="utf-8")


def read(path: Path) -> list[dict[str, str]]:
    """Read records as they were written; every figure is text, and nothing known is ""."""
    return _rows(path.read_text(encoding="utf-8"))


def as_read(records: Iterable[Mapping[str, Cell]]) -> list[dict[str, str]]:
    """Return records as they are read once they were written."""
    return _rows(as_text(records))


def _rows(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(StringIO(text)))


def beside(page: Path) -> Path:
    """Return where the records of a page are."""
    return page.with_suffix(".csv")


def share(part: int, whole: int) -> str:
    """Return a part of a whole in percent: 0% and 100% are said of none and all of it only."""
    percent = 100 * part / whole if part else 0
    if part in (0, whole) or 10 <= percent < 99:
        return f"{percent:.0f}%"
    if percent < 0.1:
        return "below 0.1%"
    return "above 99.9%" if percent > 99.9 else f"{percent:.1f}%"
