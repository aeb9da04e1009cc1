"""Page: the part of a documentation page that a study makes, between two marks."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

END = "<!-- end -->"


def begin(target: str) -> str:
    """Return the mark before the part that a target of the Makefile makes."""
    return f"<!-- made by: make {target} -->"


def made_part(page: Path, target: str) -> str:
    """Return what stands in a page between the marks of a target.

    Raises
    ------
    ValueError
        Where the page lacks one of the marks.
    """
    return _cut(page, target)[1]


def put(page: Path, target: str, made: str) -> None:
    """Replace what stands in a page between the marks of a target; the marks stay.

    Raises
    ------
    ValueError
        Where the page lacks one of the marks; it stays as it is.
    """
    before, _, after = _cut(page, target)
    page.write_text(f"{before}{begin(target)}\n\n{made}\n\n{END}{after}", encoding="utf-8")


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a table as Markdown.

    Parameters
    ----------
    head : titles of the columns
    rows : as many cells each
    """
    title, *lines = (f"| {' | '.join(cells)} |" for cells in (head, *rows))
    return "\n".join([title, "|---" * len(head) + "|", *lines])


def _cut(page: Path, target: str) -> tuple[str, str, str]:
    before, found, rest = page.read_text(encoding="utf-8").partition(begin(target))
    made, ended, after = rest.partition(END)
    if not (found and ended):
        raise ValueError(f"{page}: no part between {begin(target)} and {END}")
    return before, made.strip("\n"), after
