"""Streams: captured Kafka Streams groups (KIP-1071) as ``assay-streams/1``.

The lag of a task is the sum of the lags of the partitions that it reads.
"""

from __future__ import annotations

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
from live.capture.membership import Described
from live.capture.obstacles import Obstacle, obstacle_of, topic_obstacle
from live.capture.offsets import Committed

if TYPE_CHECKING:
    from collections.abc import Sequence

    from groups.documents.assay_group import Partitions
    from live.capture.cluster import Cluster
    from live.capture.messages import StreamsGroup, SubtopologyTopics
    from live.capture.offsets import Key, Logs
    from live.capture.topics import Topics


def obstacle(group: StreamsGroup, *, last: bool) -> Obstacle | None:
    """Return why a group cannot be captured, or None.

    A group that is reconciling is captured in the last round, as its target is known.

    Parameters
    ----------
    last : whether this is the last round
    """
    name, state = group.group_id, group.group_state.lower()
    if (found := obstacle_of(name, group.error_code)) is not None:
        return found
    if state == "notready" or not _subtopologies(group):
        return Obstacle(not_ready(name), passing=True, not_to_be_had=True)
    if state == "assigning" or (state == "reconciling" and not last):
        return Obstacle(rebalancing(name), passing=True, not_to_be_had=True)
    return None


def tasks_or_nobody(group: StreamsGroup) -> StreamsGroup | Described:
    """Return a streams group, or one without members: that has commits, but no tasks to judge."""
    nobody = group.group_state.lower() == "empty" and group.error_code == 0
    return Described(group.group_id, ()) if nobody else group


def standbys(cluster: Cluster, names: Sequence[str]) -> dict[str, int]:
    """Return the configured number of standbys of groups; groups without an answer are left out.

    Raises
    ------
    Unanswered
        If no broker answers.
    """
    answer = cluster.ask_any(messages.group_settings(names), messages.DescribeConfigs)
    return {
        one.resource_name: int(setting.value)
        for one in answer.results
        for setting in one.configs
        if setting.name == messages.STANDBYS and setting.value and setting.value.isdigit()
    }


def topics_read(group: StreamsGroup) -> set[str]:
    """Return the topics that the subtopologies of a group read."""
    return {topic for of in _subtopologies(group) for topic in _read(of)}


def _subtopologies(group: StreamsGroup) -> list[SubtopologyTopics]:
    return [] if group.topology is None else group.topology.subtopologies or []


def _read(of: SubtopologyTopics) -> list[str]:
    """Return the topics that a subtopology reads."""
    return sorted({*of.source_topics, *(one.name for one in of.repartition_source_topics)})


def document(
    group: StreamsGroup,
    topics: Topics,
    committed: Committed | Obstacle | None,
    logs: Logs,
    standbys: int | None,
    captured_at: str,
) -> StreamsDocument | Obstacle:
    """Return the document of a group, or why there is none.

    Parameters
    ----------
    committed : None if offsets were not asked for; an Obstacle if they are not known
    standbys : configured number of standbys; None if not known
    """
    for name in sorted(topics_read(group)):
        if name not in topics.partitions:
            code = topics.withheld.get(name)
            missing = Obstacle(not_ready(group.group_id), not_to_be_had=True)
            return topic_obstacle(group.group_id, name, code) if code else missing
    known = committed if isinstance(committed, Committed) else None
    made = StreamsDocument(
        format=FORMAT,
        group=group.group_id,
        captured_at=captured_at,
        epoch=group.group_epoch,
        standby_replicas=standbys,
        subtopologies={
            one.subtopology_id: _subtopology(one, topics, known, logs)
            for one in _subtopologies(group)
        },
        members={
            one.member_id: StreamsMember(
                process=one.process_id,
                tasks=_tasks(one.assignment),
                target=_tasks(one.target_assignment),
                # -2 of a static member that has left, and may return.
                epoch=one.member_epoch if one.member_epoch >= 0 else UNSET,
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


def _subtopology(
    of: SubtopologyTopics, topics: Topics, committed: Committed | None, logs: Logs
) -> Subtopology:
    sizes = {name: len(topics.partitions[name]) for name in _read(of)}
    count = max(sizes.values(), default=0)
    keys = [[(name, n) for name, size in sizes.items() if n < size] for n in range(count)]
    return Subtopology(
        count,
        stateful=bool(of.state_changelog_topics),
        source_topics=sorted(of.source_topics),
        repartition_source_topics=sorted(one.name for one in of.repartition_source_topics),
        state_changelog_topics=sorted(one.name for one in of.state_changelog_topics),
        lag=UNSET if committed is None else [_lag(some, committed, logs) for some in keys],
    )


def _lag(keys: Sequence[Key], committed: Committed, logs: Logs) -> int | None:
    """Return the lag of a task; None if that of a partition it reads is not known.

    A partition without a commit has an unknown lag, unless its log is empty.
    """
    behind = 0
    for key in keys:
        beginning, end = logs.beginning.get(key), logs.end.get(key)
        empty = end if beginning == end else None
        at = committed.offsets.get(key, empty)
        if at is None or end is None:
            return None
        behind += max(end - at, 0)
    return behind


def _tasks(said: messages.TaskAssignment) -> Tasks:
    return Tasks(*map(_numbers, (said.active_tasks, said.standby_tasks, said.warmup_tasks)))


def _numbers(listed: Sequence[messages.TaskIds]) -> Partitions:
    return {one.subtopology_id: sorted(one.partitions) for one in listed if one.partitions}
