package assay.optimal;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * The most even loads there can be: blocks of lots and classes, and what their members carry.
 *
 * <p>Among all plans one list of loads is more even than every other. Groenevelt's decomposition
 * finds it: members of a block carry all the same, give or take one, unless a maximum flow shows
 * that some lots are too much for their readers, or some members have too little to read. Then
 * either is a block of its own. No plan with the most even loads lets a member read across blocks.
 */
final class Blocks {
    /** The parts of the group that have nothing to read in common, each as if its loads could be level. */
    final List<Block> parts = new ArrayList<>();

    private final Quotient quotient;
    private final Work work;
    private final int[] blockOfLot;
    private final int[] blockOfClass;

    /** Where each lot and each class is in the networks of its block. */
    final int[] nodeOfLot;

    final int[] nodeOfClass;
    private int made;

    Blocks(Quotient quotient, Work work) {
        this.quotient = quotient;
        this.work = work;
        blockOfLot = new int[quotient.lots()];
        blockOfClass = new int[quotient.classes()];
        nodeOfLot = new int[quotient.lots()];
        nodeOfClass = new int[quotient.classes()];
        if (!quotient.isTooLarge()) {
            connected();
        }
    }

    /** Returns the blocks of a part whose loads cannot be level. */
    List<Block> of(Block part) {
        List<Block> blocks = new ArrayList<>();
        ArrayDeque<Block> open = new ArrayDeque<>(List.of(part));
        while (!open.isEmpty()) {
            Block block = open.pop();
            if (!split(block, open)) {
                blocks.add(block);
            }
        }
        return blocks;
    }

    /** Lots and classes whose members carry the same, some of them one more. */
    static final class Block {
        final int[] lots;
        final int[] classes;

        /** What each member carries at least, and how many carry one more. */
        final int floor;

        final int extra;

        private final int number;

        Block(int number, int[] lots, int[] classes, int partitions, int members) {
            this.number = number;
            this.lots = lots;
            this.classes = classes;
            floor = partitions / members;
            extra = partitions % members;
        }
    }

    /** Returns whether a class, or a lot, is in a block and in none that was made of it. */
    boolean hasClass(Block block, int cls) {
        return blockOfClass[cls] == block.number;
    }

    boolean hasLot(Block block, int lot) {
        return blockOfLot[lot] == block.number;
    }

    private Block newBlock(int[] lots, int[] classes) {
        int partitions = 0;
        int members = 0;
        int node = 0;
        for (int lot : lots) {
            blockOfLot[lot] = made;
            nodeOfLot[lot] = node++;
            partitions += quotient.lotSize[lot];
        }
        for (int cls : classes) {
            blockOfClass[cls] = made;
            nodeOfClass[cls] = node++;
            members += quotient.members.size(cls);
        }
        return new Block(made++, lots, classes, partitions, members);
    }

    /** Makes a block of each part of the group that has nothing to read in common with others. */
    private void connected() {
        int[] parent = new int[quotient.classes()];
        Arrays.setAll(parent, cls -> cls);
        int apart = parent.length;
        for (int lot = 0; lot < quotient.lots() && apart > 1; lot++) {
            int first = quotient.readClass[quotient.readStart[lot]];
            for (int read = quotient.readStart[lot] + 1; read < quotient.readStart[lot + 1]; read++) {
                int one = root(parent, quotient.readClass[read]);
                int other = root(parent, first);
                parent[one] = other;
                apart -= one == other ? 0 : 1;
            }
        }
        int[] part = new int[parent.length];
        Arrays.fill(part, -1);
        int parts = 0;
        int[] partOfClass = new int[parent.length];
        for (int cls = 0; cls < parent.length; cls++) {
            int root = root(parent, cls);
            if (part[root] < 0) {
                part[root] = parts++;
            }
            partOfClass[cls] = part[root];
        }
        int[] partOfLot = new int[quotient.lots()];
        for (int lot = 0; lot < partOfLot.length; lot++) {
            partOfLot[lot] = partOfClass[quotient.readClass[quotient.readStart[lot]]];
        }
        Grouped lots = new Grouped(partOfLot, parts);
        Grouped classes = new Grouped(partOfClass, parts);
        for (int i = 0; i < parts; i++) {
            this.parts.add(newBlock(
                    Arrays.copyOfRange(lots.items, lots.start[i], lots.start[i + 1]),
                    Arrays.copyOfRange(classes.items, classes.start[i], classes.start[i + 1])));
        }
    }

    private static int root(int[] parent, int of) {
        int at = of;
        while (parent[at] != at) {
            parent[at] = parent[parent[at]];
            at = parent[at];
        }
        return at;
    }

    /** Makes two blocks of one, unless its loads can be level. */
    private boolean split(Block block, ArrayDeque<Block> open) {
        if (block.classes.length == 1) {
            return false;
        }
        int most = block.extra == 0 ? block.floor : block.floor + 1;
        Network network = flow(block, most);
        if (network == null) {
            return false;
        }
        boolean[] apart = network.reached();
        if (!any(apart)) {
            if (block.extra == 0) {
                return false;
            }
            network = flow(block, block.floor);
            if (network == null) {
                return false;
            }
            apart = network.reaching();
            if (!any(apart)) {
                return false;
            }
        }
        open.add(part(block, apart, true));
        open.add(part(block, apart, false));
        return true;
    }

    /** Returns a maximum flow with at most so many partitions a member; null if the work is spent. */
    private Network flow(Block block, int most) {
        Network network = new Network(quotient, this, block, 0, 0, 0, work);
        for (int cls : block.classes) {
            network.excess[nodeOfClass[cls]] = -most * quotient.members.size(cls);
        }
        return network.settle() ? network : null;
    }

    private Block part(Block block, boolean[] marked, boolean which) {
        int[] lots = Arrays.stream(range(block.lots.length))
                .filter(i -> marked[i] == which)
                .map(i -> block.lots[i])
                .toArray();
        int[] classes = Arrays.stream(range(block.classes.length))
                .filter(i -> marked[block.lots.length + i] == which)
                .map(i -> block.classes[i])
                .toArray();
        return newBlock(lots, classes);
    }

    private static int[] range(int count) {
        int[] result = new int[count];
        Arrays.setAll(result, i -> i);
        return result;
    }

    private static boolean any(boolean[] marks) {
        for (boolean mark : marks) {
            if (mark) {
                return true;
            }
        }
        return false;
    }
}
