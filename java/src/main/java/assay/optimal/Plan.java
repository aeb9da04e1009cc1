package assay.optimal;

import java.util.Arrays;

/** What each member holds from now on, and whether there is no better plan. */
public final class Plan {
    private final int[] owner;
    private final boolean[] changes;
    private final Grouped given;
    private final int[] partitions;
    private final int moved;
    private final boolean isBest;
    private final long work;

    /**
     * @param owner of each partition, {@link Problem#NOBODY} if nobody reads it
     * @param changes of each member, whether it may hold something else than before
     * @param takers who gets each of the partitions of members that change
     */
    Plan(int[] owner, boolean[] changes, Ints takers, Ints partitions, int moved, boolean isBest, long work) {
        this.owner = owner;
        this.changes = changes;
        given = new Grouped(takers.toArray(), changes.length);
        this.partitions = partitions.items;
        this.moved = moved;
        this.isBest = isBest;
        this.work = work;
    }

    private Plan(Plan other) {
        owner = other.owner;
        changes = other.changes;
        given = other.given;
        partitions = other.partitions;
        moved = other.moved;
        isBest = false;
        work = other.work;
    }

    /** Returns the plan as the answer to a question of which it need not be the best. */
    Plan notBest() {
        return new Plan(this);
    }

    /** Returns whether there is no better plan; false where the work did not do to find it. */
    public boolean isBest() {
        return isBest;
    }

    /** Returns how many partitions leave the member that held them. */
    public int moved() {
        return moved;
    }

    /** Returns how many arcs were looked at. */
    public long work() {
        return work;
    }

    /** Returns the member that holds a partition, {@link Problem#NOBODY} if nobody reads it. */
    public int owner(int partition) {
        return owner[partition];
    }

    /** Returns whether a member may hold something else than before. */
    public boolean isChanged(int member) {
        return changes[member];
    }

    /** Returns the partitions of a member that is changed, ascending, counted through all topics. */
    public int[] partitions(int member) {
        int[] result = new int[given.size(member)];
        for (int i = 0; i < result.length; i++) {
            result[i] = partitions[given.items[given.start[member] + i]];
        }
        Arrays.sort(result);
        return result;
    }
}
