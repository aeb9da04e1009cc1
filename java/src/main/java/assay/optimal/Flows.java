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
 *    lot ----> class ----> member ----> the block's members with one more
 *        read: 1
 * </pre>
 *
 * Each member keeps its floor. Where racks matter, what is far costs more than all moves together.
 */
final class Flows {
    /** Owners by lot: those of lot l are the pairs from {@code pairStart[l]} on. */
    final int[] pairStart;

    int[] pairMember = new int[16];

    /** How many partitions of a lot a member owns, and how many of them it keeps. */
    int[] owned = new int[16];

    int[] stays = new int[16];

    /** How many partitions go by each read of the quotient, and to each member besides what stays. */
    final int[] through;

    final int[] gets;

    private final Problem problem;
    private final Quotient quotient;
    private final Blocks blocks;
    private final Work work;
    private final int[] place;
    private final int[] nodeOfClass;
    private final boolean[] isFar;
    private boolean complete = true;

    Flows(Problem problem, Quotient quotient, Blocks blocks, Work work) {
        this.problem = problem;
        this.quotient = quotient;
        this.blocks = blocks;
        this.work = work;
        pairStart = new int[quotient.lots() + 1];
        through = new int[quotient.readClass.length];
        gets = new int[problem.members()];
        place = new int[problem.members()];
        nodeOfClass = new int[quotient.classes()];
        isFar = new boolean[quotient.classes()];
        pairs();
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
        int[] seen = new int[problem.members()];
        int[] reads = new int[quotient.classes()];
        int count = 0;
        for (int lot = 0; lot < quotient.lots(); lot++) {
            for (int read = quotient.readStart[lot]; read < quotient.readStart[lot + 1]; read++) {
                reads[quotient.readClass[read]] = lot + 1;
            }
            for (int i = quotient.runs.start[lot]; i < quotient.runs.start[lot + 1]; i++) {
                int run = quotient.runs.items[i];
                for (int p = quotient.runStart[run]; p < quotient.runStart[run + 1]; p++) {
                    int member = problem.owner[p];
                    if (member < 0) {
                        continue;
                    }
                    if (seen[member] != lot + 1) {
                        if (reads[quotient.classOf[member]] != lot + 1) {
                            continue;
                        }
                        seen[member] = lot + 1;
                        if (count == owned.length) {
                            owned = Arrays.copyOf(owned, 2 * count);
                            pairMember = Arrays.copyOf(pairMember, 2 * count);
                        }
                        owned[count] = 0;
                        pairMember[count] = member;
                        place[member] = count++;
                    }
                    owned[place[member]]++;
                }
            }
            pairStart[lot + 1] = count;
        }
        stays = new int[count];
    }

    /** One class reads all: members keep what fits, those that own more first, and get the rest. */
    private void deal(Blocks.Block block) {
        int one = block.classes[0];
        for (int lot : block.lots) {
            for (int pair = pairStart[lot]; pair < pairStart[lot + 1]; pair++) {
                if (quotient.classOf[pairMember[pair]] == one) {
                    gets[pairMember[pair]] += owned[pair];
                }
            }
        }
        int first = quotient.members.start[one];
        int last = quotient.members.start[one + 1];
        int more = 0;
        for (int i = first; i < last; i++) {
            if (gets[quotient.members.items[i]] > block.floor) {
                more++;
            }
        }
        int ofThese = Math.min(more, block.extra);
        int ofOthers = block.extra - ofThese;
        for (int i = first; i < last; i++) {
            int member = quotient.members.items[i];
            boolean owns = gets[member] > block.floor;
            int load = block.floor + ((owns ? ofThese-- : ofOthers--) > 0 ? 1 : 0);
            place[member] = Math.min(gets[member], load);
            gets[member] = load - place[member];
        }
        for (int lot : block.lots) {
            int free = quotient.lotSize[lot];
            for (int pair = pairStart[lot]; pair < pairStart[lot + 1]; pair++) {
                int member = pairMember[pair];
                if (quotient.classOf[member] == one) {
                    stays[pair] = Math.min(owned[pair], place[member]);
                    place[member] -= stays[pair];
                    free -= stays[pair];
                }
            }
            for (int read = quotient.readStart[lot]; read < quotient.readStart[lot + 1]; read++) {
                if (quotient.readClass[read] == one) {
                    through[read] = free;
                }
            }
        }
    }

    private void send(Blocks.Block block) {
        int lots = block.lots.length;
        int firstMember = lots + block.classes.length;
        int hub = firstMember;
        for (int i = 0; i < block.classes.length; i++) {
            int one = block.classes[i];
            nodeOfClass[one] = lots + i;
            for (int j = quotient.members.start[one]; j < quotient.members.start[one + 1]; j++) {
                place[quotient.members.items[j]] = hub++;
            }
        }
        int arcs = 2 * (hub - firstMember);
        for (int lot : block.lots) {
            arcs += pairStart[lot + 1] - pairStart[lot] + quotient.readStart[lot + 1] - quotient.readStart[lot];
        }
        Network network = new Network(hub + 1, arcs, work);
        Arrays.fill(network.excess, firstMember, hub, -block.floor);
        network.excess[hub] = -block.extra;
        // No way without a circle has as many arcs, so that far costs more than all moves on it.
        int far = 2 * hub;
        for (int i = 0; i < lots; i++) {
            int lot = block.lots[i];
            network.excess[i] = quotient.lotSize[lot];
            for (int read = quotient.readStart[lot]; read < quotient.readStart[lot + 1]; read++) {
                int one = quotient.readClass[read];
                isFar[one] = quotient.readFar[read];
                if (blocks.holds(block, one)) {
                    network.arc(i, nodeOfClass[one], Network.ANY, 1 + (isFar[one] ? far : 0), 0);
                }
            }
            for (int pair = pairStart[lot]; pair < pairStart[lot + 1]; pair++) {
                int member = pairMember[pair];
                int one = quotient.classOf[member];
                if (blocks.holds(block, one)) {
                    // What is far stays only if the flow brings it back: prices begin at no cost.
                    network.arc(i, place[member], owned[pair], isFar[one] ? far : 0, isFar[one] ? 0 : owned[pair]);
                }
            }
        }
        int firstGets = network.arcs();
        for (int one : block.classes) {
            for (int i = quotient.members.start[one]; i < quotient.members.start[one + 1]; i++) {
                int node = place[quotient.members.items[i]];
                network.arc(nodeOfClass[one], node, Network.ANY, 0, 0);
                network.arc(node, hub, 1, 0, block.extra > 0 && network.excess[node] > 0 ? 1 : 0);
            }
        }

        complete &= network.settle() && network.isSettled();

        int arc = 0;
        for (int lot : block.lots) {
            for (int read = quotient.readStart[lot]; read < quotient.readStart[lot + 1]; read++) {
                if (blocks.holds(block, quotient.readClass[read])) {
                    through[read] = network.flow(arc);
                    arc += 2;
                }
            }
            for (int pair = pairStart[lot]; pair < pairStart[lot + 1]; pair++) {
                if (blocks.holds(block, quotient.classOf[pairMember[pair]])) {
                    stays[pair] = network.flow(arc);
                    arc += 2;
                }
            }
        }
        arc = firstGets;
        for (int one : block.classes) {
            for (int i = quotient.members.start[one]; i < quotient.members.start[one + 1]; i++) {
                gets[quotient.members.items[i]] = network.flow(arc);
                arc += 4;
            }
        }
    }
}
