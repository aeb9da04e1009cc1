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
    private final Columns columns;
    private final Uuid[] ids;
    private final Topics topics;
    private final GroupSpecImpl spec;

    public BrokerGroup(String assignor, Columns columns) throws ReflectiveOperationException {
        this.assignor = Class.forName(assignor);
        this.columns = columns;
        ids = new Uuid[columns.partitions.length];
        for (int topic = 0; topic < ids.length; topic++) {
            ids[topic] = new Uuid(1, topic);
        }
        topics = new Topics(columns, ids);
        spec = spec();
    }

    /** Calls the assignor so many times; keeps the last result in the columns, returns the nanoseconds. */
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
        for (int member = 0; member < columns.members.length; member++) {
            String name = columns.members[member];
            Map<Uuid, Set<Integer>> owned = new HashMap<>();
            for (int i = columns.ownedStarts[member]; i < columns.ownedStarts[member + 1]; i++) {
                Uuid id = ids[columns.ownedTopics[i]];
                owned.computeIfAbsent(id, any -> new HashSet<>()).add(columns.ownedNumbers[i]);
                inverted.computeIfAbsent(id, any -> new HashMap<>()).put(columns.ownedNumbers[i], name);
            }
            members.put(
                    name,
                    new MemberSubscriptionAndAssignmentImpl(
                            Optional.ofNullable(columns.rackOfMember(member)),
                            Optional.ofNullable(columns.instances[member]),
                            subscription(member, subscriptions),
                            new Assignment(owned)));
        }
        SubscriptionType type =
                subscriptions.size() > 1 ? SubscriptionType.HETEROGENEOUS : SubscriptionType.HOMOGENEOUS;
        return new GroupSpecImpl(members, type, inverted);
    }

    /** Returns the ids of a member's topics, without those that do not exist. */
    private Set<Uuid> subscription(int member, Map<IntBuffer, Set<Uuid>> known) {
        int start = columns.subscriptionStarts[member];
        IntBuffer reads = IntBuffer.wrap(columns.subscribed, start, columns.subscriptionStarts[member + 1] - start);
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
        columns.heldBy = new int[count];
        columns.heldTopics = new int[count];
        columns.heldNumbers = new int[count];
        int at = 0;
        for (int member = 0; member < columns.members.length; member++) {
            MemberAssignment one = result.get(columns.members[member]);
            if (one == null) {
                continue;
            }
            for (Map.Entry<Uuid, Set<Integer>> entry : one.partitions().entrySet()) {
                for (int number : entry.getValue()) {
                    columns.heldBy[at] = member;
                    columns.heldTopics[at] = index.get(entry.getKey());
                    columns.heldNumbers[at++] = number;
                }
            }
        }
    }

    /** Partition counts and racks of the topics that exist. */
    private static final class Topics implements SubscribedTopicDescriber {
        private final Map<Uuid, Integer> counts = new HashMap<>();
        private final Map<Uuid, List<Set<String>>> racks = new HashMap<>();

        Topics(Columns columns, Uuid[] ids) {
            List<Set<String>> sets = new ArrayList<>();
            for (int[] set : columns.racksOfSets()) {
                Set<String> names = new HashSet<>();
                Arrays.stream(set).forEach(rack -> names.add(columns.racks[rack]));
                sets.add(names);
            }
            int at = 0;
            for (int topic = 0; topic < ids.length; topic++) {
                counts.put(ids[topic], columns.partitions[topic]);
                if (columns.replicaSets.length == 0) {
                    continue;
                }
                List<Set<String>> ofTopic = new ArrayList<>();
                for (int number = 0; number < columns.partitions[topic]; number++, at++) {
                    int set = columns.replicaSets[at];
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
