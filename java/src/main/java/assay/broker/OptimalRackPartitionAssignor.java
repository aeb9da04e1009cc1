package assay.broker;

import org.apache.kafka.coordinator.group.api.assignor.ConsumerGroupPartitionAssignor;
import org.apache.kafka.coordinator.group.api.assignor.GroupAssignment;
import org.apache.kafka.coordinator.group.api.assignor.GroupSpec;
import org.apache.kafka.coordinator.group.api.assignor.SubscribedTopicDescriber;

/**
 * Partitions as even as can be; of these assignments, those in which most partitions are with a
 * member in a rack that has a replica; of these, one with the fewest moves.
 *
 * <p>Otherwise as {@link OptimalPartitionAssignor}. A member without a rack is in none that has one.
 */
public class OptimalRackPartitionAssignor implements ConsumerGroupPartitionAssignor {
    @Override
    public String name() {
        return "optimal-racks";
    }

    @Override
    public GroupAssignment assign(GroupSpec group, SubscribedTopicDescriber topics) {
        return new BrokerGroup(group, topics, true).assigned(name());
    }
}
