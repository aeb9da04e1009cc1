package assay.optimal;

import java.util.Arrays;
import java.util.Comparator;
import java.util.PriorityQueue;

/**
 * The best plan: loads as even as can be, then, if racks matter, as few partitions as can be with
 * members that stand in no rack of theirs, then as few moves as can be.
 *
 * <p>{@link Quotient} says what there is to tell apart, {@link Blocks} how much each member carries,
 * {@link Flows} how many partitions go where, and this class which. How many arcs are looked at is
 * bounded: where {@link #MOST_WORK} does not do, what has no place yet stays where it is or goes to
 * the reader that has least.
 */
public final class Optimum {
    /** So many arcs are looked at before the best plan so far is taken: about a second. */
    public static final long MOST_WORK = 200_000_000;

    /** With more pairs of a class and a lot that it reads, a plan would take too much memory. */
    public static final int MOST_READS = 2_000_000;

    private static final int UNPLACED = -2;

    private Optimum() {}

    /** A plan, and whether it is the best. */
    public static final class Plan {
        /** The member that holds each partition, {@link Problem#NOBODY} where nobody reads it. */
        public final int[] owner;

        /** Whether no plan is better; false where the work did not do. */
        public final boolean isBest;

        /** How many arcs were looked at. */
        public final long work;

        Plan(int[] owner, boolean isBest, long work) {
            this.owner = owner;
            this.isBest = isBest;
            this.work = work;
        }
    }

    /** Returns the best plan of a group. */
    public static Plan of(Problem problem) {
        return of(problem, MOST_WORK, MOST_READS);
    }

    static Plan of(Problem problem, long mostWork, int mostReads) {
        Work work = new Work(mostWork);
        Quotient quotient;
        try {
            quotient = new Quotient(problem, mostReads);
        } catch (Quotient.TooLarge tooLarge) {
            if (problem.racks != null) {
                Problem plain = new Problem(
                        problem.subscriptionOf, problem.subscriptions, problem.start, problem.owner, null);
                Plan plan = of(plain, mostWork, mostReads);
                return new Plan(plan.owner, false, plan.work);
            }
            int[] owner = new int[problem.partitions()];
            Arrays.fill(owner, UNPLACED);
            return new Plan(placed(problem, owner), false, 0);
        }
        Flows flows = new Flows(problem, quotient, new Blocks(quotient, work), work);
        int[] owner = handedOut(problem, quotient, flows);
        return new Plan(flows.isComplete() ? owner : placed(problem, owner), flows.isComplete(), work.done());
    }

    /** Gives each member its partitions: the first that it owns of a lot stay, others go in order. */
    private static int[] handedOut(Problem problem, Quotient quotient, Flows flows) {
        int[] owner = new int[problem.partitions()];
        Arrays.fill(owner, Problem.NOBODY);
        int[] pairOf = new int[problem.members()];
        Arrays.fill(pairOf, -1);
        int[] next = Arrays.copyOf(quotient.members.start, quotient.classes());
        for (int lot = 0; lot < quotient.lots(); lot++) {
            int firstPair = flows.pairStart[lot];
            int read = quotient.readStart[lot];
            for (int pair = firstPair; pair < flows.pairStart[lot + 1]; pair++) {
                pairOf[flows.pairMember[pair]] = pair;
            }
            for (int i = quotient.runs.start[lot]; i < quotient.runs.start[lot + 1]; i++) {
                int run = quotient.runs.items[i];
                for (int p = quotient.runStart[run]; p < quotient.runStart[run + 1]; p++) {
                    int before = problem.owner[p];
                    if (before >= 0 && pairOf[before] >= firstPair && flows.stays[pairOf[before]] > 0) {
                        flows.stays[pairOf[before]]--;
                        owner[p] = before;
                        continue;
                    }
                    while (read < quotient.readStart[lot + 1] && flows.through[read] == 0) {
                        read++;
                    }
                    if (read == quotient.readStart[lot + 1]) {
                        owner[p] = UNPLACED;
                        continue;
                    }
                    flows.through[read]--;
                    int one = quotient.readClass[read];
                    while (flows.gets[quotient.members.items[next[one]]] == 0) {
                        next[one]++;
                    }
                    owner[p] = quotient.members.items[next[one]];
                    flows.gets[owner[p]]--;
                }
            }
        }
        return owner;
    }

    /** Lets what has no place stay with its owner, or gives it to the reader that has least. */
    private static int[] placed(Problem problem, int[] owner) {
        int members = problem.members();
        int[] load = new int[members];
        for (int holder : owner) {
            if (holder >= 0) {
                load[holder]++;
            }
        }
        Quotient.Grouped bySubscription = new Quotient.Grouped(problem.subscriptionOf, problem.subscriptions.length);
        int[] count = new int[problem.topics() + 1];
        for (int[] topics : problem.subscriptions) {
            for (int topic : topics) {
                count[topic + 1]++;
            }
        }
        Arrays.parallelPrefix(count, Integer::sum);
        int[] subscribed = new int[count[problem.topics()]];
        int[] at = count.clone();
        for (int s = 0; s < problem.subscriptions.length; s++) {
            for (int topic : problem.subscriptions[s]) {
                subscribed[at[topic]++] = s;
            }
        }
        boolean[] reads = new boolean[problem.subscriptions.length];
        for (int topic = 0; topic < problem.topics(); topic++) {
            for (int i = count[topic]; i < count[topic + 1]; i++) {
                reads[subscribed[i]] = true;
            }
            boolean some = false;
            for (int p = problem.start[topic]; p < problem.start[topic + 1]; p++) {
                int before = problem.owner[p];
                if (owner[p] == UNPLACED && before >= 0 && reads[problem.subscriptionOf[before]]) {
                    owner[p] = before;
                    load[before]++;
                }
                some |= owner[p] == UNPLACED;
            }
            if (some) {
                PriorityQueue<Integer> least =
                        new PriorityQueue<>(Comparator.<Integer>comparingInt(m -> load[m]).thenComparing(m -> m));
                for (int i = count[topic]; i < count[topic + 1]; i++) {
                    int s = subscribed[i];
                    for (int j = bySubscription.start[s]; j < bySubscription.start[s + 1]; j++) {
                        least.add(bySubscription.items[j]);
                    }
                }
                for (int p = problem.start[topic]; p < problem.start[topic + 1]; p++) {
                    if (owner[p] == UNPLACED) {
                        Integer taker = least.poll();
                        owner[p] = taker == null ? Problem.NOBODY : taker;
                        if (taker != null) {
                            load[taker]++;
                            least.add(taker);
                        }
                    }
                }
            }
            for (int i = count[topic]; i < count[topic + 1]; i++) {
                reads[subscribed[i]] = false;
            }
        }
        return owner;
    }
}
