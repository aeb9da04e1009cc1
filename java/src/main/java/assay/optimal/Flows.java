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
    /** Of each pair of a member and a lot that it owns, how many partitions it keeps. */
    final int[] stays;

    /** How many partitions go by each read of the quotient, and to each member besides what stays. */
    final int[] through;

    final int[] gets;

    private final Quotient quotient;
    private final Owned owned;
    private final Blocks blocks;
    private final Work work;
    private final int[] left;
    private boolean complete = true;

    Flows(Quotient quotient, Owned owned, Blocks blocks, Work work) {
        this.owned = owned;
        this.quotient = quotient;
        this.blocks = blocks;
        this.work = work;
        stays = new int[owned.lot.size];
        through = new int[quotient.readClass.length];
        gets = new int[quotient.classOf.length];
        left = quotient.lotSize.clone();
        if (quotient.isTooLarge()) {
            System.arraycopy(owned.count.items, 0, stays, 0, stays.length);
            complete = false;
        }
        for (Blocks.Block part : blocks.parts) {
            // Most groups can be level: to try costs one flow, to find out first two.
            if (!place(part)) {
                for (Blocks.Block block : blocks.of(part)) {
                    place(block);
                }
            }
        }
    }

    /** Places the partitions of a block, unless its loads cannot be level; returns whether they can. */
    private boolean place(Blocks.Block block) {
        if (block.classes.length == 1) {
            deal(block);
            return true;
        }
        return send(block);
    }

    /** Returns whether every partition has a place, so that this is the optimum. */
    boolean isComplete() {
        return complete;
    }

    /** One class reads all: members keep what fits, those that own more first, and get the rest. */
    private void deal(Blocks.Block block) {
        int cls = block.classes[0];
        int[] members = quotient.members.items;
        int[] lots = owned.lot.items;
        int[] counts = owned.count.items;
        int first = quotient.members.start[cls];
        int last = quotient.members.start[cls + 1];
        int more = 0;
        for (int i = first; i < last; i++) {
            int owns = 0;
            for (int pair = owned.first[members[i]]; pair < owned.last[members[i]]; pair++) {
                owns += blocks.hasLot(block, lots[pair]) ? counts[pair] : 0;
            }
            gets[members[i]] = owns;
            more += owns > block.floor ? 1 : 0;
        }
        int ofThese = Math.min(more, block.extra);
        int ofOthers = block.extra - ofThese;
        for (int i = first; i < last; i++) {
            int member = members[i];
            boolean ownsMore = gets[member] > block.floor;
            int load = block.floor + ((ownsMore ? ofThese-- : ofOthers--) > 0 ? 1 : 0);
            int keeps = Math.min(gets[member], load);
            gets[member] = load - keeps;
            for (int pair = owned.first[member]; pair < owned.last[member]; pair++) {
                if (blocks.hasLot(block, lots[pair])) {
                    stays[pair] = Math.min(counts[pair], keeps);
                    keeps -= stays[pair];
                    left[lots[pair]] -= stays[pair];
                }
            }
        }
        for (int lot : block.lots) {
            for (int read = quotient.readStart[lot]; read < quotient.readStart[lot + 1]; read++) {
                if (quotient.readClass[read] == cls) {
                    through[read] = left[lot];
                }
            }
        }
    }

    private boolean send(Blocks.Block block) {
        int members = 0;
        for (int cls : block.classes) {
            members += quotient.members.size(cls);
        }
        int firstMember = block.lots.length + block.classes.length;
        int hub = firstMember + members;
        // No way without a circle has as many arcs, so that far costs more than all moves on it.
        int far = quotient.hasRacks() ? 2 * hub : 0;
        Network network = new Network(quotient, blocks, block, members + 1, 1, far, work);
        Arrays.fill(network.excess, firstMember, hub, -block.floor);
        network.excess[hub] = -block.extra;
        int node = firstMember;
        for (int cls : block.classes) {
            for (int i = quotient.members.start[cls]; i < quotient.members.start[cls + 1]; i++, node++) {
                int member = quotient.members.items[i];
                for (int pair = owned.first[member]; pair < owned.last[member]; pair++) {
                    int lot = owned.lot.items[pair];
                    if (blocks.hasLot(block, lot)) {
                        // What is far stays only if the flow brings it back: prices begin at no cost.
                        int much = owned.count.items[pair];
                        boolean isFar = quotient.isFar(lot, cls);
                        network.arc(blocks.nodeOfLot[lot], node, much, isFar ? far : 0, isFar ? 0 : much);
                    }
                }
                network.arc(blocks.nodeOfClass[cls], node, Network.ANY, 0, 0);
                network.arc(node, hub, 1, 0, block.extra > 0 && network.excess[node] > 0 ? 1 : 0);
            }
        }
        boolean isEnded = network.settle();
        if (isEnded && !network.isSettled()) {
            return false;
        }
        complete &= isEnded;

        network.flowThrough(through);
        int arc = network.firstAdded();
        for (int cls : block.classes) {
            for (int i = quotient.members.start[cls]; i < quotient.members.start[cls + 1]; i++) {
                int member = quotient.members.items[i];
                for (int pair = owned.first[member]; pair < owned.last[member]; pair++) {
                    if (blocks.hasLot(block, owned.lot.items[pair])) {
                        stays[pair] = network.flow(arc);
                        arc += 2;
                    }
                }
                gets[member] = network.flow(arc);
                arc += 4;
            }
        }
        return true;
    }
}
