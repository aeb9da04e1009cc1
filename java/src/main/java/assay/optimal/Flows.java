package assay.optimal;

import java.util.Arrays;

/**
 * How many partitions stay with their owner, and how many go where, with loads as the blocks say.
 *
 * <p>Within a block it is a cheapest flow, in which a partition costs nothing where it stays:
 *
 * <pre>
 *            stay: 0
 *     +----------------------+
 *     |                      v
 *    lot ----> class ----> member ----> hub: as many members as carry one more
 *        read: 1
 * </pre>
 *
 * Each member keeps its floor. Where racks matter, what is far costs more than all moves together.
 */
final class Flows {
    /** What each member owns: pairs of the member and a lot, from its first up to its last. */
    final int[] firstPair;

    final int[] lastPair;
    final Ints pairLot = new Ints();

    /** How many partitions of the lot a member owns, and how many of them it keeps. */
    final Ints owned = new Ints();

    final int[] stays;

    /** Entries of holdings in which a member holds what it does not read. */
    final Ints foreign = new Ints();

    final Ints foreignHolder = new Ints();

    /** How many partitions go by each read of the quotient, and to each member besides what stays. */
    final int[] through;

    final int[] gets;

    private final Problem problem;
    private final Quotient quotient;
    private final Blocks blocks;
    private final Work work;
    private final int[] free;
    private final int[] nodeOfLot;
    private final int[] nodeOfClass;
    private boolean complete = true;

    Flows(Problem problem, Quotient quotient, Blocks blocks, Work work) {
        this.problem = problem;
        this.quotient = quotient;
        this.blocks = blocks;
        this.work = work;
        firstPair = new int[problem.members()];
        lastPair = new int[problem.members()];
        pairs();
        stays = new int[owned.size];
        through = new int[quotient.readClass.length];
        gets = new int[problem.members()];
        free = quotient.lotSize.clone();
        nodeOfLot = new int[quotient.lots()];
        nodeOfClass = new int[quotient.classes()];
        if (quotient.isTooLarge()) {
            System.arraycopy(owned.items, 0, stays, 0, stays.length);
            complete = false;
        }
        for (Blocks.Block block : blocks.all) {
            if (block.classes.length == 1) {
                deal(block);
            } else {
                send(block);
            }
        }
    }

    /** Returns whether every partition has a place, so that this is the optimum. */
    boolean isComplete() {
        return complete;
    }

    private void pairs() {
        Holdings held = problem.held;
        int[] readBy = new int[quotient.pools()];
        int[] seen = new int[quotient.lots()];
        Arrays.fill(readBy, -1);
        Arrays.fill(seen, -1);
        for (int one = 0; one < quotient.classes(); one++) {
            for (int pool : quotient.poolsRead(one)) {
                readBy[pool] = one;
            }
            for (int i = quotient.members.start[one]; i < quotient.members.start[one + 1]; i++) {
                int member = quotient.members.items[i];
                firstPair[member] = owned.size;
                for (int entry = held.start[member]; entry < held.start[member + 1]; entry++) {
                    int topic = held.topic[entry];
                    if (quotient.pool[topic] < 0 || readBy[quotient.pool[topic]] != one) {
                        foreign.add(entry);
                        foreignHolder.add(member);
                    } else if (problem.racks == null) {
                        own(quotient.pool[topic], held.count[entry], firstPair[member], seen);
                    } else {
                        for (int partition : held.partitions(entry)) {
                            own(quotient.lotOf(topic, partition), 1, firstPair[member], seen);
                        }
                    }
                }
                lastPair[member] = owned.size;
            }
        }
    }

    /** Counts partitions of a lot for the member whose pairs begin where it says. */
    private void own(int lot, int count, int first, int[] seen) {
        if (seen[lot] < first) {
            seen[lot] = owned.size;
            pairLot.add(lot);
            owned.add(0);
        }
        owned.items[seen[lot]] += count;
    }

