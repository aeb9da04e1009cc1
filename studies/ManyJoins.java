package assay;

import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.HashSet;
import java.util.Set;

/**
 * Calls one of Kafka's client assignors on many small groups, one to a line: partition counts, what each
 * member reads, the owner of each partition, as in {@code 2,1;0 0,1;0,0,-1}. A cooperative assignor is asked
 * again until nobody must revoke. An empty line is answered with the number of groups since the last one. The
 * first group on which a call takes longer than the limit ends the program, which says "hangs" and how many
 * groups came before it.
 */
public final class ManyJoins {
    private static final int MOST_ROUNDS = 100;

    private static volatile long calls;
    private static volatile int done;

    public static void main(String[] arguments) throws Exception {
        boolean cooperative = arguments[0].endsWith("CooperativeStickyAssignor");
        long limit = Long.parseLong(arguments[1]) * 1_000_000;
        watch(Thread.currentThread().getId(), limit);
        BufferedReader lines = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.US_ASCII));
        for (String line = lines.readLine(); line != null; line = lines.readLine()) {
            if (line.isEmpty()) {
                System.out.println("answered " + done);
                System.out.flush();
                done = 0;
                continue;
            }
            answer(arguments[0], cooperative, arrays(line));
            done++;
        }
    }

    /** Ends the program when one call has had so many nanoseconds of the processor. */
    private static void watch(long thread, long limit) {
        ThreadMXBean threads = ManagementFactory.getThreadMXBean();
        Thread watcher = new Thread(() -> {
            long seen = -1;
            long since = 0;
            while (true) {
                long now = threads.getThreadCpuTime(thread);
                if (seen != calls) {
                    seen = calls;
                    since = now;
                } else if (now - since > limit) {
                    System.out.println("hangs " + done);
                    System.out.flush();
                    Runtime.getRuntime().halt(3);
                }
                try {
                    Thread.sleep(20);
                } catch (InterruptedException stopped) {
                    return;
                }
            }
        });
        watcher.setDaemon(true);
        watcher.start();
    }

    private static void answer(String assignor, boolean cooperative, GroupArrays group) throws Exception {
        for (int round = 1; round <= MOST_ROUNDS; round++) {
            calls++;
            new ClientGroup(assignor, group).timed(1);
            if (!cooperative || !revokes(group)) {
                return;
            }
            own(group, round + 1);
        }
    }

    /** Says whether somebody owns what it was not given. */
    private static boolean revokes(GroupArrays group) {
        Set<Long> held = new HashSet<>();
        for (int i = 0; i < group.heldBy.length; i++) {
            held.add(place(group.heldBy[i], group.heldTopics[i], group.heldNumbers[i]));
        }
        for (int member = 0; member < group.members.length; member++) {
            for (int i = group.ownedStarts[member]; i < group.ownedStarts[member + 1]; i++) {
                if (!held.contains(place(member, group.ownedTopics[i], group.ownedNumbers[i]))) {
                    return true;
                }
            }
        }
        return false;
    }

    private static long place(int member, int topic, int number) {
        return ((long) member << 40) | ((long) topic << 20) | number;
    }

    /** Lets every member own what it was given, by topic and number, in a generation. */
    private static void own(GroupArrays group, int generation) {
        long[] places = new long[group.heldBy.length];
        for (int i = 0; i < places.length; i++) {
            places[i] = place(group.heldBy[i], group.heldTopics[i], group.heldNumbers[i]);
        }
        Arrays.sort(places);
        group.ownedStarts = new int[group.members.length + 1];
        group.ownedTopics = new int[places.length];
        group.ownedNumbers = new int[places.length];
        for (int i = 0; i < places.length; i++) {
            group.ownedStarts[(int) (places[i] >> 40) + 1]++;
            group.ownedTopics[i] = (int) (places[i] >> 20) & 0xfffff;
            group.ownedNumbers[i] = (int) places[i] & 0xfffff;
        }
        for (int member = 0; member < group.members.length; member++) {
            group.ownedStarts[member + 1] += group.ownedStarts[member];
        }
        Arrays.fill(group.generations, generation);
    }

    private static GroupArrays arrays(String line) {
        String[] parts = line.split(";");
        GroupArrays group = new GroupArrays();
        group.partitions = numbers(parts[0], ",");
        group.topics = names("t", group.partitions.length);
        String[] rows = parts[1].split(",");
        group.members = names("m", rows.length);
        group.instances = new String[rows.length];
        group.racks = new String[0];
        group.memberRacks = new int[rows.length];
        Arrays.fill(group.memberRacks, -1);
        group.replicaSets = group.setOf = group.rackOf = new int[0];
        group.subscriptionStarts = new int[rows.length + 1];
        group.subscribed = new int[0];
        for (int member = 0; member < rows.length; member++) {
            int[] row = numbers(rows[member], " ");
            int start = group.subscribed.length;
            group.subscribed = Arrays.copyOf(group.subscribed, start + row.length);
            System.arraycopy(row, 0, group.subscribed, start, row.length);
            group.subscriptionStarts[member + 1] = group.subscribed.length;
        }
        hold(group, numbers(parts[2], ","));
        return group;
    }

    /** Gives each partition its owner; members that own something are of generation 1, the others new. */
    private static void hold(GroupArrays group, int[] owner) {
        group.generations = new int[group.members.length];
        Arrays.fill(group.generations, -1);
        int count = (int) Arrays.stream(owner).filter(member -> member >= 0).count();
        group.heldBy = new int[count];
        group.heldTopics = new int[count];
        group.heldNumbers = new int[count];
        int at = 0;
        int partition = 0;
        for (int topic = 0; topic < group.partitions.length; topic++) {
            for (int number = 0; number < group.partitions[topic]; number++, partition++) {
                if (owner[partition] >= 0) {
                    group.heldBy[at] = owner[partition];
                    group.heldTopics[at] = topic;
                    group.heldNumbers[at++] = number;
                }
            }
        }
        own(group, 1);
        for (int member = 0; member < group.members.length; member++) {
            if (group.ownedStarts[member] == group.ownedStarts[member + 1]) {
                group.generations[member] = -1;
            }
        }
    }

    private static String[] names(String letter, int count) {
        String[] result = new String[count];
        Arrays.setAll(result, i -> letter + i);
        return result;
    }

    private static int[] numbers(String text, String between) {
        return Arrays.stream(text.split(between)).mapToInt(Integer::parseInt).toArray();
    }
}
