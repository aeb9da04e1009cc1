package assay.broker;

import assay.optimal.Holdings;
import assay.optimal.Optimum;
import assay.optimal.Plan;
import assay.optimal.Problem;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.IntConsumer;
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

    private static final int DIGIT = 8;

    private final GroupSpec group;
    private final SubscribedTopicDescriber describer;
    private final String[] members;
    private final int[] order;
    private final Uuid[] topics;
    private final TopicTable indices;
    private final int[] start;
    private final MemberAssignment[] before;
    private final BitSet changed = new BitSet();
    private final int[] subscriptionOf;
    private final int[][] reads;
    private final Problem.Racks racks;

    BrokerGroup(GroupSpec group, SubscribedTopicDescriber describer, boolean rackAware) {
        this.group = group;
        this.describer = describer;
        members = group.memberIds().toArray(new String[0]);
        order = order(members);
        subscriptionOf = new int[members.length];
        List<Set<Uuid>> subscriptions = subscriptions();

        topics = topics(subscriptions);
        start = new int[topics.length + 1];
        indices = new TopicTable(topics);
        long count = 0;
        for (int topic = 0; topic < topics.length; topic++) {
            // A topic that does not exist has -1 partitions.
            count += Math.max(0, describer.numPartitions(topics[topic]));
            if (count > Integer.MAX_VALUE) {
                throw new PartitionAssignorException("the topics have more than 2,147,483,647 partitions together");
            }
            start[topic + 1] = (int) count;
        }
        reads = new int[subscriptions.size()][];
        for (int i = 0; i < reads.length; i++) {
            reads[i] = subscriptions.get(i).stream().mapToInt(indices::get).toArray();
        }
        before = new MemberAssignment[members.length];
        racks = rackAware ? racks() : null;
    }

    /** Returns the places of members or topics by their hash, then by their id: few have the same hash. */
    private static <T extends Comparable<T>> int[] order(T[] ids) {
        int[] hash = new int[ids.length];
        int[] from = new int[ids.length];
        for (int i = 0; i < ids.length; i++) {
            hash[i] = ids[i].hashCode();
            from[i] = i;
        }
        int[] to = new int[ids.length];
        for (int shift = 0; shift < Integer.SIZE; shift += DIGIT) {
            int[] at = new int[(1 << DIGIT) + 1];
            for (int value : hash) {
                at[(value >>> shift & (1 << DIGIT) - 1) + 1]++;
            }
            for (int digit = 0; digit < 1 << DIGIT; digit++) {
                at[digit + 1] += at[digit];
            }
            for (int id : from) {
                to[at[hash[id] >>> shift & (1 << DIGIT) - 1]++] = id;
            }
            int[] other = from;
            from = to;
            to = other;
        }
        int[] sorted = from;
        for (int first = 0, i = 1; i <= sorted.length; i++) {
            if (i == sorted.length || hash[sorted[i]] != hash[sorted[first]]) {
                if (i - first > 1) {
                    int[] same = Arrays.stream(sorted, first, i)
                            .boxed()
                            .sorted(Comparator.comparing(id -> ids[id]))
                            .mapToInt(Integer::intValue)
                            .toArray();
                    System.arraycopy(same, 0, sorted, first, same.length);
                }
                first = i;
            }
        }
        return sorted;
    }

    /** Returns the subscriptions that differ, and says which each member has. */
    private List<Set<Uuid>> subscriptions() {
        List<Set<Uuid>> subscriptions = new ArrayList<>();
        Map<Set<Uuid>, Integer> same = new IdentityHashMap<>();
        Map<Set<Uuid>, Integer> equal = new HashMap<>();
        boolean isOne = group.subscriptionType() == SubscriptionType.HOMOGENEOUS;
        for (int member = 0; member < (isOne ? Math.min(1, members.length) : members.length); member++) {
            Set<Uuid> subscription = group.memberSubscription(members[member]).subscribedTopicIds();
            Integer known = same.get(subscription);
            if (known == null) {
                // A broker's set has no toArray, counts topics that do not exist, and hashes all metadata.
                Set<Uuid> existing = new HashSet<>(subscription);
                known = equal.putIfAbsent(existing, subscriptions.size());
                if (known == null) {
                    known = subscriptions.size();
                    subscriptions.add(existing);
                }
                same.put(subscription, known);
            }
            subscriptionOf[member] = known;
        }
        return subscriptions;
    }

    private static Uuid[] topics(List<Set<Uuid>> subscriptions) {
        Set<Uuid> all = new HashSet<>();
        subscriptions.forEach(all::addAll);
        Uuid[] found = all.toArray(new Uuid[0]);
        return Arrays.stream(order(found)).mapToObj(i -> found[i]).toArray(Uuid[]::new);
    }

    /** What members hold, as the broker says it. */
    private final class Said extends Holdings {
        private Map<Uuid, Set<Integer>> of(int member) {
            if (before[member] == null) {
                before[member] = group.memberAssignment(members[member]);
            }
            return before[member].partitions();
        }

        @Override
        protected int size(int member) {
            int size = 0;
            for (Set<Integer> numbers : of(member).values()) {
                size += numbers.size();
            }
            return size;
        }

        @Override
        protected void count(int member, Counts counts) {
            for (Map.Entry<Uuid, Set<Integer>> entry : of(member).entrySet()) {
                int topic = indices.get(entry.getKey());
                if (topic < 0) {
                    changed.set(member);
                } else {
                    counts.add(topic, entry.getValue().size());
                }
            }
        }

        @Override
        protected int[] partitions(int member) {
            int[] result = new int[size(member)];
            int at = 0;
            for (Map.Entry<Uuid, Set<Integer>> entry : of(member).entrySet()) {
                int topic = indices.get(entry.getKey());
                for (int number : topic < 0 ? Set.<Integer>of() : entry.getValue()) {
                    result[at++] = start[topic] + number;
                }
            }
            return Arrays.copyOf(result, at);
        }

        @Override
        protected void free(int topic, IntConsumer free) {
            Uuid id = topics[topic];
            int count = start[topic + 1] - start[topic];
            for (int number = 0; number < count; number++) {
                if (!group.isPartitionAssigned(id, number)) {
                    free.accept(start[topic] + number);
                }
            }
        }
    }

    /** Returns the plan where members hold the same, or what does not exist: the first of them has it. */
    private Plan distinct() {
        int[] owner = new int[start[topics.length]];
        Arrays.fill(owner, Problem.NOBODY);
        for (int member : order) {
            for (Map.Entry<Uuid, Set<Integer>> entry : before[member].partitions().entrySet()) {
                int topic = indices.get(entry.getKey());
                if (topic < 0) {
                    changed.set(member);
                    continue;
                }
                for (int number : entry.getValue()) {
                    int partition = start[topic] + number;
                    if (number >= 0 && partition < start[topic + 1] && owner[partition] == Problem.NOBODY) {
                        owner[partition] = member;
                    } else {
                        changed.set(member);
                    }
                }
            }
        }
        try {
            Holdings held = Holdings.of(owner, members.length, start);
            return Optimum.of(new Problem(order, subscriptionOf, reads, start, held, racks));
        } catch (Holdings.Contradiction never) {
            throw new IllegalStateException(never);
        }
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
        int[] replicas = new int[start[topics.length]];
        for (int topic = 0; topic < topics.length; topic++) {
            for (int p = start[topic]; p < start[topic + 1]; p++) {
                replicas[p] = number(known, describer.racksForPartition(topics[topic], p - start[topic]));
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

    private Plan plan() {
        try {
            return Optimum.of(new Problem(order, subscriptionOf, reads, start, new Said(), racks));
        } catch (Holdings.Contradiction said) {
            return distinct();
        }
    }

    GroupAssignment assigned(String name) {
        Plan plan = plan();
        if (plan.isBest()) {
            LOG.info("{}: {} partitions for {} members, {} moved: no assignment is better",
                    name, start[topics.length], members.length, plan.moved());
        } else {
            LOG.warn("{}: {} partitions for {} members, {} moved: the best assignment takes more work than "
                    + "is allowed, this one is valid", name, start[topics.length], members.length, plan.moved());
        }
        Map<String, MemberAssignment> result = new HashMap<>(1 + members.length * 4 / 3);
        for (int member = 0; member < members.length; member++) {
            boolean isNew = changed.get(member) || plan.isChanged(member);
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
                return Map.of(topics[topic], numbers);
            }
            if (first == 0) {
                result = new HashMap<>();
            }
            result.put(topics[topic], numbers);
        }
        return result;
    }

    private record Held(Map<Uuid, Set<Integer>> partitions) implements MemberAssignment {}
}
