"""What a text shows of consumer groups, before the texts of one group are put together."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

Held = Mapping[str, tuple[int, ...]]
MOST_NUMBER = 2**31 - 1


@dataclass(frozen=True, slots=True)
class SeenPartition:
    """A topic partition as an offsets view shows it; None is a dash.

    `owner` is the member in its row; the offsets are positions in the log, in records.
    """

    place: str
    topic: str
    number: int
    owner: str | None
    end: int | None
    committed: int | None
    beginning: int | None = None


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


@dataclass(frozen=True, slots=True)
class View:
    """What one text shows of one group, in one table or object.

    `every_member` says whether idle members would be in it too, `member_count` how many members
    the text says there are.
    """

    source: str
    place: str
    group: str
    members: tuple[SeenMember, ...] = ()
    partitions: tuple[SeenPartition, ...] = ()
    every_member: bool = False
    member_count: int | None = None
    assumed: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class TopicSize:
    """The partition count of a topic, told by a source that knows it."""

    source: str
    place: str
    topic: str
    partitions: int


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why a part of a text cannot become a group, and the groups that must not be made of it."""

    source: str
    place: str
    reason: str
    groups: tuple[str, ...] = ()


Finding = View | TopicSize | Refusal


def rebalancing(group: str) -> str:
    """Word the refusal of a group that is between two assignments."""
    return f"group {group!r} is rebalancing: capture it again once its state is Stable"


def memberless(group: str) -> str:
    """Word the refusal of a group that nobody is in."""
    return f"group {group!r} has no active members, so there is nothing to assign"


def absent(group: str) -> str:
    """Word the refusal of a group that the cluster does not know."""
    return f"group {group!r} does not exist"


def streams(group: str) -> str:
    """Word the refusal of a Kafka Streams group."""
    return f"group {group!r} is a Kafka Streams group: Streams assigns tasks, not partitions"


def connect(group: str) -> str:
    """Word the refusal of a Kafka Connect group."""
    return f"group {group!r} is a Kafka Connect group: Connect assigns tasks, not partitions"


def shared(group: str) -> str:
    """Word the refusal of a share group."""
    return f"group {group!r} is a share group: its members share partitions, nothing is assigned"


def shared_or_streams(group: str) -> str:
    """Word the refusal of a group that is a share or a Streams group."""
    return f"group {group!r} is a share or Streams group: neither assigns partitions"


def not_consumers(group: str, protocol: str) -> str | None:
    """Word the refusal that the protocol its members agreed on calls for, None for consumers."""
    if protocol in ("stream", "streams"):
        return streams(group)
    return connect(group) if protocol in ("compatible", "sessioned", "default") else None


def not_stable(group: str, state: str) -> str | None:
    """Word the refusal that a group's state calls for, None where it is stable."""
    return {
        "stable": None,
        "empty": memberless(group),
        "dead": absent(group),
        "preparingrebalance": rebalancing(group),
        "completingrebalance": rebalancing(group),
        "awaitingsync": rebalancing(group),
        "assigning": rebalancing(group),
        "reconciling": rebalancing(group),
    }.get(state.lower(), f"group {group!r}: unknown state {state!r}, expected Stable")
