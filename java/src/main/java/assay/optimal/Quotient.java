package assay.optimal;

import java.util.Arrays;

/**
 * What the objective can tell apart: lots of partitions and classes of members.
 *
 * <p>A lot is the partitions that the same members read and, where racks matter, whose replicas
 * stand in the same racks. A class is the members with one subscription and, where racks matter, in
 * one rack. Partitions that nobody reads are in no lot.
 */
final class Quotient {
    /** Runs of partitions of one lot each: where they begin, their number of partitions at the end. */
    final int[] runStart;

    /** The lot of each run, -1 for none. */
    final int[] lotOfRun;

    /** Runs by lot. */
    final Grouped runs;

    /** How many partitions each lot has. */
    final int[] lotSize;

    /** The class of each member. */
    final int[] classOf;

    /** Members by class. */
    final Grouped members;

    /** Which class reads what: the reads of lot l are those from {@code readStart[l]} on. */
    final int[] readStart;

    final int[] readClass;

    /** Whether the class of a read stands in no rack of the lot. */
    final boolean[] readFar;

    /** @throws TooLarge if more than so many pairs of a class and a lot that it reads are there */
    Quotient(Problem problem, int mostReads) throws TooLarge {
        Problem.Racks racks = problem.racks;
        int[] pool = pools(problem);
        int pools = 1 + Arrays.stream(pool).max().orElse(-1);
        Numbers lots;
        Numbers classes;
        if (racks == null) {
            runStart = problem.start;
            lotOfRun = pool;
            classOf = problem.subscriptionOf;
            lots = Numbers.counted(pools);
            classes = Numbers.counted(problem.subscriptions.length);
        } else {
            classes = new Numbers(problem.subscriptions.length);
            classOf = new int[problem.members()];
            for (int member = 0; member < classOf.length; member++) {
                classOf[member] = classes.of(problem.subscriptionOf[member], 1 + racks.ofMember[member]);
            }
            lots = new Numbers(pools);
            int[] starts = new int[problem.partitions() + 1];
            int[] of = new int[problem.partitions()];
            int count = 0;
            for (int topic = 0; topic < pool.length; topic++) {
                for (int p = problem.start[topic]; p < problem.start[topic + 1]; p++) {
                    int lot = pool[topic] < 0 ? -1 : lots.of(pool[topic], racks.replicas[p]);
                    if (p == problem.start[topic] || lot != of[count - 1]) {
                        starts[count] = p;
                        of[count++] = lot;
                    }
                }
            }
            starts[count] = problem.partitions();
            runStart = Arrays.copyOf(starts, count + 1);
            lotOfRun = Arrays.copyOf(of, count);
        }
        runs = new Grouped(lotOfRun, lots.size());
        members = new Grouped(classOf, classes.size());
        lotSize = new int[lots.size()];
        for (int run = 0; run < lotOfRun.length; run++) {
            if (lotOfRun[run] >= 0) {
                lotSize[lotOfRun[run]] += runStart[run + 1] - runStart[run];
            }
        }

        int[][] poolsRead = poolsRead(problem, pool, pools);
        Grouped lotsOf = new Grouped(lots.firsts(), pools);
        readStart = new int[lots.size() + 1];
        long reads = 0;
        for (int one = 0; one < classes.size(); one++) {
            for (int read : poolsRead[classes.first(one)]) {
                reads += lotsOf.size(read);
                if (reads > mostReads) {
                    throw new TooLarge();
                }
                for (int i = lotsOf.start[read]; i < lotsOf.start[read + 1]; i++) {
                    readStart[lotsOf.items[i] + 1]++;
                }
            }
        }
        Arrays.parallelPrefix(readStart, Integer::sum);
        readClass = new int[(int) reads];
        readFar = new boolean[(int) reads];
        int[] at = readStart.clone();
        for (int one = 0; one < classes.size(); one++) {
            for (int read : poolsRead[classes.first(one)]) {
                for (int i = lotsOf.start[read]; i < lotsOf.start[read + 1]; i++) {
                    int lot = lotsOf.items[i];
                    readFar[at[lot]] = racks != null && racks.far(lots.second(lot), classes.second(one) - 1);
                    readClass[at[lot]++] = one;
                }
            }
        }
    }

    int lots() {
        return lotSize.length;
    }

    int classes() {
        return members.start.length - 1;
    }

    /** Returns the pool of each topic: topics with the same readers are in one; -1 without readers. */
    private static int[] pools(Problem problem) {
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
        for (int s = 0; s < problem.subscriptions.length; s++) {
            for (int topic : problem.subscriptions[s]) {
                int from = pool[topic];
                if (when[from] != s + 1) {
                    if (from != 0 && size[from] == 1) {
                        continue;
                    }
                    when[from] = s + 1;
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

    /** Returns the pools that each subscription reads, each once. */
    private static int[][] poolsRead(Problem problem, int[] pool, int pools) {
        int[][] result = new int[problem.subscriptions.length][];
        int[] seen = new int[pools];
        int[] found = new int[pools];
        for (int s = 0; s < result.length; s++) {
            int count = 0;
            for (int topic : problem.subscriptions[s]) {
                if (seen[pool[topic]] != s + 1) {
                    seen[pool[topic]] = s + 1;
                    found[count++] = pool[topic];
                }
            }
            result[s] = Arrays.copyOf(found, count);
        }
        return result;
    }

    /** There are more pairs of a class and a lot than a plan may look at. */
    static final class TooLarge extends Exception {
        private static final long serialVersionUID = 1;

        TooLarge() {
            super(null, null, false, false);
        }
    }

    /** Items by group: those of group g are {@code items[start[g]]} up to {@code start[g + 1]}. */
    static final class Grouped {
        final int[] start;
        final int[] items;

        /** @param groupOf the group of each item, -1 for none */
        Grouped(int[] groupOf, int groups) {
            start = new int[groups + 1];
            for (int group : groupOf) {
                if (group >= 0) {
                    start[group + 1]++;
                }
            }
            for (int group = 0; group < groups; group++) {
                start[group + 1] += start[group];
            }
            items = new int[start[groups]];
            int[] at = start.clone();
            for (int item = 0; item < groupOf.length; item++) {
                if (groupOf[item] >= 0) {
                    items[at[groupOf[item]]++] = item;
                }
            }
        }

        int size(int group) {
            return start[group + 1] - start[group];
        }
    }

    /** Numbers for pairs of numbers, in the order in which they come. */
    private static final class Numbers {
        private final int[][] known;
        private int[] first = new int[16];
        private int[] second = new int[16];
        private int count;

        Numbers(int firsts) {
            known = new int[firsts][0];
        }

        /** Returns numbers for so many first ones, each with one second. */
        static Numbers counted(int firsts) {
            Numbers numbers = new Numbers(firsts);
            for (int i = 0; i < firsts; i++) {
                numbers.of(i, 0);
            }
            return numbers;
        }

        int of(int one, int other) {
            if (other >= known[one].length) {
                known[one] = Arrays.copyOf(known[one], Math.max(4, 2 * other));
            }
            if (known[one][other] == 0) {
                if (count == first.length) {
                    first = Arrays.copyOf(first, 2 * count);
                    second = Arrays.copyOf(second, 2 * count);
                }
                first[count] = one;
                second[count] = other;
                known[one][other] = ++count;
            }
            return known[one][other] - 1;
        }

        int size() {
            return count;
        }

        int first(int number) {
            return first[number];
        }

        int second(int number) {
            return second[number];
        }

        int[] firsts() {
            return Arrays.copyOf(first, count);
        }
    }
}
