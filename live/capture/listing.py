"""Lists: the groups that a cluster has, and those of them that somebody asks for."""

from __future__ import annotations

from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

from kafka.protocol.consumer import OffsetFetchRequest

from groups.importers.seen import absent, connect, shared, streams
from groups.wording import counted, nearest_of
from live.capture.asking import answers, requests
from live.capture.asking.cluster import Unanswered
from live.capture.obstacles import Obstacle, error_named, is_passing, obstacle_of
from live.capture.patterns import is_name
from live.capture.topics import NO_LEADER

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from live.capture.asking.cluster import Cluster

CLASSIC = "classic"
CONSUMER = "consumer"
KINDS = (CLASSIC, CONSUMER)
# Brokers before 3.7 do not tell a type, and have classic groups alone.
_UNTOLD = ("", "unknown")
_OFFSETS_TOPIC = "__consumer_offsets"


@dataclass(frozen=True)
class Listed:
    """A group as its coordinator lists it.

    Attributes
    ----------
    node : the coordinator
    kind : ``classic`` or ``consumer``, the latter of KIP-848
    """

    node: int
    kind: str


@dataclass(frozen=True)
class Listing:
    """The groups of a cluster.

    Attributes
    ----------
    groups : where to ask for each, or why it is none of consumers
    silent : why the groups of a broker, or of none, are not listed, by broker
    loading : whether one of them may in a moment
    """

    groups: Mapping[str, Listed | Obstacle] = field(default_factory=dict)
    silent: Mapping[int, str] = field(default_factory=dict)
    loading: bool = False


@dataclass(frozen=True)
class Choice:
    """What patterns choose of a listing.

    Attributes
    ----------
    groups : names, ascending
    unmatched : patterns that no group matches
    unlisted : names without a wildcard that no broker lists
    """

    groups: tuple[str, ...]
    unmatched: tuple[str, ...]
    unlisted: tuple[str, ...]


def list_groups(cluster: Cluster) -> Listing:
    """Ask every broker for the groups that it coordinates.

    No broker is asked which one coordinates a group: on a cluster that never had one, that
    question creates the topic of committed offsets.

    Raises
    ------
    Unanswered
        Where no broker answers.
    """
    # Brokers before 3.0 make this topic as soon as somebody asks for it.
    is_new = cluster.answers_to(OffsetFetchRequest, requests.SEVERAL_GROUPS)
    asked_for = requests.topics([_OFFSETS_TOPIC] if is_new else [])
    known = cluster.ask_any(asked_for, answers.Metadata)
    asked = {broker.node_id: [requests.groups()] for broker in known.brokers}
    groups: dict[str, Listed | Obstacle] = {}
    silent = dict(_orphaned(known))
    loading = False
    for node, (answer,) in sorted(cluster.ask(asked, answers.ListGroups).items()):
        if isinstance(answer, Unanswered):
            silent[node] = str(answer)
            continue
        if answer.error_code:
            silent[node] = f"broker {node} answers with {error_named(answer.error_code)}"
            loading |= is_passing(answer.error_code)
        for group in answer.groups:
            groups.setdefault(group.group_id, _listed(node, group))
    return Listing(groups, silent, loading)


def choose(listing: Listing, patterns: Sequence[str]) -> Choice:
    """Return which groups patterns choose; a name may hold wildcards and still be meant itself.

    Examples
    --------
    >>> some = Listing({"a1": Listed(1, "classic"), "a2": Listed(1, "classic")})
    >>> choose(some, ["a?", "a1", "b*", "c"])
    Choice(groups=('a1', 'a2'), unmatched=('b*',), unlisted=('c',))
    """
    chosen: set[str] = set()
    missed = []
    for pattern in dict.fromkeys(patterns):
        found = {name for name in listing.groups if name == pattern or fnmatchcase(name, pattern)}
        chosen |= found
        if not found:
            missed.append(pattern)
    return Choice(
        groups=tuple(sorted(chosen)),
        unmatched=tuple(pattern for pattern in missed if not is_name(pattern)),
        unlisted=tuple(pattern for pattern in missed if is_name(pattern)),
    )


def why_unlisted(cluster: Cluster, names: Sequence[str], listing: Listing) -> list[Obstacle]:
    """Return why no broker lists groups: they may not be seen, or they are not there.

    Any broker says whether a group may be described before it says whose it is.
    """
    if not names:
        return []
    answer = cluster.ask_any(requests.classic_groups(names), answers.DescribeGroups)
    forbidden = {
        group.group_id: found
        for group in answer.groups
        if (found := obstacle_of(group.group_id, group.error_code)) is not None
        and not found.passing
        and not found.not_to_be_had
    }
    return [forbidden.get(name) or _missing(name, listing) for name in names]


def _orphaned(known: answers.Metadata) -> Iterator[tuple[int, str]]:
    """Yield why groups that no broker coordinates now are not listed, where there are such.

    Each group has its place in one partition of the topic of committed offsets, and the leader
    of that one coordinates it.
    """
    for topic in known.topics:
        without = [one for one in topic.partitions if one.leader_id == NO_LEADER]
        if without:
            of = f"{len(without)} of {counted(len(topic.partitions), 'partition')}"
            yield NO_LEADER, f"{of} of {_OFFSETS_TOPIC} have no leader"


def _missing(name: str, listing: Listing) -> Obstacle:
    for why in listing.silent.values():
        return Obstacle(f"group {name!r} is not listed, and {why}")
    return Obstacle(f"{absent(name)}{nearest_of(name, listing.groups)}", not_to_be_had=True)


def _listed(node: int, group: answers.ListedGroup) -> Listed | Obstacle:
    name, kind = group.group_id, group.group_type.lower()
    if kind == "share" or group.protocol_type == "share":
        return Obstacle(shared(name), not_to_be_had=True)
    if kind == "streams" or group.protocol_type == "streams":
        return Obstacle(streams(name), not_to_be_had=True)
    if group.protocol_type == "connect":
        return Obstacle(connect(name), not_to_be_had=True)
    if kind not in (*KINDS, *_UNTOLD):
        reason = f"group {name!r} is of a kind that is not known here: {group.group_type!r}"
        return Obstacle(reason, not_to_be_had=True)
    return Listed(node, CLASSIC if kind in _UNTOLD else kind)
