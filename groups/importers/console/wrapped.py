"""Tables that a terminal wrapped at its right edge, put back onto long lines."""

from __future__ import annotations

import re

from groups.importers.console.headers import LONG
from groups.importers.console.tables import Layout
from groups.importers.lines import is_noise

_ASSIGNED = re.compile(r"-|[^\s()]*\([\d,]*\)(, [^\s()]*\([\d,]*\))*")
_TASKS = re.compile(r"(([A-Z-]+: )?[^\s:]+:\[[\d,]*\](; ?|$))+")
_MOST_PIECES = 8
_WIDEST = 1000


def unwrap(lines: list[str], at: int) -> tuple[str, list[tuple[int, str]], int] | None:
    """Return a wrapped table's header, its rows and where it ends; None where it is not wrapped.

    The terminal's width is the longest line, or one more where trailing blanks were lost. Rows
    come with the number of their first line, from 1. Every row begins with the group. Where the
    header is wrapped the last row may be a piece of one. Where it is not, one line alone below a
    whole row is no piece of it, since a client id could go on with anything.
    """
    pieces = _header_pieces(lines[at : at + _MOST_PIECES])
    end = at + pieces
    while end < len(lines) and 0 < len(lines[end]) <= _WIDEST and not _begins_another(lines[end]):
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
        header = _joined(lines[at : at + pieces], width)
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
        found = [(number, _joined(row, width)) for number, row in rows]
        layout = Layout.of(header)
        if all(_fits(row, layout) for _, row in found):
            return header, found, end
        if pieces > 1 and cut is None and all(_fits(row, layout) for _, row in found[:-1]):
            cut = header, found, end
    return cut


def _show_a_wrap(lines: list[str], at: int, over: list[str]) -> bool:
    """Return whether lines that begin no row can go on with the rows above them."""
    layout = Layout.of(lines[at])
    if len(over) != 1 or layout.names[-1] != "CLIENT-ID":
        return bool(over)
    return layout.cells(lines[lines.index(over[0], at) - 1]) is None


def _begins_another(line: str) -> bool:
    return not line.strip() or line.startswith("GROUP ") or "Topic:" in line[:40]


def _header_pieces(lines: list[str]) -> int:
    """Return over how many lines a header goes on, 0 where it is none."""
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


def _joined(lines: list[str], width: int) -> str:
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
