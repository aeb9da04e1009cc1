package assay.optimal;

/** Items by group: those of group g are {@code items[start[g]]} up to {@code start[g + 1]}. */
final class Grouped {
    final int[] start;
    final int[] items;

    /**
     * Groups items in ascending order.
     *
     * @param groupOf the group of each item, below 0 for none
     */
    Grouped(int[] groupOf, int groups) {
        start = new int[groups + 1];
        for (int group : groupOf) {
            if (group >= 0) {
                start[group + 1]++;
            }
        }
        for (int group = 0; group < groups; group++) {
            start[group + 1] += start[group];
        }
        items = new int[start[groups]];
        int[] at = start.clone();
        for (int item = 0; item < groupOf.length; item++) {
            if (groupOf[item] >= 0) {
                items[at[groupOf[item]]++] = item;
            }
        }
    }

    int size(int group) {
        return start[group + 1] - start[group];
    }
}
