"""JSON of AKHQ: ``GET /api/{cluster}/group/{id}``.

The keys are those of its classes ConsumerGroup, Consumer and TopicPartition, as it serialises
them. It lists every member with what it holds.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from groups.documents import fields
from groups.documents.json_files import parse_json
from groups.importers.lines import brief, refuse
from groups.importers.seen import (
    Finding,
    SeenMember,
    SeenPartition,
    View,
    require_consumers,
)
from groups.importers.tools.json_groups import (
    each_group,
    held_by,
    objects,
    offset,
    partition_number,
    text,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

SIGNS = ('"simpleConsumerGroup"', '"groupedAssignments"')


def read(source: str, content: str) -> Iterator[Finding]:
    """Yield what the JSON shows of each of its groups.

    Raises
    ------
    BadInput
        Where the text is not JSON, or not of groups.
    """

    def show(place: str, group: str, found: Mapping[str, Any]) -> View:
        return _group(source, place, group, found)

    yield from each_group(source, objects(parse_json(content), "id"), show)


def _group(source: str, place: str, group: str, found: Mapping[str, Any]) -> View:
    state = fields.name(found.get("state"), "state")
    require_consumers(place, group, state, str(found.get("partitionAssignor")))
    members: dict[str, SeenMember] = {}
    holders: dict[tuple[str, int], list[str]] = {}
    for i, value in enumerate(fields.listed(found.get("members"), "members")):
        member = _member(place, value, f"members[{i}]")
        if member.member in members:
            refuse(place, f"members[{i}]: member {brief(member.member)} a second time")
        members[member.member] = member
        for topic, numbers in (member.held or {}).items():
            for number in numbers:
                holders.setdefault((topic, number), []).append(member.member)
    partitions = []
    for i, value in enumerate(fields.listed(found.get("offsets", []), "offsets")):
        at = f"offsets[{i}]"
        row = fields.mapping(value, at)
        topic, number = _pair(row, at)
        partitions += [
            SeenPartition(
                f"{place}.{at}",
                topic,
                number,
                holder,
                offset(row, "lastOffset", at),
                offset(row, "offset", at),
                offset(row, "firstOffset", at),
            )
            for holder in holders.get((topic, number), [None])
        ]
    return View(
        source, place, group, tuple(members.values()), tuple(partitions), every_member=True
    )


def _member(place: str, value: Any, at: str) -> SeenMember:
    found = fields.mapping(value, at)
    details = {"client_id": text(found, "clientId", at), "host": text(found, "host", at)}
    assigned = fields.listed(found.get("assignments"), f"{at}.assignments")
    pairs = [
        _pair(fields.mapping(pair, f"{at}.assignments[{i}]"), f"{at}.assignments[{i}]")
        for i, pair in enumerate(assigned)
    ]
    return SeenMember(
        f"{place}.{at}",
        fields.name(found.get("id"), f"{at}.id"),
        held_by(pairs, f"{at}.assignments"),
        details={key: detail for key, detail in details.items() if detail is not None},
    )


def _pair(found: Mapping[str, Any], at: str) -> tuple[str, int]:
    topic = fields.name(found.get("topic"), f"{at}.topic")
    return topic, partition_number(found.get("partition"), f"{at}.partition")
