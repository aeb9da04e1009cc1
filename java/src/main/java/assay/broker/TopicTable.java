package assay.broker;

import java.util.Arrays;
import org.apache.kafka.common.Uuid;

/** Topics by their ids: a hash table that is asked once for each topic of which a member holds something. */
final class TopicTable {
    private Uuid[] ids = new Uuid[16];
    private int size;

    /** Of each slot the index of a topic, -1 for none: at least half of them are empty. */
    private int[] indices = empty(2 * ids.length);

    int size() {
        return size;
    }

    Uuid id(int index) {
        return ids[index];
    }

    /** Returns the index of a topic, -1 if it has none. */
    int get(Uuid id) {
        return indices[slot(id)];
    }

    /** Returns the index of a topic, the next one if it has none. */
    int add(Uuid id) {
        int slot = slot(id);
        if (indices[slot] >= 0) {
            return indices[slot];
        }
        if (size == ids.length) {
            ids = Arrays.copyOf(ids, 2 * size);
            indices = empty(2 * ids.length);
            for (int index = 0; index < size; index++) {
                indices[slot(ids[index])] = index;
            }
            slot = slot(id);
        }
        ids[size] = id;
        indices[slot] = size;
        return size++;
    }

    /** Gives topics indices in an order that depends on their ids alone; returns the new index of each. */
    int[] sort() {
        Uuid[] sorted = HashOrder.of(Arrays.copyOf(ids, size));
        int[] index = new int[size];
        for (int i = 0; i < size; i++) {
            index[get(sorted[i])] = i;
        }
        System.arraycopy(sorted, 0, ids, 0, size);
        for (int slot = 0; slot < indices.length; slot++) {
            indices[slot] = indices[slot] < 0 ? -1 : index[indices[slot]];
        }
        return index;
    }

    private int slot(Uuid id) {
        int mask = indices.length - 1;
        int slot = id.hashCode() & mask;
        while (indices[slot] >= 0 && !ids[indices[slot]].equals(id)) {
            slot = slot + 1 & mask;
        }
        return slot;
    }

    private static int[] empty(int slots) {
        int[] indices = new int[slots];
        Arrays.fill(indices, -1);
        return indices;
    }
}
