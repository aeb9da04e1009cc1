package assay.optimal;

/** What members hold, whether they may or not. */
@FunctionalInterface
public interface Holdings {
    /** Tells a taker, in any order, what a member holds. */
    void of(int member, Taker taker);

    /** Takes what a member holds, topic by topic. */
    interface Taker {
        /**
         * Takes partitions of a topic by their numbers within it.
         *
         * @param topic of the group, -1 for any other
         * @param numbers that need not exist
         */
        void take(int topic, Object[] numbers);
    }

    /**
     * Returns holdings of which the owner of each partition is known.
     *
     * @param owner of each partition, or {@link Problem#NOBODY}
     * @param start of each topic, its first partition; last the number of partitions
     */
    static Holdings of(int[] owner, int members, int[] start) {
        Grouped byMember = new Grouped(owner, members);
        return (member, taker) -> {
            int topic = 0;
            for (int i = byMember.start[member]; i < byMember.start[member + 1]; i++) {
                while (byMember.items[i] >= start[topic + 1]) {
                    topic++;
                }
                taker.take(topic, new Integer[] {byMember.items[i] - start[topic]});
            }
        };
    }
}
