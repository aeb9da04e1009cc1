"""JSON of ``rpk group describe --format json``: a list of groups.

The keys are those of groupDescription in rpk's describe.go. It lists every member, though what
each holds stands only beside the partitions.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from groups.documents import fields
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
    details_in,
    each_object,
    members_in,
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
    return each_object(source, content, key="group_name", show=_group)


def _group(source: str, place: str, group: str, found: Mapping[str, object]) -> View:
    state = fields.name(found.get("state"), "state")
    require_consumers(place, group, state, str(found.get("balancer")))
    members = members_in(found.get("members_details"), "members_details", place, _member)
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


def _member(place: str, value: object, at: str) -> SeenMember:
    found = fields.mapping(value, at)
    return SeenMember(
        f"{place}.{at}",
        fields.name(found.get("member_id"), f"{at}.member_id"),
        details=details_in(found, at, client_id="client_id", host="host"),
    )


def _partition(place: str, value: object, at: str) -> SeenPartition:
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
