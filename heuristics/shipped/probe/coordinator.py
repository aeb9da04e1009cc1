"""Coordinator: answers a client so that it leads one group after the other."""

from __future__ import annotations

import threading
from collections import deque
from dataclasses import dataclass, field
from functools import partial
from time import perf_counter
from typing import TYPE_CHECKING, Any, Protocol

from groups import Failed
from heuristics.shipped.joining import joining
from heuristics.shipped.probe import wire

if TYPE_CHECKING:
    from collections.abc import Callable

    from groups import Group
    from heuristics.shipped.probe.wire import Request, UserData

# A topic that is always there, for clients that join only with a topic that exists.
OWN_TOPIC = "assay-probe"
MOST_ATTEMPTS = 3
# librdkafka refuses very small Metadata responses; the cluster's id makes up the difference.
CLUSTER = "assay-probe".ljust(512, "-")


class Disconnected(Failed):
    """The client closed its connection before it sent a plan."""


class Peer(Protocol):
    """A client's connection, as the coordinator sees it."""

    received: float

    def reply(
        self, request: Request, *, sent: Callable[[], None] | None = None, **fields: Any
    ) -> None:
        """Send the answer to a request; `sent` is called when all of it is on its way."""


@dataclass(eq=False)
class Round:
    """A group that is put before the client, and what became of it.

    Attributes
    ----------
    group : the group
    protocol : the assignor's name on the wire; None for the one the client prefers
    leader : index of the member that the client stands for
    prefix : put before each topic name on the wire
    cooperative, user_data : as in :func:`~heuristics.shipped.probe.wire.member_metadata`; None for
        what the chosen assignor's name and the client's own subscription suggest
    chosen, client_id : the assignor's name and what the client called itself, once it joined
    held : the plan; None until it is there, and where there is none
    error : why there is none
    seconds : from the JoinGroup response, sent, to the SyncGroup request, received, less what
        the coordinator itself took to answer requests for metadata in between
    over : set when the plan is there, or will not come
    """

    group: Group
    protocol: str | None = None
    leader: int = 0
    prefix: str = ""
    cooperative: bool | None = None
    user_data: UserData | None = None
    chosen: str = ""
    client_id: str = ""
    held: list[tuple[int, str, int]] | None = None
    error: Failed | None = None
    seconds: float = 0.0
    over: threading.Event = field(default_factory=threading.Event)

    def __post_init__(self) -> None:
        """Name the topics as they are on the wire."""
        self.topics = {self.prefix + name: i for i, name in enumerate(self.group.topics)}
        self.index = {name: i for i, name in enumerate(self.group.members)}

    @property
    def me(self) -> str:
        """The member that the client stands for."""
        return self.group.members[self.leader]

    def is_cooperative(self) -> bool:
        """Say whether owned partitions travel: as asked, or as the assignor's name says."""
        return "cooperative" in self.chosen if self.cooperative is None else self.cooperative

    def members(self, own: bytes) -> list[dict[str, Any]]:
        """Return the members, as the JoinGroup response lists them, to a client of `own` kind."""
        cooperative, user_data = self.is_cooperative(), self.user_data
        if user_data is None:
            user_data = wire.user_data_like(own) if "sticky" in self.chosen else "none"
        return [
            {
                "member_id": said.member_id,
                "group_instance_id": said.instance_id,
                "metadata": wire.member_metadata(
                    said, cooperative=cooperative, user_data=user_data, prefix=self.prefix
                ),
            }
            for said in joining(self.group)
        ]

    def result(self) -> tuple[list[tuple[int, str, int]], float]:
        """Return the plan as (member index, topic, partition number), and the seconds it took.

        Raises
        ------
        Failed
            Where the client made none.
        """
        if self.error is not None:
            raise self.error
        if self.held is None:
            raise Failed("no plan yet")
        return self.held, self.seconds


