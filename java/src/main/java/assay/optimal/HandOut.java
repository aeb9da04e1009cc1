package assay.optimal;

import java.util.Arrays;
import java.util.Comparator;
import java.util.PriorityQueue;

/**
 * Which partitions change hands: flows say how many.
 *
 * <p>Of what a member owns of a lot the first stay. What is free goes, in ascending order, to the
 * classes that read its lot, and within a class to one member after the other. What the flows have no
 * place for, as the work did not do, stays where it is or goes to the reader that has least.
 */
final class HandOut {
    private final Problem problem;
    private final Quotient quotient;
    private final Owned owned;
    private final Flows flows;

    /** The owner of each partition: who holds it, then who gets it. */
    private final int[] owner;

    /** Members that give or get, all of them where the flows are not complete. */
    private final boolean[] changes;

    /** Of each lot the first read that takes more of it, of each class the first member that does. */
    private final int[] read;

    private final int[] next;

    private final Ints takers = new Ints();
    private final Ints partitions = new Ints();
    private int moved;

    HandOut(Problem problem, Quotient quotient, Owned owned, Flows flows) {
        this.problem = problem;
        this.quotient = quotient;
        this.owned = owned;
        this.flows = flows;
        owner = owned.holder;
        changes = new boolean[problem.members()];
        read = Arrays.copyOf(quotient.readStart, quotient.lots());
        next = Arrays.copyOf(quotient.members.start, quotient.classes());
    }

    Plan plan(long work) {
        for (int member = 0; member < changes.length; member++) {
            changes[member] = flows.gets[member] > 0 || owned.loses.get(member) || !flows.isComplete();
            for (int pair = owned.first[member]; pair < owned.last[member]; pair++) {
                changes[member] |= flows.stays[pair] < owned.count.items[pair];
            }
        }
        Ints left = new Ints();
        for (int topic = 0; topic < problem.topics(); topic++) {
            int end = quotient.pool[topic] < 0 ? 0 : problem.start[topic + 1];
            for (int at = firstToLook(problem.start[topic], end); at < end; at = firstToLook(at + 1, end)) {
                handOut(at, quotient.lotOf(topic, at), left);
            }
        }
        if (left.size > 0) {
            place(left.toArray());
        }
        return new Plan(owner, changes, takers, partitions, moved, flows.isComplete(), work);
    }

    /** Returns the first partition from one on that nobody holds, or a member that changes. */
    private int firstToLook(int from, int end) {
        int partition = from;
        while (partition < end && owner[partition] != Problem.NOBODY && !changes[owner[partition]]) {
            partition++;
        }
        return partition;
    }

    private void handOut(int partition, int lot, Ints left) {
        int holder = owner[partition];
        int pair = holder == Problem.NOBODY ? -1 : owned.pair(holder, lot);
        if (pair >= 0 && flows.stays[pair]-- > 0) {
            give(partition, holder);
        } else if (!deal(partition, lot)) {
            if (pair >= 0) {
                give(partition, holder);
            } else {
                left.add(partition);
            }
        }
    }

    /** Gives a partition to the next member that takes one of its lot, unless the flows have no place. */
    private boolean deal(int partition, int lot) {
        int end = quotient.readStart[lot + 1];
        while (read[lot] < end && flows.through[read[lot]] == 0) {
            read[lot]++;
        }
        if (read[lot] == end) {
            return false;
        }
        flows.through[read[lot]]--;
        int cls = quotient.readClass[read[lot]];
        while (flows.gets[quotient.members.items[next[cls]]] == 0) {
            next[cls]++;
        }
        int taker = quotient.members.items[next[cls]];
        flows.gets[taker]--;
        give(partition, taker);
        return true;
    }

    private void give(int partition, int taker) {
        moved += owner[partition] != Problem.NOBODY && owner[partition] != taker ? 1 : 0;
        owner[partition] = taker;
        takers.add(taker);
        partitions.add(partition);
    }

    /** Gives what has no place to the reader that has least. */
    private void place(int[] left) {
        int[] load = new int[changes.length];
        for (int i = 0; i < takers.size; i++) {
            load[takers.items[i]]++;
        }
        Comparator<Integer> least =
                Comparator.<Integer>comparingInt(m -> load[m]).thenComparing(Comparator.naturalOrder());
        int[] poolOf = new int[left.length];
        int topic = 0;
        for (int i = 0; i < left.length; i++) {
            while (left[i] >= problem.start[topic + 1]) {
                topic++;
            }
            poolOf[i] = quotient.pool[topic];
        }
        Grouped byPool = new Grouped(poolOf, quotient.pools());
        int[][] readers = readersOfPools();
        for (int pool = 0; pool < readers.length; pool++) {
            PriorityQueue<Integer> queue = new PriorityQueue<>(least);
            for (int cls : byPool.size(pool) == 0 ? new int[0] : readers[pool]) {
                for (int j = quotient.members.start[cls]; j < quotient.members.start[cls + 1]; j++) {
                    queue.add(quotient.members.items[j]);
                }
            }
            for (int i = byPool.start[pool]; i < byPool.start[pool + 1]; i++) {
                int taker = queue.poll();
                load[taker]++;
                queue.add(taker);
                give(left[byPool.items[i]], taker);
            }
        }
    }

    /** Returns the classes that read each pool. */
    private int[][] readersOfPools() {
        Ints[] readers = new Ints[quotient.pools()];
        Arrays.setAll(readers, pool -> new Ints(1));
        for (int cls = 0; cls < quotient.classes(); cls++) {
            for (int pool : quotient.poolsRead(cls)) {
                readers[pool].add(cls);
            }
        }
        return Arrays.stream(readers).map(Ints::toArray).toArray(int[][]::new);
    }
}
