package assay.optimal;

import java.util.Arrays;

/**
 * What members hold, in entries of a member and a topic.
 *
 * <p>How many partitions an entry has is asked of all, which ones only of members that give some up.
 * No partition is in two entries.
 */
public abstract class Holdings {
    final int[] start;
    final int[] topic;
    final int[] count;

    /**
     * @param start of each member, its first entry; last the number of entries
     * @param topic of each entry
     * @param count of each entry, how many partitions of the topic the member holds
     */
    protected Holdings(int[] start, int[] topic, int[] count) {
        this.start = start;
        this.topic = topic;
        this.count = count;
    }

    /** Returns the partitions of an entry, ascending, counted through all topics. */
    protected abstract int[] partitions(int entry);

    /** Returns whether somebody holds a partition. */
    protected abstract boolean isHeld(int topic, int partition);

    /**
     * Returns holdings of which the owner of each partition is known.
     *
     * @param owner of each partition, or {@link Problem#NOBODY}
     * @param start of each topic, its first partition; last the number of partitions
     */
    public static Holdings of(int[] owner, int members, int[] start) {
        Grouped byMember = new Grouped(owner, members);
        int[] first = new int[members + 1];
        int[] topics = new int[byMember.items.length];
        int[] begin = new int[byMember.items.length + 1];
        int entries = 0;
        for (int member = 0; member < members; member++) {
            int topic = -1;
            for (int i = byMember.start[member]; i < byMember.start[member + 1]; i++) {
                if (topic < 0 || byMember.items[i] >= start[topic + 1]) {
                    topic++;
                    while (byMember.items[i] >= start[topic + 1]) {
                        topic++;
                    }
                    begin[entries] = i;
                    topics[entries++] = topic;
                }
            }
            first[member + 1] = entries;
        }
        begin[entries] = byMember.items.length;
        int[] counts = new int[entries];
        Arrays.setAll(counts, entry -> begin[entry + 1] - begin[entry]);
        return new Holdings(first, topics, counts) {
            @Override
            protected int[] partitions(int entry) {
                return Arrays.copyOfRange(byMember.items, begin[entry], begin[entry + 1]);
            }

            @Override
            protected boolean isHeld(int topic, int partition) {
                return owner[partition] >= 0;
            }
        };
    }
}
