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

    /** Partitions that nobody holds, ascending. */
    final Ints free;

    /** How many partitions members hold, whether they read them or not. */
    private long held;

    private final Problem problem;
    private final Quotient quotient;
    private final int[] pairOf;
    private int member;

    /** @throws Holdings.Contradiction if holdings and what is free do not make up all partitions */
    Owned(Problem problem, Quotient quotient) throws Holdings.Contradiction {
        this.problem = problem;
        this.quotient = quotient;
        first = new int[problem.members()];
        last = new int[problem.members()];
        pairOf = new int[quotient.lots()];
        forEachMember(quotient.isOneLot() ? this::countAll : () -> problem.held.count(member, this));
        free = new Ints((int) Math.max(0, problem.partitions() - held));
        for (int topic = 0; topic < problem.topics(); topic++) {
            problem.held.free(topic, free::add);
        }
        if (held + free.size != problem.partitions()) {
            throw new Holdings.Contradiction();
        }
        if (!quotient.isByTopic()) {
            forEachMember(this::ownEach);
        }
        dropWhatIsNotRead();
    }

    private void forEachMember(Runnable look) {
        Arrays.fill(pairOf, -1);
        for (member = 0; member < first.length; member++) {
            first[member] = lot.size;
            look.run();
            last[member] = lot.size;
            sortByLot();
        }
    }

    /** All partitions are alike: nobody has to be asked of which topic they are. */
    private void countAll() {
        int size = problem.held.size(member);
        held += size;
        if (size > 0) {
            own(0, size);
        }
    }

    private void ownEach() {
        int topic = 0;
        for (int partition : sorted(problem.held.partitions(member))) {
            topic = problem.topicOf(partition, topic);
            if (quotient.pool[topic] >= 0) {
                own(quotient.lotOf(topic, partition), 1);
            }
        }
    }

    @Override
    public void add(int topic, int partitions) {
        held += partitions;
        if (quotient.pool[topic] < 0) {
            foreign.set(member);
        } else if (quotient.isByTopic()) {
            own(quotient.pool[topic], partitions);
        }
    }

    private void dropWhatIsNotRead() {
        int[] readBy = new int[quotient.pools()];
        Arrays.fill(readBy, -1);
        for (int one = 0; one < quotient.classes(); one++) {
            for (int pool : quotient.poolsRead(one)) {
                readBy[pool] = one;
            }
            for (int i = quotient.members.start[one]; i < quotient.members.start[one + 1]; i++) {
                int reader = quotient.members.items[i];
                int kept = first[reader];
                for (int pair = first[reader]; pair < last[reader]; pair++) {
                    if (readBy[quotient.poolOf(lot.items[pair])] == one) {
                        lot.items[kept] = lot.items[pair];
                        count.items[kept++] = count.items[pair];
                    } else {
                        foreign.set(reader);
                    }
                }
                last[reader] = kept;
            }
        }
    }

    /** Brings the pairs of a member into an order that does not depend on how they came. */
    private void sortByLot() {
        int from = first[member];
        boolean ascending = true;
        for (int pair = from + 1; pair < lot.size; pair++) {
            ascending &= lot.items[pair - 1] < lot.items[pair];
        }
        if (ascending) {
            return;
        }
        int[] lots = sorted(Arrays.copyOfRange(lot.items, from, lot.size));
        int[] counts = new int[lots.length];
        Arrays.setAll(counts, i -> count.items[pairOf[lots[i]]]);
        System.arraycopy(lots, 0, lot.items, from, lots.length);
        System.arraycopy(counts, 0, count.items, from, lots.length);
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
