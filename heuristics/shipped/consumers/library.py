"""Library: the clients whose assignors are called in memory, by a program in their language."""

from __future__ import annotations

from heuristics.shipped.client import COOPERATIVE
from heuristics.shipped.consumers.go_driver import GoLibrary
from heuristics.shipped.consumers.node_driver import NodeLibrary

# Since 1.22, where balance, racks and moves became exact, franz-go uses racks only with an option
# that is off by default, as it is here; before that, it uses the rack of a partition's leader.
# Source: ``kgo.RangeBalancer``, ``RoundRobinBalancer``, ``StickyBalancer`` and
# ``CooperativeStickyBalancer``, called as ``balanceGroup`` does.
FRANZ_GO = GoLibrary(
    name="franz-go",
    source="franz-go's balancers, called in memory",
    module="github.com/twmb/franz-go",
    listed=("1.22.2", "1.21.7"),
)

# Source: ``NewBalanceStrategyRange``, ``RoundRobin``, ``Sticky`` and ``CooperativeSticky``, called
# as ``consumerGroup.balance`` does.
SARAMA = GoLibrary(
    name="sarama",
    source="sarama's balance strategies, called in memory",
    module="github.com/IBM/sarama",
    listed=("1.61.1",),
    since={COOPERATIVE: ("1.60.1", "eager")},
)

# The leader in KafkaJS is the first member. It assigns the topics that it reads itself to all
# members, and no others, as it takes all subscriptions to be equal.
# Source: ``PartitionAssigners.roundRobin``, called as ``ConsumerGroup`` does when it syncs.
KAFKAJS = NodeLibrary(
    name="kafkajs",
    source="KafkaJS's assigner, called in memory",
    assignors=("RoundRobinAssigner",),
    listed=("2.2.4",),
)


def go_library_of(client: str) -> GoLibrary:
    """Return a client in Go by its name."""
    return {one.name: one for one in (FRANZ_GO, SARAMA)}[client]
