package assay;

import java.nio.IntBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.coordinator.group.api.assignor.GroupAssignment;
import org.apache.kafka.coordinator.group.api.assignor.MemberAssignment;
import org.apache.kafka.coordinator.group.api.assignor.PartitionAssignor;
import org.apache.kafka.coordinator.group.api.assignor.SubscribedTopicDescriber;
import org.apache.kafka.coordinator.group.api.assignor.SubscriptionType;
import org.apache.kafka.coordinator.group.modern.Assignment;
import org.apache.kafka.coordinator.group.modern.GroupSpecImpl;
import org.apache.kafka.coordinator.group.modern.MemberSubscriptionAndAssignmentImpl;

/** A group for which the broker calls one of its assignors. */
public final class BrokerGroup {
    private final Class<?> assignor;
    private final GroupArrays arrays;
    private final Uuid[] ids;
    private final Topics topics;
    private final GroupSpecImpl spec;

    public BrokerGroup(String assignor, GroupArrays arrays) throws ReflectiveOperationException {
        this.assignor = Class.forName(assignor);
        this.arrays = arrays;
        ids = new Uuid[arrays.partitions.length];
        for (int topic = 0; topic < ids.length; topic++) {
            ids[topic] = new Uuid(1, topic);
        }
        topics = new Topics(arrays, ids);
        spec = spec();
    }

    /** Calls the assignor so many times; keeps the last result in the arrays, returns the nanoseconds. */
    public long[] timed(int runs) throws ReflectiveOperationException {
        long[] nanoseconds = new long[runs];
        Map<String, MemberAssignment> result = new HashMap<>();
        for (int run = 0; run < runs; run++) {
            PartitionAssignor broker = (PartitionAssignor) assignor.getConstructor().newInstance();
            long started = System.nanoTime();
            result = broker.assign(spec, topics).members();
            nanoseconds[run] = System.nanoTime() - started;
        }
        read(result);
        return nanoseconds;
    }

    private GroupSpecImpl spec() {
        Map<String, MemberSubscriptionAndAssignmentImpl> members = new HashMap<>();
        Map<Uuid, Map<Integer, String>> inverted = new HashMap<>();
        Map<IntBuffer, Set<Uuid>> subscriptions = new HashMap<>();
        for (int member = 0; member < arrays.members.length; member++) {
            String name = arrays.members[member];
            Map<Uuid, Set<Integer>> owned = new HashMap<>();
            for (int i = arrays.ownedStarts[member]; i < arrays.ownedStarts[member + 1]; i++) {
                Uuid id = ids[arrays.ownedTopics[i]];
                owned.computeIfAbsent(id, any -> new HashSet<>()).add(arrays.ownedNumbers[i]);
                inverted.computeIfAbsent(id, any -> new HashMap<>()).put(arrays.ownedNumbers[i], name);
            }
            members.put(
                    name,
                    new MemberSubscriptionAndAssignmentImpl(
                            Optional.ofNullable(arrays.rackOfMember(member)),
                            Optional.ofNullable(arrays.instances[member]),
                            subscription(member, subscriptions),
                            new Assignment(owned)));
        }
        SubscriptionType type =
                subscriptions.size() > 1 ? SubscriptionType.HETEROGENEOUS : SubscriptionType.HOMOGENEOUS;
        return new GroupSpecImpl(members, type, inverted);
    }

    /** Returns the ids of a member's topics, without those that do not exist. */
    private Set<Uuid> subscription(int member, Map<IntBuffer, Set<Uuid>> known) {
        int start = arrays.subscriptionStarts[member];
        IntBuffer reads = IntBuffer.wrap(arrays.subscribed, start, arrays.subscriptionStarts[member + 1] - start);
        return known.computeIfAbsent(reads, any -> {
            Set<Uuid> existing = new HashSet<>();
            for (int i = reads.position(); i < reads.limit(); i++) {
                if (reads.get(i) < ids.length) {
                    existing.add(ids[reads.get(i)]);
                }
            }
            return existing;
        });
    }

    private void read(Map<String, MemberAssignment> result) {
        Map<Uuid, Integer> index = new HashMap<>();
        for (int topic = 0; topic < ids.length; topic++) {
            index.put(ids[topic], topic);
        }
        int count = 0;
        for (MemberAssignment one : result.values()) {
            for (Set<Integer> numbers : one.partitions().values()) {
                count += numbers.size();
            }
        }
        arrays.heldBy = new int[count];
        arrays.heldTopics = new int[count];
        arrays.heldNumbers = new int[count];
        int at = 0;
        for (int member = 0; member < arrays.members.length; member++) {
            MemberAssignment one = result.get(arrays.members[member]);
            if (one == null) {
                continue;
            }
            for (Map.Entry<Uuid, Set<Integer>> entry : one.partitions().entrySet()) {
                for (int number : entry.getValue()) {
                    arrays.heldBy[at] = member;
                    arrays.heldTopics[at] = index.get(entry.getKey());
                    arrays.heldNumbers[at++] = number;
                }
            }
        }
    }

    /** Partition counts and racks of the topics that exist. */
    private static final class Topics implements SubscribedTopicDescriber {
        private final Map<Uuid, Integer> counts = new HashMap<>();
        private final Map<Uuid, List<Set<String>>> racks = new HashMap<>();

        Topics(GroupArrays arrays, Uuid[] ids) {
            List<Set<String>> sets = new ArrayList<>();
            for (int[] set : arrays.racksOfSets()) {
                Set<String> names = new HashSet<>();
                Arrays.stream(set).forEach(rack -> names.add(arrays.racks[rack]));
                sets.add(names);
            }
            int at = 0;
            for (int topic = 0; topic < ids.length; topic++) {
                counts.put(ids[topic], arrays.partitions[topic]);
                if (arrays.replicaSets.length == 0) {
                    continue;
                }
                List<Set<String>> ofTopic = new ArrayList<>();
                for (int number = 0; number < arrays.partitions[topic]; number++, at++) {
                    int set = arrays.replicaSets[at];
                    ofTopic.add(set < 0 || set >= sets.size() ? Set.of() : sets.get(set));
                }
                racks.put(ids[topic], ofTopic);
            }
        }

        @Override
        public int numPartitions(Uuid topic) {
            return counts.getOrDefault(topic, -1);
        }

        @Override
        public Set<String> racksForPartition(Uuid topic, int partition) {
            List<Set<String>> ofTopic = racks.get(topic);
            return ofTopic == null ? Set.of() : ofTopic.get(partition);
        }
    }
}
