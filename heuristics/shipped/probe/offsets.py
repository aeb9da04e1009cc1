"""Offsets: what is committed and what there is to read, which is nothing.

Nobody is given a partition to read; a client that asks all the same finds nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from heuristics.shipped.probe import wire

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping


def _offset_fetch(body: Any) -> dict[str, object]:
    of = wire.types().OffsetFetchResponse.OffsetFetchResponseTopic
    topics = [
        of(
            name=topic.name,
            partitions=[
                of.OffsetFetchResponsePartition(
                    partition_index=number,
                    committed_offset=-1,
                    committed_leader_epoch=-1,
                    metadata="",
                    error_code=wire.NONE,
                )
                for number in topic.partition_indexes
            ],
        )
        for topic in body.topics or ()
    ]
    return {"throttle_time_ms": 0, "topics": topics, "error_code": wire.NONE}


def _offset_commit(body: Any) -> dict[str, object]:
    of = wire.types().OffsetCommitResponse.OffsetCommitResponseTopic
    topics = [
        of(
            name=topic.name,
            partitions=[
                of.OffsetCommitResponsePartition(
                    partition_index=one.partition_index, error_code=wire.NONE
                )
                for one in topic.partitions
            ],
        )
        for topic in body.topics or ()
    ]
    return {"throttle_time_ms": 0, "topics": topics}


def _list_offsets(body: Any) -> dict[str, object]:
    of = wire.types().ListOffsetsResponse.ListOffsetsTopicResponse
    topics = [
        of(
            name=topic.name,
            partitions=[
                of.ListOffsetsPartitionResponse(
                    partition_index=one.partition_index,
                    error_code=wire.NONE,
                    timestamp=-1,
                    offset=0,
                    leader_epoch=0,
                )
                for one in topic.partitions
            ],
        )
        for topic in body.topics or ()
    ]
    return {"throttle_time_ms": 0, "topics": topics}


def _fetch(body: Any) -> dict[str, object]:
    return {"throttle_time_ms": 0, "error_code": wire.NONE, "session_id": 0, "responses": []}


ANSWERS: Mapping[int, Callable[[Any], dict[str, object]]] = {
    wire.OFFSET_FETCH: _offset_fetch,
    wire.OFFSET_COMMIT: _offset_commit,
    wire.LIST_OFFSETS: _list_offsets,
    wire.FETCH: _fetch,
}
