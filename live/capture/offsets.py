"""Offsets: committed offsets of groups, and first and end offsets of logs, in few requests."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING

from msgspec.structs import replace

from live.capture import messages
from live.capture.cluster import Unanswered, unanswered
from live.capture.obstacles import Obstacle, error_named, obstacle_of
from live.capture.topics import NO_LEADER

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from live.capture.cluster import Cluster
    from live.capture.topics import Topics

MOST_GROUPS = 100
MOST_PARTITIONS = 10_000
Key = tuple[str, int]
# NOT_LEADER_OR_FOLLOWER, FENCED_LEADER_EPOCH and UNKNOWN_LEADER_EPOCH.
_MOVED = (6, 74, 75)
NO_OFFSET = "its leader tells no offset"


@dataclass(frozen=True)
class Committed:
    """The committed offsets of a group, by (topic, partition).

    Attributes
    ----------
    offsets : of partitions with a commit
    unknown : reasons, of partitions whose commit is not known
    """

    offsets: Mapping[Key, int] = field(default_factory=dict)
    unknown: Mapping[Key, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Logs:
    """First and end offsets of logs, by (topic, partition).

    Attributes
    ----------
    unknown : reasons, of partitions whose offsets are not known
    moved : topics with a partition whose leader has changed since the metadata
    """

    beginning: Mapping[Key, int] = field(default_factory=dict)
    end: Mapping[Key, int] = field(default_factory=dict)
    unknown: Mapping[Key, str] = field(default_factory=dict)
    moved: frozenset[str] = frozenset()


def committed_by(
    cluster: Cluster, coordinators: Mapping[str, int]
) -> dict[str, Committed | Obstacle]:
    """Ask coordinators for the committed offsets of groups, many groups in one request.

    Brokers before Kafka 3.0 answer for one group at a time.
    """
    groups_of: dict[int, list[str]] = defaultdict(list)
    for group, node in sorted(coordinators.items()):
        groups_of[node].append(group)
    if cluster.tells_commits_of_several():
        kind = messages.Groups[messages.CommittedGroup]
        asked = messages.committed
        return cluster.ask_for_groups(groups_of, asked, kind, read_committed, MOST_GROUPS)
    found: dict[str, Committed | Obstacle] = {}
    for _, (name,), answer in cluster.ask_in_parts(
        groups_of, 1, messages.committed_by_one, messages.CommittedGroup
    ):
        if isinstance(answer, Unanswered):
            found[name] = unanswered(name, answer)
        else:
            found[name] = read_committed(replace(answer, group_id=name))
    return found


def read_committed(answer: messages.CommittedGroup) -> Committed | Obstacle:
    """Return the committed offsets of a group in an answer, or why they are not known."""
    found = obstacle_of(answer.group_id, answer.error_code)
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
    """Ask leaders for first and end offsets of topics; the end is the high watermark."""
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
        question = partial(messages.logs, at)
        for _, keys, answer in cluster.ask_in_parts(
            keys_of, MOST_PARTITIONS, question, messages.ListOffsets
        ):
            if isinstance(answer, Unanswered):
                unknown |= dict.fromkeys(keys, str(answer))
                continue
            for told in answer.topics:
                for log in told.partitions:
                    if log.error_code in _MOVED:
                        moved.add(told.name)
                    if log.offset >= 0 and not log.error_code:
                        offsets[told.name, log.partition_index] = log.offset
                    else:
                        why = error_named(log.error_code) if log.error_code else NO_OFFSET
                        unknown[told.name, log.partition_index] = why
    return Logs(found[messages.BEGINNING], found[messages.END], unknown, frozenset(moved))
