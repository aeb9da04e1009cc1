"""Wire: requests, responses, subscriptions and plans of Kafka's protocol, as bytes."""

from __future__ import annotations

import struct
import warnings
from dataclasses import dataclass
from functools import cache
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, Literal

from groups import Failed, Refused

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

    from heuristics.shipped.client import Joining


METADATA, JOIN_GROUP, HEARTBEAT, LEAVE_GROUP, SYNC_GROUP = 3, 11, 12, 13, 14
FETCH, LIST_OFFSETS, OFFSET_COMMIT, OFFSET_FETCH = 1, 2, 8, 9
FIND_COORDINATOR, API_VERSIONS = 10, 18
NONE, UNKNOWN_TOPIC, INCONSISTENT_PROTOCOL = 0, 3, 23
REBALANCE_IN_PROGRESS, GROUP_AUTHORIZATION_FAILED, UNSUPPORTED_VERSION = 27, 30, 35

# Name, lowest and highest version of each API. The highest are those before the flexible versions:
# every client speaks them. A higher version of ApiVersions is answered with an error in version 0.
APIS: dict[int, tuple[str, int, int]] = {
    FETCH: ("Fetch", 4, 11),
    LIST_OFFSETS: ("ListOffsets", 1, 5),
    METADATA: ("Metadata", 0, 8),
    OFFSET_COMMIT: ("OffsetCommit", 2, 7),
    OFFSET_FETCH: ("OffsetFetch", 1, 5),
    FIND_COORDINATOR: ("FindCoordinator", 0, 2),
    JOIN_GROUP: ("JoinGroup", 0, 5),
    HEARTBEAT: ("Heartbeat", 0, 3),
    LEAVE_GROUP: ("LeaveGroup", 0, 3),
    SYNC_GROUP: ("SyncGroup", 0, 3),
    API_VERSIONS: ("ApiVersions", 0, 3),
}

MOST_CHARACTERS = 120


class Malformed(Exception):
    """The bytes are no request that the probe can read; the message is one line."""


@dataclass(frozen=True)
class Request:
    """One request of a client.

    Attributes
    ----------
    key, version : the API, a key of `APIS`, and its version
    correlation : correlation id, by which the client recognises the answer
    client_id : the client's id, or ""
    body : kafka-python's object; None if the version is not supported
    """

    key: int
    version: int
    correlation: int
    client_id: str
    body: Any


@cache
def types() -> Any:
    """Return kafka-python's message classes by name; loading them takes a while."""
    with warnings.catch_warnings():
        # It reads its schemas with a function that is deprecated since Python 3.11.
        warnings.simplefilter("ignore", DeprecationWarning)
        from kafka.coordinator.assignors.sticky import user_data
        from kafka.protocol import consumer, metadata

    return SimpleNamespace(**(_classes(consumer) | _classes(metadata) | _classes(user_data)))


def _classes(module: Any) -> dict[str, Any]:
    return {name: found for name, found in vars(module).items() if isinstance(found, type)}


def response_type(key: int) -> Any:
    """Return kafka-python's class of the response of an API."""
    return getattr(types(), f"{APIS[key][0]}Response")


def spoken() -> list[object]:
    """Return the APIs and their versions for an ApiVersions response."""
    return [
        types().ApiVersionsResponse.ApiVersion(api_key=key, min_version=low, max_version=high)
        for key, (_, low, high) in sorted(APIS.items())
    ]


def reason(error: Exception) -> str:
    """Return the class and message of an exception in one line, cut to 120 characters."""
    return " ".join(f"{type(error).__name__}: {error}".split())[:MOST_CHARACTERS]


def decode_request(frame: bytes) -> Request:
    """Decode a request, given without its length.

    Raises
    ------
    Malformed
        If it cannot be read, or its API or version is not supported.
    """
    if len(frame) < 8:
        raise Malformed(f"{len(frame)} bytes, too few for a request")
    key, version, correlation = struct.unpack_from(">hhi", frame)
    if key not in APIS:
        raise Malformed(f"asks for API {key}, which the probe does not speak")
    name, low, high = APIS[key]
    if not low <= version <= high:
        if key == API_VERSIONS:
            return Request(key, version, correlation, "", None)
        raise Malformed(f"asks for API {key} in version {version}, expected {low} to {high}")
    try:
        body = getattr(types(), f"{name}Request").decode(frame, version=version, header=True)
        client_id = str(body.header.client_id or "")
    except Exception as error:
        cause = reason(error)
        raise Malformed(f"API {key} in version {version} cannot be read: {cause}") from None
    return Request(key, version, correlation, client_id, body)


def encode_response(request: Request, fields: Mapping[str, object]) -> bytes:
    """Return the encoded answer to a request, with its length.

    Parameters
    ----------
    fields : fields of kafka-python's response, by name
    """
    version = request.version if request.body is not None else 0
    response = response_type(request.key)(version=version, **fields)
    response.with_header(correlation_id=request.correlation)
    return bytes(response.encode(header=True, framed=True))


# What a sticky assignor gets in the user data of a member that owns partitions:
# - assignment: Java's StickyAssignorUserData, which is the previous assignment and its generation;
# - unnumbered: the same, always with generation -1;
# - versioned: the same after the two bytes of its version;
# - generation: the generation alone;
# - none: nothing.
UserData = Literal["assignment", "unnumbered", "versioned", "generation", "none"]

USER_DATA: dict[str, dict[str, UserData]] = {
    "apache-kafka-java": {"sticky": "assignment", "cooperative-sticky": "generation"},
    "librdkafka": {"cooperative-sticky": "assignment"},
    "kgo": {"sticky": "assignment", "cooperative-sticky": "assignment"},
    "sarama": {"sticky": "assignment", "cooperative-sticky": "generation"},
    "kafka-python": {"sticky": "versioned", "cooperative-sticky": "none"},
    "kafka-python before 3": {"sticky": "assignment"},
    "aiokafka": {"sticky": "unnumbered"},
}


