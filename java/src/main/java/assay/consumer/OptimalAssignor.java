package assay.consumer;

import java.nio.ByteBuffer;
import java.util.Set;
import org.apache.kafka.clients.consumer.ConsumerGroupMetadata;
import org.apache.kafka.clients.consumer.ConsumerPartitionAssignor;
import org.apache.kafka.common.Cluster;

/**
 * Partitions as even as can be; of these assignments, one with the fewest moves.
 *
 * <p>Name the class in {@code partition.assignment.strategy} of each consumer. The consumer gives up
 * all that it has before it joins; {@link CooperativeOptimalAssignor} does not, and members of both
 * kinds may be in one group, as may those with the assignor of this name for kafka-python and
 * aiokafka. The plan does not depend on the order in which members and topics come.
 */
public class OptimalAssignor implements ConsumerPartitionAssignor {
    private Claim claim = Claim.NONE;

    /** The topics of the plan that it made last; none where another member made the last one. */
    private Set<String> led = Set.of();

    private boolean hasLed;

    @Override
    public String name() {
        return "assay-optimal";
    }

    @Override
    public synchronized ByteBuffer subscriptionUserData(Set<String> topics) {
        boolean holds = supportedProtocols().contains(RebalanceProtocol.COOPERATIVE);
        return claim.about(topics, holds).packed();
    }

    @Override
    public synchronized GroupAssignment assign(Cluster cluster, GroupSubscription group) {
        Rebalance rebalance = new Rebalance(group.groupSubscription(), cluster, led);
        led = rebalance.topics();
        hasLed = true;
        return rebalance.assigned(name());
    }

    @Override
    public synchronized void onAssignment(Assignment assignment, ConsumerGroupMetadata group) {
        claim = Claim.after(assignment);
        if (!hasLed) {
            led = Set.of();
        }
        hasLed = false;
    }
}
