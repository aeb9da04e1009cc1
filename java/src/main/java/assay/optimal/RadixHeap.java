package assay.optimal;

import java.util.Arrays;

/**
 * A queue of nodes by distance, for distances that never fall below the last one taken.
 *
 * <p>A node lies in the bucket of the highest bit in which its distance differs from the last one
 * taken. Each time it is moved it goes to a lower bucket (Ahuja, Mehlhorn, Orlin and Tarjan, 1990).
 */
final class RadixHeap {
    private static final int BUCKETS = 65;

    private final int[][] nodes = new int[BUCKETS][];
    private final long[][] distances = new long[BUCKETS][];
    private final int[] sizes = new int[BUCKETS];
    private int size;
    private long last;

    boolean isEmpty() {
        return size == 0;
    }

    /** Returns the distance of the node taken last. */
    long last() {
        return last;
    }

    void add(int node, long distance) {
        int bucket = 64 - Long.numberOfLeadingZeros(distance ^ last);
        int at = sizes[bucket]++;
        if (nodes[bucket] == null) {
            nodes[bucket] = new int[16];
            distances[bucket] = new long[16];
        } else if (at == nodes[bucket].length) {
            nodes[bucket] = Arrays.copyOf(nodes[bucket], 2 * at);
            distances[bucket] = Arrays.copyOf(distances[bucket], 2 * at);
        }
        nodes[bucket][at] = node;
        distances[bucket][at] = distance;
        size++;
    }

    /** Takes a node with the least distance. */
    int poll() {
        if (sizes[0] == 0) {
            int bucket = 1;
            while (sizes[bucket] == 0) {
                bucket++;
            }
            int count = sizes[bucket];
            long least = distances[bucket][0];
            for (int i = 1; i < count; i++) {
                least = Math.min(least, distances[bucket][i]);
            }
            last = least;
            sizes[bucket] = 0;
            size -= count;
            for (int i = 0; i < count; i++) {
                add(nodes[bucket][i], distances[bucket][i]);
            }
        }
        size--;
        return nodes[0][--sizes[0]];
    }
}
