package assay;

/** A group and what an assignor makes of it, as arrays; indices count from 0, -1 is none. */
public final class GroupArrays {
    /** Topic names; those that do not exist come last. */
    public String[] topics;

    /** Partition count of each topic that exists. */
    public int[] partitions;

    public String[] members;

    /** Instance id of each member, null where it has none. */
    public String[] instances;

    public int[] generations;

    /** Member i reads subscribed[subscriptionStarts[i]] up to subscribed[subscriptionStarts[i + 1]]. */
    public int[] subscriptionStarts;

    public int[] subscribed;

    /** Member i owns entries ownedStarts[i] up to ownedStarts[i + 1] of the two arrays. */
    public int[] ownedStarts;

    public int[] ownedTopics;
    public int[] ownedNumbers;

    public String[] racks;
    public int[] memberRacks;

    /** Replica set of each partition, topic by topic; empty where there are no racks. */
    public int[] replicaSets;

    /** Racks of each replica set, as entries of two arrays: the set, ascending, and a rack. */
    public int[] setOf;

    public int[] rackOf;

    /** What an assignor hands out: entries of three arrays. */
    public int[] heldBy;

    public int[] heldTopics;
    public int[] heldNumbers;

    /** Returns the racks of each replica set. */
    int[][] racksOfSets() {
        int sets = setOf.length == 0 ? 0 : setOf[setOf.length - 1] + 1;
        int[][] result = new int[sets][];
        int start = 0;
        for (int set = 0; set < sets; set++) {
            int end = start;
            while (end < setOf.length && setOf[end] == set) {
                end++;
            }
            result[set] = java.util.Arrays.copyOfRange(rackOf, start, end);
            start = end;
        }
        return result;
    }

    String rackOfMember(int member) {
        return memberRacks[member] < 0 ? null : racks[memberRacks[member]];
    }
}
