package assay.broker;

import org.apache.kafka.common.Uuid;

/** The index of each topic by its id: a hash table that is asked once for all that each member holds. */
final class TopicTable {
    private final Uuid[] ids;
    private final int[] indices;
    private final int mask;

    TopicTable(Uuid[] topics) {
        int size = Integer.highestOneBit(Math.max(1, topics.length)) << 2;
        ids = new Uuid[size];
        indices = new int[size];
        mask = size - 1;
        for (int i = 0; i < topics.length; i++) {
            int at = place(topics[i]);
            ids[at] = topics[i];
            indices[at] = i;
        }
    }

    /** Returns the index of a topic, -1 if it has none. */
    int get(Uuid id) {
        int at = place(id);
        return ids[at] == null ? -1 : indices[at];
    }

    private int place(Uuid id) {
        int at = id.hashCode() & mask;
        while (ids[at] != null && !ids[at].equals(id)) {
            at = at + 1 & mask;
        }
        return at;
    }
}