@dataclass(frozen=True)
class Software:
    """What a client says about its software.

    Attributes
    ----------
    client_id : its client id
    name, version : from its ApiVersions request, or ""
    """

    client_id: str = ""
    name: str = ""
    version: str = ""

    def is_other_than(self, software: Software) -> bool:
        """Return whether it is surely another client; a restarted client is the same."""
        named = bool(self.name and software.name)
        if named and (self.name, self.version) != (software.name, software.version):
            return True
        return self.client_id != software.client_id

    @property
    def client(self) -> str:
        """The client's name in `USER_DATA`; "" if unknown.

        A client that does not name its software is recognised by its default client id.
        """
        if self.name.startswith(("librdkafka", "confluent-kafka")) or "rdkafka" in self.version:
            return "librdkafka"
        name, version = self.name, self.version
        if not name:
            name, _, version = self.client_id.rpartition("-")
            if self.client_id in ("kgo", "sarama", "rdkafka"):
                return self.client_id.replace("rdkafka", "librdkafka")
            if name not in ("aiokafka", "kafka-python"):
                return ""
        if name == "kafka-python":
            major = version.partition(".")[0]
            old = "kafka-python before 3" if major in ("1", "2") else ""
            return "kafka-python" if major.isdigit() and not old else old
        return name if name in USER_DATA else ""


def user_data_of(software: Software, assignor: str, members: Sequence[Joining]) -> UserData:
    """Return the kind of user data that members running a client send to its assignor.

    Raises
    ------
    Refused
        If that is not known, and a member owns partitions or has a generation.
    """
    if "sticky" not in assignor:
        return "none"
    known = USER_DATA.get(software.client, {}).get(assignor)
    if known is not None:
        return known
    if any(said.owned or said.generation >= 0 for said in members):
        called = f"{software.name} {software.version}".strip() or software.client_id or "it"
        raise Refused(
            f"the probe does not know how members of {called} tell {assignor} what they held"
        )
    return "none"


def user_data(
    owned: Collection[tuple[str, list[int]]], generation: int, kind: UserData
) -> bytes | None:
    """Return the user data of a member; None if it is new or its client sends none.

    Parameters
    ----------
    owned : topics by name on the wire, with the partition numbers that it owned
    generation : generation of these, -1 if there is none
    """
    if kind == "none" or (not owned and generation < 0):
        return None
    if kind == "generation":
        return struct.pack(">i", generation)
    previous = [
        types().StickyAssignorUserData.TopicPartition(topic=topic, partitions=numbers)
        for topic, numbers in owned
    ]
    data = types().StickyAssignorUserData(
        version=1,
        previous_assignment=previous,
        generation=-1 if kind == "unnumbered" else generation,
    )
    return bytes(data.encode(header=kind == "versioned"))


# Highest version of ConsumerProtocolSubscription.
NEWEST = 3

# Member index, topic, partition number.
Held = tuple[int, str, int]


def encode_subscription(
    said: Joining,
    *,
    version: int,
    cooperative: bool,
    kind: UserData,
    names: Mapping[str, str],
) -> bytes:
    """Return a member's subscription as ConsumerProtocolSubscription.

    Parameters
    ----------
    version : since 1 it holds the owned partitions, since 2 the generation, since 3 the rack
    cooperative : whether the member sends owned partitions; an eager one has given up everything
        before it joins, but sends its generation too
    kind : kind of the user data, which new members do not send
    names : names of all topics on the wire
    """
    owned = [(names[topic], numbers) for topic, numbers in said.owned.items()]
    subscription = types().ConsumerProtocolSubscription(
        version=version,
        topics=[names[topic] for topic in said.subscription],
        user_data=user_data(owned, said.generation, kind),
        owned_partitions=[
            types().ConsumerProtocolSubscription.TopicPartition(topic=topic, partitions=numbers)
            for topic, numbers in owned * cooperative
        ],
        generation_id=said.generation,
        rack_id=said.rack,
    )
    return bytes(subscription.encode())


def version_like(own: bytes) -> int:
    """Return the subscription version of members that run the same client as `own`.

    Not every client can read a later version: sarama before 1.41 refuses extra bytes.
    """
    if len(own) < 2:
        return NEWEST
    return min(max(int.from_bytes(own[:2], "big", signed=True), 0), NEWEST)


def topics_read(own: bytes) -> list[str]:
    """Return the topics of a client's own subscription; empty if it cannot be read."""
    try:
        found = types().ConsumerProtocolSubscription.decode(own).topics
    except Exception:
        return []
    return [str(topic) for topic in found or ()]


def decode_plan(assignments: Iterable[Any], index: Mapping[str, int]) -> list[Held]:
    """Return (member index, topic, partition number) of all assignments in a SyncGroup request.

    Topics have their names on the wire.

    Raises
    ------
    Failed
        If an assignment cannot be read, or is for an unknown member.
    """
    held: list[Held] = []
    for one in assignments:
        if one.member_id not in index:
            raise Failed(f"the plan is for {one.member_id!r}, who is no member of the group")
        member = index[one.member_id]
        if not one.assignment:
            continue
        try:
            assigned = types().ConsumerProtocolAssignment.decode(bytes(one.assignment))
            topics = [(str(t.topic), list(t.partitions)) for t in assigned.assigned_partitions]
        except Exception as error:
            cause = reason(error)
            raise Failed(f"the plan for {one.member_id!r} cannot be read: {cause}") from None
        for topic, numbers in topics:
            held += [(member, topic, number) for number in numbers]
    return held
