package assay.optimal;

import java.util.Arrays;
import java.util.function.IntConsumer;

/**
 * What members hold.
 *
 * <p>How many partitions a member holds is asked once, which ones only of members that give some up.
 */
public abstract class Holdings {
    /** Takes how many partitions of a topic a member holds; a topic may come several times. */
    protected interface Counts {
        void add(int topic, int count);
    }

    /** Returns how many partitions a member holds, of whatever topics. */
    protected abstract int size(int member);

    /** Tells how many partitions of which topics a member holds. */
    protected abstract void count(int member, Counts counts);

    /** Returns the partitions of a member, in any order, counted through all topics. */
    protected abstract int[] partitions(int member);

    /** Tells which partitions of a topic nobody holds, ascending, counted through all topics. */
    protected abstract void free(int topic, IntConsumer free);

    /** What members hold and what is free do not make up all partitions. */
    public static final class Contradiction extends Exception {
        private static final long serialVersionUID = 1;

        Contradiction() {
            super("two members hold one partition, or one holds what is no partition of the group");
        }
    }

    /**
     * Returns holdings of which the owner of each partition is known.
     *
     * @param owner of each partition, or {@link Problem#NOBODY}
     * @param start of each topic, its first partition; last the number of partitions
     */
    public static Holdings of(int[] owner, int members, int[] start) {
        Grouped byMember = new Grouped(owner, members);
        return new Holdings() {
            @Override
            protected int size(int member) {
                return byMember.size(member);
            }

            @Override
            protected void count(int member, Counts counts) {
                int topic = 0;
                for (int i = byMember.start[member]; i < byMember.start[member + 1]; i++) {
                    while (byMember.items[i] >= start[topic + 1]) {
                        topic++;
                    }
                    counts.add(topic, 1);
                }
            }

            @Override
            protected int[] partitions(int member) {
                return Arrays.copyOfRange(byMember.items, byMember.start[member], byMember.start[member + 1]);
            }

            @Override
            protected void free(int topic, IntConsumer free) {
                for (int partition = start[topic]; partition < start[topic + 1]; partition++) {
                    if (owner[partition] < 0) {
                        free.accept(partition);
                    }
                }
            }
        };
    }
}
