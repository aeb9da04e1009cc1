"""The sticky assignor of aiokafka, as a program for conformance.py. Replace assign() by yours."""

import json
import sys

from aiokafka.cluster import ClusterMetadata
from aiokafka.coordinator.assignors.sticky.sticky_assignor import StickyPartitionAssignor
from aiokafka.coordinator.protocol import ConsumerProtocolMemberAssignment
from aiokafka.protocol.metadata import MetadataResponse_v1


def assign(group):
    """Return {member: {topic: [partition, ...]}}."""
    read = {t for said in group["members"].values() for t in said["subscription"]}
    listed = [
        (0, t, False, [(0, n, 1, [1], [1]) for n in range(said["partitions"])])
        for t, said in group["topics"].items()
        if t in read
    ]
    cluster = ClusterMetadata()
    cluster.update_metadata(MetadataResponse_v1([(1, "localhost", 9092, None)], 1, listed))
    members = {}
    for member, said in group["members"].items():
        # The client keeps on the class what its one member was given.
        own = type("One", (StickyPartitionAssignor,), {})
        if said["owned"]:
            own.on_assignment(ConsumerProtocolMemberAssignment(0, [*said["owned"].items()], b""))
        members[member] = own.metadata(sorted(said["subscription"]))
    made = type("Leader", (StickyPartitionAssignor,), {}).assign(cluster, members)
    return {m: {t: [*numbers] for t, numbers in one.assignment} for m, one in made.items()}


for line in sys.stdin:
    print(json.dumps(assign(json.loads(line))), flush=True)
