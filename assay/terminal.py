"""Terminal: its width, and sentences, tables and bars that fit it.

A table is text that pastes well into a ticket: aligned columns, no boxes. On a terminal it fits
the width; redirected to a file or a pipe, it is never cut.
"""

from __future__ import annotations

import locale
import os
import shutil
import sys
import textwrap
from dataclasses import dataclass
from itertools import zip_longest
from numbers import Integral
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from assay.streams import printable, put
from groups.wording import counted

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from compare.moves import Move
    from groups.wording import Nouns

EIGHTHS = " ▏▎▍▌▋▊▉█"
# Values of TERM whose fonts lack the eighths of a block.
PLAIN_TERMINALS = ("dumb", "linux")
# Columns between two columns of a table.
BETWEEN = 2
# A text is cut to no fewer columns than this.
SHORTEST = 16
MOST_MOVES = 10

Row = TypeVar("Row")


@dataclass(frozen=True)
class Column(Generic[Row]):
    """A column of a table.

    Attributes
    ----------
    head : its heading
    cell : the value for a row: None is shown as a dash, a bool as yes or no, a whole number with
        commas, a list as words, a pair as a number and the note behind it
    right : whether texts are aligned to the right, as numbers always are
    format_number : how a number is written; None: with commas
    whole : whether its text is never cut
    gives_way : order in which columns are left out on a narrow terminal, 1 first; 0: never
    shown : whether the column is printed
    """

    head: str
    cell: Callable[[Row], object]
    right: bool = False
    whole: bool = False
    gives_way: int = 0
    shown: bool = True
    format_number: Callable[[int], str] | None = None


def width() -> int | None:
    """Return the width of the terminal in columns; None if output is redirected."""
    return shutil.get_terminal_size().columns if sys.stdout.isatty() else None


def tell(sentence: str, *, indent: str = "") -> None:
    """Print a sentence, wrapped to the width of a terminal, with an indent from line 2 on."""
    text, room = printable(sentence), width()
    if room is not None and len(text) > room:
        text = wrapped(text, room, indent=indent)
    put(text)


def wrapped(text: str, wide: int, *, indent: str = "") -> str:
    """Return a text wrapped between words, with an indent on all lines but the first."""
    return textwrap.fill(
        text, wide, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False
    )


def bar(value: int, *, most: int, width: int) -> str:
    """Return a bar that is `width` columns long for `most`; only 0 has an empty bar.

    It is drawn with blocks if the terminal has them, otherwise with ``#``.
    """
    most = max(most, 1)
    if not _has_blocks():
        return "#" * max(round(width * value / most), int(value > 0))
    eighths = max(round(8 * width * value / most), int(value > 0))
    return f"{EIGHTHS[-1] * (eighths // 8)}{EIGHTHS[eighths % 8]}".rstrip()


def _has_blocks() -> bool:
    if not sys.stdout.isatty() or os.environ.get("TERM", "dumb") in PLAIN_TERMINALS:
        return False
    return locale.getencoding().lower() in ("utf-8", "utf8")


def show_table(
    rows: Iterable[Row], *columns: Column[Row], most: int | None = None, more: str = ""
) -> None:
    """Print a table.

    On a narrow terminal, headings and cells are wrapped and long words cut, then columns are left
    out, and at last the columns on the right are printed below the others.

    Parameters
    ----------
    most : number of rows to print; a last line says how many more there are
    more : what that line says after the number, such as where the other rows are
    """
    listed = list(rows)
    shown = listed[:most]
    filled = [_fill(column, shown) for column in columns if column.shown]
    leaving = sorted((c for c in filled if c.column.gives_way), key=lambda c: c.column.gives_way)
    room = width() or _total_width(one.widest for one in filled)
    while leaving and _total_width(one.narrowest for one in filled) > room:
        filled.remove(leaving.pop(0))
    for block in _blocks(filled, room):
        put(_table_text(block, room))
    if left := len(listed) - len(shown):
        tell(f"and {left:,} more{more}")


def by_reason(reasons: Iterable[tuple[str, str | None]]) -> list[str]:
    """Return a line for each reason, with the names that have it; a name may have None."""
    names_of: dict[str, list[str]] = {}
    for name, reason in reasons:
        if reason is not None:
            names_of.setdefault(reason, []).append(name)
    return [f"{', '.join(names)}: {reason}" for reason, names in names_of.items()]


