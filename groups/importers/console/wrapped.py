"""Tables that a terminal wrapped at its right edge, put back onto long lines."""

from __future__ import annotations

import re

from groups.importers.console.headers import LONG
from groups.importers.lines import is_noise

_ASSIGNED = re.compile(r"-|[^\s()]*\([\d,]*\)(, [^\s()]*\([\d,]*\))*")
_MOST_PIECES = 8
_WIDEST = 1000


def unwrap(lines: list[str], at: int) -> tuple[str, list[tuple[int, str]], int] | None:
    """Return a wrapped table's header, its rows and where it ends; None where it is not wrapped.

    The terminal's width is the longest line, or one more where trailing blanks were lost. Rows
    come with the number of their first line, from 1. Every row begins with the group.
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
    if (pieces == 1 and not over) or any(map(is_noise, over)):
        return None
    for width in (longest, longest + 1):
        header = _joined(lines[at : at + pieces], width)
        if " ".join(header.split()) not in LONG:
            continue
        rows: list[tuple[int, list[str]]] = []
        for number in range(at + pieces, end):
            if lines[number].startswith(f"{group} "):
                rows.append((number + 1, []))
            if not rows:
                return None
            rows[-1][1].append(lines[number])
        found = [(number, _joined(row, width)) for number, row in rows]
        if all(_fits(row, header) for _, row in found):
            return header, found, end
    return None


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


def _fits(row: str, header: str) -> bool:
    columns = header.split()
    if columns[-1] == "ASSIGNMENT":
        return _ASSIGNED.fullmatch(row.split(None, len(columns) - 1)[-1].strip()) is not None
    blank = "GROUP-INSTANCE-ID" in columns or "ASSIGNMENT-STRATEGY" in columns
    return len(columns) - blank <= len(row.split()) <= len(columns)
