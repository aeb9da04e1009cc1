"""What the runner calls: here the sticky assignor of aiokafka. Replace it by your own."""

from aiokafka.cluster import ClusterMetadata
from aiokafka.coordinator.assignors.sticky.sticky_assignor import StickyPartitionAssignor
from aiokafka.coordinator.protocol import ConsumerProtocolMemberAssignment
from aiokafka.protocol.metadata import MetadataResponse_v1

# Whether members keep what they own while they join: then assign() is called round by round.
COOPERATIVE = False


def assign(group):
    """Return {member: {topic: [partition, ...]}} of an assay-group/1 document."""
    topics = {t: s if isinstance(s, int) else s["partitions"] for t, s in group["topics"].items()}
    read = {t for said in group["members"].values() for t in said["subscription"]}
    listed = [
        (0, t, False, [(0, n, 1, [1], [1]) for n in range(count)])
        for t, count in topics.items()
        if t in read
    ]
    cluster = ClusterMetadata()
    cluster.update_metadata(MetadataResponse_v1([(1, "localhost", 9092, None)], 1, listed))
    members = {}
    for member, said in group["members"].items():
        # The client keeps on the class what its one member was given.
        own = type("One", (StickyPartitionAssignor,), {})
        if said.get("owned"):
            own.on_assignment(ConsumerProtocolMemberAssignment(0, [*said["owned"].items()], b""))
        members[member] = own.metadata(sorted(said["subscription"]))
    made = type("Leader", (StickyPartitionAssignor,), {}).assign(cluster, members)
    return {m: {t: [*numbers] for t, numbers in one.assignment} for m, one in made.items()}
