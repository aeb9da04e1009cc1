package assay.consumer;

import assay.optimal.Holdings;
import assay.optimal.Optimum;
import assay.optimal.Plan;
import assay.optimal.Problem;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.HashMap;
import java.util.HashSet;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.zip.Deflater;
import org.apache.kafka.clients.consumer.ConsumerPartitionAssignor.Assignment;
import org.apache.kafka.clients.consumer.ConsumerPartitionAssignor.GroupAssignment;
import org.apache.kafka.clients.consumer.ConsumerPartitionAssignor.Subscription;
import org.apache.kafka.common.Cluster;
import org.apache.kafka.common.PartitionInfo;
import org.apache.kafka.common.TopicPartition;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Who joined, which partitions there are, and what each member gets. */
final class Rebalance {
    private static final Logger LOG = LoggerFactory.getLogger(OptimalAssignor.class);

    /** A topic whose size is not known has at most so many partitions for each one that is claimed. */
    private static final int MOST_FOR_EACH_CLAIMED = 16;

    /** By their ids, ascending. */
    private final List<Joined> members = new ArrayList<>();

    /** Of the topics that somebody reads and that have partitions, ascending, their numbers. */
    private final TreeMap<String, int[]> numbers = new TreeMap<>();

    private final Map<String, Integer> indices = new HashMap<>();
    private final TopicPartition[] partitions;
    private final int[] start;
    private final long newest;

    /**
     * @param gone topics of which claims do not count where the cluster does not know them: the
     *     leader knew them before. Any other has as many partitions as the claims show, as a leader
     *     may not know (yet) what it does not read.
     */
    Rebalance(Map<String, Subscription> group, Cluster cluster, Set<String> gone) {
        Map<List<String>, Set<String>> lists = new HashMap<>();
        Map<Set<String>, Set<String>> sets = new HashMap<>();
        new TreeMap<>(group).forEach((id, said) -> {
            Set<String> reads = lists.computeIfAbsent(said.topics(), list -> {
                Set<String> set = new HashSet<>(list);
                set.remove("");
                return sets.computeIfAbsent(set, one -> one);
            });
            members.add(new Joined(id, said, reads));
        });
        newest = members.stream().mapToLong(one -> one.claim.generation).max().orElse(Claim.NEVER);
        Set<String> topics = new TreeSet<>();
        sets.keySet().forEach(topics::addAll);
        for (String topic : topics) {
            int[] known = cluster.partitionsForTopic(topic).stream()
                    .mapToInt(PartitionInfo::partition)
                    .sorted()
                    .toArray();
            if (known.length == 0 && !gone.contains(topic)) {
                known = asClaimed(topic);
            }
            if (known.length > 0) {
                indices.put(topic, indices.size());
                numbers.put(topic, known);
            }
        }
        start = new int[numbers.size() + 1];
        numbers.forEach((topic, those) -> start[indices.get(topic) + 1] = those.length);
        Arrays.parallelPrefix(start, Integer::sum);
        partitions = new TopicPartition[start[numbers.size()]];
        int at = 0;
        for (Map.Entry<String, int[]> topic : numbers.entrySet()) {
            for (int number : topic.getValue()) {
                partitions[at++] = new TopicPartition(topic.getKey(), number);
            }
        }
    }

    Set<String> topics() {
        return Set.copyOf(numbers.keySet());
    }

    /** Returns the partitions that a topic has at least, none where that is not credible. */
    private int[] asClaimed(String topic) {
        Set<Integer> claimed = new HashSet<>();
        long least = 0;
        for (Joined one : members) {
            int[] owned = one.claim.owned.get(topic);
            for (int number : owned == null || !one.topics.contains(topic) ? new int[0] : owned) {
                claimed.add(number);
                least = Math.max(least, number + 1L);
            }
        }
        int[] result = new int[least <= (long) MOST_FOR_EACH_CLAIMED * claimed.size() ? (int) least : 0];
        Arrays.setAll(result, number -> number);
        return result;
    }

