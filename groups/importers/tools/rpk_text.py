"""Reads the text of ``rpk group describe``: a summary of each group, then a partition table.

The labels and columns are those of rpk's describe.go. The summary counts the members; the table
shows only those that hold partitions.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from groups.importers.console.tables import misfit
from groups.importers.lines import Misread, brief, count, is_noise, refuse
from groups.importers.seen import (
    Finding,
    Refusal,
    SeenMember,
    SeenPartition,
    View,
    refusal,
    require_consumers,
)
from groups.importers.tools import json_groups

if TYPE_CHECKING:
    from collections.abc import Iterator

SIGNS = ("\nBALANCER", "LOG-START-OFFSET", " MEMBER-ID ")
_LABELS = {
    "COORDINATOR", "COORDINATOR-NODE", "COORDINATOR-PARTITION", "STATE", "BALANCER", "MEMBERS",
    "TOTAL-LAG", "ERROR",
}  # fmt: skip
_NEEDED = ("TOPIC", "PARTITION", "CURRENT-OFFSET", "LOG-END-OFFSET", "LAG", "MEMBER-ID")
_DETAILS = {"INSTANCE-ID": "instance_id", "CLIENT-ID": "client_id", "HOST": "host"}
_MOST_OFFSET = 2**63 - 1

Lines = list[tuple[int, str]]


def read(source: str, content: str) -> Iterator[Finding]:
    """Yield the views of groups in ``rpk group describe``, in text or as JSON.

    Raises
    ------
    BadInput
        If a text that begins like JSON is not JSON.
    """
    if content.lstrip()[:1] in ("{", "["):
        yield from json_groups.READERS["rpk"](source, content)
        return
    group = ""
    lines: Lines = []
    for number, line in enumerate(content.split("\n"), start=1):
        words = line.split(None, 2)
        if len(words) > 1 and words[0] == "GROUP":
            yield from _section(source, group, lines)
            group, lines = line.split(None, 1)[1].strip(), []
        elif words and group:
            lines.append((number, line))
        elif words and not is_noise(line):
            reason = f"{brief(line.strip())}, expected a line with GROUP first: leave -c out"
            yield Refusal(source, f"{source}:{number}", reason)
            return
    yield from _section(source, group, lines, cut=not content.endswith("\n"), ends=True)


def _section(
    source: str, group: str, lines: Lines, *, cut: bool = False, ends: bool = False
) -> Iterator[Finding]:
    if group:
        try:
            yield _group(source, group, lines, cut=cut, ends=ends)
        except Misread as error:
            yield refusal(source, error, (group,))


def _group(source: str, group: str, lines: Lines, *, cut: bool, ends: bool) -> View:
    place = f"{source}:{lines[0][0] - 1}" if lines else source
    summary: dict[str, str] = {}
    header: list[str] = []
    partitions: list[SeenPartition] = []
    members: dict[str, SeenMember] = {}
    for number, line in lines:
        at = f"{source}:{number}"
        words = line.split(None, 1)
        if header:
            is_last = ends and number == lines[-1][0]
            row = _row(header, line, at, partitions, is_last=is_last)
            if row is not None:
                if cut and is_last and row["MEMBER-ID"] == "-":
                    refuse(at, "no member, or cut off: copy it again, or begin a line below it")
                seen, member = _partition(row, at)
                partitions.append(seen)
                if member is not None:
                    members.setdefault(member.member, member)
        elif words[0] == "TOPIC":
            header = line.split(None, 20)
            missing = [column for column in _NEEDED if column not in header]
            if missing:
                refuse(at, f"a table without {missing[0]}: use rpk group describe with no option")
        elif words[0] in _LABELS and len(words) == 2:
            summary[words[0]] = words[1].strip()
        elif words[0] not in _LABELS and not is_noise(line):
            refuse(at, f"{brief(line.strip())}, expected a line of rpk group describe")
    if "ERROR" in summary:
        refuse(place, f"the tool ended with an error: {summary['ERROR'][:200]}")
    require_consumers(place, group, summary.get("STATE", "none"), summary.get("BALANCER", ""))
    stated = count(summary.get("MEMBERS", ""), place, "MEMBERS")
    return View(
        source, place, group, tuple(members.values()), tuple(partitions),
        state_known=True, member_count=stated,
    )  # fmt: skip


def _row(
    header: list[str], line: str, at: str, above: list[SeenPartition], *, is_last: bool
) -> dict[str, str] | None:
    columns = [column for column in header if column != "ERROR"]
    cells = line.split(None, len(columns) + 1)
    unheld = columns.index("MEMBER-ID")
    if len(cells) == unheld or (len(cells) < unheld and is_noise(line)):
        cells = [*cells, *["-"] * (len(columns) - unheld)] if len(cells) == unheld else []
        return dict(zip(columns, cells, strict=True)) if cells else None
    if "INSTANCE-ID" in columns and len(cells) == len(columns) - 1:
        i = columns.index("INSTANCE-ID")
        cells = [*cells[:i], "-", *cells[i:]]
    if len(cells) > len(columns) and "ERROR" in header:
        refuse(at, f"the tool ended with an error: {brief(' '.join(cells[len(columns) :]))}")
    if len(cells) != len(columns):
        refuse(at, misfit(line, header, {one.topic for one in above}, is_last=is_last))
    return dict(zip(columns, (cell.strip() for cell in cells), strict=True))


def _partition(row: dict[str, str], at: str) -> tuple[SeenPartition, SeenMember | None]:
    owner = None if row["MEMBER-ID"] == "-" else row["MEMBER-ID"]
    seen = SeenPartition(
        at,
        row["TOPIC"],
        count(row["PARTITION"], at, "PARTITION"),
        owner,
        _offset(row, "LOG-END-OFFSET", at),
        _offset(row, "CURRENT-OFFSET", at),
        _offset(row, "LOG-START-OFFSET", at),
    )
    json_groups.check_lag(at, seen, _offset(row, "LAG", at))
    if owner is None:
        return seen, None
    details = {key: row[c] for c, key in _DETAILS.items() if row.get(c, "-") != "-"}
    return seen, SeenMember(at, owner, details=details)


def _offset(row: dict[str, str], column: str, at: str) -> int | None:
    if row.get(column, "-") in ("-", "-1"):
        return None
    return count(row[column], at, column, most=_MOST_OFFSET)
