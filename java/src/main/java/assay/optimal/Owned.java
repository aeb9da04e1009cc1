package assay.optimal;

import java.util.Arrays;
import java.util.BitSet;

/** How many partitions of each lot a member owns: what it holds and still reads. */
final class Owned implements Holdings.Counts {
    /** Pairs of a member and a lot: those of member m are from {@code first[m]} up to {@code last[m]}. */
    final int[] first;

    final int[] last;
    final Ints lot = new Ints();
    final Ints count = new Ints();

    /** Members that hold something that they do not read. */
    final BitSet foreign = new BitSet();

    /** How many partitions of each topic are held, by whomever. */
    final int[] held;

    private final Quotient quotient;
    private final int[] pairOf;
    private final int[] readBy;
    private int member;

    Owned(Problem problem, Quotient quotient) {
        this.quotient = quotient;
        first = new int[problem.members()];
        last = new int[problem.members()];
        held = new int[problem.topics()];
        pairOf = new int[quotient.lots()];
        readBy = new int[quotient.pools()];
        Arrays.fill(pairOf, -1);
        for (int one = 0; one < quotient.classes(); one++) {
            for (int pool : quotient.poolsRead(one)) {
                readBy[pool] = one;
            }
            for (int i = quotient.members.start[one]; i < quotient.members.start[one + 1]; i++) {
                member = quotient.members.items[i];
                first[member] = lot.size;
                problem.held.count(member, this);
                if (problem.racks != null) {
                    int topic = 0;
                    for (int partition : sorted(problem.held.partitions(member))) {
                        topic = problem.topicOf(partition, topic);
                        if (reads(topic)) {
                            own(quotient.lotOf(topic, partition), 1);
                        }
                    }
                }
                last[member] = lot.size;
            }
        }
    }

    @Override
    public void add(int topic, int partitions) {
        held[topic] += partitions;
        if (!reads(topic)) {
            foreign.set(member);
        } else if (quotient.isByTopic()) {
            own(quotient.pool[topic], partitions);
        }
    }

    private boolean reads(int topic) {
        return quotient.pool[topic] >= 0 && readBy[quotient.pool[topic]] == quotient.classOf[member];
    }

    private void own(int one, int partitions) {
        if (pairOf[one] < first[member]) {
            pairOf[one] = lot.size;
            lot.add(one);
            count.add(0);
        }
        count.items[pairOf[one]] += partitions;
    }

    static int[] sorted(int[] partitions) {
        Arrays.sort(partitions);
        return partitions;
    }
}
