package assay.optimal;

/**
 * The best plan: loads as even as can be, then, if racks matter, as few partitions as can be with
 * members that stand in no rack of theirs, then as few moves as can be.
 *
 * <p>{@link Quotient} says what there is to tell apart, {@link Blocks} how much each member carries,
 * {@link Flows} how many partitions go where, and {@link HandOut} which. How many arcs are looked at is
 * bounded: where {@link #MOST_WORK} does not do, what has no place yet stays where it is or goes to
 * the reader that has least.
 */
public final class Optimum {
    /** After so many arcs the best plan so far is taken: one or two seconds, on slow groups. */
    public static final long MOST_WORK = 50_000_000;

    /** With more pairs of a class and a lot that it reads, a plan would take too much memory. */
    public static final int MOST_READS = 2_000_000;

    private Optimum() {}

    /** Returns the best plan of a group. */
    public static Plan of(Problem problem) {
        return of(problem, MOST_WORK, MOST_READS);
    }

    static Plan of(Problem problem, long mostWork, int mostReads) {
        Work work = new Work(mostWork);
        Quotient quotient = new Quotient(problem, mostReads);
        if (quotient.isTooLarge() && problem.racks != null) {
            return of(problem.withoutRacks(), mostWork, mostReads).notBest();
        }
        Owned owned = new Owned(problem, quotient);
        Flows flows = new Flows(quotient, owned, new Blocks(quotient, work), work);
        return new HandOut(problem, quotient, owned, flows).plan(work.done());
    }
}
