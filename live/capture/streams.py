"""Streams: what brokers tell of Kafka Streams groups (KIP-1071), as ``assay-streams/1``.

A group of which two descriptions are equal is captured: its tasks and their lag are of one and the
same assignment. A task is as far behind as all its source topics together.
"""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

from msgspec import UNSET

from groups.documents.assay_streams import (
    FORMAT,
    StreamsDocument,
    StreamsMember,
    Subtopology,
    Tasks,
)
from groups.errors import BadInput
from groups.importers.seen import not_ready, rebalancing
from live.capture import messages
from live.capture.captures import moment
from live.capture.cluster import Unanswered
from live.capture.obstacles import Obstacle, obstacle_of, topic_obstacle
from live.capture.offsets import Committed, Logs, committed_by, logs_of
from live.capture.topics import read

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from groups.documents.assay_group import Partitions
    from live.capture.cluster import Cluster
    from live.capture.messages import StreamsGroup, SubtopologyTopics
    from live.capture.topics import Topics


def captured(
    cluster: Cluster, coordinators: Mapping[str, int], *, lag: bool, last: bool
) -> dict[str, StreamsDocument | Obstacle]:
    """Return the document of each group as one round has it, or why there is none.

    Parameters
    ----------
    coordinators : of each group the broker that answers for it
    last : whether there is no round after this
    """
    described = _described(cluster, coordinators)
    found: dict[str, StreamsDocument | Obstacle] = {}
    before: dict[str, StreamsGroup] = {}
    for name, one in described.items():
        obstacle = one if isinstance(one, Obstacle) else _obstacle(one, last=last)
        if obstacle is None and not isinstance(one, Obstacle):
            before[name] = one
        elif obstacle is not None:
            found[name] = obstacle
    if not before:
        return found
    captured_at, at = moment(), {name: coordinators[name] for name in before}
    names = {topic for one in before.values() for of in _subtopologies(one) for topic in _read(of)}
    try:
        topics = read(cluster.ask_any(messages.topics(sorted(names)), messages.Metadata))
        standbys = _standbys(cluster, sorted(before))
    except Unanswered as error:
        return found | {n: Obstacle(f"group {n!r}: {error}", passing=True) for n in before}
    committed = committed_by(cluster, at) if lag else {}
    logs = logs_of(cluster, topics, names) if lag else Logs()
    after = _described(cluster, at) if lag else described
    for name, one in before.items():
        if after[name] != one:
            reason = f"group {name!r} changed while it was read: capture it again"
            found[name] = Obstacle(reason, passing=True)
        else:
            known = _Known(topics, committed.get(name), logs, standbys.get(name), captured_at)
            found[name] = known.document(one)
    return found


def _described(
    cluster: Cluster, coordinators: Mapping[str, int]
) -> dict[str, StreamsGroup | Obstacle]:
    groups_of: dict[int, list[str]] = defaultdict(list)
    for name, node in sorted(coordinators.items()):
        groups_of[node].append(name)
    return cluster.ask_for_groups(
        groups_of,
        messages.streams_groups,
        messages.StreamsGroupDescribe,
        lambda answer: {one.group_id: one for one in answer.groups},
    )


def _obstacle(group: StreamsGroup, *, last: bool) -> Obstacle | None:
    """Return what stands in the way of a group; where it rebalances, its target is known."""
    name, state = group.group_id, group.group_state.lower()
    if (found := obstacle_of(name, group.error_code)) is not None:
        return found
    if state == "empty":
        return Obstacle(f"group {name!r} has no members", not_to_be_had=True)
    if state == "notready" or not _subtopologies(group):
        return Obstacle(not_ready(name), passing=True, not_to_be_had=True)
    if state == "assigning" or (state == "reconciling" and not last):
        return Obstacle(rebalancing(name), passing=True, not_to_be_had=True)
    return None


