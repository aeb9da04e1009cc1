"""Offsets: what is committed and what there is to read, which is nothing.

Nobody is given a partition to read; a client that asks all the same finds nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from heuristics.shipped.probe import wire

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping


def _offset_fetch(body: Any) -> dict[str, object]:
    of = wire.types().OffsetFetchResponse.OffsetFetchResponseTopic
    asked = [(topic.name, topic.partition_indexes) for topic in body.topics or ()]
    nothing = {"committed_offset": -1, "committed_leader_epoch": -1, "metadata": ""}
    topics = _topics(of, of.OffsetFetchResponsePartition, asked, nothing)
    return {"throttle_time_ms": 0, "topics": topics, "error_code": wire.NONE}


def _offset_commit(body: Any) -> dict[str, object]:
    of = wire.types().OffsetCommitResponse.OffsetCommitResponseTopic
    topics = _topics(of, of.OffsetCommitResponsePartition, _named(body), {})
    return {"throttle_time_ms": 0, "topics": topics}


def _list_offsets(body: Any) -> dict[str, object]:
    of = wire.types().ListOffsetsResponse.ListOffsetsTopicResponse
    start = {"timestamp": -1, "offset": 0, "leader_epoch": 0}
    topics = _topics(of, of.ListOffsetsPartitionResponse, _named(body), start)
    return {"throttle_time_ms": 0, "topics": topics}


def _fetch(body: Any) -> dict[str, object]:
    return {"throttle_time_ms": 0, "error_code": wire.NONE, "session_id": 0, "responses": []}


def _named(body: Any) -> list[tuple[str, list[int]]]:
    """Return the topics of a request, each with its partition numbers."""
    return [
        (topic.name, [one.partition_index for one in topic.partitions])
        for topic in body.topics or ()
    ]


def _topics(
    topic_type: Callable[..., object],
    partition_type: Callable[..., object],
    asked: Iterable[tuple[str, Iterable[int]]],
    said: Mapping[str, object],
) -> list[object]:
    """Return the same answer for each partition asked about."""
    return [
        topic_type(
            name=name,
            partitions=[
                partition_type(partition_index=number, error_code=wire.NONE, **said)
                for number in numbers
            ],
        )
        for name, numbers in asked
    ]


ANSWERS: Mapping[int, Callable[[Any], dict[str, object]]] = {
    wire.OFFSET_FETCH: _offset_fetch,
    wire.OFFSET_COMMIT: _offset_commit,
    wire.LIST_OFFSETS: _list_offsets,
    wire.FETCH: _fetch,
}
