"""Reads the tables of ``kafka-consumer-groups.sh`` and ``kafka-streams-groups.sh --describe``."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from groups.importers.console.headers import kind_of
from groups.importers.lines import Misread, NotToBeHad, brief, count, refuse
from groups.importers.seen import (
    Finding,
    Refusal,
    SeenMember,
    SeenPartition,
    View,
    is_between,
    rebalancing,
    refusal,
    require_consumers,
    shared,
    shared_or_streams,
    streams_before_4_2,
)
from groups.wording import OF_CLASSIC_PROTOCOL

if TYPE_CHECKING:
    from collections.abc import Iterator

    from groups.importers.console.tables import Table

_NO_CONSUMERS = {"streams": streams_before_4_2, "shared": shared, "either": shared_or_streams}
_DETAILS = {"HOST": "host", "CLIENT-ID": "client_id", "GROUP-INSTANCE-ID": "instance_id"}
_SHARE_GROUP = re.compile(r"[\w.-]+:\d")
_ASSIGNED = re.compile(r"([^\s(),]*)\(([\d,]*)\)(?:, |$)")
_TASKS = re.compile(r"(?:((?:TARGET-)?(?:ACTIVE|STANDBY|WARMUP)): )?([^\s:\[\]]+):\[([\d,]+)\]")
_MOST_OFFSET = 2**63 - 1

Row = dict[str, str]


def read_table(table: Table) -> Iterator[Finding]:
    """Yield a View per group of a table, or why the table cannot be used."""
    kind = kind_of(table.columns)
    if kind == "list":
        reason = "a list of groups, which shows no members: use --describe --all-groups"
        yield Refusal(table.source, table.place, reason)
        for place, row in table.rows() if "STATE" in table.columns else ():
            if is_between(state := row["STATE"]):
                group = table.group_of(row)
                error = NotToBeHad(place, rebalancing(group))
                yield refusal(table.source, error, (group,), state=state)
    elif kind == "none":
        reason = "no header of --describe, or not in full: copy the table as it was printed"
        yield Refusal(table.source, table.place, reason, table.group_names())
    elif kind in _NO_CONSUMERS:
        for group in table.group_names()[:1]:
            yield Refusal(
                table.source,
                table.place,
                _NO_CONSUMERS[kind](group),
                (group,),
                not_to_be_had=True,
            )
    else:
        try:
            by_group: dict[str, list[tuple[str, Row]]] = {}
            for place, row in table.rows():
                group = table.group_of(row)
                by_group.setdefault(group, []).append((place, row))
                if len(by_group) > 1 and any(" " in name for name in by_group):
                    refuse(place, f"group {brief(group)}, but {brief(next(iter(by_group)))} above")
            read = _READERS[kind]
            found = [f for group, rows in by_group.items() for f in read(table, group, rows)]
        except Misread as error:
            if "offsets" not in kind and table.may_be_cut(error.place):
                error = Misread(error.place, f"{error.reason} (or is the last line cut off?)")
            yield refusal(table.source, error, table.group_names())
        else:
            yield from found


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


def _offsets_of_streams(
    table: Table, group: str, rows: list[tuple[str, Row]]
) -> Iterator[Finding]:
    """Yield a View without content: the group exists, but the table shows topics, not tasks."""
    for place, row in rows:
        count(row["PARTITION"], place, "PARTITION")
    yield View(table.source, table.place, group, streams=True)


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
        assumed += (OF_CLASSIC_PROTOCOL.format(classic, len(rows)),)
    yield View(
        table.source, table.place, group, tuple(members.values()),
        every_member=True, assumed=assumed, streams="PROCESS" in table.columns,
    )  # fmt: skip


def _member(place: str, row: Row) -> SeenMember:
    if "PROCESS" in row:
        return _thread(place, row)
    shown = count(row["#PARTITIONS"], place, "#PARTITIONS")
    details: dict[str, object] = dict(_details(row))
    held = None
    if "CURRENT-ASSIGNMENT" in row:
        held = _with_colons(row["CURRENT-ASSIGNMENT"], place)
        # -2 is a static member that has left for a moment and still holds its partitions.
        if row["CURRENT-EPOCH"] not in ("-", "-1", "-2"):
            details["epoch"] = count(row["CURRENT-EPOCH"], place, "CURRENT-EPOCH")
        target = _with_colons(row["TARGET-ASSIGNMENT"], place)
        if row["TARGET-EPOCH"] != "-":
            count(row["TARGET-EPOCH"], place, "TARGET-EPOCH")
            details["target"] = {topic: list(numbers) for topic, numbers in target.items()}
        if row.get("UPGRADED", "true") not in ("true", "false", "-"):
            refuse(place, f"UPGRADED {brief(row['UPGRADED'])}, expected true or false")
    elif "ASSIGNMENT" in row:
        held = _with_parentheses(row["ASSIGNMENT"], place)
    if held is not None and sum(map(len, held.values())) != shown:
        refuse(place, f"#PARTITIONS {shown}, but {sum(map(len, held.values()))} in the assignment")
    return SeenMember(place, row["CONSUMER-ID"], held, shown, details=details)


def _thread(place: str, row: Row) -> SeenMember:
    """Return a thread of a Kafka Streams application; `held` are its active tasks."""
    if ";" in row["PROCESS"]:
        refuse(place, f"PROCESS {brief(row['PROCESS'])}, which is of a column that follows it")
    tasks = _tasks(row["ASSIGNMENTS"], place)
    details: dict[str, object] = {"process": row["PROCESS"], "client_id": row["CLIENT-ID"]}
    kept = {"standby": "STANDBY", "warmup": "WARMUP"}
    if "MEMBER-EPOCH" in row:
        kept |= {"target": "TARGET-ACTIVE"} | {
            f"target_{k}": f"TARGET-{v}" for k, v in kept.items()
        }
        details["topology_epoch"] = count(row["TOPOLOGY-EPOCH"], place, "TOPOLOGY-EPOCH")
        if row["MEMBER-EPOCH"] not in ("-1", "-2"):
            details["epoch"] = count(row["MEMBER-EPOCH"], place, "MEMBER-EPOCH")
    for key, role in kept.items():
        details[key] = {name: list(numbers) for name, numbers in tasks.get(role, {}).items()}
    return SeenMember(place, row["MEMBER"], tasks.get("ACTIVE", {}), details=details)


def _tasks(cell: str, place: str) -> dict[str, dict[str, tuple[int, ...]]]:
    """Return the tasks of a cell by role: ``ACTIVE: 0:[1,5]; 1:[3]; STANDBY: 1:[0];``.

    Raises
    ------
    BadInput
        If the cell is anything else.
    """
    found: dict[str, dict[str, tuple[int, ...]]] = {}
    role = None
    for part in filter(None, map(str.strip, cell.split(";"))):
        match = _TASKS.fullmatch(part)
        role = match and (match[1] or role)
        if match is None or role is None or (match[1] and match[1] in found):
            refuse(place, f"ASSIGNMENTS {brief(part)}, expected tasks as in ACTIVE: 0:[1,5];")
        _add(found.setdefault(role, {}), match[2], match[3], place)
    return found


def _states(table: Table, group: str, rows: list[tuple[str, Row]]) -> Iterator[Finding]:
    for place, row in rows:
        try:
            assignor = row.get("ASSIGNMENT-STRATEGY", "")
            require_consumers(place, group, row["STATE"], assignor)
        except NotToBeHad as error:
            yield refusal(table.source, error, (group,), state=row["STATE"])
        else:
            members = count(row["#MEMBERS"], place, "#MEMBERS")
            yield View(
                table.source, place, group, state_known=True, member_count=members,
                assumed=table.assumed, assignor=_given(assignor) or None,
                streams=_of_streams(table.columns),
            )  # fmt: skip


def _of_streams(columns: list[str]) -> bool | None:
    """Return whether a table of states is of Kafka Streams; None if it may be of share groups."""
    if "ASSIGNMENT-STRATEGY" in columns:
        return False
    return True if {"ASSIGNOR", "TARGET-ASSIGNMENT-EPOCH"} & {*columns} else None


def _details(row: Row) -> dict[str, str]:
    found = {key: row.get(column, "-") for column, key in _DETAILS.items()}
    return {key: value for key, value in found.items() if value not in ("-", "")}


def _given(cell: str) -> str | None:
    return None if cell == "-" else cell


def _offset(cell: str, place: str, what: str) -> int | None:
    return None if cell == "-" else count(cell, place, what, most=_MOST_OFFSET)


def _with_colons(cell: str, place: str) -> dict[str, tuple[int, ...]]:
    """Return the assignment of a cell as Kafka 4 prints it: ``t0:1,5;t1:3,4``, ``-`` for none.

    Raises
    ------
    BadInput
        If the cell is anything else.
    """
    held: dict[str, tuple[int, ...]] = {}
    for part in () if cell == "-" else cell.split(";"):
        topic, _, numbers = part.rpartition(":")
        _add(held, topic, numbers, place)
    return held


def _with_parentheses(cell: str, place: str) -> dict[str, tuple[int, ...]]:
    """Return the assignment of a cell as Kafka prints it up to 3.7: ``t0(1,5), t1(3,4)``.

    Raises
    ------
    BadInput
        If the cell is anything else, or has no topic names, as in Kafka 3.8 and 3.9.
    """
    held: dict[str, tuple[int, ...]] = {}
    at = 0
    while at < len(cell) and cell != "-":
        found = _ASSIGNED.match(cell, at)
        if found is None and _SHARE_GROUP.match(cell):
            refuse(place, "a table of kafka-share-groups: a share group has no assignment")
        if found is None:
            refuse(place, f"assignment {brief(cell[at:])}, expected a topic as in t0(1,5)")
        topic, numbers = found.groups()
        if not topic:
            refuse(
                place,
                "Kafka 3.8 and 3.9 leave the topic names out of --members --verbose: "
                "use --describe, with --describe --members beside it for the idle members",
            )
        _add(held, topic, numbers, place)
        at = found.end()
    return held


def _add(held: dict[str, tuple[int, ...]], topic: str, numbers: str, place: str) -> None:
    if not topic:
        refuse(place, f"assignment {brief(numbers)}, expected a topic as in t0:1,5")
    if topic in held:
        refuse(place, f"topic {brief(topic)} twice in one assignment")
    found = tuple(count(number, place, "partition") for number in numbers.split(","))
    if len(set(found)) < len(found):
        refuse(place, f"a partition of {brief(topic)} twice in one assignment")
    held[topic] = tuple(sorted(found))


_READERS = {
    "offsets": _offsets,
    "members": _members,
    "states": _states,
    "streams offsets": _offsets_of_streams,
    "streams members": _members,
    "streams states": _states,
}
