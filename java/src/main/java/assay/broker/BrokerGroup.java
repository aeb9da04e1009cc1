package assay.broker;

import assay.optimal.Holdings;
import assay.optimal.Optimum;
import assay.optimal.Plan;
import assay.optimal.Problem;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.HashMap;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.coordinator.group.api.assignor.GroupAssignment;
import org.apache.kafka.coordinator.group.api.assignor.GroupSpec;
import org.apache.kafka.coordinator.group.api.assignor.MemberAssignment;
import org.apache.kafka.coordinator.group.api.assignor.PartitionAssignorException;
import org.apache.kafka.coordinator.group.api.assignor.SubscribedTopicDescriber;
import org.apache.kafka.coordinator.group.api.assignor.SubscriptionType;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** A group as the broker describes it, brought into an order of its own, and its best assignment. */
final class BrokerGroup {
    private static final Logger LOG = LoggerFactory.getLogger(BrokerGroup.class);

    private final GroupSpec group;
    private final SubscribedTopicDescriber describer;
    private final String[] members;
    private final int[] subscriptionOf;
    private final int[][] reads;
    private final TopicTable topics = new TopicTable();
    private final int[] start;
    private final MemberAssignment[] before;
    private final Problem.Racks racks;

    BrokerGroup(GroupSpec group, SubscribedTopicDescriber describer, boolean rackAware) {
        this.group = group;
        this.describer = describer;
        members = HashOrder.of(group.memberIds().toArray(new String[0]));
        before = new MemberAssignment[members.length];
        for (int member = 0; member < members.length; member++) {
            before[member] = group.memberAssignment(members[member]);
        }
        subscriptionOf = new int[members.length];
        List<BitSet> subscriptions = subscriptions();
        int[] index = topics.sort();
        reads = new int[subscriptions.size()][];
        for (int i = 0; i < reads.length; i++) {
            reads[i] = subscriptions.get(i).stream().map(topic -> index[topic]).toArray();
        }
        start = new int[topics.size() + 1];
        long count = 0;
        for (int topic = 0; topic < topics.size(); topic++) {
            // A topic that does not exist has -1 partitions.
            count += Math.max(0, describer.numPartitions(topics.id(topic)));
            if (count > Integer.MAX_VALUE) {
                throw new PartitionAssignorException("the topics have more than 2,147,483,647 partitions together");
            }
            start[topic + 1] = (int) count;
        }
        racks = rackAware ? racks() : null;
    }

    /** Returns the subscriptions that differ, as indices of topics, and says which each member has. */
    private List<BitSet> subscriptions() {
        List<BitSet> subscriptions = new ArrayList<>();
        Map<Set<Uuid>, Integer> same = new IdentityHashMap<>();
        Map<BitSet, Integer> equal = new HashMap<>();
        boolean isOne = group.subscriptionType() == SubscriptionType.HOMOGENEOUS;
        for (int member = 0; member < (isOne ? Math.min(1, members.length) : members.length); member++) {
            Set<Uuid> subscription = group.memberSubscription(members[member]).subscribedTopicIds();
            Integer known = same.get(subscription);
            if (known == null) {
                // A broker's set has no toArray, counts topics that do not exist, and hashes all metadata.
                BitSet indices = new BitSet();
                for (Uuid topic : subscription) {
                    indices.set(topics.add(topic));
                }
                known = equal.putIfAbsent(indices, subscriptions.size());
                if (known == null) {
                    known = subscriptions.size();
                    subscriptions.add(indices);
                }
                same.put(subscription, known);
            }
            subscriptionOf[member] = known;
        }
        return subscriptions;
    }

    private void hold(int member, Holdings.Taker taker) {
        // A loop over entries would make an object for each of them.
        before[member].partitions().forEach((id, numbers) -> taker.take(topics.get(id), numbers.toArray()));
    }

    private Problem.Racks racks() {
        Map<String, Integer> racks = new HashMap<>();
        int[] ofMember = new int[members.length];
        for (int member = 0; member < members.length; member++) {
            ofMember[member] = group.memberSubscription(members[member])
                    .rackId()
                    .map(rack -> number(racks, rack))
                    .orElse(-1);
        }
        Map<Set<String>, Integer> known = new HashMap<>();
        int[] replicas = new int[start[topics.size()]];
        for (int topic = 0; topic < topics.size(); topic++) {
            for (int p = start[topic]; p < start[topic + 1]; p++) {
                replicas[p] = number(known, describer.racksForPartition(topics.id(topic), p - start[topic]));
            }
        }
        BitSet[] sets = new BitSet[known.size()];
        known.forEach((names, set) -> {
            sets[set] = new BitSet();
            names.forEach(name -> sets[set].set(number(racks, name)));
        });
        return new Problem.Racks(ofMember, replicas, sets);
    }

    private static <T> int number(Map<T, Integer> numbers, T one) {
        Integer known = numbers.putIfAbsent(one, numbers.size());
        return known == null ? numbers.size() - 1 : known;
    }

    GroupAssignment assigned(String name) {
        Plan plan = Optimum.of(new Problem(subscriptionOf, reads, start, this::hold, racks));
        int partitions = start[topics.size()];
        if (plan.isBest()) {
            LOG.info("{}: {} partitions for {} members, {} moved: no assignment is better",
                    name, partitions, members.length, plan.moved());
        } else {
            LOG.warn("{}: {} partitions for {} members, {} moved: the best assignment takes more work than "
                    + "is allowed, this one is valid", name, partitions, members.length, plan.moved());
        }
        Map<String, MemberAssignment> result = new HashMap<>(1 + members.length * 4 / 3);
        for (int member = 0; member < members.length; member++) {
            boolean isNew = plan.isChanged(member);
            result.put(members[member], isNew ? new Held(byTopic(plan.partitions(member))) : before[member]);
        }
        return new GroupAssignment(result);
    }

    private Map<Uuid, Set<Integer>> byTopic(int[] partitions) {
        Map<Uuid, Set<Integer>> result = Map.of();
        int end;
        for (int first = 0; first < partitions.length; first = end) {
            int topic = Arrays.binarySearch(start, partitions[first]);
            topic = topic < 0 ? -topic - 2 : topic;
            // Of topics without partitions, which begin where the next one does, the last has it.
            while (start[topic + 1] == start[topic]) {
                topic++;
            }
            end = first;
            while (end < partitions.length && partitions[end] < start[topic + 1]) {
                partitions[end++] -= start[topic];
            }
            Set<Integer> numbers = new PartitionSet(Arrays.copyOfRange(partitions, first, end));
            if (end - first == partitions.length) {
                return Map.of(topics.id(topic), numbers);
            }
            if (first == 0) {
                result = new HashMap<>();
            }
            result.put(topics.id(topic), numbers);
        }
        return result;
    }

    private record Held(Map<Uuid, Set<Integer>> partitions) implements MemberAssignment {}
}
