package assay.optimal;

import java.util.Arrays;

/** What each member holds from now on, and whether there is no better plan. */
public final class Plan {
    private final Holdings held;
    private final int[] changing;
    private final Grouped losses;
    private final Grouped gains;
    private final boolean isBest;
    private final long work;
    private final int moved;

    /**
     * @param changing the partitions that change hands
     * @param from who held them, {@link Problem#NOBODY} for none
     * @param to who gets them, {@link Problem#NOBODY} where nobody reads them
     */
    Plan(Problem problem, Ints changing, Ints from, Ints to, boolean isBest, long work) {
        held = problem.held;
        this.changing = changing.toArray();
        losses = new Grouped(from.toArray(), problem.members());
        gains = new Grouped(to.toArray(), problem.members());
        this.isBest = isBest;
        this.work = work;
        moved = losses.items.length;
    }

    private Plan(Plan other) {
        held = other.held;
        changing = other.changing;
        losses = other.losses;
        gains = other.gains;
        isBest = false;
        work = other.work;
        moved = other.moved;
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

    /** Returns whether a member holds something else than before. */
    public boolean isChanged(int member) {
        return losses.size(member) + gains.size(member) > 0;
    }

    /** Returns the partitions of a member, ascending, counted through all topics. */
    public int[] partitions(int member) {
        int[] own = Owned.sorted(held.partitions(member));
        int[] lost = those(losses, member);
        int[] gained = those(gains, member);
        if (own.length == 0) {
            return gained;
        }
        int[] result = new int[own.length - lost.length + gained.length];
        int count = 0;
        for (int i = 0, j = 0; i < own.length; i++) {
            if (j < lost.length && lost[j] == own[i]) {
                j++;
            } else {
                result[count++] = own[i];
            }
        }
        System.arraycopy(gained, 0, result, count, gained.length);
        Arrays.sort(result);
        return result;
    }

    private int[] those(Grouped of, int member) {
        int[] result = new int[of.size(member)];
        for (int i = 0; i < result.length; i++) {
            result[i] = changing[of.items[of.start[member] + i]];
        }
        Arrays.sort(result);
        return result;
    }
}
