"""Remarks: lines that cannot be part of a console tool's table, such as shell messages.

A tool pads its cells, and its rows have numbers side by side; prose has neither. A line that may
be part of a table, damaged or cut, is not a remark.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from groups.importers.console.headers import COLUMNS, STARTS
from groups.importers.lines import is_like_a_row
from groups.wording import RANDOM_ID

if TYPE_CHECKING:
    from collections.abc import Sequence

FEWEST_WORDS = 3
_LONGEST = 2000
_PADDED = re.compile(r"\s\s|[^\S ]")
_OF_A_HEADER = re.compile(r"PARTITION|CURRENT-|LOG-END|-OFFSET|-EPOCH|CONSUMER-|CLIENT-|#MEMBERS")
_NO_LETTER_OF_A_HEADER = re.compile(r"[^A-Z#()-]+")
_ABOUT_A_GROUP = re.compile(
    r"\bgroup ['\"`\u2018]|is rebalancing|active members|not exist\.|\b(Stable|Empty|Dead)$",
    re.IGNORECASE,
)
_OF_ANOTHER_VIEW = re.compile(
    r"Partition(Count)?:|[\w.-]\(\d|:\[\d|\(-?\d+\)|^[{}\"]|^\[[\[{\"]|\":"
)
_OFFSETS_OF_A_TOPIC = re.compile(r"[\w.-]+(:-?\d+){1,2}")
_MEMBER_ID = re.compile(rf"\S*[0-9a-f]{{8}}-[0-9a-f]{{4}}-\S*|{RANDOM_ID.pattern}")
_CELL = re.compile(r"[\s,;|]+")
_NUMBER = re.compile(r"-|[+-]?\d+")
_HOST = re.compile(r"\S*/\d[\d.:a-f]*")


def is_remark(line: str) -> bool:
    """Return whether a line outside any table is no header and no row, not even a part of one."""
    text = line.strip()
    if len(text) > _LONGEST or _PADDED.search(text) or _may_be_a_header(text):
        return False
    if _ABOUT_A_GROUP.search(text) or _OF_ANOTHER_VIEW.search(text):
        return False
    return not _may_be_a_row(text)


def remarks_among(rows: Sequence[tuple[int, str]]) -> dict[int, str]:
    """Return the numbered lines below a header that are no row, and no piece of one.

    A piece of a row that a terminal wrapped has one or two words; if it were longer, the row
    would lack more than one cell and be refused. It is directly below its row, so a line after
    a blank line, or after another line that is no row, is no piece. A line that begins like a row
    is a row.
    """
    found = {number: line for number, line in rows if is_remark(line)}
    if not found:
        return {}
    begins = {line.split(None, 1)[0] for n, line in rows if n not in found}
    end = next((i for i, (n, _) in enumerate(rows) if n - i != rows[0][0]), len(rows))
    below = {n for n, _ in rows[end:]}
    fewest = 1 if below <= found.keys() else FEWEST_WORDS
    return {
        number: line
        for number, line in found.items()
        if len(words := line.split(None, FEWEST_WORDS))
        >= (fewest if number in below else FEWEST_WORDS)
        and words[0] not in begins
    }


def runs_on(cell: str) -> bool:
    """Return whether a cell holds more than a name, so that another line was joined to it."""
    header = len(COLUMNS.intersection(cell.split())) > 1
    return header or is_like_a_row(cell) or _ABOUT_A_GROUP.search(cell) is not None


def _may_be_a_header(text: str) -> bool:
    if text.split(None, 1)[0] in STARTS or _OF_A_HEADER.search(text):
        return True
    return len(COLUMNS.intersection(_NO_LETTER_OF_A_HEADER.split(text))) > 1


def _may_be_a_row(text: str) -> bool:
    if _OFFSETS_OF_A_TOPIC.fullmatch(text):
        return True
    cells = [cell for cell in _CELL.split(text) if cell]
    numbers = [i for i, cell in enumerate(cells) if _NUMBER.fullmatch(cell)]
    side_by_side = any(i + 1 in numbers for i in numbers)
    cut_after_the_partition = bool(numbers) and numbers[-1] == len(cells) - 1 < FEWEST_WORDS
    with_a_member = any(
        _HOST.fullmatch(cell) or _MEMBER_ID.fullmatch(cell) or (numbers and cell.startswith("/"))
        for cell in cells
    )
    return not cells or side_by_side or cut_after_the_partition or with_a_member
