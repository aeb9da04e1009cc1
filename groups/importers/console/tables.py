"""Tables of console tools, wrapped by a terminal or not: header, rows, and cells of a row."""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

from groups.importers.console.headers import COLUMNS, LONG
from groups.importers.console.remarks import is_remark, runs_on
from groups.importers.lines import brief, is_noise, refuse
from groups.wording import counted

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

_WIDEST = 100_000
_MAY_HOLD_BLANKS = {"GROUP", "CONSUMER-ID", "CLIENT-ID", "ASSIGNMENT", "ASSIGNMENTS"}
_MAY_BE_EMPTY = {"GROUP-INSTANCE-ID", "HOST", "CLIENT-ID", "ASSIGNMENTS"}
_COORDINATOR = re.compile(r"(\S*(?: \S+)*?)\s+(\S+)\s+\((-?\d+)\)\s+(.*)")


@dataclass(frozen=True, slots=True)
class Layout:
    """The columns of a header: their names and positions in the line.

    `tabs` is the number of tabs if they separate the columns, `padded` whether columns are more
    than one blank apart, `number` and `host` the indices of the column of partitions and of HOST,
    -1 without them.
    """

    names: list[str]
    starts: list[int]
    tabs: int
    padded: bool
    number: int
    host: int

    @classmethod
    def of(cls, header: str) -> Layout:
        """Return the layout of a header; ``COORDINATOR (ID)`` counts as two columns."""
        names = header.split()
        starts = [m.start() for m in re.finditer(r"\S+", header)]
        tabs = header.count("\t") if [c.strip() for c in header.split("\t")] == names else 0
        number = next((i for i, c in enumerate(names) if c in ("PARTITION", "#PARTITIONS")), -1)
        pairs = list(pairwise(names))
        host = pairs.index(("HOST", "CLIENT-ID")) if ("HOST", "CLIENT-ID") in pairs else -1
        return cls(names, starts, tabs, "  " in header.strip(), number, host)

    def cells(self, line: str) -> list[str] | None:
        """Return the cells of a row, None if they do not match the columns.

        Each word is a cell, since a long value overflows its column. If that does not fit, the row
        is cut where the columns begin; and if the header's columns are one blank apart, one cell
        may be empty, if only one can be. A row of a table with tabs is cut at these.
        """
        if self.tabs and line.count("\t") == self.tabs:
            return self._if_allowed([cell.strip() for cell in line.split("\t")])
        words = self._words(line, len(self.names))
        if self._are_right(words):
            return words
        cells = self._by_position(line)
        if cells is None and not self.padded:
            cells = self._with_one_empty(self._words(line, len(self.names) - 1))
        if cells is None and len(words) == len(self.names) and not self._are_shifted(words):
            return words
        return cells

    def _words(self, line: str, count: int) -> list[str]:
        if self.names[-1] in ("ASSIGNMENT", "ASSIGNMENTS"):
            return line.rstrip().split(None, count - 1)
        return line.split(None, count + 8)

    def _are_right(self, cells: list[str]) -> bool:
        if len(cells) != len(self.names) or self._are_shifted(cells):
            return False
        # A host has a slash, as in /10.0.0.1; without one, a name with a blank may be two cells.
        if self.host >= 0 and "/" not in cells[self.host] and cells[self.host] not in ("", "-"):
            return False
        return self.number < 0 or cells[self.number].isdigit() or cells[self.number] == "-"

    def _are_shifted(self, cells: list[str]) -> bool:
        """Return whether the host is in the cell before or after its own."""
        at = self.host
        if at < 0 or "/" in cells[at]:
            return False
        return cells[at + 1].startswith("/") or cells[at - 1].startswith("/")

    def _by_position(self, line: str) -> list[str] | None:
        """Return the cells of a row cut where columns begin, None if a cell crosses a cut."""
        if not self.starts[-2] < len(line) < _WIDEST or "\t" in line:
            return None
        if line[: self.starts[0]].strip():
            return None
        if any(s and not line[s - 1 : s].isspace() for s in self.starts if s <= len(line)):
            return None
        ends = [*self.starts[1:], len(line)]
        cut = [line[s:e] for s, e in zip(self.starts, ends, strict=True)]
        if any(cell[:1].isspace() and cell.strip() for cell in cut):
            return None
        return self._if_allowed([cell.strip() for cell in cut])

    def _with_one_empty(self, words: list[str]) -> list[str] | None:
        """Return the cells of a row of one word too few, if only one cell can be the empty one."""
        if len(words) != len(self.names) - 1 or self.host < 1:
            return None
        found = []
        for at in (i for i, name in enumerate(self.names) if name in _MAY_BE_EMPTY):
            cells = [*words[:at], "", *words[at:]]
            host = cells[self.host]
            fits = (not host or "/" in host) and not cells[self.host - 1].startswith("/")
            if fits and self._are_right(cells):
                found.append(cells)
        return found[0] if len(found) == 1 else None

    def _if_allowed(self, cells: list[str]) -> list[str] | None:
        """Return the cells if at most one is empty, and only those that may contain blanks do."""
        named = dict(zip(self.names, cells, strict=True))
        empty = [name for name, cell in named.items() if not cell]
        if len(empty) > 1 or not _MAY_BE_EMPTY.issuperset(empty) or self._are_shifted(cells):
            return None
        for name, cell in named.items():
            if " " in cell and (name not in _MAY_HOLD_BLANKS or runs_on(cell)):
                return None
        # The last column is not padded: two blanks in it mean that other text follows.
        if self.names[-1] == "CLIENT-ID" and "  " in cells[-1]:
            return None
        return cells


