"""Reads the JSON of tools that are not Kafka's own, and plans of the user.

Each group is read separately, so that a bad one does not stop the others.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import partial
from pathlib import PurePath
from typing import TYPE_CHECKING

from groups.documents import fields
from groups.documents.json_files import parse_json
from groups.documents.texts import STANDARD_INPUT
from groups.errors import BadInput
from groups.importers.lines import MOST_NUMBER, Misread, NotToBeHad, brief, refuse
from groups.importers.seen import (
    Finding,
    Refusal,
    SeenMember,
    SeenPartition,
    View,
    absent,
    connect,
    holders_of,
    refusal,
    require_consumers,
)
from groups.wording import NAMED_AFTER_FILE

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    Found = Mapping[str, object]
    Show = Callable[[str, str, str, Found], View]

# Keys that only this tool writes.
SIGNS = {
    "kafka-python": ('"group_state"', '"member_metadata"', '"protocol_data"'),
    "rpk": ('"group_name"', '"members_details"'),
    "akhq": ('"simpleConsumerGroup"', '"groupedAssignments"'),
    "kafka-ui": ('"consumerId"', '"currentOffset"', '"partitionAssignor"', '"consumerLag"'),
}
_NAME = r'"(?:[^"\\]|\\.)+"\s*:\s*'
# A plan begins with a member that holds nothing, or with the list of a topic.
PLAN = re.compile(rf"\{{\s*{_NAME}\{{\s*(?:\}}|{_NAME}\[)")
_KAFKA_PYTHON = {
    "client_id": "client_id",
    "host": "client_host",
    "instance_id": "group_instance_id",
}


def _rpk_group(source: str, place: str, group: str, found: Found) -> View:
    """Return the view of a group in ``rpk group describe --format json``.

    The keys are those of groupDescription in rpk's describe.go. It lists every member, but what
    each holds is only in the rows of partitions.
    """
    _require_consumers(place, group, found, "balancer")
    members = members_in(found.get("members_details"), "members_details", place, _rpk_member)
    partitions = []
    for at, row in _objects(found.get("partitions"), "partitions"):
        ends = "log_end_offset", "current_offset", "log_start_offset"
        seen = _partition(place, row, at, text(row, "member_id", at), *ends)
        check_lag(seen.place, seen, offset(row, "lag", at))
        partitions.append(seen)
    for seen in partitions:
        if seen.owner is not None and seen.owner not in members:
            refuse(seen.place, f"member {brief(seen.owner)} is not in members_details")
    count = fields.integer(found.get("members"), "members")
    return _view(source, place, group, members, partitions, every_member=True, member_count=count)


def _rpk_member(place: str, found: Found, at: str) -> SeenMember:
    return SeenMember(
        f"{place}.{at}",
        fields.name(found.get("member_id"), f"{at}.member_id"),
        details=details_in(found, at, client_id="client_id", host="host"),
    )


def _kafka_ui_group(source: str, place: str, group: str, found: Found) -> View:
    """Return the view of a group in Kafka UI (Provectus, Kafbat).

    The source is ``GET /api/clusters/{cluster}/consumer-groups/{id}``; the keys are those of
    ConsumerGroupDetails in its OpenAPI contract. It counts the members, but lists only those that
    hold partitions.
    """
    _require_consumers(place, group, found, "partitionAssignor")
    if "partitions" not in found:
        refuse(place, "a list of groups without their partitions: save the details of each")
    partitions: list[SeenPartition] = []
    members: dict[str, SeenMember] = {}
    for at, row in _objects(found["partitions"], "partitions"):
        owner, lag = text(row, "consumerId", at), row.get("consumerLag")
        seen = _partition(place, row, at, owner, "endOffset", "currentOffset")
        check_lag(seen.place, seen, lag if isinstance(lag, int) else None)
        partitions.append(seen)
        if owner is not None and owner not in members:
            details = details_in(row, at, host="host")
            members[owner] = SeenMember(seen.place, owner, details=details)
    count = fields.integer(found["members"], "members") if "members" in found else None
    return _view(source, place, group, members, partitions, member_count=count)


def _akhq_group(source: str, place: str, group: str, found: Found) -> View:
    """Return the view of a group in AKHQ, which lists every member with what it holds.

    The source is ``GET /api/{cluster}/group/{id}``; the keys are those of its classes
    ConsumerGroup, Consumer and TopicPartition, as it serialises them.
    """
    _require_consumers(place, group, found, "partitionAssignor")
    members = members_in(found.get("members"), "members", place, _akhq_member)
    holders = holders_of(members.values())
    partitions = [
        _partition(place, row, at, holder, "lastOffset", "offset", "firstOffset")
        for at, row in _objects(found.get("offsets", []), "offsets")
        for holder in holders.get(_pair(row, at), [None])
    ]
    return _view(source, place, group, members, partitions, every_member=True)


def _akhq_member(place: str, found: Found, at: str) -> SeenMember:
    assigned = _objects(found.get("assignments"), f"{at}.assignments")
    pairs = [_pair(pair, where) for where, pair in assigned]
    return SeenMember(
        f"{place}.{at}",
        fields.name(found.get("id"), f"{at}.id"),
        held_by(pairs, f"{at}.assignments"),
        details=details_in(found, at, client_id="clientId", host="host"),
    )


def kafka_python(source: str, content: str) -> Iterator[Finding]:
    """Yield the views of groups in ``python -m kafka.admin --format json groups describe``.

    It shows subscriptions. What a member holds now is its assignment; the owned partitions and
    the generation in its metadata are those of its last join and may be stale. All assignments of
    a stable group are of one generation, whose number is not printed, so no claim gets one.

    Raises
    ------
    BadInput
        If the text is not JSON.
    """
    groups = parse_json(content)
    if not isinstance(groups, Mapping) or not groups:
        yield Refusal(source, source, "no object with groups in it")
        return
    fields.mapping(groups, "")
    named = [("group", name, one) for name, one in groups.items()]
    yield from each_group(source, named, _kafka_python_group)


def _kafka_python_group(source: str, place: str, group: str, found: Found) -> View:
    _require_described(place, group, found)
    members = members_in(found.get("members"), "members", place, _kafka_python_member)
    return _view(source, place, group, members, every_member=True)


def _require_described(place: str, group: str, found: Found) -> None:
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


def _kafka_python_member(place: str, found: Found, at: str) -> SeenMember:
    fields.mapping(found, at, required=("member_id", "member_assignment"))
    details = details_in(found, at, **_KAFKA_PYTHON)
    subscription = None
    if found.get("member_metadata"):
        metadata = fields.mapping(found["member_metadata"], f"{at}.member_metadata")
        subscription = fields.strings(metadata.get("topics"), f"{at}.member_metadata.topics")
        details |= details_in(metadata, f"{at}.member_metadata", rack="rack_id")
    return SeenMember(
        f"{place}.{at}",
        fields.name(found["member_id"], f"{at}.member_id"),
        _kafka_python_held(found["member_assignment"], f"{at}.member_assignment"),
        subscription=subscription,
        details=details,
    )


def _kafka_python_held(value: object, at: str) -> dict[str, tuple[int, ...]]:
    if not value:
        return {}
    assigned = fields.mapping(value, at).get("assigned_partitions")
    pairs = []
    for where, found in _objects(assigned, f"{at}.assigned_partitions"):
        fields.mapping(found, where, required=("topic", "partitions"))
        topic = fields.name(found["topic"], f"{where}.topic")
        numbers = fields.listed(found["partitions"], f"{where}.partitions")
        pairs += [(topic, partition_number(n, f"{where}.partitions")) for n in numbers]
    return held_by(pairs, at)


def plan(source: str, content: str) -> Iterator[Finding]:
    """Yield the view of the group in a plan; the group is named after the file.

    Raises
    ------
    BadInput
        If the text is no such JSON; the message names the place.
    """
    members = []
    for member, topics in fields.mapping(parse_json(content), "").items():
        fields.name(member, "member")
        pairs = [
            (topic, partition_number(number, f"{member}.{topic}[{i}]"))
            for topic, numbers in fields.mapping(topics, member).items()
            for i, number in enumerate(fields.listed(numbers, f"{member}.{topic}"))
        ]
        members.append(SeenMember(f"{source}: {member}", member, held_by(pairs, member)))
    name = "plan" if source == STANDARD_INPUT else PurePath(source).name.split(".")[0] or "plan"
    assumed = (f"{NAMED_AFTER_FILE}, a plan does not show its name",)
    yield View(source, source, name, tuple(members), every_member=True, assumed=assumed)


def _each_object(source: str, content: str, *, key: str, show: Show) -> Iterator[Finding]:
    """Yield the findings of :func:`each_group` in the JSON of one group or of a list of groups.

    Parameters
    ----------
    key : the key of a group's name

    Raises
    ------
    BadInput
        If the text is not JSON, or not of groups.
    """
    found = parse_json(content)
    if found == []:
        raise BadInput("no groups in it")
    several = isinstance(found, list)
    groups = [
        (
            f"[{at}].{key}" if several else key,
            one.get(key) if isinstance(one, Mapping) else None,
            one,
        )
        for at, one in enumerate(found if several else [found])
    ]
    return each_group(source, groups, show)


def each_group(
    source: str, groups: Iterable[tuple[str, object, object]], show: Show
) -> Iterator[Finding]:
    """Yield the View that `show` makes of each group, or why it cannot.

    Parameters
    ----------
    groups : for each group the place of its name, the name, and the object
    show : called with source, place, name and object
    """
    for where, name, described in groups:
        names = (name,) if isinstance(name, str) and name else ()
        place = f"{source}: {name}" if names else source
        try:
            found = fields.mapping(described, "" if names else where.rpartition(".")[0])
            yield show(source, place, fields.name(name, where), found)
        except Misread as error:
            yield refusal(source, error, names)
        except BadInput as error:
            yield Refusal(source, place, str(error), names)


def _require_consumers(place: str, group: str, found: Found, protocol: str) -> None:
    state = fields.name(found.get("state"), "state")
    require_consumers(place, group, state, str(found.get(protocol)))


def _view(
    source: str,
    place: str,
    group: str,
    members: Mapping[str, SeenMember],
    partitions: Iterable[SeenPartition] = (),
    *,
    every_member: bool = False,
    member_count: int | None = None,
) -> View:
    shown = tuple(members.values()), tuple(partitions)
    return View(
        source, place, group, *shown, every_member, state_known=True, member_count=member_count
    )


def _objects(value: object, at: str) -> Iterator[tuple[str, Found]]:
    """Yield the objects of a list, each with its place."""
    for i, one in enumerate(fields.listed(value, at)):
        yield f"{at}[{i}]", fields.mapping(one, f"{at}[{i}]")


def members_in(
    value: object, at: str, place: str, read: Callable[[str, Found, str], SeenMember]
) -> dict[str, SeenMember]:
    """Return the members of a list by id; `read` gets the group's place, object and own place.

    Raises
    ------
    BadInput
        If it is no list, or a member appears twice.
    """
    members: dict[str, SeenMember] = {}
    for where, found in _objects(value, at):
        member = read(place, found, where)
        if member.member in members:
            refuse(place, f"{where}: member {brief(member.member)} a second time")
        members[member.member] = member
    return members


def _partition(
    place: str,
    row: Found,
    at: str,
    owner: str | None,
    end: str,
    committed: str,
    beginning: str | None = None,
) -> SeenPartition:
    """Return a partition with its owner; `end`, `committed` and `beginning` are keys of `row`."""
    keys = (end, committed, beginning)
    ends = (None if key is None else offset(row, key, at) for key in keys)
    return SeenPartition(f"{place}.{at}", *_pair(row, at), owner, *ends)


def _pair(found: Found, at: str) -> tuple[str, int]:
    topic = fields.name(found.get("topic"), f"{at}.topic")
    return topic, partition_number(found.get("partition"), f"{at}.partition")


def details_in(found: Found, at: str, **keys: str) -> dict[str, str]:
    """Return the details of a member that are present; `keys` maps our keys to the tool's."""
    details = {ours: text(found, theirs, at) for ours, theirs in keys.items()}
    return {key: detail for key, detail in details.items() if detail is not None}