@dataclass(frozen=True)
class _Filled:
    """A column with its cells; widths are in columns of the terminal.

    Attributes
    ----------
    body : width of the widest cell
    widest, narrowest : widths with which nothing is cut, and with as much cut as may be
    """

    column: Column[Any]
    cells: list[str]
    right: bool
    body: int
    widest: int
    narrowest: int


def _fill(column: Column[Row], rows: Sequence[Row]) -> _Filled:
    from rich.cells import cell_len

    write = column.format_number
    values: list[Any] = [column.cell(row) for row in rows]
    values = [one if write is None or one is None else write(one) for one in values]
    known = [value for value in values if value is not None]
    numbers = [isinstance(v, Integral | tuple) and not isinstance(v, bool) for v in known]
    right = column.right or write is not None or (bool(numbers) and all(numbers))
    pairs = [value if isinstance(value, tuple) else (_cell_text(value), "") for value in values]
    number, note = (max((len(pair[i]) for pair in pairs), default=0) for i in (0, 1))
    noted = any(isinstance(value, tuple) for value in values)
    cells = [f"{n:>{number}}{after:<{note}}" if noted else n for n, after in pairs]
    body = max(map(cell_len, cells), default=0)
    longest = max(map(len, column.head.split()), default=0)
    least = body if right or column.whole else min(body, SHORTEST)
    return _Filled(column, cells, right, body, max(body, len(column.head)), max(least, longest))


def _cell_text(value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list):
        value = " ".join(map(str, value)) or None
    if isinstance(value, Integral):
        return f"{int(value):,}"
    return "-" if value is None else printable(str(value))


def _total_width(widths: Iterable[int]) -> int:
    return sum(wide + BETWEEN for wide in widths) - BETWEEN


def _blocks(columns: Sequence[_Filled], room: int) -> Iterator[Sequence[_Filled]]:
    """Yield the columns that fit side by side; every block begins with the first column."""
    block = [*columns[:1]]
    for column in columns[1:]:
        if len(block) > 1 and _total_width(one.narrowest for one in (*block, column)) > room:
            yield block
            block = [*columns[:1]]
        block.append(column)
    yield block


def _table_text(columns: Sequence[_Filled], room: int) -> str:
    """Return a table as text.

    It uses rich for widths of characters only: for 3,000 rows, rich's own tables took 4.5 s,
    this takes 0.05 s.
    """
    widths = _column_widths(columns, room)
    heads = [_lines(one.column.head, wide) for one, wide in zip(columns, widths, strict=True)]
    deepest = max(map(len, heads))
    lines = [*zip(*([""] * (deepest - len(head)) + head for head in heads), strict=True)]
    for row in zip(*(one.cells for one in columns), strict=True):
        lines += zip_longest(*map(_lines, row, widths), fillvalue="")
    right = [one.right for one in columns]
    return "\n".join(
        (" " * BETWEEN).join(map(_aligned, line, widths, right)).rstrip() for line in lines
    )


def _column_widths(columns: Sequence[_Filled], room: int) -> list[int]:
    """Return widths with which the columns fit the room; the widest column is narrowed first."""
    if _total_width(one.widest for one in columns) <= room:
        return [one.widest for one in columns]
    for level in range(room, 0, -1):
        widths = [max(one.narrowest, min(one.body, level)) for one in columns]
        if _total_width(widths) <= room:
            return widths
    return [one.narrowest for one in columns]


def _lines(text: str, wide: int) -> list[str]:
    """Return a text wrapped between words; a word wider than `wide` is cut."""
    from rich.cells import cell_len, set_cell_size

    if cell_len(text) <= wide:
        return [text]
    return [
        line if cell_len(line) <= wide else f"{set_cell_size(line, wide - 1).rstrip()}…"
        for line in wrapped(text, wide).split("\n")
    ]


def _aligned(text: str, wide: int, right: bool) -> str:
    from rich.cells import cell_len

    padding = " " * (wide - cell_len(text))
    return f"{padding}{text}" if right else f"{text}{padding}"


def show_moves(moves: Sequence[Move], nouns: Nouns, indent: str = "  ") -> None:
    """Print a line for each pair of members between whom partitions move."""
    for move in moves[:MOST_MOVES]:
        what = move.told(nouns)
        tell(f"{indent}{move.count:,} from {move.origin} to {move.target}: {what}")
    more = len(moves) - MOST_MOVES
    if more > 0:
        pairs = f"{counted(more, 'more pair')} of {nouns.member}s"
        tell(f"{indent}and {pairs}: --format json has every move")
