package assay.optimal;

import java.util.Arrays;
import java.util.function.Consumer;

/**
 * A network in which what nodes have too much flows, at the least cost, to nodes that have too little.
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
    private final Work work;

    /** The ends of arcs at node n: {@code first[n]} up to {@code first[n + 1]}, in the order in which they were added. */
    private final int[] first;

    /** Of each end: the node at the other one, what may still flow to there and at what cost, and that other end. */
    private final int[] head;

    private final int[] room;
    private final int[] cost;
    private final int[] other;

    /** Of each arc its end at the node that it comes from, and at each node where the next end is put. */
    private final Ints endOf;

    private final int[] end;

    private final long[] price;
    private final long[] distance;
    private final int[] level;
    private final int[] cursor;
    private final int[] queue;
    private final int[] path;

    /**
     * @param excess of each node; changed by what flows
     * @param arcs adds all arcs; called twice, first to count them
     */
    Network(int[] excess, Work work, Consumer<Arcs> arcs) {
        this.excess = excess;
        this.work = work;
        nodes = excess.length;
        first = new int[nodes + 1];
        arcs.accept((from, to, most, each, flow) -> {
            first[from + 1]++;
            first[to + 1]++;
        });
        for (int node = 0; node < nodes; node++) {
            first[node + 1] += first[node];
        }
        head = new int[first[nodes]];
        room = new int[first[nodes]];
        cost = new int[first[nodes]];
        other = new int[first[nodes]];
        endOf = new Ints(first[nodes] / 2);
        end = first.clone();
        arcs.accept(this::arc);
        price = new long[nodes];
        distance = new long[nodes];
        level = new int[nodes];
        cursor = new int[nodes];
        queue = new int[nodes];
        path = new int[nodes];
    }

    /** Takes arcs, which have indices from 0 in the order in which they come. */
    @FunctionalInterface
    interface Arcs {
        /** @param flow what flows already: only as much as costs nothing, or prices would be wrong */
        void add(int from, int to, int most, int cost, int flow);
    }

    private void arc(int from, int to, int most, int each, int flow) {
        int here = end[from]++;
        int there = end[to]++;
        endOf.add(here);
        head[here] = to;
        head[there] = from;
        room[here] = most - flow;
        room[there] = flow;
        cost[here] = each;
        cost[there] = -each;
        other[here] = there;
        other[there] = here;
        excess[from] -= flow;
        excess[to] += flow;
    }

    int flow(int arc) {
        return room[other[endOf.items[arc]]];
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
        while (!heap.isEmpty()) {
            int node = heap.poll();
            long far = heap.last();
            if (far != distance[node]) {
                continue;
            }
            queue[seen++] = node;
            if (excess[node] < 0) {
                wanting = node;
                break;
            }
            for (int arc = first[node]; arc < first[node + 1]; arc++) {
                looked++;
                if (room[arc] > 0) {
                    int to = head[arc];
                    long further = far + cost[arc] + price[node] - price[to];
                    if (further < distance[to]) {
                        distance[to] = further;
                        heap.add(to, further);
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
        return room[arc] > 0 && cost[arc] + price[from] == price[head[arc]];
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
            for (int arc = first[node]; arc < first[node + 1]; arc++) {
                looked++;
                int to = head[arc];
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
        System.arraycopy(first, 0, cursor, 0, nodes);
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
                    much = Math.min(much, room[path[i]]);
                }
                int full = depth;
                for (int i = depth - 1; i >= 0; i--) {
                    room[path[i]] -= much;
                    room[other[path[i]]] += much;
                    if (room[path[i]] == 0) {
                        full = i;
                    }
                }
                looked += depth;
                excess[root] -= much;
                excess[node] += much;
                if (full < depth) {
                    node = head[other[path[full]]];
                    depth = full;
                }
                continue;
            }
            int arc = cursor[node];
            while (arc < first[node + 1] && !(level[head[arc]] == level[node] + 1 && costsNothing(node, arc))) {
                looked++;
                arc++;
            }
            cursor[node] = arc;
            if (arc < first[node + 1]) {
                path[depth++] = arc;
                looked++;
                node = head[arc];
            } else if (depth == 0) {
                break;
            } else {
                node = head[other[path[--depth]]];
                cursor[node]++;
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
        return marked(1);
    }

    /** Marks what nodes that have too little can be reached from. */
    boolean[] reaching() {
        return marked(-1);
    }

    private boolean[] marked(int sign) {
        boolean[] marks = new boolean[nodes];
        int end = 0;
        for (int node = 0; node < nodes; node++) {
            if (Integer.signum(excess[node]) == sign) {
                marks[node] = true;
                queue[end++] = node;
            }
        }
        long looked = 0;
        for (int at = 0; at < end; at++) {
            for (int arc = first[queue[at]]; arc < first[queue[at] + 1]; arc++) {
                looked++;
                if (!marks[head[arc]] && room[sign > 0 ? arc : other[arc]] > 0) {
                    marks[head[arc]] = true;
                    queue[end++] = head[arc];
                }
            }
        }
        work.add(looked + nodes);
        return marks;
    }
}
