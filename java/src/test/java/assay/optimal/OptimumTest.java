package assay.optimal;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Arrays;
import java.util.BitSet;
import java.util.Random;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** The plan against all plans there are, and what it does where it may not look at all of them. */
class OptimumTest {
    private static final int SMALL_GROUPS = 3_000;

    /** A group, with what its plans are worth. */
    private static final class Drawn {
        final int members;
        final int[] start;
        final int[] subscriptionOf;
        final int[][] subscriptions;
        final boolean[][] reads;
        final int[] topicOf;
        final int[] owner;
        final Problem.Racks racks;

        Drawn(Random random, int members, int topics, int most, boolean rackAware) {
            this.members = members;
            start = new int[topics + 1];
            for (int topic = 0; topic < topics; topic++) {
                start[topic + 1] = start[topic] + random.nextInt(most + 1);
            }
            int partitions = start[topics];
            topicOf = new int[partitions];
            for (int topic = 0; topic < topics; topic++) {
                Arrays.fill(topicOf, start[topic], start[topic + 1], topic);
            }
            int kinds = 1 + random.nextInt(members);
            subscriptions = new int[kinds][];
            for (int kind = 0; kind < kinds; kind++) {
                int share = 1 + random.nextInt(4);
                subscriptions[kind] = random.ints(0, topics).limit(topics * share / 4).distinct().toArray();
            }
            subscriptionOf = random.ints(members, 0, kinds).toArray();
            reads = new boolean[members][topics];
            for (int member = 0; member < members; member++) {
                for (int topic : subscriptions[subscriptionOf[member]]) {
                    reads[member][topic] = true;
                }
            }
            owner = random.ints(partitions, Problem.NOBODY, members).toArray();
            if (rackAware) {
                BitSet[] sets = {BitSet.valueOf(new long[] {1}), BitSet.valueOf(new long[] {2}), new BitSet()};
                racks = new Problem.Racks(
                        random.ints(members, -1, 2).toArray(), random.ints(partitions, 0, 3).toArray(), sets);
            } else {
                racks = null;
            }
        }

        Problem problem() {
            return new Problem(subscriptionOf, subscriptions, start, Holdings.of(owner, members, start), racks);
        }

        /** Returns sum of squared loads, partitions in no rack of their member, and moves. */
        long[] worth(int[] holder) {
            long[] load = new long[members];
            long far = 0;
            long moves = 0;
            for (int p = 0; p < holder.length; p++) {
                if (holder[p] >= 0) {
                    load[holder[p]]++;
                    far += racks != null && isFar(p, holder[p]) ? 1 : 0;
                    boolean isOwned = owner[p] >= 0 && reads[owner[p]][topicOf[p]];
                    moves += isOwned && owner[p] != holder[p] ? 1 : 0;
                }
            }
            return new long[] {Arrays.stream(load).map(one -> one * one).sum(), far, moves};
        }

        private boolean isFar(int partition, int member) {
            return racks.ofMember[member] < 0 || !racks.sets[racks.replicas[partition]].get(racks.ofMember[member]);
        }

        /** Returns who holds what by a plan, where it is valid. */
        int[] holder(Plan plan) {
            int[] holder = new int[owner.length];
            int[][] held = new int[members][0];
            for (int p = 0; p < holder.length; p++) {
                holder[p] = plan.owner(p);
                if (holder[p] >= 0) {
                    assertTrue(reads[holder[p]][topicOf[p]], "a member holds what it does not read");
                    held[holder[p]] = Arrays.copyOf(held[holder[p]], held[holder[p]].length + 1);
                    held[holder[p]][held[holder[p]].length - 1] = p;
                }
            }
            for (int member = 0; member < members; member++) {
                if (plan.isChanged(member)) {
                    assertArrayEquals(held[member], plan.partitions(member));
                } else {
                    int one = member;
                    int[] before = IntStream.range(0, owner.length).filter(p -> owner[p] == one).toArray();
                    assertArrayEquals(held[member], before);
                }
            }
            for (int p = 0; p < holder.length; p++) {
                assertEquals(isRead(p), holder[p] >= 0, "a partition is with nobody");
            }
            return holder;
        }

        boolean isRead(int partition) {
            return Arrays.stream(reads).anyMatch(own -> own[topicOf[partition]]);
        }

        /** Returns the least worth of all plans, partition by partition. */
        long[] least(int[] holder, int partition) {
            if (partition == holder.length) {
                return worth(holder);
            }
            long[] least = null;
            for (int member = 0; member < members; member++) {
                if (reads[member][topicOf[partition]]) {
                    holder[partition] = member;
                    long[] found = least(holder, partition + 1);
                    least = least == null || Arrays.compare(found, least) < 0 ? found : least;
                }
            }
            holder[partition] = Problem.NOBODY;
            return least == null ? least(holder, partition + 1) : least;
        }
    }

    @Test
    void noPlanOfASmallGroupIsBetter() {
        Random random = new Random(1);
        for (int i = 0; i < SMALL_GROUPS; i++) {
            Drawn drawn = new Drawn(random, 1 + random.nextInt(4), 1 + random.nextInt(3), 2, i % 2 == 0);
            Plan plan = Optimum.of(drawn.problem());
            long[] least = drawn.least(new int[drawn.owner.length], 0);
            assertArrayEquals(least, drawn.worth(drawn.holder(plan)), "group " + i);
            assertTrue(plan.isBest());
        }
    }

