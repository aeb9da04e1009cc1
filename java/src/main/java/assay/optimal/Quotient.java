package assay.optimal;

import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;

/**
 * What the objective can tell apart: lots of partitions and classes of members.
 *
 * <p>A lot is the partitions that the same members read and, where racks matter, whose replicas
 * stand in the same racks. A class is the members with one subscription and, where racks matter, in
 * one rack. Partitions that nobody reads are in no lot.
 */
final class Quotient {
    /** The pool of each topic: topics with the same readers are in one; -1 without readers. */
    final int[] pool;

    /** How many partitions each lot has. */
    final int[] lotSize;

    /** The class of each member, and members by class. */
    final int[] classOf;

    final Grouped members;

    /** Which classes read lot l: {@code readClass[readStart[l]]} up to {@code readStart[l + 1]}. */
    final int[] readStart;

    final int[] readClass;

    private final boolean isTooLarge;
    private final Problem problem;
    private final int[][] poolsRead;
    private final Pairs lots;
    private final Grouped lotsOf;
    private final Pairs classes;

    /** @param mostReads with more of them there are none, and the quotient is too large */
    Quotient(Problem problem, int mostReads) {
        this.problem = problem;
        classes = new Pairs(problem.subscriptions.length);
        classOf = new int[problem.members()];
        for (int member = 0; member < classOf.length; member++) {
            int rack = problem.racks == null ? 0 : 1 + problem.racks.ofMember[member];
            classOf[member] = classes.of(problem.subscriptionOf[member], rack);
        }
        members = new Grouped(classOf, classes.size());
        pool = poolOfTopics();
        int pools = pools();
        poolsRead = findPoolsRead();
        Problem.Racks racks = problem.racks;
        if (racks == null) {
            lots = Pairs.counted(pools);
        } else {
            lots = new Pairs(pools);
            for (int topic = 0; topic < pool.length; topic++) {
                for (int p = problem.start[topic]; pool[topic] >= 0 && p < problem.start[topic + 1]; p++) {
                    lots.of(pool[topic], racks.replicas[p]);
                }
            }
        }
        lotSize = new int[lots.size()];
        for (int topic = 0; topic < pool.length; topic++) {
            if (racks == null && pool[topic] >= 0) {
                lotSize[pool[topic]] += problem.start[topic + 1] - problem.start[topic];
            }
            for (int p = problem.start[topic]; racks != null && p < problem.start[topic + 1]; p++) {
                if (pool[topic] >= 0) {
                    lotSize[lotOf(topic, p)]++;
                }
            }
        }

        lotsOf = new Grouped(lots.firsts(), pools);
        readStart = new int[lots.size() + 1];
        long reads = 0;
        for (int cls = 0; cls < classes.size(); cls++) {
            for (int pool : poolsRead(cls)) {
                reads += lotsOf.size(pool);
                if (reads > mostReads) {
                    isTooLarge = true;
                    readClass = new int[0];
                    return;
                }
                for (int i = lotsOf.start[pool]; i < lotsOf.start[pool + 1]; i++) {
                    readStart[lotsOf.items[i] + 1]++;
                }
            }
        }
        isTooLarge = false;
        readClass = new int[(int) reads];
        for (int lot = 0; lot < lots.size(); lot++) {
            readStart[lot + 1] += readStart[lot];
        }
        int[] at = readStart.clone();
        for (int cls = 0; cls < classes.size(); cls++) {
            for (int pool : poolsRead(cls)) {
                for (int i = lotsOf.start[pool]; i < lotsOf.start[pool + 1]; i++) {
                    readClass[at[lotsOf.items[i]]++] = cls;
                }
            }
        }
    }

    /** Returns the lot of a partition of a topic that somebody reads. */
    int lotOf(int topic, int partition) {
        return problem.racks == null ? pool[topic] : lots.of(pool[topic], problem.racks.replicas[partition]);
    }

    /** Returns the pool that a lot is of. */
    int poolOf(int lot) {
        return lots.first(lot);
    }

    /** Returns whether the members of a class stand in no rack of the lot's replicas. */
    boolean isFar(int lot, int cls) {
        int rack = classes.second(cls) - 1;
        return problem.racks != null && (rack < 0 || !problem.racks.sets[lots.second(lot)].get(rack));
    }

