"""Members that join classic groups with single requests, and with any bytes as their metadata."""

from kafka.admin import KafkaAdminClient
from kafka.protocol.admin import DescribeGroupsRequest
from kafka.protocol.consumer import JoinGroupRequest, SyncGroupRequest
from kafka.protocol.consumer.metadata import (
    ConsumerProtocolAssignment,
    ConsumerProtocolSubscription,
)
from kafka.protocol.metadata import FindCoordinatorRequest

from tests.processes import until

SESSION_MS = 30_000
MEMBER_ID_REQUIRED = 79
GROUP_NOT_FOUND = 69


def subscription(topics):
    return ConsumerProtocolSubscription(
        topics=topics, user_data=None, owned_partitions=[], version=1
    ).encode(version=1)


def assignment(held):
    kind = ConsumerProtocolAssignment
    listed = [kind.TopicPartition(topic=t, partitions=numbers) for t, numbers in held.items()]
    return kind(assigned_partitions=listed, user_data=None, version=1).encode(version=1)


class Members:
    """Members of classic groups on a one-node broker; they send no heartbeats and never leave."""

    def __init__(self, bootstrap):
        self._bootstrap = bootstrap

    def __enter__(self):
        self._admin = KafkaAdminClient(bootstrap_servers=self._bootstrap)
        self._manager = self._admin._manager  # noqa: SLF001
        # The broker creates its topic of groups only when the first member asks to join.
        until(self._ready)
        return self

    def __exit__(self, *_):
        self._admin.close()

    def join(self, group, topics, held):
        """Join as the leader, and assign this member the partitions `held`."""
        self.join_with(group, subscription(topics), assignment(held))

    def join_with(self, group, metadata, assigned, *, protocol_type="consumer", protocol="range"):
        """Join as the leader with these bytes as metadata, and assign this member `assigned`."""
        protocols = (protocol_type, protocol)
        joined = self._ask(self._join(group, "", metadata, *protocols))
        if joined.error_code == MEMBER_ID_REQUIRED:
            joined = self._ask(self._join(group, joined.member_id, metadata, *protocols))
        assert joined.error_code == 0, joined
        each = SyncGroupRequest.SyncGroupRequestAssignment
        synced = self._ask(
            SyncGroupRequest(
                group_id=group,
                generation_id=joined.generation_id,
                member_id=joined.member_id,
                protocol_type=protocol_type,
                protocol_name=protocol,
                assignments=[each(member_id=joined.member_id, assignment=assigned)],
                max_version=5,
            )
        )
        assert synced.error_code == 0, synced

    def wait_to_join(self, group, topics):
        """Ask to join, and do not wait for the answer: the other member never joins again."""
        first = self._ask(self._join(group, "", subscription(topics)))
        assert first.error_code == MEMBER_ID_REQUIRED
        second = self._join(group, first.member_id, subscription(topics))
        self._manager.call_soon(lambda: self._manager.send(second, node_id=1))

    def _ready(self):
        self._ask(FindCoordinatorRequest(coordinator_keys=["any"], min_version=4))
        (found,) = self._ask(DescribeGroupsRequest(groups=["any"])).groups
        return found.error_code == GROUP_NOT_FOUND

    def _join(self, group, member, metadata, protocol_type="consumer", protocol="range"):
        offered = JoinGroupRequest.JoinGroupRequestProtocol
        return JoinGroupRequest(
            group_id=group,
            session_timeout_ms=SESSION_MS,
            rebalance_timeout_ms=SESSION_MS,
            member_id=member,
            group_instance_id=None,
            protocol_type=protocol_type,
            protocols=[offered(name=protocol, metadata=metadata)],
            max_version=6,
        )

    def _ask(self, request):
        return self._manager.run(lambda: self._manager.send(request, node_id=1))
