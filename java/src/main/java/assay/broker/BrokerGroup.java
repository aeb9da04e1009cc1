package assay.broker;

import assay.optimal.Optimum;
import assay.optimal.Problem;
import java.util.Arrays;
import java.util.BitSet;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.coordinator.group.api.assignor.GroupAssignment;
import org.apache.kafka.coordinator.group.api.assignor.GroupSpec;
import org.apache.kafka.coordinator.group.api.assignor.MemberAssignment;
import org.apache.kafka.coordinator.group.api.assignor.SubscribedTopicDescriber;
import org.apache.kafka.coordinator.group.api.assignor.SubscriptionType;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** A group as the broker describes it, brought into an order of its own, and its best assignment. */
final class BrokerGroup {
    private static final Logger LOG = LoggerFactory.getLogger(BrokerGroup.class);

    // A string keeps its hash, and few have the same: much less to compare than strings.
    private static final Comparator<String> ORDER =
            Comparator.comparingInt(String::hashCode).thenComparing(Comparator.naturalOrder());

    private final GroupSpec group;
    private final String[] members;
    private final Uuid[] topics;
    private final int[] start;
    private final int[] owner;
    private final boolean[] changed;
    private final Problem problem;

    BrokerGroup(GroupSpec group, SubscribedTopicDescriber describer, boolean rackAware) {
        this.group = group;
        members = group.memberIds().toArray(new String[0]);
        Arrays.sort(members, ORDER);
        changed = new boolean[members.length];
        int[] subscriptionOf = new int[members.length];
        List<Set<Uuid>> subscriptions = new java.util.ArrayList<>();
        subscriptions(subscriptionOf, subscriptions);

        topics = topics(subscriptions);
        start = new int[topics.length + 1];
        Map<Uuid, Integer> indices = new HashMap<>(2 * topics.length);
        for (int topic = 0; topic < topics.length; topic++) {
            // A topic that does not exist has -1 partitions.
            start[topic + 1] = start[topic] + Math.max(0, describer.numPartitions(topics[topic]));
            indices.put(topics[topic], topic);
        }
        int[][] reads = new int[subscriptions.size()][];
        for (int i = 0; i < reads.length; i++) {
            reads[i] = subscriptions.get(i).stream().mapToInt(indices::get).sorted().toArray();
        }
        owner = owners(indices);
        problem = new Problem(subscriptionOf, reads, start, owner, rackAware ? racks(describer) : null);
    }

    private void subscriptions(int[] subscriptionOf, List<Set<Uuid>> subscriptions) {
        if (group.subscriptionType() == SubscriptionType.HOMOGENEOUS && members.length > 0) {
            subscriptions.add(group.memberSubscription(members[0]).subscribedTopicIds());
            return;
        }
        Map<Set<Uuid>, Integer> same = new IdentityHashMap<>();
        Map<Set<Uuid>, Integer> equal = new HashMap<>();
        for (int member = 0; member < members.length; member++) {
            Set<Uuid> subscription = group.memberSubscription(members[member]).subscribedTopicIds();
            subscriptionOf[member] = same.computeIfAbsent(subscription, one -> equal.computeIfAbsent(one, any -> {
                subscriptions.add(any);
                return subscriptions.size() - 1;
            }));
        }
    }

    private static Uuid[] topics(List<Set<Uuid>> subscriptions) {
        if (subscriptions.size() == 1) {
            Uuid[] topics = subscriptions.get(0).toArray(new Uuid[0]);
            Arrays.sort(topics);
            return topics;
        }
        Set<Uuid> all = new TreeSet<>();
        subscriptions.forEach(all::addAll);
        return all.toArray(new Uuid[0]);
    }

