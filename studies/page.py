"""Page: the generated part of a study's page, its tables, and its records as CSV.

The records have every figure. The generated part is made from the records, so that a page can be
written again without running the study.
"""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

FOLDER = Path("docs/findings")
END = "<!-- end -->"


def begin(target: str) -> str:
    """Return the mark before the part that a target of the Makefile generates."""
    return f"<!-- made by: make {target} -->"


def put(page: Path, target: str, made: str) -> None:
    """Replace the part of a page between the marks of a target; the marks stay.

    Raises
    ------
    ValueError
        If the page lacks one of the marks; it is then unchanged.
    """
    before, _, after = cut(page, target)
    page.write_text(f"{before}{begin(target)}\n\n{made}\n\n{END}{after}", encoding="utf-8")


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a table as Markdown.

    Parameters
    ----------
    head : headings of the columns
    rows : cells, as many as headings
    """
    title, *lines = (f"| {' | '.join(cells)} |" for cells in (head, *rows))
    return "\n".join([title, "|---" * len(head) + "|", *lines])


def cut(page: Path, target: str) -> tuple[str, str, str]:
    """Return what is before the marks of a target in a page, between them and after them.

    Raises
    ------
    ValueError
        If the page lacks one of the marks.
    """
    before, found, rest = page.read_text(encoding="utf-8").partition(begin(target))
    made, ended, after = rest.partition(END)
    if not (found and ended):
        raise ValueError(f"{page}: no part between {begin(target)} and {END}")
    return before, made.strip("\n"), after


Cell = str | int | float | None


def write(path: Path, records: Sequence[Mapping[str, Cell]]) -> None:
    """Write records, which all have the same keys, as CSV with a header."""
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, [*records[0]], lineterminator="\n")
        writer.writeheader()
        writer.writerows(records)


def renew(
    path: Path,
    records: Iterable[Mapping[str, Cell]],
    who: Sequence[str],
    order: Callable[[Mapping[str, Cell]], Any] | None = None,
) -> None:
    """Write records to a CSV file, in place of those with the same values of the keys `who`.

    Parameters
    ----------
    order : key by which to sort all records; None: new ones come last
    """
    new = list(records)
    anew = {tuple(str(one[key]) for key in who) for one in new}
    kept = [one for one in read(path) if tuple(one[key] for key in who) not in anew]
    every: list[Mapping[str, Cell]] = [*kept, *new]
    write(path, every if order is None else sorted(every, key=order))


def read(path: Path) -> Any:
    """Return a JSON document, or the records of a CSV file.

    Every value of a record is text, and None was written as "".
    """
    with path.open(encoding="utf-8", newline="") as file:
        return json.load(file) if path.suffix == ".json" else [*csv.DictReader(file)]


def share(part: int, whole: int) -> str:
    """Return a part of a whole in percent; only none is 0% and only all is 100%."""
    percent = 100 * part / whole if part else 0
    if part in (0, whole) or 10 <= percent < 99:
        return f"{percent:.0f}%"
    if percent < 0.1:
        return "below 0.1%"
    return "above 99.9%" if percent > 99.9 else f"{percent:.1f}%"