    /** One class reads all: members keep what fits, those that own more first, and get the rest. */
    private void deal(Blocks.Block block) {
        int one = block.classes[0];
        int first = quotient.members.start[one];
        int last = quotient.members.start[one + 1];
        int more = 0;
        for (int i = first; i < last; i++) {
            int member = quotient.members.items[i];
            for (int pair = firstPair[member]; pair < lastPair[member]; pair++) {
                if (blocks.hasLot(block, pairLot.items[pair])) {
                    gets[member] += owned.items[pair];
                }
            }
            more += gets[member] > block.floor ? 1 : 0;
        }
        int ofThese = Math.min(more, block.extra);
        int ofOthers = block.extra - ofThese;
        for (int i = first; i < last; i++) {
            int member = quotient.members.items[i];
            boolean ownsMore = gets[member] > block.floor;
            int load = block.floor + ((ownsMore ? ofThese-- : ofOthers--) > 0 ? 1 : 0);
            int keeps = Math.min(gets[member], load);
            gets[member] = load - keeps;
            for (int pair = firstPair[member]; pair < lastPair[member]; pair++) {
                int lot = pairLot.items[pair];
                if (blocks.hasLot(block, lot)) {
                    stays[pair] = Math.min(owned.items[pair], keeps);
                    keeps -= stays[pair];
                    free[lot] -= stays[pair];
                }
            }
        }
        for (int lot : block.lots) {
            for (int read = quotient.readStart[lot]; read < quotient.readStart[lot + 1]; read++) {
                if (quotient.readClass[read] == one) {
                    through[read] = free[lot];
                }
            }
        }
    }

    private void send(Blocks.Block block) {
        int lots = block.lots.length;
        int firstMember = lots + block.classes.length;
        int hub = firstMember;
        int arcs = 0;
        for (int one : block.classes) {
            for (int i = quotient.members.start[one]; i < quotient.members.start[one + 1]; i++) {
                int member = quotient.members.items[i];
                arcs += 2 + lastPair[member] - firstPair[member];
                hub++;
            }
        }
        for (int lot : block.lots) {
            arcs += quotient.readStart[lot + 1] - quotient.readStart[lot];
        }
        Network network = new Network(hub + 1, arcs, work);
        Arrays.fill(network.excess, firstMember, hub, -block.floor);
        network.excess[hub] = -block.extra;
        // No way without a circle has as many arcs, so that far costs more than all moves on it.
        int far = 2 * hub;
        for (int i = 0; i < block.classes.length; i++) {
            nodeOfClass[block.classes[i]] = lots + i;
        }
        for (int i = 0; i < lots; i++) {
            int lot = block.lots[i];
            nodeOfLot[lot] = i;
            network.excess[i] = quotient.lotSize[lot];
            for (int read = quotient.readStart[lot]; read < quotient.readStart[lot + 1]; read++) {
                int one = quotient.readClass[read];
                if (blocks.hasClass(block, one)) {
                    network.arc(i, nodeOfClass[one], Network.ANY, 1 + (quotient.isFar(lot, one) ? far : 0), 0);
                }
            }
        }
        int node = firstMember;
        for (int one : block.classes) {
            for (int i = quotient.members.start[one]; i < quotient.members.start[one + 1]; i++, node++) {
                int member = quotient.members.items[i];
                for (int pair = firstPair[member]; pair < lastPair[member]; pair++) {
                    int lot = pairLot.items[pair];
                    if (blocks.hasLot(block, lot)) {
                        // What is far stays only if the flow brings it back: prices begin at no cost.
                        int much = owned.items[pair];
                        boolean isFar = quotient.isFar(lot, one);
                        network.arc(nodeOfLot[lot], node, much, isFar ? far : 0, isFar ? 0 : much);
                    }
                }
                network.arc(nodeOfClass[one], node, Network.ANY, 0, 0);
                network.arc(node, hub, 1, 0, block.extra > 0 && network.excess[node] > 0 ? 1 : 0);
            }
        }

        complete &= network.settle() && network.isSettled();

        // Arcs are numbered in the order in which they were added, in steps of two.
        int arc = 0;
        for (int lot : block.lots) {
            for (int read = quotient.readStart[lot]; read < quotient.readStart[lot + 1]; read++) {
                if (blocks.hasClass(block, quotient.readClass[read])) {
                    through[read] = network.flow(arc);
                    arc += 2;
                }
            }
        }
        for (int one : block.classes) {
            for (int i = quotient.members.start[one]; i < quotient.members.start[one + 1]; i++) {
                int member = quotient.members.items[i];
                for (int pair = firstPair[member]; pair < lastPair[member]; pair++) {
                    if (blocks.hasLot(block, pairLot.items[pair])) {
                        stays[pair] = network.flow(arc);
                        arc += 2;
                    }
                }
                gets[member] = network.flow(arc);
                arc += 4;
            }
        }
    }
}
