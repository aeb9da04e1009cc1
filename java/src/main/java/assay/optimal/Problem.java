package assay.optimal;

import java.util.BitSet;
import java.util.Objects;

/**
 * A group in numbers: members, topics and partitions count from 0.
 *
 * <p>Partitions count through all topics: those of topic t are {@code start[t]} up to
 * {@code start[t + 1]}. Where several plans are best, the numbers of members and topics decide.
 */
public final class Problem {
    /** The owner of a partition that nobody holds. */
    public static final int NOBODY = -1;

    final int[] subscriptionOf;
    final int[][] subscriptions;
    final int[] start;
    final Holdings held;
    final Racks racks;

    /**
     * @param subscriptionOf of each member, which subscription it has
     * @param subscriptions of each subscription, the topics that it names, each once
     * @param start of each topic, its first partition; last the number of partitions
     * @param held what members hold; what a member holds and does not read is taken from it
     * @param racks where members and replicas stand; null if racks do not matter
     */
    public Problem(
            int[] subscriptionOf, int[][] subscriptions, int[] start, Holdings held, Racks racks) {
        this.subscriptionOf = Objects.requireNonNull(subscriptionOf);
        this.subscriptions = Objects.requireNonNull(subscriptions);
        this.start = Objects.requireNonNull(start);
        this.held = Objects.requireNonNull(held);
        this.racks = racks;
    }

    /** Returns the same without racks. */
    Problem withoutRacks() {
        return new Problem(subscriptionOf, subscriptions, start, held, null);
    }

    int members() {
        return subscriptionOf.length;
    }

    int topics() {
        return start.length - 1;
    }

    int partitions() {
        return start[topics()];
    }

    /** Returns how many partitions a topic has. */
    int size(int topic) {
        return start[topic + 1] - start[topic];
    }

    /** Where members and replicas stand. */
    public static final class Racks {
        final int[] ofMember;
        final int[] replicas;
        final BitSet[] sets;

        /**
         * @param ofMember the rack of each member, -1 for none
         * @param replicas of each partition, which set of racks has its replicas
         * @param sets the racks of each set
         */
        public Racks(int[] ofMember, int[] replicas, BitSet[] sets) {
            this.ofMember = Objects.requireNonNull(ofMember);
            this.replicas = Objects.requireNonNull(replicas);
            this.sets = Objects.requireNonNull(sets);
        }
    }
}
