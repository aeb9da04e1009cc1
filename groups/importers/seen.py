"""Findings: what one text shows about groups, before the views of one group are merged."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from groups.documents.assay_group import pairs
from groups.importers.lines import Misread, NotToBeHad, check_topic, refuse

# States between two assignments.
BETWEEN = {
    "preparingrebalance",
    "completingrebalance",
    "awaitingsync",
    "assigning",
    "reconciling",
}

Held = Mapping[str, tuple[int, ...]]


@dataclass(frozen=True, slots=True)
class SeenPartition:
    """A topic partition in an offsets view; None for a dash, or for what the view does not show.

    `owner` is the member in its row; the offsets are positions in the log, in records.
    """

    place: str
    topic: str
    number: int
    owner: str | None
    end: int | None = None
    committed: int | None = None
    beginning: int | None = None

    def __post_init__(self) -> None:
        """Refuse a topic whose name Kafka does not allow."""
        check_topic(self.topic, self.place)


@dataclass(frozen=True, slots=True)
class SeenMember:
    """A member in a view; None for what the view does not show.

    `held` is what it holds now, `count` the number of partitions printed beside it, `details`
    the fields that go into the snapshot unchanged.
    """

    place: str
    member: str
    held: Held | None = None
    count: int | None = None
    subscription: tuple[str, ...] | None = None
    details: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Refuse topics whose names Kafka does not allow, among those held or in the target."""
        for topic in (*(self.held or {}), *self.details.get("target", {})):
            check_topic(topic, self.place)

    @property
    def every_held(self) -> Iterator[Held]:
        """What it holds or is to hold; for a Kafka Streams thread also standbys and warm-ups."""
        yield self.held or {}
        yield from (value for value in self.details.values() if isinstance(value, Mapping))


def holders_of(members: Iterable[SeenMember]) -> dict[tuple[str, int], list[str]]:
    """Return the members that hold each partition, by topic and number."""
    found: dict[tuple[str, int], list[str]] = {}
    for member in members:
        for key in pairs(member.held or {}):
            found.setdefault(key, []).append(member.member)
    return found


@dataclass(frozen=True, slots=True)
class View:
    """What one text shows about one group, in one table or object.

    Attributes
    ----------
    every_member : whether the view also lists idle members
    state_known : whether the text says the state of the group; a group that rebalances is
        a Refusal instead
    member_count : how many members the text says there are, None if it does not say
    assignor : the assignor that members agreed on or the broker uses, None if the text does not
        say
    streams : whether it is a Kafka Streams group, whose members hold tasks of subtopologies, not
        partitions of topics; None if it may also be a share group
    """

    source: str
    place: str
    group: str
    members: tuple[SeenMember, ...] = ()
    partitions: tuple[SeenPartition, ...] = ()
    every_member: bool = False
    state_known: bool = False
    member_count: int | None = None
    assignor: str | None = None
    assumed: tuple[str, ...] = ()
    streams: bool | None = False


@dataclass(frozen=True, slots=True)
class TopicSize:
    """The partition count of a topic, from a source that knows it."""

    source: str
    place: str
    topic: str
    partitions: int

    def __post_init__(self) -> None:
        """Refuse a topic whose name Kafka does not allow."""
        check_topic(self.topic, self.place)


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why a part of a text cannot be used, and the groups that must not be made from that text.

    `not_to_be_had` says that the state or the kind of the group is the reason, not the text;
    `assigning` that the broker has yet to make the target that its state asks for (KIP-848).
    """

    source: str
    place: str
    reason: str
    groups: tuple[str, ...] = ()
    not_to_be_had: bool = False
    assigning: bool = False


@dataclass(frozen=True, slots=True)
class Remark:
    """A line of a text that is no part of a table and was skipped."""

    source: str
    place: str
    line: str


Finding = View | TopicSize | Refusal | Remark


def refusal(source: str, error: Misread, groups: tuple[str, ...], *, state: str = "") -> Refusal:
    """Return the refusal for an error at a place in a text; `state` is what it says of a group."""
    not_to_be_had, assigning = isinstance(error, NotToBeHad), state.lower() == "assigning"
    return Refusal(source, error.place, error.reason, groups, not_to_be_had, assigning)


# Reasons why a group has no assignment; each takes the group's name.
rebalancing = "group {!r} is rebalancing: capture it again once its state is Stable".format
# During a rebalance, members are shown with what they held before, and the tool says so only on
# standard error. A group without any commit is suspicious: members of a stable group commit,
# unless they keep offsets elsewhere.
may_be_rebalancing = (
    "group {!r} may be rebalancing, for it has committed nothing: add its --describe --state"
).format
absent = "group {!r} does not exist".format
streams = "group {!r} is a Kafka Streams group: Streams assigns tasks, not partitions".format
not_ready = (
    "group {!r} is not ready: its topology has no tasks, as where a topic is missing".format
)
streams_before_4_2 = (
    "group {!r} is a Kafka Streams group: use kafka-streams-groups of Kafka 4.2 or later".format
)
no_members = "group {!r}: no members are shown: add --describe --members --verbose".format
connect = "group {!r} is a Kafka Connect group: Connect assigns tasks, not partitions".format
shared = "group {!r} is a share group: several members share a partition, not judged".format
shared_or_streams = (
    "group {!r} is a share or Streams group: of the latter add --describe --members --verbose"
).format


def is_between(state: str) -> bool:
    """Return whether a group in a state is between two assignments."""
    return state.lower().replace("_", "") in BETWEEN


def require_consumers(place: str, group: str, state: str, protocol: str) -> None:
    """Refuse a group that has no assignment, by its state or the protocol of its members.

    An empty group, one without members, is not refused.

    Raises
    ------
    NotToBeHad
        If it is between two assignments, does not exist, or its members are no consumers.
    Misread
        If the state is unknown.
    """
    if protocol == "streams":
        raise NotToBeHad(place, streams(group))
    if protocol in ("compatible", "sessioned", "default"):
        raise NotToBeHad(place, connect(group))
    known = state.lower().replace("_", "")
    if known == "dead":
        raise NotToBeHad(place, absent(group))
    if known == "notready":
        raise NotToBeHad(place, not_ready(group))
    if is_between(state):
        raise NotToBeHad(place, rebalancing(group))
    if known not in ("stable", "empty"):
        refuse(place, f"group {group!r}: unknown state {state!r}, expected Stable")
