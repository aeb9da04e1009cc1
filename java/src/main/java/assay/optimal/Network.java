package assay.optimal;

import java.util.Arrays;
import java.util.function.Consumer;

/**
 * A network in which what nodes have too much flows, at the least cost, to nodes that have too little.
 *
 * <p>Its first nodes are the lots of a block, then its classes. An arc goes from each lot to each class
 * that reads it, for any number of partitions. There may be many thousands of these, of which few are
 * used, so they are not stored: they are the reads of the quotient. Other nodes and arcs can be added.
 * Arcs are numbered: first the reads of the first lot, also by classes of other blocks, which are passed
 * over, then those of the next lot, and so on; then, in steps of two, those that are added.
 *
 * <p>The method is the primal-dual one. Prices of nodes keep the cost of every arc that has room from
 * falling below zero; a shortest path search raises them until some node in want is reached at no
 * further cost, and a blocking flow (Dinic) sends along such arcs as much as it can. Each round sends
 * at least one unit. So whenever it stops, no cheaper way is left for what was sent.
 */
final class Network {
    static final int ANY = Integer.MAX_VALUE;
    private static final int NONE = -1;

    /** What a node has too much, or, below zero, too little. */
    final int[] excess;

    private final int nodes;
    private final Quotient quotient;
    private final Blocks blocks;
    private final Blocks.Block block;
    private final int near;
    private final int far;
    private final Work work;

    /** Of each lot its first arc; last how many reads there are, from where on arcs are stored. */
    private final int[] start;

    private final int reads;

    /** Of each lot what its arcs are less than the reads of the quotient that they are. */
    private final int[] less;

    /** Of each read the arc back, once something has flowed; 0 before. */
    private final int[] back;

    /** Of each node the last stored arc that leaves it, and of each stored arc the one before it. */
    private final int[] first;

    private final Ints next = new Ints();
    private final Ints head = new Ints();
    private final Ints room = new Ints();
    private final Ints cost = new Ints();
    private final Ints other = new Ints();

    private final long[] price;
    private final long[] distance;
    private final int[] level;
    private final int[] cursor;
    private final int[] queue;
    private final int[] path;

    /**
     * Makes a network of the lots of a block, which have all of their partitions too much, and its classes.
     *
     * @param others how many nodes more there are
     * @param near what a partition costs that goes to a class
     * @param far what it costs more where the class is {@link Quotient#isFar far}
     */
    Network(Quotient quotient, Blocks blocks, Blocks.Block block, int others, int near, int far, Work work) {
        this.quotient = quotient;
        this.blocks = blocks;
        this.block = block;
        this.near = near;
        this.far = far;
        this.work = work;
        nodes = block.lots.length + block.classes.length + others;
        excess = new int[nodes];
        start = new int[block.lots.length + 1];
        less = new int[block.lots.length];
        for (int i = 0; i < block.lots.length; i++) {
            int lot = block.lots[i];
            excess[i] = quotient.lotSize[lot];
            start[i + 1] = start[i] + quotient.readStart[lot + 1] - quotient.readStart[lot];
            less[i] = quotient.readStart[lot] - start[i];
        }
        reads = start[block.lots.length];
        back = new int[reads];
        first = new int[nodes];
        Arrays.fill(first, NONE);
        price = new long[nodes];
        distance = new long[nodes];
        level = new int[nodes];
        cursor = new int[nodes];
        queue = new int[nodes];
        path = new int[nodes];
    }

    /**
     * Adds an arc.
     *
     * @param flow what flows already: only as much as costs nothing, or prices would be wrong
     */
    void arc(int from, int to, int most, int cost, int flow) {
        int arc = reads + head.size;
        put(from, to, most - flow, cost, arc + 1);
        put(to, from, flow, -cost, arc);
        excess[from] -= flow;
        excess[to] += flow;
    }

    private void put(int from, int to, int most, int each, int pair) {
        next.add(first[from]);
        first[from] = reads + head.size;
        head.add(to);
        room.add(most);
        cost.add(each);
        other.add(pair);
    }

    /** Returns the first of the arcs that were added, which are two apart. */
    int firstAdded() {
        return reads;
    }

