package assay.broker;

import java.util.Arrays;

/** The order of members and topics, which depends on nothing but their ids. */
final class HashOrder {
    private HashOrder() {}

    /**
     * Returns ids by the slot that they have in a {@code HashMap} of all of them, then by hash, then by id.
     *
     * <p>A broker's members come from such a map, so this is mostly the order in which they come and in
     * which they lie in memory: to read them in another order takes up to three times as long.
     */
    static <T extends Comparable<T>> T[] of(T[] ids) {
        int slots = Math.max(1, Integer.highestOneBit(ids.length * 4 / 3) << 1);
        int[] slot = new int[ids.length];
        int[] end = new int[slots + 1];
        for (int i = 0; i < ids.length; i++) {
            int hash = ids[i].hashCode();
            slot[i] = (hash ^ hash >>> 16) & slots - 1;
            end[slot[i] + 1]++;
        }
        for (int i = 0; i < slots; i++) {
            end[i + 1] += end[i];
        }
        T[] sorted = ids.clone();
        for (int i = 0; i < ids.length; i++) {
            sorted[end[slot[i]]++] = ids[i];
        }
        for (int first = 0, i = 0; i < slots; first = end[i++]) {
            // Most slots that several share two share: to sort all by one call takes three times as long.
            if (end[i] - first == 2 && compare(sorted[first], sorted[first + 1]) > 0) {
                T last = sorted[first];
                sorted[first] = sorted[first + 1];
                sorted[first + 1] = last;
            } else if (end[i] - first > 2) {
                Arrays.sort(sorted, first, end[i], HashOrder::compare);
            }
        }
        return sorted;
    }

    private static <T extends Comparable<T>> int compare(T one, T other) {
        int byHash = Integer.compare(one.hashCode(), other.hashCode());
        return byHash == 0 ? one.compareTo(other) : byHash;
    }
}
