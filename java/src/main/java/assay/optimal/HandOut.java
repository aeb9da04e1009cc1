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

    /** The pair of a lot and the member that is looked at. */
    private final int[] pairOf;

    /** What is free: a partition in the high half, in the low half who held it. */
    private long[] free;

    private int freed;

    private Ints partitions;
    private Ints from;
    private Ints to;

    HandOut(Problem problem, Quotient quotient, Owned owned, Flows flows) {
        this.problem = problem;
        this.quotient = quotient;
        this.owned = owned;
        this.flows = flows;
        pairOf = new int[quotient.lots()];
        free = new long[owned.free.size + 16];
    }

    Plan plan(long work) {
        for (int i = 0; i < owned.free.size; i++) {
            free(owned.free.items[i], Problem.NOBODY);
        }
        for (int member = 0; member < problem.members(); member++) {
            takeWhatMustGo(member);
        }
        Arrays.sort(free, 0, freed);
        partitions = new Ints(freed);
        from = new Ints(freed);
        to = new Ints(freed);
        deal();
        return new Plan(problem, partitions, from, to, flows.isComplete(), work);
    }

    private void free(int partition, int holder) {
        if (freed == free.length) {
            free = Arrays.copyOf(free, 2 * freed);
        }
        free[freed++] = (long) partition << 32 | holder & 0xffffffffL;
    }

    private void takeWhatMustGo(int member) {
        boolean all = !owned.foreign.get(member);
        for (int pair = owned.first[member]; pair < owned.last[member]; pair++) {
            all &= flows.stays[pair] == owned.count.items[pair];
            pairOf[owned.lot.items[pair]] = pair;
        }
        if (all) {
            return;
        }
        int topic = 0;
        for (int partition : Owned.sorted(problem.held.partitions(member))) {
            topic = problem.topicOf(partition, topic);
            int lot = quotient.pool[topic] < 0 ? -1 : quotient.lotOf(topic, partition);
            if (lot < 0 || !owns(member, pairOf[lot], lot) || flows.stays[pairOf[lot]]-- <= 0) {
                free(partition, member);
            }
        }
    }

    private boolean owns(int member, int pair, int lot) {
        return owned.first[member] <= pair
                && pair < owned.last[member]
                && owned.lot.items[pair] == lot;
    }

    private void deal() {
        int[] read = Arrays.copyOf(quotient.readStart, quotient.lots());
        int[] next = Arrays.copyOf(quotient.members.start, quotient.classes());
        Ints left = new Ints();
        int topic = 0;
        for (int i = 0; i < freed; i++) {
            int partition = (int) (free[i] >> 32);
            int holder = (int) free[i];
            topic = problem.topicOf(partition, topic);
            if (quotient.pool[topic] < 0) {
                give(partition, holder, Problem.NOBODY);
                continue;
            }
            int lot = quotient.lotOf(topic, partition);
            int end = quotient.readStart[lot + 1];
            while (read[lot] < end && flows.through[read[lot]] == 0) {
                read[lot]++;
            }
            if (read[lot] == end) {
                left.add(i);
                continue;
            }
            flows.through[read[lot]]--;
            int one = quotient.readClass[read[lot]];
            while (flows.gets[quotient.members.items[next[one]]] == 0) {
                next[one]++;
            }
            int taker = quotient.members.items[next[one]];
            flows.gets[taker]--;
            give(partition, holder, taker);
        }
        if (left.size > 0) {
            place(left);
        }
    }

    private void give(int partition, int holder, int taker) {
        if (holder != taker) {
            partitions.add(partition);
            from.add(holder);
            to.add(taker);
        }
    }

    /** Lets what has no place stay with who held it and reads it, or gives it to who has least. */
    private void place(Ints left) {
        int[] load = new int[problem.members()];
        for (int member = 0; member < load.length; member++) {
            for (int pair = owned.first[member]; pair < owned.last[member]; pair++) {
                load[member] += owned.count.items[pair];
            }
        }
        for (int i = 0; i < to.size; i++) {
            if (to.items[i] >= 0) {
                load[to.items[i]]++;
            }
        }
        int[] rank = new int[problem.members()];
        for (int i = 0; i < rank.length; i++) {
            rank[problem.order[i]] = i;
        }
        Comparator<Integer> least = Comparator.<Integer>comparingInt(m -> load[m]).thenComparing(m -> rank[m]);
        int[] poolOfLeft = new int[left.size];
        int topic = 0;
        for (int i = 0; i < left.size; i++) {
            topic = problem.topicOf((int) (free[left.items[i]] >> 32), topic);
            poolOfLeft[i] = quotient.pool[topic];
        }
        Grouped byPool = new Grouped(poolOfLeft, quotient.pools());
        int[][] readers = readersOfPools();
        boolean[] reads = new boolean[quotient.classes()];
        for (int pool = 0; pool < readers.length; pool++) {
            if (byPool.size(pool) == 0) {
                continue;
            }
            PriorityQueue<Integer> takers = new PriorityQueue<>(least);
            for (int one : readers[pool]) {
                reads[one] = true;
                for (int j = quotient.members.start[one]; j < quotient.members.start[one + 1]; j++) {
                    takers.add(quotient.members.items[j]);
                }
            }
            for (int i = byPool.start[pool]; i < byPool.start[pool + 1]; i++) {
                long item = free[left.items[byPool.items[i]]];
                int holder = (int) item;
                if (holder < 0 || !reads[quotient.classOf[holder]]) {
                    int taker = takers.poll();
                    load[taker]++;
                    takers.add(taker);
                    give((int) (item >> 32), holder, taker);
                }
            }
            for (int one : readers[pool]) {
                reads[one] = false;
            }
        }
    }

    /** Returns the classes that read each pool. */
    private int[][] readersOfPools() {
        Ints[] readers = new Ints[quotient.pools()];
        Arrays.setAll(readers, pool -> new Ints(1));
        for (int one = 0; one < quotient.classes(); one++) {
            for (int pool : quotient.poolsRead(one)) {
                readers[pool].add(one);
            }
        }
        return Arrays.stream(readers).map(Ints::toArray).toArray(int[][]::new);
    }
}