def partition_number(value: object, at: str) -> int:
    """Return the value if it is a partition number.

    Raises
    ------
    BadInput
        If it is not.
    """
    number = fields.integer(value, at)
    if number > MOST_NUMBER:
        fields.refuse(at, f"{number}, more than any partition's number")
    return number


def offset(found: Found, key: str, at: str) -> int | None:
    """Return a position in the log, None if it is missing, null or -1.

    Raises
    ------
    BadInput
        If it is anything but an integer.
    """
    if found.get(key) is None:
        return None
    value = fields.integer(found[key], f"{at}.{key}", least=-1)
    return value if value >= 0 else None


def text(found: Found, key: str, at: str) -> str | None:
    """Return a string, None if it is missing, null or empty.

    Raises
    ------
    BadInput
        If it is anything else.
    """
    return fields.name(found[key], f"{at}.{key}") if found.get(key) not in (None, "") else None


def held_by(pairs: Iterable[tuple[str, int]], at: str) -> dict[str, tuple[int, ...]]:
    """Return what a member holds, from (topic, number) pairs.

    Raises
    ------
    BadInput
        If a pair appears twice.
    """
    held: dict[str, list[int]] = {}
    seen = set()
    for topic, number in pairs:
        if (topic, number) in seen:
            fields.refuse(at, f"{brief(topic)} partition {number} a second time")
        seen.add((topic, number))
        held.setdefault(topic, []).append(number)
    return {topic: tuple(sorted(numbers)) for topic, numbers in held.items()}


def check_lag(place: str, seen: SeenPartition, lag: int | None) -> None:
    """Refuse a lag that contradicts the offsets; tools print a negative one as such or as 0.

    Raises
    ------
    Misread
        If they contradict.
    """
    if lag is None or seen.end is None or seen.committed is None:
        return
    behind = seen.end - seen.committed
    if lag not in (behind, max(behind, 0)):
        refuse(place, f"lag {lag}, but the offsets of {seen.topic}-{seen.number} make {behind}")


READERS: dict[str, Callable[[str, str], Iterator[Finding]]] = {
    "rpk": partial(_each_object, key="group_name", show=_rpk_group),
    "kafka-python": kafka_python,
    "kafka-ui": partial(_each_object, key="groupId", show=_kafka_ui_group),
    "akhq": partial(_each_object, key="id", show=_akhq_group),
    "plan": plan,
}
