"""JSON of Kafka UI (Provectus, Kafbat): ``GET /api/clusters/{cluster}/consumer-groups/{id}``.

The keys are those of ConsumerGroupDetails in its OpenAPI contract. It counts the members, but
lists only those that hold partitions.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from groups.documents import fields
from groups.importers.lines import refuse
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
    offset,
    partition_number,
    text,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

SIGNS = ('"consumerId"', '"currentOffset"', '"partitionAssignor"', '"consumerLag"')


def read(source: str, content: str) -> Iterator[Finding]:
    """Yield what the JSON shows of each of its groups.

    Raises
    ------
    BadInput
        Where the text is not JSON, or not of groups.
    """
    return each_object(source, content, key="groupId", show=_group)


def _group(source: str, place: str, group: str, found: Mapping[str, object]) -> View:
    state = fields.name(found.get("state"), "state")
    require_consumers(place, group, state, str(found.get("partitionAssignor")))
    if "partitions" not in found:
        refuse(place, "a list of groups without their partitions: save the details of each")
    partitions, members = [], {}
    for i, value in enumerate(fields.listed(found["partitions"], "partitions")):
        at = f"partitions[{i}]"
        row = fields.mapping(value, at)
        seen = _partition(place, row, at)
        partitions.append(seen)
        if seen.owner is not None and seen.owner not in members:
            details = details_in(row, at, host="host")
            members[seen.owner] = SeenMember(seen.place, seen.owner, details=details)
    return View(
        source,
        place,
        group,
        tuple(members.values()),
        tuple(partitions),
        member_count=fields.integer(found["members"], "members") if "members" in found else None,
    )


def _partition(place: str, row: Mapping[str, object], at: str) -> SeenPartition:
    seen = SeenPartition(
        f"{place}.{at}",
        fields.name(row.get("topic"), f"{at}.topic"),
        partition_number(row.get("partition"), f"{at}.partition"),
        text(row, "consumerId", at),
        offset(row, "endOffset", at),
        offset(row, "currentOffset", at),
    )
    lag = row.get("consumerLag")
    check_lag(seen.place, seen, lag if isinstance(lag, int) else None)
    return seen
