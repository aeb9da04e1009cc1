"""Offsets: what groups have committed, and where logs begin and end, in few requests."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING

from kafka.protocol.consumer import OffsetFetchRequest

from live.capture import messages
from live.capture.cluster import Unanswered
from live.capture.obstacles import Obstacle, error_named, obstacle_of
from live.capture.topics import NO_LEADER

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from kafka.protocol.api_message import ApiMessage

    from live.capture.cluster import Cluster
    from live.capture.topics import Topics

MOST_GROUPS = 100
MOST_PARTITIONS = 10_000
Key = tuple[str, int]
# Not the leader, or of another epoch than that of the metadata.
_MOVED = (6, 74, 75)


@dataclass(frozen=True)
class Committed:
    """What a group has committed, by topic and partition.

    Attributes
    ----------
    offsets : where there is a commit
    unknown : why nothing is known of some partitions
    """

    offsets: Mapping[Key, int] = field(default_factory=dict)
    unknown: Mapping[Key, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Logs:
    """Where logs begin and end, by topic and partition.

    Attributes
    ----------
    unknown : why it is not known of some
    moved : topics of which a leader says that it leads a partition no more
    """

    beginning: Mapping[Key, int] = field(default_factory=dict)
    end: Mapping[Key, int] = field(default_factory=dict)
    unknown: Mapping[Key, str] = field(default_factory=dict)
    moved: frozenset[str] = frozenset()


def committed_by(
    cluster: Cluster, coordinators: Mapping[str, int]
) -> dict[str, Committed | Obstacle]:
    """Ask coordinators what their groups have committed, many groups in one request.

    Brokers before Kafka 3.0 answer for one group at a time.
    """
    groups_of: dict[int, list[str]] = defaultdict(list)
    for group, node in sorted(coordinators.items()):
        groups_of[node].append(group)
    if not cluster.answers_to(OffsetFetchRequest, messages.SEVERAL_GROUPS):
        return _one_by_one(cluster, groups_of)
    found: dict[str, Committed | Obstacle] = {}
    for node, some, answer in cluster.ask_in_parts(
        groups_of, MOST_GROUPS, messages.committed, messages.OffsetFetch
    ):
        silent = answer if isinstance(answer, Unanswered) else f"broker {node} leaves it out"
        found |= {group: _unanswered(group, silent) for group in some}
        if not isinstance(answer, Unanswered):
            found |= {
                group.group_id: read_committed(group.group_id, group) for group in answer.groups
            }
    return found


def read_committed(name: str, answer: messages.CommittedGroup) -> Committed | Obstacle:
    """Return what a group has committed, as an answer tells it."""
    found = obstacle_of(name, answer.error_code)
    if found is not None:
        return found
    offsets, unknown = {}, {}
    for topic in answer.topics:
        for one in topic.partitions:
            key = (topic.name, one.partition_index)
            if one.error_code:
                unknown[key] = error_named(one.error_code)
            elif one.committed_offset >= 0:
                offsets[key] = one.committed_offset
    return Committed(offsets, unknown)


def logs_of(cluster: Cluster, topics: Topics, names: Iterable[str]) -> Logs:
    """Ask leaders where the logs of topics begin and end; the end is read uncommitted."""
    unknown: dict[Key, str] = {}
    keys_of: dict[int, list[Key]] = defaultdict(list)
    for name in sorted(set(names) & topics.partitions.keys()):
        for one in topics.partitions[name]:
            key = (name, one.partition_index)
            if one.leader_id == NO_LEADER:
                unknown[key] = "no leader"
            else:
                keys_of[one.leader_id].append(key)
    found: dict[int, dict[Key, int]] = {messages.BEGINNING: {}, messages.END: {}}
    moved: set[str] = set()
    for at, offsets in found.items():
        question = partial(_logs_at, at)
        for _, some, answer in cluster.ask_in_parts(
            keys_of, MOST_PARTITIONS, question, messages.ListOffsets
        ):
            if isinstance(answer, Unanswered):
                unknown |= dict.fromkeys(some, str(answer))
            else:
                read_logs(answer, offsets, unknown)
                moved |= _topics_moved(answer)
    return Logs(found[messages.BEGINNING], found[messages.END], unknown, frozenset(moved))


def read_logs(
    answer: messages.ListOffsets, offsets: dict[Key, int], unknown: dict[Key, str]
) -> None:
    """Add to `offsets` what an answer tells, and to `unknown` why it does not."""
    for topic in answer.topics:
        for one in topic.partitions:
            key = (topic.name, one.partition_index)
            if one.error_code:
                unknown[key] = error_named(one.error_code)
            elif one.offset >= 0:
                offsets[key] = one.offset
            else:
                unknown[key] = "its leader tells no offset"


def _topics_moved(answer: messages.ListOffsets) -> set[str]:
    return {
        topic.name
        for topic in answer.topics
        for one in topic.partitions
        if one.error_code in _MOVED
    }


def _one_by_one(
    cluster: Cluster, groups_of: Mapping[int, list[str]]
) -> dict[str, Committed | Obstacle]:
    asked = cluster.ask_in_parts(groups_of, 1, messages.committed_by_one, messages.CommittedGroup)
    return {
        group: _unanswered(group, answer)
        if isinstance(answer, Unanswered)
        else read_committed(group, answer)
        for _, (group,), answer in asked
    }


def _unanswered(group: str, why: Unanswered | str) -> Obstacle:
    return Obstacle(f"group {group!r}: {why}", passing=True)


def _logs_at(at: int, keys: Iterable[Key]) -> ApiMessage:
    numbers: dict[str, list[int]] = defaultdict(list)
    for topic, number in keys:
        numbers[topic].append(number)
    return messages.logs(numbers, at)
