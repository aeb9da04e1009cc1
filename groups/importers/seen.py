"""What a text shows of consumer groups, before the texts of one group are put together."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from groups.documents.assay_group import pairs
from groups.importers.lines import Misread, NotToBeHad, check_topic, refuse

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
    """A topic partition as an offsets view shows it; None is a dash, or what it does not show.

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
        """Refuse a topic that Kafka does not know as one."""
        check_topic(self.topic, self.place)


@dataclass(frozen=True, slots=True)
class SeenMember:
    """A member as a view shows it; None is what the view does not show.

    `held` is what it holds now, `count` the number of partitions printed beside it, `details`
    the keys that go into the snapshot as they are.
    """

    place: str
    member: str
    held: Held | None = None
    count: int | None = None
    subscription: tuple[str, ...] | None = None
    details: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Refuse topics that Kafka does not know as such; who reads them is another matter."""
        for topic in (*(self.held or {}), *self.details.get("target", {})):
            check_topic(topic, self.place)

    @property
    def every_held(self) -> Iterator[Held]:
        """What it holds or is to hold; of a thread of Kafka Streams standbys and warm-ups too."""
        yield self.held or {}
        yield from (said for said in self.details.values() if isinstance(said, Mapping))


def holders_of(members: Iterable[SeenMember]) -> dict[tuple[str, int], list[str]]:
    """Return the members that hold each partition, by its topic and number."""
    found: dict[tuple[str, int], list[str]] = {}
    for member in members:
        for key in pairs(member.held or {}):
            found.setdefault(key, []).append(member.member)
    return found


@dataclass(frozen=True, slots=True)
class View:
    """What one text shows of one group, in one table or object.

    `every_member` says whether idle members would be in it too, `state_known` whether the text
    tells the state of the group (one that rebalances is a Refusal), `member_count` how many
    members it says there are, `assignor` which one the members agreed on or the broker uses, None
    where it does not say. `streams` says whether it is a Kafka Streams group, whose members hold
    tasks of subtopologies, not partitions of topics; None if it is that or a share group.
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
    """The partition count of a topic, told by a source that knows it."""

    source: str
    place: str
    topic: str
    partitions: int

    def __post_init__(self) -> None:
        """Refuse a topic that Kafka does not know as one."""
        check_topic(self.topic, self.place)


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why a part of a text cannot become a group, and the groups that must not be made of it.

    `not_to_be_had` says that the state or the kind of the group is the reason, not the text.
    """

    source: str
    place: str
    reason: str
    groups: tuple[str, ...] = ()
    not_to_be_had: bool = False


@dataclass(frozen=True, slots=True)
class Remark:
    """A line of a text that is no part of a table, and was passed over."""

    source: str
    place: str
    line: str


Finding = View | TopicSize | Refusal | Remark


def refusal(source: str, error: Misread, groups: tuple[str, ...]) -> Refusal:
    """Return the refusal of what was misread, or is not to be had."""
    return Refusal(source, error.place, error.reason, groups, isinstance(error, NotToBeHad))


# Why there is no assignment of a group, said of its name.
rebalancing = "group {!r} is rebalancing: capture it again once its state is Stable".format
# Until its rebalance ends a member may be shown with what it held before; the tool says that it is
# under way on standard error alone. Members of a stable group commit, unless they keep offsets
# elsewhere.
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
shared = "group {!r} is a share group: its members share partitions, nothing is assigned".format
shared_or_streams = (
    "group {!r} is a share or Streams group: of the latter add --describe --members --verbose"
).format


def is_between(state: str) -> bool:
    """Return whether a group in a state is between two assignments."""
    return state.lower().replace("_", "") in BETWEEN


def require_consumers(place: str, group: str, state: str, protocol: str) -> None:
    """Refuse a group that no assignment can be had of, by its state or by what its members agreed.

    An empty group is one without members.

    Raises
    ------
    NotToBeHad
        If it is between two assignments, is not there, or its members are no consumers.
    Misread
        If there is no such state.
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
