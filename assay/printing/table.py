"""Table: rows under headed columns, as text and nothing else."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Literal

from rich import table
from rich.console import Console
from rich.text import Text

from assay.streams import printable, put

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

WIDE = 240


def width() -> int:
    """Return how many columns a line may have."""
    # Whoever redirects the table wants whole names, not the width of a terminal.
    return Console().width if sys.stdout.isatty() else WIDE


class Table:
    """Rows of a table; what is unknown is a dash, a truth is yes or no.

    The columns numbered in `right` hold numbers, and end at the same place.
    """

    def __init__(self, *columns: str, right: Collection[int] = ()) -> None:
        self._drawn = table.Table(box=None, pad_edge=False, header_style="bold")
        for number, column in enumerate(columns):
            side: Literal["left", "right"] = "right" if number in right else "left"
            self._drawn.add_column(Text(column), overflow="fold", justify=side)

    def add(self, *cells: object) -> None:
        """Add a row."""
        # As text, so that brackets are no markup: pip install '.[java]'.
        self._drawn.add_row(*(Text(printable(_said(cell))) for cell in cells))

    def show(self) -> None:
        """Print the table, as wide as the terminal."""
        console = Console(width=width())
        with console.capture() as captured:
            console.print(self._drawn)
        put("\n".join(line.rstrip() for line in captured.get().splitlines()))


def ranges(numbers: Sequence[int]) -> str:
    """Return ascending numbers with runs put together: 0-3,7."""
    runs: list[list[int]] = []
    for number in numbers:
        if runs and number == runs[-1][1] + 1:
            runs[-1][1] = number
        else:
            runs.append([number, number])
    return ",".join(str(a) if a == b else f"{a}-{b}" for a, b in runs)


def _said(cell: object) -> str:
    if isinstance(cell, bool):
        return "yes" if cell else "no"
    return "-" if cell is None else str(cell)
