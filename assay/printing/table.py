"""Table: rows under headed columns, as text and nothing else.

On a terminal a table is as wide as that: names are cut at their end, and no word is broken.
Whoever redirects a table wants all of it, and gets it.
"""

from __future__ import annotations

import re
from itertools import zip_longest
from typing import TYPE_CHECKING

from rich.cells import cell_len, set_cell_size

from assay.streams import printable, put
from assay.terminal import width

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

BETWEEN = 2
SHORTEST = 16
_NUMBER = re.compile(r"[+-]?[0-9][0-9,]*(\.[0-9]+)?")


class Table:
    """Rows of a table; what is unknown is a dash, a truth is yes or no.

    Columns of numbers end at the same place. Where a terminal is too narrow, words of the heads go
    on other lines, text is cut, then columns are left out, and at last those on the right follow
    below.

    Parameters
    ----------
    columns : their heads
    right : numbers of the columns that end at the same place though they hold no plain numbers
    whole : numbers of the columns whose text is never cut
    gives_way : numbers of the columns that may be left out, the first one first
    """

    def __init__(
        self,
        *columns: str,
        right: Collection[int] = (),
        whole: Collection[int] = (),
        gives_way: Sequence[int] = (),
    ) -> None:
        self._heads = columns
        self._rows: list[list[list[str]]] = []
        self._right, self._whole = set(right), set(whole)
        self._gives_way = gives_way

    def add(self, *cells: object) -> None:
        """Add a row; a cell that is a list of phrases may take several lines."""
        self._rows.append([_phrases(cell) for cell in cells])

    def show(self) -> None:
        """Print the table."""
        room, columns = width(), list(range(len(self._heads)))
        most, least = [self._most(c) for c in columns], [self._least(c) for c in columns]
        if room is None or _wide(most) <= room:
            put(self._drawn(columns, most))
            return
        for out in ([], *([*self._gives_way[: n + 1]] for n in range(len(self._gives_way)))):
            left = [c for c in columns if c not in out]
            if _wide([least[c] for c in left]) <= room:
                put(self._drawn(left, self._fitted(left, room)))
                return
        block = columns[:1]
        for column in columns[1:]:
            if len(block) > 1 and _wide([least[c] for c in [*block, column]]) > room:
                put(self._drawn(block, self._fitted(block, room)))
                block = columns[:1]
            block.append(column)
        put(self._drawn(block, self._fitted(block, room)))

    def _body(self, column: int) -> int:
        return max((cell_len(_joined(row[column])) for row in self._rows), default=0)

    def _most(self, column: int) -> int:
        return max(self._body(column), len(self._heads[column]))

    def _least(self, column: int) -> int:
        word = max(map(len, self._heads[column].split()), default=0)
        body = self._body(column)
        if column not in self._whole and not self._is_number(column):
            body = min(body, SHORTEST)
        return max(body, word)

    def _is_number(self, column: int) -> bool:
        if column in self._right:
            return True
        said = [_joined(row[column]) for row in self._rows]
        return any(map(_NUMBER.fullmatch, said)) and all(
            text in ("-", "?", "") or _NUMBER.fullmatch(text) for text in said
        )

    def _fitted(self, columns: Sequence[int], room: int) -> list[int]:
        """Return the widths with which columns fill the room: the widest give way first."""
        least = [self._least(c) for c in columns]
        most = [max(self._body(c), low) for c, low in zip(columns, least, strict=True)]
        for level in range(min(max(most), room), 0, -1):
            widths = [max(low, min(high, level)) for low, high in zip(least, most, strict=True)]
            if _wide(widths) <= room:
                return widths
        return least

    def _drawn(self, columns: Sequence[int], widths: Sequence[int]) -> str:
        heads = [_flowing(self._heads[c].split(), w) for c, w in zip(columns, widths, strict=True)]
        deepest = max(map(len, heads))
        lines = [*zip(*([""] * (deepest - len(head)) + head for head in heads), strict=True)]
        for row in self._rows:
            cells = [_flowing(row[c], wide) for c, wide in zip(columns, widths, strict=True)]
            lines += zip_longest(*cells, fillvalue="")
        right = [self._is_number(column) for column in columns]
        return "\n".join(
            (" " * BETWEEN)
            .join(_placed(*cell) for cell in zip(line, widths, right, strict=True))
            .rstrip()
            for line in lines
        )


def _wide(widths: Sequence[int]) -> int:
    return sum(widths) + BETWEEN * (len(widths) - 1)


def with_notes(cells: Sequence[tuple[str, str]]) -> list[str]:
    """Return numbers with what follows each, such as its excess, the numbers below each other."""
    number = max((len(value) for value, _ in cells), default=0)
    note = max((len(note) for _, note in cells), default=0)
    return [f"{value:>{number}}{after:<{note}}" for value, after in cells]


def _phrases(cell: object) -> list[str]:
    if isinstance(cell, bool):
        return ["yes" if cell else "no"]
    if isinstance(cell, list):
        return [printable(str(phrase)) for phrase in cell] or ["-"]
    return ["-" if cell is None else printable(str(cell))]


def _joined(phrases: Sequence[str]) -> str:
    return " ".join(phrases)


def _cut(text: str, wide: int) -> str:
    if cell_len(text) <= wide:
        return text
    return f"{set_cell_size(text, wide - 1).rstrip()}…"


def _flowing(phrases: Sequence[str], wide: int) -> list[str]:
    """Return phrases in lines, none of which is wider, unless a phrase is; that one is cut."""
    lines: list[str] = []
    for phrase in phrases:
        if lines and cell_len(lines[-1]) + 1 + cell_len(phrase) <= wide:
            lines[-1] += f" {phrase}"
        else:
            lines.append(_cut(phrase, wide))
    return lines or [""]


def _placed(text: str, wide: int, right: bool) -> str:
    padding = " " * (wide - cell_len(text))
    return f"{padding}{text}" if right else f"{text}{padding}"
