"""A table of a console tool: its header, its rows, and the cells of a row.

Rows are split on whitespace, because a long value overflows its column.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from groups.importers.lines import brief, refuse
from groups.wording import counted

if TYPE_CHECKING:
    from collections.abc import Iterator

_WIDEST = 100_000
_MAY_HOLD_BLANKS = {"CONSUMER-ID", "CLIENT-ID"}
_COORDINATOR = re.compile(r"(.*?)\s+(\S+)\s+\((-?\d+)\)\s+(.*)")


@dataclass(frozen=True, slots=True)
class Table:
    """The header and the rows of one table, in the lines of `source`.

    `fallback` is the group where the table has no GROUP column; `assumed` says where from.
    """

    source: str
    line: int
    header: str
    numbered: tuple[tuple[int, str], ...]
    fallback: str
    assumed: tuple[str, ...] = ()

    @property
    def place(self) -> str:
        """Return where the header is: source and line, from 1."""
        return f"{self.source}:{self.line}"

    @property
    def columns(self) -> list[str]:
        """Return the names of the columns; ``COORDINATOR (ID)`` is two of them."""
        return self.header.split()

    def rows(self) -> Iterator[tuple[str, dict[str, str]]]:
        """Yield the place and the cells of each row.

        Raises
        ------
        BadInput
            At the first row that does not have the columns of the header.
        """
        columns = self.columns
        starts = [m.start() for m in re.finditer(r"\S+", self.header)]
        for number, line in self.numbered:
            place = f"{self.source}:{number}"
            cells = line.split(None, len(columns) + 8)
            if "COORDINATOR" in columns:
                yield place, _with_coordinator(columns, line, place)
                continue
            if columns[-1] == "ASSIGNMENT":
                cells = line.split(None, len(columns) - 1)
            if "GROUP-INSTANCE-ID" in columns:
                cells = _with_instance(columns, cells)
            if len(cells) != len(columns):
                cells = _by_position(columns, starts, line) or cells
            if len(cells) != len(columns):
                found = counted(len(cells), "column")
                refuse(place, f"{found}, but the header has {len(columns)}")
            yield place, dict(zip(columns, (c.rstrip() for c in cells), strict=True))

    def group_of(self, row: dict[str, str]) -> str:
        """Return the group of a row."""
        return row.get("GROUP", self.fallback)

    def group_names(self) -> tuple[str, ...]:
        """Return the groups that the rows begin with, good rows or not, in their order."""
        if self.columns[0] != "GROUP":
            return (self.fallback,)
        return tuple(dict.fromkeys(line.split(None, 1)[0] for _, line in self.numbered))


def _with_instance(columns: list[str], cells: list[str]) -> list[str]:
    # A member without an instance id leaves that column blank: one token fewer in its row.
    at = columns.index("GROUP-INSTANCE-ID")
    present = len(cells) > at + 3 and cells[at + 1].startswith("/") and cells[at + 3].isdigit()
    if present or len(cells) <= at:
        return cells
    if columns[-1] == "ASSIGNMENT":
        cells = " ".join(cells).split(None, len(columns) - 2)
    return [*cells[:at], "", *cells[at:]]


def _with_coordinator(columns: list[str], line: str, place: str) -> dict[str, str]:
    # An empty strategy is blank up to 3.9, and the coordinator is host:port (id).
    found = _COORDINATOR.fullmatch(line.strip()) if len(line) < 4000 else None
    if found is None and columns[0] != "GROUP":
        found = _COORDINATOR.fullmatch(f"- {line.strip()}") if len(line) < 4000 else None
    if found is None:
        refuse(place, f"{brief(line)}, expected a coordinator as in host:9092 (1)")
    group, node, node_id, rest = found.groups()
    after = columns[columns.index("(ID)") + 1 :]
    cells = rest.split()
    if len(cells) == len(after) - 1 and after[0] == "ASSIGNMENT-STRATEGY":
        cells = ["", *cells]
    if len(cells) != len(after):
        shown = counted(len(cells), "column")
        refuse(place, f"{shown} after the coordinator, expected {len(after)}")
    row = dict(zip(after, cells, strict=True)) | {"COORDINATOR": node, "(ID)": node_id}
    return row | ({"GROUP": group} if columns[0] == "GROUP" else {})


def _by_position(columns: list[str], starts: list[int], line: str) -> list[str] | None:
    """Cut a row where the header's columns begin, None where a cell lies across a cut.

    Only this finds a member or client id with a blank in it; nothing else may have one.
    """
    if not starts[-1] < len(line) < _WIDEST or "\t" in line:
        return None
    if any(line[s].isspace() or (s and not line[s - 1].isspace()) for s in starts):
        return None
    ends = [*starts[1:], len(line)]
    cells = [line[s:e].strip() for s, e in zip(starts, ends, strict=True)]
    blank = (columns[i] not in _MAY_HOLD_BLANKS and " " in cell for i, cell in enumerate(cells))
    return cells if all(cells) and not any(blank) else None
