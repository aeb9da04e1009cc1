package assay.optimal;

import java.util.Arrays;

/** A list of numbers that grows. */
final class Ints {
    int[] items;
    int size;

    Ints() {
        this(16);
    }

    /** @param expected how many there may be; more are taken too */
    Ints(int expected) {
        items = new int[Math.max(1, expected)];
    }

    void add(int item) {
        if (size == items.length) {
            items = Arrays.copyOf(items, 2 * size);
        }
        items[size++] = item;
    }

    int[] toArray() {
        return size == items.length ? items : Arrays.copyOf(items, size);
    }
}
