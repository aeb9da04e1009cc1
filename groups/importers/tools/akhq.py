"""JSON of AKHQ: ``GET /api/{cluster}/group/{id}``.

The keys are those of its classes ConsumerGroup, Consumer and TopicPartition, as it serialises
them. It lists every member with what it holds.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from groups.documents import fields
from groups.importers.seen import (
    Finding,
    SeenMember,
    SeenPartition,
    View,
    require_consumers,
)
from groups.importers.tools.json_groups import (
    details_in,
    each_object,
    held_by,
    members_in,
    offset,
    partition_number,
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
    return each_object(source, content, key="id", show=_group)


def _group(source: str, place: str, group: str, found: Mapping[str, object]) -> View:
    state = fields.name(found.get("state"), "state")
    require_consumers(place, group, state, str(found.get("partitionAssignor")))
    members = members_in(found.get("members"), "members", place, _member)
    holders: dict[tuple[str, int], list[str]] = {}
    for member in members.values():
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


def _member(place: str, value: object, at: str) -> SeenMember:
    found = fields.mapping(value, at)
    assigned = fields.listed(found.get("assignments"), f"{at}.assignments")
    pairs = [
        _pair(fields.mapping(pair, f"{at}.assignments[{i}]"), f"{at}.assignments[{i}]")
        for i, pair in enumerate(assigned)
    ]
    return SeenMember(
        f"{place}.{at}",
        fields.name(found.get("id"), f"{at}.id"),
        held_by(pairs, f"{at}.assignments"),
        details=details_in(found, at, client_id="clientId", host="host"),
    )


def _pair(found: Mapping[str, object], at: str) -> tuple[str, int]:
    topic = fields.name(found.get("topic"), f"{at}.topic")
    return topic, partition_number(found.get("partition"), f"{at}.partition")