class Coordinator:
    """What a broker says, as far as the leader of a group asks.

    All of it runs in one thread.

    Parameters
    ----------
    host : where it can be reached, at all of the ports
    ports : of the coordinator, and then one for each rack of a group
    """

    def __init__(self, host: str, ports: Callable[[], list[int]]) -> None:
        self._host = host
        self._ports = ports
        self._round: Round | None = None
        self._leader: Peer | None = None
        self._generation = 0
        self._attempts = 0
        self._began = 0.0
        self._waiting: deque[tuple[Peer, Request]] = deque()

    def offer(self, round_: Round) -> None:
        """Put a group before the client that waits, or the next that joins."""
        self._round, self._leader, self._attempts = round_, None, 0
        if self._waiting:
            self._lead(*self._waiting.popleft())

    def withdraw(self, round_: Round) -> None:
        """Take a group back."""
        if self._round is round_:
            self._round = self._leader = None

    def left(self, peer: Peer) -> None:
        """Forget a client whose connection has closed."""
        self._waiting = deque(waits for waits in self._waiting if waits[0] is not peer)
        if self._leader is peer:
            self._end(Disconnected("the client closed its connection before it sent a plan"))

    def answer(self, peer: Peer, request: Request) -> None:
        """Answer a request, at once or later."""
        if request.body is None:
            peer.reply(request, error_code=wire.UNSUPPORTED_VERSION, api_keys=_versions())
            return
        answers = {
            wire.API_VERSIONS: self._api_versions,
            wire.METADATA: self._metadata,
            wire.FIND_COORDINATOR: self._find_coordinator,
            wire.JOIN_GROUP: self._join_group,
            wire.SYNC_GROUP: self._sync_group,
            wire.HEARTBEAT: self._heartbeat,
            wire.LEAVE_GROUP: self._leave_group,
            wire.OFFSET_FETCH: _offset_fetch,
            wire.OFFSET_COMMIT: _offset_commit,
            wire.LIST_OFFSETS: _list_offsets,
            wire.FETCH: _fetch,
        }
        answers[request.key](peer, request)

    def _api_versions(self, peer: Peer, request: Request) -> None:
        peer.reply(request, error_code=wire.NONE, api_keys=_versions(), throttle_time_ms=0)

    def _find_coordinator(self, peer: Peer, request: Request) -> None:
        where: dict[str, Any] = {"node_id": 0, "host": self._host, "port": self._ports()[0]}
        peer.reply(request, throttle_time_ms=0, error_code=wire.NONE, error_message=None, **where)

    def _metadata(self, peer: Peer, request: Request) -> None:
        came = peer.received
        group = None if self._round is None else self._round.group
        racks = () if group is None or group.racks is None else group.racks.names
        ports = self._ports()
        # Clients drop a broker whose rack has changed: the one that keeps the group never has any.
        brokers = [
            wire.types().MetadataResponse.MetadataResponseBroker(
                node_id=node, host=self._host, port=ports[node], rack=rack
            )
            for node, rack in enumerate((None, *racks))
        ]
        peer.reply(
            request,
            throttle_time_ms=0,
            brokers=brokers,
            cluster_id=CLUSTER,
            controller_id=0,
            topics=[self._topic(name) for name in self._asked(request)],
            sent=partial(self._answered, came),
        )

    def _answered(self, came: float) -> None:
        # Of no account where no round runs: the next begins anew.
        self._began += perf_counter() - came

    def _asked(self, request: Request) -> list[str]:
        topics = request.body.topics
        every = topics is None or (request.version == 0 and not topics)
        if not every:
            return [str(topic.name) for topic in topics]
        known = [] if self._round is None else list(self._round.topics)
        return [*known, OWN_TOPIC] if OWN_TOPIC not in known else known

    def _topic(self, name: str) -> Any:
        of = wire.types().MetadataResponse.MetadataResponseTopic
        replicas, error = self._replicas(name), wire.NONE
        if replicas is None:
            replicas, error = [], wire.UNKNOWN_TOPIC
        partitions = [
            of.MetadataResponsePartition(
                error_code=wire.NONE,
                partition_index=number,
                leader_id=nodes[0] if nodes else 0,
                leader_epoch=0,
                replica_nodes=nodes,
                isr_nodes=nodes,
                offline_replicas=[],
            )
            for number, nodes in enumerate(replicas)
        ]
        return of(error_code=error, name=name, is_internal=False, partitions=partitions)

    def _replicas(self, name: str) -> list[list[int]] | None:
        """Return for each partition the nodes of its replicas; None where there is no topic."""
        topic = None if self._round is None else self._round.topics.get(name)
        if topic is None or self._round is None:
            return [[0]] if name == OWN_TOPIC else None
        group = self._round.group
        if group.racks is None:
            return [[0]] * int(group.partitions[topic])
        node = {rack: number for number, rack in enumerate(group.racks.names, start=1)}
        sets = group.racks.replicas[group.first[topic] : group.first[topic + 1]].tolist()
        of_set = {
            one: [] if one < 0 else [node[rack] for rack in group.racks.of_set(one)]
            for one in set(sets)
        }
        return [of_set[one] for one in sets]

    def _join_group(self, peer: Peer, request: Request) -> None:
        if request.body.protocols is None:
            raise ValueError("no assignors")
        if self._leader is not None and self._leader is peer:
            self._attempts += 1
            if self._attempts >= MOST_ATTEMPTS:
                again = f"the client joined {MOST_ATTEMPTS} times without sending a plan"
                self._end(Failed(again))
            else:
                self._lead(peer, request)
                return
        if self._round is None or self._leader is not None:
            self._waiting = deque(waits for waits in self._waiting if waits[0] is not peer)
            self._waiting.append((peer, request))
            return
        self._lead(peer, request)

    def _lead(self, peer: Peer, request: Request) -> None:
        """Make a client that wants to join the leader of the group."""
        round_ = self._round
        if round_ is None:
            return
        listed = {str(one.name): one.metadata for one in request.body.protocols}
        chosen = round_.protocol or next(iter(listed), "")
        self._generation += 1
        answer: dict[str, Any] = {
            "throttle_time_ms": 0,
            "generation_id": self._generation,
            "protocol_name": chosen,
        }
        round_.client_id = request.client_id
        if chosen not in listed:
            nobody: dict[str, Any] = {"leader": "", "member_id": "", "members": []}
            peer.reply(request, error_code=wire.INCONSISTENT_PROTOCOL, **answer, **nobody)
            names = ", ".join(listed) or "nothing"
            self._end(Failed(f"the client does not list {chosen or 'any assignor'}, but {names}"))
            return
        round_.chosen = chosen
        self._leader = peer
        leads: dict[str, Any] = {"leader": round_.me, "member_id": round_.me}
        try:
            members = _members(round_.members(bytes(listed[chosen] or b"")))
            peer.reply(
                request,
                error_code=wire.NONE,
                members=members,
                **answer,
                **leads,
                sent=self._begin,
            )
        except Exception as error:
            # Numbers or names that the protocol has no room for; nothing was sent.
            reason = wire.reason(error)
            self._end(Failed(f"the group cannot be put on the wire: {reason}"))
            self._waiting.append((peer, request))

    def _begin(self) -> None:
        self._began = perf_counter()

    def _sync_group(self, peer: Peer, request: Request) -> None:
        body, round_ = request.body, self._round
        empty: dict[str, Any] = {"throttle_time_ms": 0, "assignment": b""}
        # Whoever is told that the group rebalances joins again at once: it is never given
        # anything to read, and waits for no heartbeat.
        if round_ is None or self._leader is None or body.generation_id != self._generation:
            peer.reply(request, error_code=wire.REBALANCE_IN_PROGRESS, **empty)
            return
        round_.seconds = peer.received - self._began
        try:
            round_.held = wire.decode_plan(body.assignments, round_.index, round_.prefix)
        except Failed as error:
            self._end(error)
        else:
            self._end(None)
        peer.reply(request, error_code=wire.REBALANCE_IN_PROGRESS, **empty)

    def _end(self, error: Failed | None) -> None:
        round_, self._round, self._leader = self._round, None, None
        if round_ is not None:
            round_.error = error
            round_.over.set()

    def _heartbeat(self, peer: Peer, request: Request) -> None:
        error = wire.NONE if self._leader is not None else wire.REBALANCE_IN_PROGRESS
        peer.reply(request, throttle_time_ms=0, error_code=error)

    def _leave_group(self, peer: Peer, request: Request) -> None:
        peer.reply(request, throttle_time_ms=0, error_code=wire.NONE, members=[])


def _members(members: list[dict[str, Any]]) -> list[Any]:
    return [wire.types().JoinGroupResponse.JoinGroupResponseMember(**member) for member in members]


def _versions() -> list[Any]:
    return [
        wire.types().ApiVersionsResponse.ApiVersion(api_key=key, min_version=low, max_version=high)
        for key, (low, high) in sorted(wire.VERSIONS.items())
    ]


def _offset_fetch(peer: Peer, request: Request) -> None:
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
        for topic in request.body.topics or ()
    ]
    peer.reply(request, throttle_time_ms=0, topics=topics, error_code=wire.NONE)


def _offset_commit(peer: Peer, request: Request) -> None:
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
        for topic in request.body.topics or ()
    ]
    peer.reply(request, throttle_time_ms=0, topics=topics)


def _list_offsets(peer: Peer, request: Request) -> None:
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
        for topic in request.body.topics or ()
    ]
    peer.reply(request, throttle_time_ms=0, topics=topics)


def _fetch(peer: Peer, request: Request) -> None:
    # Nobody is given a partition to read; one that asks all the same finds nothing.
    peer.reply(request, throttle_time_ms=0, error_code=wire.NONE, session_id=0, responses=[])
