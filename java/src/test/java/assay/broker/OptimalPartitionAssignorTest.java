package assay.broker;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.AbstractSet;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.stream.IntStream;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.coordinator.group.api.assignor.ConsumerGroupPartitionAssignor;
import org.apache.kafka.coordinator.group.api.assignor.GroupSpec;
import org.apache.kafka.coordinator.group.api.assignor.MemberAssignment;
import org.apache.kafka.coordinator.group.api.assignor.MemberSubscription;
import org.apache.kafka.coordinator.group.api.assignor.SubscribedTopicDescriber;
import org.apache.kafka.coordinator.group.api.assignor.SubscriptionType;
import org.junit.jupiter.api.Test;

/** Groups as a broker may describe them, in any order, and as none should. */
class OptimalPartitionAssignorTest {
    private static final List<ConsumerGroupPartitionAssignor> ASSIGNORS =
            List.of(new OptimalPartitionAssignor(), new OptimalRackPartitionAssignor());

    private record Member(Optional<String> rackId, Set<Uuid> subscribedTopicIds, Map<Uuid, Set<Integer>> partitions)
            implements MemberSubscription, MemberAssignment {
        @Override
        public Optional<String> instanceId() {
            return Optional.empty();
        }

        /** Returns a set as a broker's: it counts a topic that does not exist, and can do little else. */
        @Override
        public Set<Uuid> subscribedTopicIds() {
            return new AbstractSet<>() {
                @Override
                public int size() {
                    return subscribedTopicIds.size() + 1;
                }

                @Override
                public Iterator<Uuid> iterator() {
                    return subscribedTopicIds.iterator();
                }

                @Override
                public Object[] toArray() {
                    throw new UnsupportedOperationException();
                }

                @Override
                public <T> T[] toArray(T[] any) {
                    throw new UnsupportedOperationException();
                }
            };
        }
    }

    private record Group(Map<String, Member> members, Map<Uuid, Integer> topics, SubscriptionType subscriptionType)
            implements GroupSpec, SubscribedTopicDescriber {
        @Override
        public Collection<String> memberIds() {
            return members.keySet();
        }

        @Override
        public boolean isPartitionAssigned(Uuid topic, int partition) {
            return members.values().stream()
                    .anyMatch(one -> one.partitions.getOrDefault(topic, Set.of()).contains(partition));
        }

        @Override
        public boolean isPartitionAssignable(Uuid topic, int partition) {
            return true;
        }

        @Override
        public MemberSubscription memberSubscription(String member) {
            return members.get(member);
        }

        @Override
        public MemberAssignment memberAssignment(String member) {
            return members.get(member);
        }

        @Override
        public int numPartitions(Uuid topic) {
            return topics.getOrDefault(topic, -1);
        }

        @Override
        public Set<String> racksForPartition(Uuid topic, int partition) {
            return new HashSet<>(List.of("r" + partition % 3, "r" + (partition + topic.hashCode() & 1)));
        }

        /** Returns what an assignor makes of it. */
        Map<String, Map<Uuid, Set<Integer>>> assigned(ConsumerGroupPartitionAssignor assignor) {
            Map<String, Map<Uuid, Set<Integer>>> result = new HashMap<>();
            assignor.assign(this, this).members().forEach((id, held) -> result.put(id, held.partitions()));
            return result;
        }

        void requireValid(Map<String, Map<Uuid, Set<Integer>>> assigned) {
            assertEquals(members.keySet(), assigned.keySet());
            Set<String> seen = new HashSet<>();
            assigned.forEach((id, held) -> held.forEach((topic, numbers) -> {
                assertTrue(members.get(id).subscribedTopicIds.contains(topic), "not subscribed");
                for (int number : numbers) {
                    assertTrue(number >= 0 && number < numPartitions(topic), "no such partition");
                    assertTrue(seen.add(topic + " " + number), "two members have one partition");
                }
            }));
            long read = topics.entrySet().stream()
                    .filter(topic -> members.values().stream()
                            .anyMatch(one -> one.subscribedTopicIds.contains(topic.getKey())))
                    .mapToLong(Map.Entry::getValue)
                    .sum();
            assertEquals(read, seen.size(), "a partition is with nobody");
        }

        /** Returns the same group in which everything comes in another order. */
        Group shuffled(Random random) {
            Map<String, Member> shuffled = new LinkedHashMap<>();
            for (String id : inAnyOrder(random, members.keySet())) {
                Member one = members.get(id);
                Map<Uuid, Set<Integer>> held = new LinkedHashMap<>();
                for (Uuid topic : inAnyOrder(random, one.partitions.keySet())) {
                    held.put(topic, inAnyOrder(random, one.partitions.get(topic)));
                }
                shuffled.put(id, new Member(one.rackId, inAnyOrder(random, one.subscribedTopicIds), held));
            }
            return new Group(shuffled, topics, subscriptionType);
        }

        private static <T> Set<T> inAnyOrder(Random random, Collection<T> of) {
            List<T> list = new ArrayList<>(of);
            Collections.shuffle(list, random);
            return new LinkedHashSet<>(list);
        }
    }