@dataclass(frozen=True, slots=True)
class Table:
    """The layout of the header and the rows of one table, in the lines of `source`.

    `fallback` is the group if the table has no GROUP column; `assumed` says where it is from.
    `ends_the_text` says whether its last row is the last line of the text, which may be cut off,
    and `has_no_line_end` whether that line has no line end.
    """

    source: str
    line: int
    layout: Layout
    numbered: tuple[tuple[int, str], ...]
    fallback: str
    assumed: tuple[str, ...] = ()
    ends_the_text: bool = False
    has_no_line_end: bool = False

    @property
    def place(self) -> str:
        """The place of the header: source and line, from 1."""
        return f"{self.source}:{self.line}"

    @property
    def columns(self) -> list[str]:
        """The names of the columns; ``COORDINATOR (ID)`` counts as two."""
        return self.layout.names

    def rows(self) -> Iterator[tuple[str, dict[str, str]]]:
        """Yield the place and the cells of each row.

        Raises
        ------
        BadInput
            At the first row that does not have the columns of the header.
        """
        columns = self.columns
        empty: set[str] = set()
        for number, line in self.numbered:
            place = f"{self.source}:{number}"
            if "COORDINATOR" in columns:
                yield place, _with_coordinator(columns, line, place)
                continue
            cells = self.layout.cells(line)
            if cells is None:
                refuse(place, self._misfit(place, line))
            row = dict(zip(columns, cells, strict=True))
            if "" in cells:
                # If this cell is empty in no row above, it may be cut off here.
                blank = {name for name in ("HOST", "CLIENT-ID") if row.get(name) == ""}
                if self.may_be_cut(place) and not blank <= empty:
                    refuse(place, self._misfit(place, line))
                empty |= blank
            if self.has_no_line_end and columns[-1] in ("TARGET-ASSIGNMENT", "ASSIGNMENTS"):
                held = row.get("CURRENT-ASSIGNMENT")
                # Tasks of each role end with a blank, an assignment only if it is padded.
                padded = line[-1].isspace() and columns[-1] != "ASSIGNMENTS"
                whole = padded or cells[-1] in ("-", held)
                if not whole and self.may_be_cut(place):
                    advice = "may be cut off: copy the line again, or begin another below it"
                    refuse(place, f"{columns[-1]} {brief(cells[-1])} {advice}")
            yield place, row

    def may_be_cut(self, place: str) -> bool:
        """Return whether a place is the last line of the text."""
        return self.ends_the_text and place == f"{self.source}:{self.numbered[-1][0]}"

    def _misfit(self, place: str, line: str) -> str:
        begin = {one.split(None, 1)[0] for _, one in self.numbered if self.layout.cells(one)}
        return misfit(line, self.columns, begin, is_last=self.may_be_cut(place))

    def group_of(self, row: dict[str, str]) -> str:
        """Return the group of a row."""
        return row.get("GROUP", self.fallback)

    def group_names(self) -> tuple[str, ...]:
        """Return the groups with which rows begin, valid rows or not, in order."""
        if self.columns[0] != "GROUP":
            return (self.fallback,)
        rows = [(line, self.layout.cells(line)) for _, line in self.numbered]
        names = dict.fromkeys(cells[0] for _, cells in rows if cells is not None)
        for line, cells in rows:
            words = line.split()
            if cells is not None or (names and is_remark(line)):
                continue
            if line is rows[-1][0] and any(name.startswith(words[0]) for name in names):
                continue
            longer = max(len(words) - len(self.columns), 0) + 1
            names |= {words[0]: None, " ".join(words[:longer]): None}
        return tuple(names)


