package assay.optimal;

/** What a plan may cost: arcs that are looked at, a number that does not depend on the machine. */
final class Work {
    private final long most;
    private long done;

    Work(long most) {
        this.most = most;
    }

    void add(long arcs) {
        done += arcs;
    }

    boolean isSpent() {
        return done > most;
    }

    long done() {
        return done;
    }
}