    /** Returns a group; with what its members hold as none should, where it is told so. */
    private static Group drawn(Random random, boolean contradicts) {
        Map<Uuid, Integer> topics = new HashMap<>();
        List<Uuid> ids = new ArrayList<>();
        for (int topic = 0; topic < 1 + random.nextInt(6); topic++) {
            ids.add(new Uuid(random.nextLong(), random.nextLong()));
            topics.put(ids.get(topic), random.nextInt(9));
        }
        Uuid gone = new Uuid(0, 7);
        boolean same = random.nextBoolean();
        Set<Uuid> all = Set.copyOf(ids);
        Map<String, Member> members = new HashMap<>();
        Set<String> taken = new HashSet<>();
        for (int member = 0; member < random.nextInt(9); member++) {
            Map<Uuid, Set<Integer>> held = new HashMap<>();
            for (int i = 0; i < random.nextInt(12); i++) {
                Uuid topic = random.nextInt(20) == 0 ? gone : ids.get(random.nextInt(ids.size()));
                int number = contradicts
                        ? random.nextInt(14) - 2
                        : random.nextInt(Math.max(1, topics.getOrDefault(topic, 5)));
                boolean exists = number < topics.getOrDefault(topic, 5);
                if (contradicts || exists && taken.add(topic + " " + number)) {
                    held.computeIfAbsent(topic, any -> new HashSet<>()).add(number);
                }
            }
            Set<Uuid> reads = new HashSet<>(all);
            reads.removeIf(topic -> !same && random.nextBoolean());
            // "Aa" and "BB" have one hash, and so have all ids made of them.
            String id = IntStream.range(0, 4).mapToObj(i -> random.nextBoolean() ? "Aa" : "BB")
                    .reduce("", String::concat);
            Optional<String> rack = random.nextInt(5) == 0 ? Optional.empty() : Optional.of("r" + member % 3);
            if (members.putIfAbsent(id, new Member(rack, reads, held)) != null && !contradicts) {
                held.forEach((topic, numbers) -> numbers.forEach(number -> taken.remove(topic + " " + number)));
            }
        }
        return new Group(members, topics, same ? SubscriptionType.HOMOGENEOUS : SubscriptionType.HETEROGENEOUS);
    }

    @Test
    void anyOrderOfMembersTopicsAndPartitionsGivesTheSame() {
        Random random = new Random(1);
        for (int i = 0; i < 1_000; i++) {
            Group group = drawn(random, i % 4 == 0);
            for (ConsumerGroupPartitionAssignor assignor : ASSIGNORS) {
                Map<String, Map<Uuid, Set<Integer>>> assigned = group.assigned(assignor);
                group.requireValid(assigned);
                assertEquals(assigned, group.shuffled(random).assigned(assignor));
            }
        }
    }

    @Test
    void whatMembersAreSaidToHoldTwiceOrOfNothingIsGivenOnce() {
        Random random = new Random(2);
        for (int i = 0; i < 1_000; i++) {
            Group group = drawn(random, true);
            for (ConsumerGroupPartitionAssignor assignor : ASSIGNORS) {
                group.requireValid(group.assigned(assignor));
            }
        }
    }

    @Test
    void anAssignmentThatIsTheBestIsLeftAsItIs() {
        Random random = new Random(3);
        for (int i = 0; i < 300; i++) {
            Group group = drawn(random, false);
            Map<String, Map<Uuid, Set<Integer>>> assigned = group.assigned(ASSIGNORS.get(0));
            Map<String, Member> next = new HashMap<>();
            assigned.forEach((id, held) -> {
                Member one = group.members.get(id);
                next.put(id, new Member(one.rackId, one.subscribedTopicIds, held));
            });
            Group later = new Group(next, group.topics, group.subscriptionType);
            later.assigned(ASSIGNORS.get(0)).forEach((id, held) -> assertSame(assigned.get(id), held));
        }
    }

    @Test
    void severalThreadsMayCallOneAssignorAtOnce() {
        Random random = new Random(4);
        List<Group> groups = IntStream.range(0, 200).mapToObj(i -> drawn(random, false)).toList();
        List<Map<String, Map<Uuid, Set<Integer>>>> alone =
                groups.stream().map(group -> group.assigned(ASSIGNORS.get(0))).toList();
        IntStream.range(0, 2_000).parallel().forEach(i ->
                assertEquals(alone.get(i % 200), groups.get(i % 200).assigned(ASSIGNORS.get(0))));
    }
}
