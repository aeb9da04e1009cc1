"""Metadata: answers to requests for topics, brokers and offsets.

There is a coordinator, and one more broker for each rack of the group. No client is given
partitions to read; if it asks for offsets or records all the same, it finds none.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from heuristics.shipped.probe import wire
from heuristics.shipped.probe.names import OWN_TOPIC, SPARE_TOPICS

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from heuristics.shipped.probe.round import Round
    from heuristics.shipped.probe.wire import Request


HOST = "127.0.0.1"
# librdkafka refuses very small Metadata responses, so the cluster id is padded.
CLUSTER = "assay-probe".ljust(512, "-")


def answer(request: Request, round_: Round | None, ports: Sequence[int]) -> dict[str, object]:
    """Return the fields of a Metadata response.

    Parameters
    ----------
    round_ : the round of the group that the client leads; None if there is none
    ports : on loopback: the coordinator's, then one for each rack of the group
    """
    racks = () if round_ is None or round_.group.racks is None else round_.group.racks.names
    # Clients drop a broker whose rack has changed, so the coordinator never has one.
    brokers = [
        wire.types().MetadataResponse.MetadataResponseBroker(
            node_id=node, host=HOST, port=ports[node], rack=rack
        )
        for node, rack in enumerate((None, *racks))
    ]
    return {
        "brokers": brokers,
        "cluster_id": CLUSTER,
        "controller_id": 0,
        "topics": [_topic(name, round_) for name in asked(request, round_)],
    }


def asked(request: Request, round_: Round | None) -> list[str]:
    """Return the topics of a Metadata request, by name on the wire."""
    topics = request.body.topics
    every = topics is None or (request.version == 0 and not topics)
    if not every:
        return [str(topic.name) for topic in topics]
    known = [] if round_ is None else list(round_.topics)
    return [*known, *(name for name in (OWN_TOPIC, *SPARE_TOPICS) if name not in known)]


def _topic(name: str, round_: Round | None) -> object:
    of = wire.types().MetadataResponse.MetadataResponseTopic
    replicas, error = _replicas(name, round_), wire.NONE
    if replicas is None:
        replicas, error = [], wire.UNKNOWN_TOPIC
    partitions = [
        of.MetadataResponsePartition(
            partition_index=number,
            leader_id=nodes[0] if nodes else 0,
            leader_epoch=0,
            replica_nodes=nodes,
            isr_nodes=nodes,
        )
        for number, nodes in enumerate(replicas)
    ]
    return of(error_code=error, name=name, partitions=partitions)


def _replicas(name: str, round_: Round | None) -> list[list[int]] | None:
    """Return the broker ids of each partition's replicas; None if there is no such topic."""
    topic = None if round_ is None else round_.topic(name)
    if round_ is None or topic is None:
        own = [[0]] if name == OWN_TOPIC else None
        return [] if name in SPARE_TOPICS else own
    group = round_.group
    if group.racks is None:
        return [[0]] * int(group.partitions[topic])
    node = {rack: number for number, rack in enumerate(group.racks.names, start=1)}
    sets = group.racks.replicas[group.first[topic] : group.first[topic + 1]].tolist()
    of_set = {
        one: [] if one < 0 else [node[rack] for rack in group.racks.of_set(one)]
        for one in set(sets)
    }
    return [of_set[one] for one in sets]


# For each request about offsets: types of a topic and a partition in its answer, and what each
# partition gets.
ABOUT_OFFSETS: Mapping[int, tuple[str, str, dict[str, object]]] = {
    wire.OFFSET_FETCH: (
        "OffsetFetchResponseTopic",
        "OffsetFetchResponsePartition",
        {"committed_offset": -1, "committed_leader_epoch": -1, "metadata": ""},
    ),
    wire.OFFSET_COMMIT: ("OffsetCommitResponseTopic", "OffsetCommitResponsePartition", {}),
    wire.LIST_OFFSETS: (
        "ListOffsetsTopicResponse",
        "ListOffsetsPartitionResponse",
        {"timestamp": -1, "offset": 0, "leader_epoch": 0},
    ),
}


def no_offsets(request: Request) -> dict[str, object]:
    """Return the fields of an answer about offsets: nothing is committed, and logs are empty."""
    of_topic, of_partition, said = ABOUT_OFFSETS[request.key]
    topic_type = getattr(wire.response_type(request.key), of_topic)
    partition_type = getattr(topic_type, of_partition)
    topics = []
    for topic in request.body.topics or ():
        if request.key == wire.OFFSET_FETCH:
            numbers = topic.partition_indexes
        else:
            numbers = [one.partition_index for one in topic.partitions]
        partitions = [partition_type(partition_index=number, **said) for number in numbers]
        topics.append(topic_type(name=topic.name, partitions=partitions))
    return {"topics": topics}