    /** Returns how much flows through an arc. */
    int flow(int arc) {
        int pair = arc < reads ? back[arc] : arc + 1;
        return pair == 0 ? 0 : room.items[pair - reads];
    }

    /** Writes how much flows through the reads of the quotient, where anything does. */
    void flowThrough(int[] read) {
        for (int i = 0; i < head.size; i++) {
            if (other.items[i] < reads) {
                read[other.items[i] + less[head.items[i]]] = room.items[i];
            }
        }
    }

    /** Returns the first arc that leaves a node: the reads of a lot come before what is stored. */
    private int begin(int node) {
        return node < block.lots.length ? read(node, start[node]) : first[node];
    }

    private int after(int node, int arc) {
        return arc < reads ? read(node, arc + 1) : next.items[arc - reads];
    }

    private int read(int node, int from) {
        int read = from;
        int end = start[node + 1];
        while (read < end && !blocks.hasClass(block, reader(node, read))) {
            read++;
        }
        if (read > from) {
            work.add(read - from);
        }
        return read < end ? read : first[node];
    }

    private int reader(int node, int read) {
        return quotient.readClass[read + less[node]];
    }

    private int head(int node, int arc) {
        return arc < reads ? blocks.nodeOfClass[reader(node, arc)] : head.items[arc - reads];
    }

    private boolean hasRoom(int arc) {
        return arc < reads || room.items[arc - reads] > 0;
    }

    private int cost(int node, int arc) {
        if (arc >= reads) {
            return cost.items[arc - reads];
        }
        return near + (far > 0 && quotient.isFar(block.lots[node], reader(node, arc)) ? far : 0);
    }

    private void send(int node, int arc, int much) {
        if (arc >= reads) {
            room.items[arc - reads] -= much;
            int pair = other.items[arc - reads];
            if (pair >= reads) {
                room.items[pair - reads] += much;
            }
            return;
        }
        if (back[arc] == 0) {
            back[arc] = reads + head.size;
            put(head(node, arc), node, 0, -cost(node, arc), arc);
        }
        room.items[back[arc] - reads] += much;
    }

    /** Sends what can be sent; returns whether it came to its end before the work was spent. */
    boolean settle() {
        while (!work.isSpent()) {
            if (!raise()) {
                return true;
            }
            layer();
            sendBlockingFlow();
        }
        return false;
    }

    /** Raises prices until a node in want costs nothing more to reach; returns whether there is one. */
    private boolean raise() {
        Arrays.fill(distance, Long.MAX_VALUE);
        RadixHeap heap = new RadixHeap();
        for (int node = 0; node < nodes; node++) {
            if (excess[node] > 0) {
                distance[node] = 0;
                heap.add(node, 0);
            }
        }
        int seen = 0;
        int wanting = NONE;
        long looked = 0;
        while (wanting == NONE && !heap.isEmpty()) {
            int node = heap.poll();
            long least = heap.last();
            if (least != distance[node]) {
                continue;
            }
            queue[seen++] = node;
            wanting = excess[node] < 0 ? node : NONE;
            for (int arc = begin(node); wanting == NONE && arc != NONE; arc = after(node, arc)) {
                looked++;
                if (hasRoom(arc)) {
                    int to = head(node, arc);
                    long further = least + cost(node, arc) + price[node] - price[to];
                    if (further < distance[to]) {
                        distance[to] = further;
                        heap.add(to, further);
                        // None is nearer than the node that was taken last.
                        wanting = further == least && excess[to] < 0 ? to : NONE;
                    }
                }
            }
        }
        work.add(looked + nodes);
        if (wanting == NONE) {
            return false;
        }
        for (int i = 0; i < seen; i++) {
            price[queue[i]] += distance[queue[i]] - distance[wanting];
        }
        return true;
    }

    private boolean costsNothing(int from, int arc) {
        return hasRoom(arc) && cost(from, arc) + price[from] == price[head(from, arc)];
    }

