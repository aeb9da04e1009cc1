"""Terminal: how wide it is, sentences and tables that fit it, and bars.

A table is text that pastes well into a ticket: no boxes, columns below each other. On a terminal
it is as wide as that; whoever redirects it gets all of it.
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
# Their fonts lack the eighths of a block.
PLAIN_TERMINALS = ("dumb", "linux")
BETWEEN = 2
SHORTEST = 16
MOST_MOVES = 10

Row = TypeVar("Row")


@dataclass(frozen=True)
class Column(Generic[Row]):
    """A column of a table.

    Attributes
    ----------
    head : words over it
    cell : what stands in it of a row: None is a dash, a truth yes or no, a whole number has
        commas, a list becomes words, a pair is a number and the note behind it
    right : whether texts end at the same place, as numbers do
    told : how a number is written, which then ends at the same place too; None: with commas
    whole : whether its text is never cut
    gives_way : which of the columns is left out first where a terminal is too narrow; 0: none
    shown : whether there is anything to show in it
    """

    head: str
    cell: Callable[[Row], object]
    right: bool = False
    whole: bool = False
    gives_way: int = 0
    shown: bool = True
    told: Callable[[int], str] | None = None


def width() -> int | None:
    """Return how many columns a line may have; None if there is no terminal."""
    return shutil.get_terminal_size().columns if sys.stdout.isatty() else None


def tell(sentence: str) -> None:
    """Print a sentence; a terminal gets it in several lines, broken between words."""
    text, room = printable(sentence), width()
    if room is not None and len(text) > room:
        text = wrapped(text, room)
    put(text)


def wrapped(text: str, wide: int, *, indent: str = "") -> str:
    """Return a text in lines broken between words, those after the first with an indent."""
    return textwrap.fill(
        text, wide, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False
    )


def bar(value: int, *, most: int, width: int) -> str:
    """Return a bar that is `width` columns long for `most`; only 0 has none.

    It is made of blocks if the terminal has them, else, and in a file, of ``#``.
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
    """Print rows under the heads of columns.

    Where a terminal is too narrow, words of the heads go on other lines, words of the rows are
    cut, then columns are left out, and at last those on the right follow below.

    Parameters
    ----------
    most : rows to print; a line says how many there are more
    more : what stands behind that number, such as where they are
    """
    listed = list(rows)
    shown = listed[:most]
    filled = [_filled(column, shown) for column in columns if column.shown]
    leaving = sorted((c for c in filled if c.column.gives_way), key=lambda c: c.column.gives_way)
    room = width() or _wide(one.most for one in filled)
    while leaving and _wide(one.least for one in filled) > room:
        filled.remove(leaving.pop(0))
    for block in _blocks(filled, room):
        put(_drawn(block, room))
    if left := len(listed) - len(shown):
        tell(f"and {left:,} more{more}")


def by_reason(reasons: Iterable[tuple[str, str | None]]) -> list[str]:
    """Return a line for each reason, with the names that it is about; None is no reason."""
    of: dict[str, list[str]] = {}
    for name, reason in reasons:
        if reason is not None:
            of.setdefault(reason, []).append(name)
    return [f"{', '.join(names)}: {reason}" for reason, names in of.items()]


@dataclass(frozen=True)
class _Filled:
    """A column with its cells and the widths that it may have."""

    column: Column[Any]
    cells: list[str]
    right: bool
    body: int
    most: int
    least: int


def _filled(column: Column[Row], rows: Sequence[Row]) -> _Filled:
    from rich.cells import cell_len

    told = column.told
    values: list[Any] = [column.cell(row) for row in rows]
    values = [one if told is None or one is None else told(one) for one in values]
    known = [value for value in values if value is not None]
    numbers = [isinstance(v, Integral | tuple) and not isinstance(v, bool) for v in known]
    right = column.right or told is not None or (bool(numbers) and all(numbers))
    pairs = [value if isinstance(value, tuple) else (_shown(value), "") for value in values]
    number, note = (max((len(pair[i]) for pair in pairs), default=0) for i in (0, 1))
    noted = any(isinstance(value, tuple) for value in values)
    cells = [f"{n:>{number}}{after:<{note}}" if noted else n for n, after in pairs]
    body = max(map(cell_len, cells), default=0)
    longest = max(map(len, column.head.split()), default=0)
    least = body if right or column.whole else min(body, SHORTEST)
    return _Filled(column, cells, right, body, max(body, len(column.head)), max(least, longest))


def _shown(value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list):
        value = " ".join(map(str, value)) or None
    if isinstance(value, Integral):
        return f"{int(value):,}"
    return "-" if value is None else printable(str(value))


def _wide(widths: Iterable[int]) -> int:
    return sum(wide + BETWEEN for wide in widths) - BETWEEN


def _blocks(columns: Sequence[_Filled], room: int) -> Iterator[Sequence[_Filled]]:
    """Yield columns that stand beside each other, the first one in front of all."""
    block = [*columns[:1]]
    for column in columns[1:]:
        if len(block) > 1 and _wide(one.least for one in (*block, column)) > room:
            yield block
            block = [*columns[:1]]
        block.append(column)
    yield block


def _drawn(columns: Sequence[_Filled], room: int) -> str:
    """Return a table as text.

    It takes rich's widths of letters and not its tables, which took 4.5 s where this takes 0.05:
    for 3,000 groups, a line each.
    """
    widths = _fitted(columns, room)
    heads = [_lines(one.column.head, wide) for one, wide in zip(columns, widths, strict=True)]
    deepest = max(map(len, heads))
    lines = [*zip(*([""] * (deepest - len(head)) + head for head in heads), strict=True)]
    for row in zip(*(one.cells for one in columns), strict=True):
        lines += zip_longest(*map(_lines, row, widths), fillvalue="")
    right = [one.right for one in columns]
    return "\n".join(
        (" " * BETWEEN).join(map(_placed, line, widths, right)).rstrip() for line in lines
    )


def _fitted(columns: Sequence[_Filled], room: int) -> list[int]:
    """Return the widths with which columns fill the room: the widest gives way first."""
    if _wide(one.most for one in columns) <= room:
        return [one.most for one in columns]
    for level in range(room, 0, -1):
        widths = [max(one.least, min(one.body, level)) for one in columns]
        if _wide(widths) <= room:
            return widths
    return [one.least for one in columns]


def _lines(text: str, wide: int) -> list[str]:
    """Return a text in lines broken between words; a word that is wider is cut."""
    from rich.cells import cell_len, set_cell_size

    if cell_len(text) <= wide:
        return [text]
    return [
        line if cell_len(line) <= wide else f"{set_cell_size(line, wide - 1).rstrip()}…"
        for line in wrapped(text, wide).split("\n")
    ]


def _placed(text: str, wide: int, right: bool) -> str:
    from rich.cells import cell_len

    padding = " " * (wide - cell_len(text))
    return f"{padding}{text}" if right else f"{text}{padding}"


def show_moves(moves: Sequence[Move], nouns: Nouns, indent: str = "  ") -> None:
    """Print a line for each pair of members of whom one gives partitions to the other."""
    for move in moves[:MOST_MOVES]:
        what = move.told(nouns)
        tell(f"{indent}{move.count:,} from {move.origin} to {move.target}: {what}")
    more = len(moves) - MOST_MOVES
    if more > 0:
        pairs = f"{counted(more, 'more pair')} of {nouns.member}s"
        tell(f"{indent}and {pairs}: --format json has every move")
