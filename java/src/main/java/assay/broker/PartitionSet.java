package assay.broker;

import java.util.AbstractSet;
import java.util.Arrays;
import java.util.Iterator;
import java.util.PrimitiveIterator;

/** Partition numbers, ascending, as a set that nobody can change. */
final class PartitionSet extends AbstractSet<Integer> {
    private final int[] numbers;

    PartitionSet(int[] numbers) {
        this.numbers = numbers;
    }

    @Override
    public int size() {
        return numbers.length;
    }

    @Override
    public boolean contains(Object one) {
        return one instanceof Integer number && Arrays.binarySearch(numbers, number) >= 0;
    }

    @Override
    public Iterator<Integer> iterator() {
        return new PrimitiveIterator.OfInt() {
            private int at;

            @Override
            public boolean hasNext() {
                return at < numbers.length;
            }

            @Override
            public int nextInt() {
                if (!hasNext()) {
                    throw new java.util.NoSuchElementException();
                }
                return numbers[at++];
            }
        };
    }
}
