"""JSON of kafka-python: ``python -m kafka.admin --format json groups describe -g GROUP``.

It knows the subscriptions. What a member holds now is its assignment; the owned partitions and
the generation in its metadata are those of its last join and may be stale. Every assignment of a
stable group is of one and the same generation, whose number is not printed: no claim is newer
than another, so none gets a generation.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from groups import fields
from groups.documents import parse_json
from groups.errors import BadInput
from groups.importers.lines import Misread, brief, refuse
from groups.importers.seen import (
    MOST_NUMBER,
    Finding,
    Refusal,
    SeenMember,
    View,
    absent,
    not_stable,
    streams,
)

SIGNS = (b'"group_state"', b'"member_metadata"', b'"protocol_data"')
_DETAILS = {"client_id": "client_id", "client_host": "host", "group_instance_id": "instance_id"}


def read(source: str, text: str) -> Iterator[Finding]:
    """Yield what the JSON shows of each of its groups.

    Raises
    ------
    BadInput
        Where the text is not JSON.
    """
    groups = parse_json(text)
    if not isinstance(groups, Mapping) or not groups:
        yield Refusal(source, source, f"{fields.shown(groups)}, expected an object of groups")
        return
    for group, described in groups.items():
        place = f"{source}: {group}"
        try:
            yield _group(source, group, described)
        except Misread as error:
            yield Refusal(source, error.place, error.reason, (group,))
        except BadInput as error:
            yield Refusal(source, place, str(error), (group,))


def _group(source: str, group: str, described: Any) -> View:
    place = f"{source}: {fields.name(group, 'group')}"
    found = fields.mapping(described, "")
    if found.get("error"):
        refuse(place, f"the tool ended with an error: {fields.shown(found['error'])}")
    reason = _refused(group, found)
    if reason is not None:
        refuse(place, reason)
    members: dict[str, SeenMember] = {}
    for i, value in enumerate(fields.listed(found.get("members"), "members")):
        member = _member(value, f"members[{i}]", place)
        if member.member in members:
            refuse(place, f"members[{i}]: member {brief(member.member)} a second time")
        members[member.member] = member
    return View(source, place, group, tuple(members.values()), every_member=True)


def _refused(group: str, found: Mapping[str, Any]) -> str | None:
    state = found.get("group_state")
    protocol = found.get("protocol_type")
    if not isinstance(state, str):
        return f"group_state: {fields.shown(state)}, expected a state as in Stable"
    if state == "Dead":
        return f"{absent(group)}, or is a KIP-848 group, which this tool cannot describe"
    if protocol == "connect":
        return f"group {group!r} is a Kafka Connect group: it assigns tasks, not partitions"
    if found.get("protocol_data") == "stream":
        return streams(group)
    if state != "Empty" and protocol != "consumer":
        return f"protocol_type: {fields.shown(protocol)}, expected 'consumer'"
    return not_stable(group, state)


def _member(value: Any, at: str, place: str) -> SeenMember:
    found = fields.mapping(value, at, required=("member_id", "member_assignment"))
    details: dict[str, Any] = {
        key: fields.name(found[theirs], f"{at}.{theirs}")
        for theirs, key in _DETAILS.items()
        if found.get(theirs)
    }
    subscription = None
    if found.get("member_metadata"):
        said = fields.mapping(found["member_metadata"], f"{at}.member_metadata")
        subscription = fields.strings(said.get("topics"), f"{at}.member_metadata.topics")
        if said.get("rack_id"):
            details["rack"] = fields.name(said["rack_id"], f"{at}.member_metadata.rack_id")
    held = _held(found["member_assignment"], f"{at}.member_assignment")
    return SeenMember(
        f"{place}.{at}", fields.name(found["member_id"], f"{at}.member_id"), held,
        subscription=subscription, details=details,
    )  # fmt: skip


def _held(value: Any, at: str) -> dict[str, tuple[int, ...]]:
    if not value:
        return {}
    assigned = fields.mapping(value, at).get("assigned_partitions")
    held: dict[str, tuple[int, ...]] = {}
    for i, listed in enumerate(fields.listed(assigned, f"{at}.assigned_partitions")):
        where = f"{at}.assigned_partitions[{i}]"
        pair = fields.mapping(listed, where, required=("topic", "partitions"))
        topic = fields.name(pair["topic"], f"{where}.topic")
        numbers = [
            fields.integer(n, f"{where}.partitions")
            for n in fields.listed(pair["partitions"], f"{where}.partitions")
        ]
        if (
            topic in held
            or len(set(numbers)) < len(numbers)
            or max(numbers, default=0) > MOST_NUMBER
        ):
            fields.refuse(
                where, f"topic {brief(topic)}: a topic or a partition twice, or too high"
            )
        held[topic] = tuple(sorted(numbers))
    return held
