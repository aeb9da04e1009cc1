"""Tables of ``kafka-consumer-groups.sh --describe``: what one header and its rows show.

The columns are those that ConsumerGroupCommand prints: ``kafka.admin`` up to 3.7,
``org.apache.kafka.tools.consumer.group`` from 3.8. Rows are split on whitespace, because a long
value overflows its column.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from groups.importers import assignments
from groups.importers.lines import Misread, brief, count, refuse
from groups.importers.seen import (
    Finding,
    Refusal,
    SeenMember,
    SeenPartition,
    View,
    not_consumers,
    not_stable,
    shared,
    streams,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from groups.importers.tables import Table

SHARED = frozenset({"START-OFFSET", "MEMBER-EPOCH", "ASSIGNMENT-EPOCH"})
STREAMS = frozenset({"MEMBER", "MEMBER-PROTOCOL", "PROCESS", "OFFSET-LAG", "TOPOLOGY-EPOCH"})
# fmt: off
COLUMNS = frozenset({
    "GROUP", "TOPIC", "PARTITION", "LEADER-EPOCH", "CURRENT-OFFSET", "LOG-END-OFFSET", "LAG",
    "CONSUMER-ID", "HOST", "CLIENT-ID", "GROUP-INSTANCE-ID", "#PARTITIONS", "ASSIGNMENT",
    "CURRENT-EPOCH", "CURRENT-ASSIGNMENT", "TARGET-EPOCH", "TARGET-ASSIGNMENT", "UPGRADED",
    "COORDINATOR", "(ID)", "ASSIGNMENT-STRATEGY", "STATE", "GROUP-EPOCH",
    "TARGET-ASSIGNMENT-EPOCH", "#MEMBERS", "TYPE", "PROTOCOL",
    *SHARED, *STREAMS,
})
# fmt: on
_OFFSETS = {"TOPIC", "PARTITION", "CURRENT-OFFSET", "LOG-END-OFFSET", "LAG", "CONSUMER-ID"}
_LIST = {"GROUP", "TYPE", "PROTOCOL", "STATE"}
_LISTED = "a list of groups, which shows no members: use --describe --all-groups"
_DETAILS = {"HOST": "host", "CLIENT-ID": "client_id", "GROUP-INSTANCE-ID": "instance_id"}
_MOST_OFFSET = 2**63 - 1

Row = dict[str, str]


def read_table(table: Table) -> Iterator[Finding]:
    """Yield what a table shows: a View per group, or why it cannot be used."""
    columns = set(table.columns)
    for kind, reason in ((STREAMS, streams), (SHARED, shared)):
        if kind & columns:
            for group in table.group_names() or ("",):
                yield Refusal(table.source, table.place, reason(group), (group,))
            return
    read: Callable[[Table, str, list[tuple[str, Row]]], Iterator[Finding]]
    if columns >= _OFFSETS:
        read = _offsets
    elif columns >= {"CONSUMER-ID", "#PARTITIONS"}:
        read = _members
    elif columns >= {"STATE", "#MEMBERS"}:
        read = _states
    else:
        listed = columns <= _LIST
        names = () if listed else table.group_names()
        yield Refusal(table.source, table.place, _LISTED if listed else _unusable(columns), names)
        return
    try:
        by_group: dict[str, list[tuple[str, Row]]] = {}
        for place, row in table.rows():
            by_group.setdefault(table.group_of(row), []).append((place, row))
        found = [f for group, rows in by_group.items() for f in read(table, group, rows)]
    except Misread as error:
        yield Refusal(table.source, error.place, error.reason, table.group_names())
    else:
        yield from found


def _unusable(columns: set[str]) -> str:
    missing = sorted(_OFFSETS - columns)
    return f"no table of --describe, its header has no {missing[0]}: copy it in full"


def _offsets(table: Table, group: str, rows: list[tuple[str, Row]]) -> Iterator[Finding]:
    partitions, members = [], {}
    for place, row in rows:
        owner = _given(row["CONSUMER-ID"])
        if owner is not None and owner not in members:
            members[owner] = SeenMember(place, owner, details=_details(row))
        if row["TOPIC"] != "-":
            partitions.append(_partition(place, row, owner))
    yield View(
        table.source, table.place, group, tuple(members.values()), tuple(partitions),
        assumed=table.assumed,
    )  # fmt: skip


def _partition(place: str, row: Row, owner: str | None) -> SeenPartition:
    committed = _offset(row["CURRENT-OFFSET"], place, "CURRENT-OFFSET")
    end = _offset(row["LOG-END-OFFSET"], place, "LOG-END-OFFSET")
    behind = None if committed is None or end is None else end - committed
    if row["LAG"] != ("-" if behind is None else str(behind)):
        refuse(place, f"LAG {brief(row['LAG'])}, but its offsets make {behind}")
    number = count(row["PARTITION"], place, "PARTITION")
    return SeenPartition(place, row["TOPIC"], number, owner, end, committed)


def _members(table: Table, group: str, rows: list[tuple[str, Row]]) -> Iterator[Finding]:
    members: dict[str, SeenMember] = {}
    classic = 0
    for place, row in rows:
        member = _member(place, row)
        if member.member in members:
            refuse(place, f"member {brief(member.member)} a second time in one table")
        members[member.member] = member
        classic += row.get("UPGRADED") == "false"
    assumed = table.assumed
    if classic:
        assumed += (f"{classic} of {len(rows)} members use the classic protocol (UPGRADED false)",)
    yield View(
        table.source, table.place, group, tuple(members.values()),
        every_member=True, assumed=assumed,
    )  # fmt: skip


def _member(place: str, row: Row) -> SeenMember:
    shown = count(row["#PARTITIONS"], place, "#PARTITIONS")
    details: dict[str, object] = dict(_details(row))
    held = None
    if "CURRENT-ASSIGNMENT" in row:
        held = assignments.with_colons(row["CURRENT-ASSIGNMENT"], place)
        if row["CURRENT-EPOCH"] != "-":
            details["epoch"] = count(row["CURRENT-EPOCH"], place, "CURRENT-EPOCH")
        target = assignments.with_colons(row["TARGET-ASSIGNMENT"], place)
        if row["TARGET-EPOCH"] != "-":
            count(row["TARGET-EPOCH"], place, "TARGET-EPOCH")
            details["target"] = {topic: list(numbers) for topic, numbers in target.items()}
        if row.get("UPGRADED", "true") not in ("true", "false"):
            refuse(place, f"UPGRADED {brief(row['UPGRADED'])}, expected true or false")
    elif "ASSIGNMENT" in row:
        held = assignments.with_parentheses(row["ASSIGNMENT"], place)
    if held is not None and sum(map(len, held.values())) != shown:
        refuse(place, f"#PARTITIONS {shown}, but {sum(map(len, held.values()))} in the assignment")
    return SeenMember(place, row["CONSUMER-ID"], held, shown, details=details)


def _states(table: Table, group: str, rows: list[tuple[str, Row]]) -> Iterator[Finding]:
    for place, row in rows:
        reason = not_stable(group, row["STATE"])
        if "ASSIGNMENT-STRATEGY" in row:
            reason = not_consumers(group, row["ASSIGNMENT-STRATEGY"]) or reason
        else:
            reason = f"group {group!r} is a share or Streams group: neither assigns partitions"
        if reason is not None:
            yield Refusal(table.source, place, reason, (group,))
        else:
            members = count(row["#MEMBERS"], place, "#MEMBERS")
            yield View(table.source, place, group, member_count=members, assumed=table.assumed)


def _details(row: Row) -> dict[str, str]:
    found = {key: row.get(column, "-") for column, key in _DETAILS.items()}
    return {key: value for key, value in found.items() if value not in ("-", "")}


def _given(cell: str) -> str | None:
    return None if cell == "-" else cell


def _offset(cell: str, place: str, what: str) -> int | None:
    return None if cell == "-" else count(cell, place, what, most=_MOST_OFFSET)