    private int[] owners(Map<Uuid, Integer> indices) {
        int[] owners = new int[start[topics.length]];
        Arrays.fill(owners, Problem.NOBODY);
        for (int member = 0; member < members.length; member++) {
            for (Map.Entry<Uuid, Set<Integer>> held :
                    group.memberAssignment(members[member]).partitions().entrySet()) {
                Integer topic = indices.get(held.getKey());
                if (topic == null) {
                    changed[member] = true;
                    continue;
                }
                for (int number : held.getValue()) {
                    int partition = start[topic] + number;
                    if (number >= 0 && partition < start[topic + 1] && owners[partition] == Problem.NOBODY) {
                        owners[partition] = member;
                    } else {
                        changed[member] = true;
                    }
                }
            }
        }
        return owners;
    }

    private Problem.Racks racks(SubscribedTopicDescriber describer) {
        Map<String, Integer> numbers = new HashMap<>();
        int[] ofMember = new int[members.length];
        for (int member = 0; member < members.length; member++) {
            ofMember[member] = group.memberSubscription(members[member])
                    .rackId()
                    .map(rack -> number(numbers, rack))
                    .orElse(-1);
        }
        Map<Set<String>, Integer> known = new HashMap<>();
        int[] replicas = new int[owner.length];
        for (int topic = 0; topic < topics.length; topic++) {
            for (int p = start[topic]; p < start[topic + 1]; p++) {
                replicas[p] = number(known, describer.racksForPartition(topics[topic], p - start[topic]));
            }
        }
        BitSet[] sets = new BitSet[known.size()];
        known.forEach((racks, set) -> {
            sets[set] = new BitSet();
            racks.forEach(rack -> sets[set].set(number(numbers, rack)));
        });
        return new Problem.Racks(ofMember, replicas, sets);
    }

    private static <T> int number(Map<T, Integer> numbers, T one) {
        Integer known = numbers.putIfAbsent(one, numbers.size());
        return known == null ? numbers.size() - 1 : known;
    }

    GroupAssignment assigned(String name) {
        Optimum.Plan plan = Optimum.of(problem);
        int moved = 0;
        int[] load = new int[members.length];
        for (int p = 0; p < owner.length; p++) {
            int to = plan.owner[p];
            if (to >= 0) {
                load[to]++;
            }
            if (to != owner[p]) {
                if (owner[p] >= 0) {
                    changed[owner[p]] = true;
                    moved++;
                }
                if (to >= 0) {
                    changed[to] = true;
                }
            }
        }
        if (plan.isBest) {
            LOG.info("{}: best assignment of {} partitions to {} members, {} moved",
                    name, owner.length, members.length, moved);
        } else {
            LOG.warn("{}: {} partitions and {} members take more work than is allowed; the assignment is "
                    + "valid and may not be the best, {} moved", name, owner.length, members.length, moved);
        }
        Map<String, MemberAssignment> result = new HashMap<>(2 * members.length);
        Map<Uuid, Set<Integer>>[] held = held(plan.owner);
        for (int member = 0; member < members.length; member++) {
            Map<Uuid, Set<Integer>> own = changed[member]
                    ? held[member]
                    : group.memberAssignment(members[member]).partitions();
            result.put(members[member], new Held(own));
        }
        return new GroupAssignment(result);
    }

    /** Returns what each member has, where it is not what it had. */
    @SuppressWarnings({"unchecked", "rawtypes"})
    private Map<Uuid, Set<Integer>>[] held(int[] owners) {
        Map<Uuid, Set<Integer>>[] held = new Map[members.length];
        for (int member = 0; member < members.length; member++) {
            if (changed[member]) {
                held[member] = new HashMap<>();
            }
        }
        for (int topic = 0; topic < topics.length; topic++) {
            for (int p = start[topic]; p < start[topic + 1]; p++) {
                if (owners[p] >= 0 && changed[owners[p]]) {
                    held[owners[p]].computeIfAbsent(topics[topic], any -> new HashSet<>()).add(p - start[topic]);
                }
            }
        }
        return held;
    }

    private record Held(Map<Uuid, Set<Integer>> partitions) implements MemberAssignment {}
}
