package assay.consumer;

import java.util.List;

/**
 * {@link OptimalAssignor} for a consumer that goes on reading what does not move (KIP-429).
 *
 * <p>It may stand beside Kafka's {@code CooperativeStickyAssignor} in one list. An eager assignor
 * beside it is refused by the client when it starts: list {@link OptimalAssignor} there.
 */
public class CooperativeOptimalAssignor extends OptimalAssignor {
    @Override
    public List<RebalanceProtocol> supportedProtocols() {
        return List.of(RebalanceProtocol.COOPERATIVE);
    }
}
