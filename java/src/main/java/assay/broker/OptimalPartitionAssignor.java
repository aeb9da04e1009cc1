package assay.broker;

import org.apache.kafka.coordinator.group.api.assignor.ConsumerGroupPartitionAssignor;
import org.apache.kafka.coordinator.group.api.assignor.GroupAssignment;
import org.apache.kafka.coordinator.group.api.assignor.GroupSpec;
import org.apache.kafka.coordinator.group.api.assignor.SubscribedTopicDescriber;

/**
 * Partitions as even as can be; of these assignments, one with the fewest moves.
 *
 * <p>Name the class in the broker's {@code group.consumer.assignors}. It keeps nothing from one call
 * to the next and may be called by several threads at once. The assignment does not depend on the
 * order in which members and topics come.
 */
public class OptimalPartitionAssignor implements ConsumerGroupPartitionAssignor {
    @Override
    public String name() {
        return "optimal";
    }

    @Override
    public GroupAssignment assign(GroupSpec group, SubscribedTopicDescriber topics) {
        return new BrokerGroup(group, topics, false).assigned(name());
    }
}
