"""JSON of ``rpk group describe --format json``: a list of groups.

The keys are those of groupDescription in rpk's describe.go. It lists every member, though what
each holds stands only beside the partitions.
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
    check_lag,
    each_group,
    objects,
    offset,
    partition_number,
    text,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

SIGNS = ('"group_name"', '"members_details"')


def read(source: str, content: str) -> Iterator[Finding]:
    """Yield what the JSON shows of each of its groups.

    Raises
    ------
    BadInput
        Where the text is not JSON, or not of groups.
    """

    def show(place: str, group: str, found: Mapping[str, Any]) -> View:
        return _group(source, place, group, found)

    yield from each_group(source, objects(parse_json(content), "group_name"), show)


def _group(source: str, place: str, group: str, found: Mapping[str, Any]) -> View:
    state = fields.name(found.get("state"), "state")
    require_consumers(place, group, state, str(found.get("balancer")))
    members: dict[str, SeenMember] = {}
    for i, value in enumerate(fields.listed(found.get("members_details"), "members_details")):
        member = _member(place, value, f"members_details[{i}]")
        if member.member in members:
            refuse(place, f"members_details[{i}]: member {brief(member.member)} a second time")
        members[member.member] = member
    partitions = tuple(
        _partition(place, value, f"partitions[{i}]")
        for i, value in enumerate(fields.listed(found.get("partitions"), "partitions"))
    )
    for seen in partitions:
        if seen.owner is not None and seen.owner not in members:
            refuse(seen.place, f"member {brief(seen.owner)} is not in members_details")
    return View(
        source,
        place,
        group,
        tuple(members.values()),
        partitions,
        every_member=True,
        member_count=fields.integer(found.get("members"), "members"),
    )


def _member(place: str, value: Any, at: str) -> SeenMember:
    found = fields.mapping(value, at)
    details = {"client_id": text(found, "client_id", at), "host": text(found, "host", at)}
    return SeenMember(
        f"{place}.{at}",
        fields.name(found.get("member_id"), f"{at}.member_id"),
        details={key: detail for key, detail in details.items() if detail is not None},
    )


def _partition(place: str, value: Any, at: str) -> SeenPartition:
    found = fields.mapping(value, at)
    seen = SeenPartition(
        f"{place}.{at}",
        fields.name(found.get("topic"), f"{at}.topic"),
        partition_number(found.get("partition"), f"{at}.partition"),
        text(found, "member_id", at),
        offset(found, "log_end_offset", at),
        offset(found, "current_offset", at),
        offset(found, "log_start_offset", at),
    )
    check_lag(seen.place, seen, offset(found, "lag", at))
    return seen