    /**
     * Returns what of the best plan can be given at once: what another member still holds waits.
     *
     * <p>Who holds it sees that it is not in its assignment, gives it up and joins again; the next
     * plan gives it to its new owner (KIP-429). What two members hold waits for both.
     */
    GroupAssignment assigned(String name) {
        Plan plan = best();
        if (plan.isBest()) {
            LOG.info("{}: {} partitions for {} members, {} moved: no assignment is better",
                    name, partitions.length, members.size(), plan.moved());
        } else {
            LOG.warn("{}: {} partitions for {} members, {} moved: the best assignment takes more work than "
                    + "is allowed, this one is valid", name, partitions.length, members.size(), plan.moved());
        }
        int[] holder = new int[partitions.length];
        Arrays.fill(holder, Problem.NOBODY);
        BitSet shared = new BitSet();
        for (int member = 0; member < members.size(); member++) {
            for (int partition : known(members.get(member).held(newest))) {
                shared.set(partition, holder[partition] >= 0);
                holder[partition] = member;
            }
        }
        boolean unfinished = false;
        List<List<TopicPartition>> given = new ArrayList<>();
        members.forEach(member -> given.add(new ArrayList<>()));
        for (int partition = 0; partition < partitions.length; partition++) {
            int owner = plan.owner(partition);
            boolean waits = shared.get(partition) || holder[partition] >= 0 && holder[partition] != owner;
            unfinished |= waits;
            if (!waits) {
                given.get(owner).add(partitions[partition]);
            }
        }
        long generation = Math.min(newest + 1, Claim.LAST_GENERATION);
        Map<String, Assignment> result = new HashMap<>();
        // A note is too short to be made shorter.
        Deflater deflater = new Deflater(Deflater.NO_COMPRESSION);
        try {
            for (int member = 0; member < members.size(); member++) {
                String id = members.get(member).id;
                Claim note = Claim.note(generation, id, unfinished);
                result.put(id, new Assignment(given.get(member), note.packed(deflater)));
            }
        } finally {
            deflater.end();
        }
        return new GroupAssignment(result);
    }

    private Plan best() {
        int[] subscriptionOf = new int[members.size()];
        List<int[]> subscriptions = new ArrayList<>();
        Map<Set<String>, Integer> same = new IdentityHashMap<>();
        for (int member = 0; member < subscriptionOf.length; member++) {
            subscriptionOf[member] = same.computeIfAbsent(members.get(member).topics, topics -> {
                subscriptions.add(topics.stream()
                        .filter(indices::containsKey)
                        .mapToInt(indices::get)
                        .sorted()
                        .toArray());
                return subscriptions.size() - 1;
            });
        }
        Holdings held = Holdings.of(owners(), members.size(), start);
        int[][] reads = subscriptions.toArray(new int[0][]);
        return Optimum.of(new Problem(subscriptionOf, reads, start, held, null));
    }

    /**
     * Returns who validly owns each partition: the newest generation wins, two claims of one
     * generation void each other, and a winner that does not read the topic any more owns nothing.
     */
    private int[] owners() {
        int[] owner = new int[partitions.length];
        Arrays.fill(owner, Problem.NOBODY);
        long[] since = new long[partitions.length];
        Arrays.fill(since, Long.MIN_VALUE);
        for (int member = 0; member < members.size(); member++) {
            Joined one = members.get(member);
            for (int partition : known(one.claim.owned)) {
                if (one.claim.generation > since[partition]) {
                    since[partition] = one.claim.generation;
                    owner[partition] = one.topics.contains(partitions[partition].topic()) ? member : Problem.NOBODY;
                } else if (one.claim.generation == since[partition]) {
                    owner[partition] = Problem.NOBODY;
                }
            }
        }
        return owner;
    }

    /** Returns which partitions of this rebalance some numbers of topics are. */
    private int[] known(Map<String, int[]> topics) {
        int[] found = new int[topics.values().stream().mapToInt(those -> those.length).sum()];
        int count = 0;
        for (Map.Entry<String, int[]> topic : topics.entrySet()) {
            int[] there = numbers.get(topic.getKey());
            for (int number : there == null ? new int[0] : topic.getValue()) {
                int place = Arrays.binarySearch(there, number);
                if (place >= 0) {
                    found[count++] = start[indices.get(topic.getKey())] + place;
                }
            }
        }
        return Arrays.copyOf(found, count);
    }

    /** A member as it joined. */
    private static final class Joined {
        final String id;

        /** Of members that read the same it is one object. */
        final Set<String> topics;

        final Claim claim;
        private final Map<String, int[]> listed;

        /** What a cooperative client lists as owned it has, whatever its assignor remembers. */
        Joined(String id, Subscription said, Set<String> topics) {
            this.id = id;
            this.topics = topics;
            Claim remembered = Claim.read(said.userData());
            listed = Claim.byTopic(said.ownedPartitions());
            claim = listed.isEmpty() ? remembered : remembered.owning(listed);
        }

        /**
         * Returns what it goes on reading. Without a list that is what it claims from the newest
         * generation under the id that it had then: one that missed a generation or joined anew has
         * lost what it had, would give nothing up, and nobody may wait for it.
         */
        Map<String, int[]> held(long newest) {
            if (claim.listed || !listed.isEmpty()) {
                return listed;
            }
            boolean holds = claim.holds && claim.generation == newest && claim.member.equals(id);
            return holds ? claim.owned : Map.of();
        }
    }
}
