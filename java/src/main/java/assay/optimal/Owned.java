package assay.optimal;

import java.util.Arrays;
import java.util.BitSet;

/**
 * Who holds each partition, and how many of each lot a member owns: what it holds and still reads.
 *
 * <p>If several members hold one partition, it is with the first of them.
 */
final class Owned implements Holdings.Taker {
    /** Pairs of a member and a lot, by lot: those of member m are from {@code first[m]} up to {@code last[m]}. */
    final int[] first;

    final int[] last;
    final Ints lot;
    final Ints count;

    /** The member that holds each partition, {@link Problem#NOBODY} for none. */
    final int[] holder;

    /** Members that hold something that they do not read, that an earlier one holds, or that does not exist. */
    final BitSet loses = new BitSet();

    private final Problem problem;
    private final Quotient quotient;
    private final int[] pairOf;
    private int member;

    Owned(Problem problem, Quotient quotient) {
        this.problem = problem;
        this.quotient = quotient;
        lot = new Ints(problem.members());
        count = new Ints(problem.members());
        first = new int[problem.members()];
        last = new int[problem.members()];
        holder = new int[problem.partitions()];
        Arrays.fill(holder, Problem.NOBODY);
        pairOf = new int[quotient.lots()];
        Arrays.fill(pairOf, -1);
        for (member = 0; member < first.length; member++) {
            first[member] = lot.size;
            problem.held.of(member, this);
            last[member] = lot.size;
            if (last[member] - first[member] > 1) {
                sortByLot();
            }
        }
        dropWhatIsNotRead();
    }

    @Override
    public void take(int topic, Object[] numbers) {
        if (topic < 0 || quotient.pool[topic] < 0) {
            loses.set(member);
            return;
        }
        int start = problem.start[topic];
        int size = problem.size(topic);
        int kept = 0;
        for (Object any : numbers) {
            int number = (Integer) any;
            if (number >= 0 && number < size && holder[start + number] == Problem.NOBODY) {
                holder[start + number] = member;
                kept++;
                if (problem.racks != null) {
                    own(quotient.lotOf(topic, start + number), 1);
                }
            }
        }
        if (kept < numbers.length) {
            loses.set(member);
        }
        if (problem.racks == null && kept > 0) {
            own(quotient.pool[topic], kept);
        }
    }

    private void own(int its, int partitions) {
        if (pairOf[its] < first[member]) {
            pairOf[its] = lot.size;
            lot.add(its);
            count.add(0);
        }
        count.items[pairOf[its]] += partitions;
    }

    private void dropWhatIsNotRead() {
        int[] readBy = new int[quotient.pools()];
        Arrays.fill(readBy, -1);
        for (int cls = 0; cls < quotient.classes(); cls++) {
            for (int pool : quotient.poolsRead(cls)) {
                readBy[pool] = cls;
            }
            for (int i = quotient.members.start[cls]; i < quotient.members.start[cls + 1]; i++) {
                int reader = quotient.members.items[i];
                int kept = first[reader];
                for (int pair = first[reader]; pair < last[reader]; pair++) {
                    if (readBy[quotient.poolOf(lot.items[pair])] == cls) {
                        lot.items[kept] = lot.items[pair];
                        count.items[kept++] = count.items[pair];
                    } else {
                        loses.set(reader);
                    }
                }
                last[reader] = kept;
            }
        }
    }

    /** Brings the pairs of a member into an order that does not depend on how they came. */
    private void sortByLot() {
        int from = first[member];
        int[] lots = Arrays.copyOfRange(lot.items, from, lot.size);
        Arrays.sort(lots);
        int[] counts = new int[lots.length];
        Arrays.setAll(counts, i -> count.items[pairOf[lots[i]]]);
        System.arraycopy(lots, 0, lot.items, from, lots.length);
        System.arraycopy(counts, 0, count.items, from, lots.length);
    }

    /** Returns the pair of a member and a lot, below 0 if it owns nothing of it. */
    int pair(int owner, int of) {
        return Arrays.binarySearch(lot.items, first[owner], last[owner], of);
    }
}
