"""JSON of kafka-python: ``python -m kafka.admin --format json groups describe -g GROUP``.

It knows the subscriptions. What a member holds now is its assignment; the owned partitions and
the generation in its metadata are those of its last join and may be stale. Every assignment of a
stable group is of one and the same generation, whose number is not printed: no claim is newer
than another, so none gets a generation.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from groups.documents import fields
from groups.documents.json_files import parse_json
from groups.importers.lines import NotToBeHad, refuse
from groups.importers.seen import (
    Finding,
    Refusal,
    SeenMember,
    View,
    absent,
    connect,
    require_consumers,
)
from groups.importers.tools.json_groups import (
    details_in,
    each_group,
    held_by,
    members_in,
    partition_number,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

SIGNS = ('"group_state"', '"member_metadata"', '"protocol_data"')
_DETAILS = {"client_id": "client_id", "host": "client_host", "instance_id": "group_instance_id"}


def read(source: str, content: str) -> Iterator[Finding]:
    """Yield what the JSON shows of each of its groups.

    Raises
    ------
    BadInput
        Where the text is not JSON.
    """
    groups = parse_json(content)
    if not isinstance(groups, Mapping) or not groups:
        yield Refusal(source, source, "no object with groups in it")
        return
    fields.mapping(groups, "")

    yield from each_group(source, [("group", name, one) for name, one in groups.items()], _group)


def _group(source: str, place: str, group: str, found: Mapping[str, object]) -> View:
    _require_consumers(place, group, found)
    members = members_in(found.get("members"), "members", place, _member)
    return View(source, place, group, tuple(members.values()), every_member=True)


def _require_consumers(place: str, group: str, found: Mapping[str, object]) -> None:
    state = found.get("group_state")
    protocol = found.get("protocol_type")
    if state == "Dead":
        reason = f"{absent(group)}, or is a KIP-848 group, which this tool cannot describe"
        raise NotToBeHad(place, reason)
    if found.get("error"):
        refuse(place, f"the tool ended with an error: {fields.shown(found['error'])}")
    if not isinstance(state, str):
        refuse(place, f"group_state: {fields.shown(state)}, expected a state as in Stable")
    if protocol == "connect":
        raise NotToBeHad(place, connect(group))
    if state != "Empty" and protocol != "consumer":
        refuse(place, f"protocol_type: {fields.shown(protocol)}, expected 'consumer'")
    require_consumers(place, group, state, str(found.get("protocol_data")))


def _member(place: str, value: object, at: str) -> SeenMember:
    found = fields.mapping(value, at, required=("member_id", "member_assignment"))
    details = details_in(found, at, **_DETAILS)
    subscription = None
    if found.get("member_metadata"):
        said = fields.mapping(found["member_metadata"], f"{at}.member_metadata")
        subscription = fields.strings(said.get("topics"), f"{at}.member_metadata.topics")
        details |= details_in(said, f"{at}.member_metadata", rack="rack_id")
    return SeenMember(
        f"{place}.{at}",
        fields.name(found["member_id"], f"{at}.member_id"),
        _held(found["member_assignment"], f"{at}.member_assignment"),
        subscription=subscription,
        details=details,
    )


def _held(value: object, at: str) -> dict[str, tuple[int, ...]]:
    if not value:
        return {}
    assigned = fields.mapping(value, at).get("assigned_partitions")
    pairs = []
    for i, listed in enumerate(fields.listed(assigned, f"{at}.assigned_partitions")):
        where = f"{at}.assigned_partitions[{i}]"
        found = fields.mapping(listed, where, required=("topic", "partitions"))
        topic = fields.name(found["topic"], f"{where}.topic")
        numbers = fields.listed(found["partitions"], f"{where}.partitions")
        pairs += [(topic, partition_number(n, f"{where}.partitions")) for n in numbers]
    return held_by(pairs, at)
