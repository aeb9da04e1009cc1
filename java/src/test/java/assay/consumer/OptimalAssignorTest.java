package assay.consumer;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import org.apache.kafka.clients.consumer.ConsumerPartitionAssignor.Assignment;
import org.apache.kafka.clients.consumer.ConsumerPartitionAssignor.GroupSubscription;
import org.apache.kafka.clients.consumer.ConsumerPartitionAssignor.Subscription;
import org.apache.kafka.common.Cluster;
import org.apache.kafka.common.PartitionInfo;
import org.apache.kafka.common.TopicPartition;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class OptimalAssignorTest {
    private static final int NEWEST = 5;

    /** A member whose client does not list what it holds, as those of Python do not. */
    private static Subscription says(String numbers, long generation, String id, boolean holds) {
        Claim claim = new Claim(Map.of("t", numbers(numbers)), generation, id, false, holds, false);
        return new Subscription(List.of("t"), claim.packed());
    }

    private static int[] numbers(String digits) {
        return digits.chars().map(digit -> digit - '0').toArray();
    }

    private static Cluster cluster(int partitions) {
        List<PartitionInfo> infos = new ArrayList<>();
        for (int number = 0; number < partitions; number++) {
            infos.add(new PartitionInfo("t", number, null, null, null));
        }
        return new Cluster("c", Set.of(), infos, Set.of(), Set.of());
    }

    private static Map<String, Assignment> lead(int partitions, Map<String, Subscription> members) {
        GroupSubscription group = new GroupSubscription(members);
        return new TreeMap<>(new OptimalAssignor().assign(cluster(partitions), group).groupAssignment());
    }

    /** Returns the member of each partition in order, - for none. */
    private static String owners(int partitions, Map<String, Assignment> made) {
        char[] owners = "-".repeat(partitions).toCharArray();
        made.forEach((member, given) -> given.partitions().forEach(p -> owners[p.partition()] = member.charAt(0)));
        return new String(owners);
    }

    @ParameterizedTest(name = "{0}")
    @CsvSource({
        "the newest generation wins, 01, 1, 01, 2, bbaa",
        "whoever claims from it, 01, 2, 01, 1, aabb",
        "two claims of one generation void each other, 0123, 1, 01, 1, bbaa",
        "an older claim of what nobody else claims is kept, 03, 1, 12, 5, abba",
        "what does not exist is nobody's, 4789, 1, 23, 1, aabb",
    })
    void claims(String what, String a, int generation, String b, int other, String owners) {
        Map<String, Subscription> members =
                Map.of("a", says(a, generation, "a", false), "b", says(b, other, "b", false));
        assertEquals(owners, owners(4, lead(4, members)), what);
    }

    @ParameterizedTest(name = "{0}")
    @CsvSource({
        "what another member holds waits, 01, a, 5, true, '', '', true, a-",
        "not what it has given up already, 01, a, 5, false, '', '', true, ab",
        "nor what it held under its old id, 01, old, 5, true, '', '', true, ab",
        "nor when it has missed a generation, 01, a, 4, true, '', b, true, ab",
        "what two hold is given to neither, 01, a, 5, true, 0, b, true, -a",
    })
    void waits(
            String what, String a, String id, long generation, boolean holds,
            String b, String other, boolean otherHolds, String owners) {
        Map<String, Subscription> members =
                Map.of("a", says(a, generation, id, holds), "b", says(b, NEWEST, other, otherHolds));
        Map<String, Assignment> made = lead(2, members);
        assertEquals(owners, owners(2, made), what);
        for (String member : members.keySet()) {
            Claim note = Claim.read(made.get(member).userData());
            assertEquals(NEWEST + 1, note.generation);
            assertEquals(member, note.member);
            assertEquals(owners.contains("-"), note.unfinished);
        }
    }

    @Test
    void theLastGenerationIsFollowedByItself() {
        Map<String, Assignment> made = lead(2, Map.of("a", says("0", Claim.LAST_GENERATION, "a", true)));
        assertEquals(Claim.LAST_GENERATION, Claim.read(made.get("a").userData()).generation);
    }

    @Test
    void aTopicOfUnknownSizeHasWhatIsClaimedWhereThatIsCredible() {
        assertEquals(1, lead(0, Map.of("a", says("0", NEWEST, "a", true))).get("a").partitions().size());
        assertEquals(4, lead(0, Map.of("a", says("3", NEWEST, "a", true))).get("a").partitions().size());
        Claim wild = Claim.NONE.owning(Map.of("t", new int[] {Integer.MAX_VALUE}));
        Subscription said = new Subscription(List.of("t"), wild.packed());
        assertEquals(List.of(), lead(0, Map.of("a", said)).get("a").partitions());
    }

    /** A consumer that joins, gives up and takes as Kafka's does. */
    private static final class Consumer {
        final CooperativeOptimalAssignor assignor = new CooperativeOptimalAssignor();
        Set<TopicPartition> held = new HashSet<>();

        Subscription joins() {
            return new Subscription(List.of("t"), assignor.subscriptionUserData(Set.of("t")), new ArrayList<>(held));
        }

        /** Returns whether it joins again. */
        boolean takes(Assignment given) {
            assignor.onAssignment(given, null);
            Set<TopicPartition> before = held;
            held = new HashSet<>(given.partitions());
            return !held.containsAll(before);
        }
    }

    private static boolean rebalance(Map<String, Consumer> group, String leader) {
        Map<String, Subscription> members = new TreeMap<>();
        group.forEach((id, one) -> members.put(id, one.joins()));
        GroupSubscription subscriptions = new GroupSubscription(members);
        Map<String, Assignment> made =
                group.get(leader).assignor.assign(cluster(6), subscriptions).groupAssignment();
        boolean again = false;
        for (Map.Entry<String, Consumer> one : group.entrySet()) {
            again |= one.getValue().takes(made.get(one.getKey()));
        }
        return again;
    }

    private static List<Integer> loads(Collection<Consumer> group) {
        return Arrays.asList(group.stream().map(one -> one.held.size()).toArray(Integer[]::new));
    }

    @Test
    void whatMovesIsGivenUpInOneRebalanceAndGivenInTheNext() {
        Map<String, Consumer> group = new TreeMap<>(Map.of("a", new Consumer()));
        assertFalse(rebalance(group, "a"));
        group.put("b", new Consumer());
        Set<TopicPartition> before = group.get("a").held;
        assertTrue(rebalance(group, "b"));
        assertEquals(List.of(3, 0), loads(group.values()));
        assertFalse(rebalance(group, "a"));
        assertEquals(List.of(3, 3), loads(group.values()));
        assertTrue(before.containsAll(group.get("a").held));
        group.remove("a");
        assertFalse(rebalance(group, "b"));
        assertEquals(List.of(6), loads(group.values()));
    }
}