    @Test
    void withTooLittleWorkAPlanIsValidAndSaysSo() {
        Random random = new Random(2);
        int better = 0;
        for (int i = 0; i < 400; i++) {
            Drawn drawn = new Drawn(random, 2 + random.nextInt(30), 1 + random.nextInt(10), 12, i % 2 == 0);
            long[] best = drawn.worth(drawn.holder(Optimum.of(drawn.problem())));
            for (int most = 0; most < 20_000; most = 3 * most + 10) {
                Plan plan = Optimum.of(drawn.problem(), most, Optimum.MOST_READS);
                int order = Arrays.compare(best, drawn.worth(drawn.holder(plan)));
                assertTrue(plan.isBest() ? order == 0 : order <= 0);
                better += order < 0 ? 1 : 0;
            }
            Plan plan = Optimum.of(drawn.problem(), Optimum.MOST_WORK, 0);
            assertTrue(Arrays.compare(best, drawn.worth(drawn.holder(plan))) <= 0);
        }
        assertTrue(better > 100, "the limits cut nothing: " + better);
    }

    @Test
    void withTooManyReadsInRacksThePlanIsTheBestWithoutRacks() {
        Drawn drawn = new Drawn(new Random(3), 6, 4, 9, true);
        int reads = 0;
        while (!Optimum.of(drawn.problem().withoutRacks(), Optimum.MOST_WORK, reads).isBest()) {
            reads++;
        }
        Plan plan = Optimum.of(drawn.problem(), Optimum.MOST_WORK, reads);
        Plan plain = Optimum.of(drawn.problem().withoutRacks());
        assertFalse(plan.isBest());
        assertArrayEquals(drawn.holder(plain), drawn.holder(plan));
    }

    /** The bound that docs/explanation/jar.md derives. */
    private static long bound(Problem problem) {
        Quotient quotient = new Quotient(problem, Optimum.MOST_READS);
        long classes = quotient.classes();
        long nodes = quotient.lots() + classes;
        long reads = quotient.readClass.length;
        long units = problem.partitions();
        long levels = 4 * classes * (settled(units, nodes, reads) + nodes + 2 * reads);
        long members = problem.members();
        long arcs = reads + new Owned(problem, quotient).lot.size + 2 * members;
        return levels + 2 * settled(2 * units + members, nodes + members + classes, arcs);
    }

    private static long settled(long units, long nodes, long arcs) {
        return (units + 1) * (10 * arcs + 2 * nodes) + 2 * units * nodes;
    }

    @Test
    void theWorkIsWithinItsBoundAndMostlyFarBelow() {
        Random random = new Random(4);
        double most = 0;
        for (int i = 0; i < 2_000; i++) {
            Drawn drawn = new Drawn(random, 2 + random.nextInt(40), 1 + random.nextInt(12), 15, i % 2 == 0);
            long work = Optimum.of(drawn.problem()).work();
            long bound = bound(drawn.problem());
            assertTrue(work <= bound, work + " beyond " + bound);
            most = Math.max(most, (double) work / bound);
        }
        assertTrue(most < 0.1, "of the bound: " + most);
    }

    /** Each member reads a quarter of the topics, all differ; a tenth has just joined. */
    @Test
    void theWorkGrowsWithWhatThereIsToRead() {
        for (int size : new int[] {50, 100, 200, 400, 800}) {
            Random random = new Random(size);
            int[] everyOne = new int[size];
            Arrays.setAll(everyOne, i -> i);
            int[][] reads = new int[size][];
            int[] start = new int[size + 1];
            for (int i = 0; i < size; i++) {
                reads[i] = random.ints(0, size).limit(size / 4).distinct().toArray();
                start[i + 1] = start[i] + 20;
            }
            int[] nobody = new int[start[size]];
            Arrays.fill(nobody, Problem.NOBODY);
            int[] owner = nobody.clone();
            Problem before = new Problem(everyOne, reads, start, Holdings.of(nobody, size, start), null);
            Plan first = Optimum.of(before);
            Arrays.setAll(owner, p -> first.owner(p) < size / 10 ? Problem.NOBODY : first.owner(p));
            BitSet[] sets = new BitSet[3];
            Arrays.setAll(sets, set -> BitSet.valueOf(new long[] {7 - (1 << set)}));
            Problem.Racks racks = new Problem.Racks(
                    random.ints(size, 0, 3).toArray(), random.ints(owner.length, 0, 3).toArray(), sets);
            Holdings held = Holdings.of(owner, size, start);
            for (Problem.Racks some : new Problem.Racks[] {null, racks}) {
                Problem problem = new Problem(everyOne, reads, start, held, some);
                long arcs = new Quotient(problem, Optimum.MOST_READS).readClass.length;
                Plan plan = Optimum.of(problem);
                assertTrue(plan.isBest());
                double each = (double) plan.work() / arcs;
                assertTrue(each < 12, "an arc is looked at " + each + " times with " + size + " members");
            }
        }
    }

    @Test
    void whatTwoHoldIsWithTheFirstAndWhatDoesNotExistWithNobody() {
        int[][] said = {{-1, 0, 2}, {0, 1, 7}};
        Holdings twice = (member, taker) ->
                taker.take(0, Arrays.stream(said[member]).boxed().toArray());
        Problem problem = new Problem(new int[2], new int[][] {{0}}, new int[] {0, 4}, twice, null);
        Plan plan = Optimum.of(problem);
        assertArrayEquals(new int[] {0, 1, 0, 1}, IntStream.range(0, 4).map(plan::owner).toArray());
        assertArrayEquals(new int[] {0, 2}, plan.partitions(0));
        assertEquals(0, plan.moved());
    }
}
