package assay.optimal;

import java.util.Arrays;

/** A list of numbers that grows. */
final class Ints {
    int[] items = new int[16];
    int size;

    void add(int item) {
        if (size == items.length) {
            items = Arrays.copyOf(items, 2 * size);
        }
        items[size++] = item;
    }

    int[] toArray() {
        return Arrays.copyOf(items, size);
    }
}