def _standbys(cluster: Cluster, names: Sequence[str]) -> dict[str, int]:
    """Return how many standbys groups are to have, where it may be known."""
    answer = cluster.ask_any(messages.group_settings(names), messages.DescribeConfigs)
    return {
        one.resource_name: int(setting.value)
        for one in answer.results
        for setting in one.configs
        if setting.name == messages.STANDBYS and setting.value and setting.value.isdigit()
    }


def _subtopologies(group: StreamsGroup) -> list[SubtopologyTopics]:
    return [] if group.topology is None else group.topology.subtopologies or []


def _read(of: SubtopologyTopics) -> list[str]:
    """Return the topics that a subtopology reads."""
    return sorted({*of.source_topics, *(one.name for one in of.repartition_source_topics)})


class _Known:
    """What is known beside the description of a group."""

    def __init__(
        self,
        topics: Topics,
        committed: Committed | Obstacle | None,
        logs: Logs,
        standbys: int | None,
        captured_at: str,
    ) -> None:
        self.topics, self.logs, self.standbys = topics, logs, standbys
        self.committed = committed if isinstance(committed, Committed) else None
        self.captured_at = captured_at

    def document(self, group: StreamsGroup) -> StreamsDocument | Obstacle:
        """Return the document of a group, or why there is none."""
        for of in _subtopologies(group):
            for name in _read(of):
                if name not in self.topics.partitions:
                    code = self.topics.withheld.get(name)
                    missing = Obstacle(not_ready(group.group_id), not_to_be_had=True)
                    return topic_obstacle(group.group_id, name, code) if code else missing
        made = StreamsDocument(
            format=FORMAT,
            group=group.group_id,
            captured_at=self.captured_at,
            epoch=group.group_epoch,
            standby_replicas=self.standbys,
            subtopologies={one.subtopology_id: self._of(one) for one in _subtopologies(group)},
            members={
                one.member_id: StreamsMember(
                    process=one.process_id,
                    tasks=_tasks(one.assignment),
                    target=_tasks(one.target_assignment),
                    epoch=one.member_epoch,
                    topology_epoch=one.topology_epoch,
                    instance_id=one.instance_id or UNSET,
                    rack=one.rack_id or UNSET,
                    client_id=one.client_id or UNSET,
                    host=one.client_host or UNSET,
                    tags={tag.key: tag.value for tag in one.client_tags} or UNSET,
                )
                for one in sorted(group.members, key=lambda one: one.member_id)
            },
        )
        try:
            made.consumer_group()
        except BadInput as error:
            said = f"what the broker tells makes no group: {error}"
            return Obstacle(f"group {group.group_id!r}: {said}")
        return made

    def _of(self, subtopology: SubtopologyTopics) -> Subtopology:
        names = _read(subtopology)
        count = max((len(self.topics.partitions[name]) for name in names), default=0)
        return Subtopology(
            count,
            stateful=bool(subtopology.state_changelog_topics),
            source_topics=sorted(subtopology.source_topics),
            repartition_source_topics=sorted(
                one.name for one in subtopology.repartition_source_topics
            ),
            state_changelog_topics=sorted(one.name for one in subtopology.state_changelog_topics),
            lag=UNSET if self.committed is None else [self._lag(names, n) for n in range(count)],
        )

    def _lag(self, names: Sequence[str], number: int) -> int | None:
        """Return the lag of a task, None where it is not known of a partition that it reads.

        So it is where nothing is committed, and something is in the log.
        """
        assert self.committed is not None
        keys = [(name, number) for name in names if number < len(self.topics.partitions[name])]
        behind = 0
        for key in keys:
            beginning, end = self.logs.beginning.get(key), self.logs.end.get(key)
            empty = end if beginning == end else None
            at = self.committed.offsets.get(key, empty)
            if at is None or end is None:
                return None
            behind += max(end - at, 0)
        return behind


def _tasks(said: messages.TaskAssignment) -> Tasks:
    return Tasks(*map(_numbers, (said.active_tasks, said.standby_tasks, said.warmup_tasks)))


def _numbers(listed: Sequence[messages.TaskIds]) -> Partitions:
    return {one.subtopology_id: sorted(one.partitions) for one in listed if one.partitions}