    /** Returns whether a class can be far from a lot. */
    boolean hasRacks() {
        return problem.racks != null;
    }

    boolean isTooLarge() {
        return isTooLarge;
    }

    int pools() {
        return 1 + Arrays.stream(pool).max().orElse(-1);
    }

    /** Returns the pools that a class reads. */
    int[] poolsRead(int cls) {
        return poolsRead[cls];
    }

    /** Returns the lots that a class reads. */
    int[] lotsRead(int cls) {
        Ints read = new Ints();
        for (int pool : poolsRead(cls)) {
            for (int i = lotsOf.start[pool]; i < lotsOf.start[pool + 1]; i++) {
                read.add(lotsOf.items[i]);
            }
        }
        return read.toArray();
    }

    int lots() {
        return lotSize.length;
    }

    int classes() {
        return members.start.length - 1;
    }

    /** Returns the pool of each topic: topics with the same readers are in one; -1 without readers. */
    private int[] poolOfTopics() {
        int topics = problem.topics();
        // Each subscription takes its topics out of their pools into new ones, so that what stays
        // together through all of them has the same readers. Pool 0 is read by none so far.
        int[] pool = new int[topics];
        int[] size = new int[topics + 1];
        int[] into = new int[topics + 1];
        int[] when = new int[topics + 1];
        int[] unused = new int[topics];
        size[0] = topics;
        for (int i = 0; i < topics; i++) {
            unused[i] = topics - i;
        }
        int left = topics;
        for (int cls = 0; cls < classes.size(); cls++) {
            for (int topic : topicsRead(cls)) {
                int from = pool[topic];
                if (when[from] != cls + 1) {
                    if (from != 0 && size[from] == 1) {
                        continue;
                    }
                    when[from] = cls + 1;
                    into[from] = unused[--left];
                }
                pool[topic] = into[from];
                size[into[from]]++;
                if (--size[from] == 0 && from != 0) {
                    unused[left++] = from;
                }
            }
        }
        int[] number = new int[topics + 1];
        int count = 0;
        for (int topic = 0; topic < topics; topic++) {
            if (pool[topic] == 0) {
                pool[topic] = -1;
            } else {
                if (number[pool[topic]] == 0) {
                    number[pool[topic]] = ++count;
                }
                pool[topic] = number[pool[topic]] - 1;
            }
        }
        return pool;
    }

    private int[] topicsRead(int cls) {
        return problem.subscriptions[classes.first(cls)];
    }

    private int[][] findPoolsRead() {
        int[][] result = new int[classes.size()][];
        int[] seen = new int[pools()];
        int[] found = new int[seen.length];
        for (int cls = 0; cls < result.length; cls++) {
            int count = 0;
            for (int topic : topicsRead(cls)) {
                if (seen[pool[topic]] != cls + 1) {
                    seen[pool[topic]] = cls + 1;
                    found[count++] = pool[topic];
                }
            }
            result[cls] = Arrays.copyOf(found, count);
        }
        return result;
    }

    /** Numbers for pairs of numbers, in the order in which they come. */
    private static final class Pairs {
        /** The numbers of pairs whose second one is 0, plus 1: without racks there are no others. */
        private final int[] ofFirst;

        private final Map<Long, Integer> others = new HashMap<>();
        private final Ints first = new Ints();
        private final Ints second = new Ints();

        Pairs(int firsts) {
            ofFirst = new int[firsts];
        }

        /** Returns numbers for so many first ones, each with the second one 0. */
        static Pairs counted(int firsts) {
            Pairs pairs = new Pairs(firsts);
            for (int i = 0; i < firsts; i++) {
                pairs.of(i, 0);
            }
            return pairs;
        }

        int of(int a, int b) {
            if (b != 0) {
                return others.computeIfAbsent((long) a << 32 | b, any -> added(a, b));
            }
            if (ofFirst[a] == 0) {
                ofFirst[a] = 1 + added(a, 0);
            }
            return ofFirst[a] - 1;
        }

        private int added(int a, int b) {
            first.add(a);
            second.add(b);
            return first.size - 1;
        }

        int size() {
            return first.size;
        }

        int first(int number) {
            return first.items[number];
        }

        int second(int number) {
            return second.items[number];
        }

        int[] firsts() {
            return first.toArray();
        }
    }
}