def misfit(line: str, columns: Sequence[str], begin: Collection[str], *, is_last: bool) -> str:
    """Return why a line is no row: it is other text, it is cut off, or its cells do not fit.

    Parameters
    ----------
    begin : the first words of the table's rows
    is_last : whether the line is the last of the text
    """
    words = line.split()
    if len(words) > len(columns) and COLUMNS.issuperset(words[-2:]):
        return "a header follows a row in one line: begin a new line before it"
    begins = words[0] in begin or (is_last and any(one.startswith(words[0]) for one in begin))
    if not begins and is_remark(line):
        advice = "is no row of the table above: delete the line, or copy the row in full"
        return f"{brief(line.strip())} {advice}"
    if len(words) < len(columns) and is_last:
        reason = f"the last line is cut off, {len(words)} of {len(columns)} columns are there"
        empty = columns[-1] == "CLIENT-ID" and len(words) == len(columns) - 1
        or_empty = " (or write - if CLIENT-ID is empty)" if empty else ""
        return f"{reason}: copy it again, or delete it{or_empty}"
    if len(words) == len(columns):
        return (
            "its cells do not stand below the header's columns: copy the table as it was printed"
        )
    reason = f"{counted(len(words), 'column')}, but the header has {len(columns)}"
    if len(words) > len(columns):
        return (
            f"{reason}: a name with blanks, or text beside a row? Copy the table as it was printed"
        )
    return reason


def _with_coordinator(columns: list[str], line: str, place: str) -> dict[str, str]:
    # Up to Kafka 3.9 an empty strategy is blank; the coordinator is host:port (id).
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


# Below: tables that a terminal wrapped at its right edge are joined to long lines again.
_ASSIGNED = re.compile(r"-|[^\s()]*\([\d,]*\)(, [^\s()]*\([\d,]*\))*")
_TASKS = re.compile(r"(([A-Z-]+: )?[^\s:]+:\[[\d,]*\](; ?|$))+")
_MOST_PIECES = 8
_LONGEST_PIECE = 1000


def unwrap(lines: list[str], at: int) -> tuple[str, list[tuple[int, str]], int] | None:
    """Return a wrapped table's header, its rows and where it ends; None if it is not wrapped.

    The terminal's width is the longest line, or one more if trailing blanks were lost. Rows come
    with the number of their first line, from 1. Every row begins with the group. If the header is
    wrapped, the last row may be incomplete. If it is not, a single line below a complete row is no
    piece of it, since any text could be the rest of a client id.
    """
    pieces = _header_pieces(lines[at : at + _MOST_PIECES])
    end = at + pieces
    while (
        end < len(lines)
        and 0 < len(lines[end]) <= _LONGEST_PIECE
        and not _begins_another(lines[end])
    ):
        end += 1
    if pieces == 0 or at + pieces >= end:
        return None
    longest = max(map(len, lines[at:end]))
    group = lines[at + pieces].split(None, 1)[0]
    over = [line for line in lines[at + pieces : end] if not line.startswith(f"{group} ")]
    if any(map(is_noise, over)) or (pieces == 1 and not _show_a_wrap(lines, at, over)):
        return None
    cut = None
    for width in (longest, longest + 1):
        header = _join_lines(lines[at : at + pieces], width)
        if " ".join(header.split()) not in LONG:
            continue
        rows: list[tuple[int, list[str]]] = []
        for number in range(at + pieces, end):
            line, begin = lines[number], f"{group} "
            if line.startswith(begin) or (number == end - 1 and begin.startswith(line)):
                rows.append((number + 1, []))
            if not rows:
                return None
            rows[-1][1].append(line)
        found = [(number, _join_lines(row, width)) for number, row in rows]
        layout = Layout.of(header)
        if all(_fits(row, layout) for _, row in found):
            return header, found, end
        if pieces > 1 and cut is None and all(_fits(row, layout) for _, row in found[:-1]):
            cut = header, found, end
    return cut


def _show_a_wrap(lines: list[str], at: int, over: list[str]) -> bool:
    """Return whether lines that begin no row can be the rest of the rows above them."""
    layout = Layout.of(lines[at])
    if len(over) != 1 or layout.names[-1] != "CLIENT-ID":
        return bool(over)
    return layout.cells(lines[lines.index(over[0], at) - 1]) is None


def _begins_another(line: str) -> bool:
    return not line.strip() or line.startswith("GROUP ") or "Topic:" in line[:40]


def _header_pieces(lines: list[str]) -> int:
    """Return the number of lines that a header takes, 0 if it is none."""
    together = ""
    found = 0
    for i, line in enumerate(lines, start=1):
        if not line.strip():
            break
        together += "".join(line.split())
        if together in _SQUEEZED:
            found = i
    return found


_SQUEEZED = frozenset(header.replace(" ", "") for header in LONG)


def _join_lines(lines: list[str], width: int) -> str:
    return "".join(line.ljust(width) for line in lines[:-1]) + lines[-1]


def _fits(row: str, layout: Layout) -> bool:
    if layout.names[-1] == "ASSIGNMENT":
        return _ASSIGNED.fullmatch(row.split(None, len(layout.names) - 1)[-1].strip()) is not None
    if layout.names[-1] == "ASSIGNMENTS":
        words = row.split(None, len(layout.names) - 1)
        return len(words) < len(layout.names) or _TASKS.fullmatch(words[-1]) is not None
    if "COORDINATOR" in layout.names:
        return len(layout.names) - 1 <= len(row.split()) <= len(layout.names)
    cells = layout.cells(row)
    return cells is not None and " " not in cells[-1]