    /** Counts how many arcs that cost nothing lead to each node from one that has too much. */
    private void layer() {
        Arrays.fill(level, NONE);
        int end = 0;
        for (int node = 0; node < nodes; node++) {
            if (excess[node] > 0) {
                level[node] = 0;
                queue[end++] = node;
            }
        }
        long looked = 0;
        for (int at = 0; at < end; at++) {
            int node = queue[at];
            for (int arc = begin(node); arc != NONE; arc = after(node, arc)) {
                looked++;
                int to = head(node, arc);
                if (level[to] == NONE && costsNothing(node, arc)) {
                    level[to] = level[node] + 1;
                    queue[end++] = to;
                }
            }
        }
        work.add(looked + nodes);
    }

    /** Sends along shortest paths that cost nothing until none is left. */
    private void sendBlockingFlow() {
        Arrays.setAll(cursor, this::begin);
        for (int root = 0; root < nodes; root++) {
            if (level[root] == 0) {
                send(root);
            }
        }
    }

    private void send(int root) {
        int depth = 0;
        int node = root;
        long looked = 0;
        while (excess[root] > 0) {
            if (excess[node] < 0) {
                int much = Math.min(excess[root], -excess[node]);
                for (int i = 0; i < depth; i++) {
                    much = path[i] < reads ? much : Math.min(much, room.items[path[i] - reads]);
                }
                int full = depth;
                for (int i = depth - 1; i >= 0; i--) {
                    send(queue[i], path[i], much);
                    if (!hasRoom(path[i])) {
                        full = i;
                    }
                }
                looked += depth;
                excess[root] -= much;
                excess[node] += much;
                if (full < depth) {
                    node = queue[full];
                    depth = full;
                }
                continue;
            }
            int arc = cursor[node];
            while (arc != NONE && !(level[head(node, arc)] == level[node] + 1 && costsNothing(node, arc))) {
                looked++;
                arc = after(node, arc);
            }
            cursor[node] = arc;
            if (arc != NONE) {
                queue[depth] = node;
                path[depth++] = arc;
                looked++;
                node = head(node, arc);
            } else if (depth == 0) {
                break;
            } else {
                node = queue[--depth];
                cursor[node] = after(node, cursor[node]);
                looked++;
            }
        }
        work.add(looked);
    }

    /** Returns whether no node has too much any more. */
    boolean isSettled() {
        for (int left : excess) {
            if (left > 0) {
                return false;
            }
        }
        return true;
    }

    /** Marks what can be reached from nodes that have too much. */
    boolean[] reached() {
        boolean[] marks = new boolean[nodes];
        int end = 0;
        for (int node = 0; node < nodes; node++) {
            end = excess[node] > 0 ? mark(node, marks, end) : end;
        }
        long looked = 0;
        for (int at = 0; at < end; at++) {
            int node = queue[at];
            for (int arc = begin(node); arc != NONE; arc = after(node, arc)) {
                looked++;
                end = hasRoom(arc) ? mark(head(node, arc), marks, end) : end;
            }
        }
        work.add(looked + nodes);
        return marks;
    }

    /** Marks lots and classes that nodes which have too little can be reached from, where no arc was added. */
    boolean[] reaching() {
        boolean[] marks = new boolean[nodes];
        int end = 0;
        for (int node = 0; node < nodes; node++) {
            end = excess[node] < 0 ? mark(node, marks, end) : end;
        }
        long looked = 0;
        int lots = block.lots.length;
        for (int at = 0; at < end; at++) {
            int node = queue[at];
            if (node < lots) {
                for (int read = begin(node); read < reads && read != NONE; read = after(node, read)) {
                    looked++;
                    end = flow(read) > 0 ? mark(head(node, read), marks, end) : end;
                }
            } else {
                for (int lot : quotient.lotsRead(block.classes[node - lots])) {
                    looked++;
                    end = blocks.hasLot(block, lot) ? mark(blocks.nodeOfLot[lot], marks, end) : end;
                }
            }
        }
        work.add(looked + nodes);
        return marks;
    }

    private int mark(int node, boolean[] marks, int end) {
        if (!marks[node]) {
            marks[node] = true;
            queue[end] = node;
            return end + 1;
        }
        return end;
    }
}
