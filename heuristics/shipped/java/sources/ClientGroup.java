package assay;

import java.lang.reflect.Constructor;
import java.nio.ByteBuffer;
import java.nio.IntBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.apache.kafka.clients.consumer.ConsumerGroupMetadata;
import org.apache.kafka.clients.consumer.ConsumerPartitionAssignor;
import org.apache.kafka.clients.consumer.ConsumerPartitionAssignor.Assignment;
import org.apache.kafka.clients.consumer.ConsumerPartitionAssignor.GroupSubscription;
import org.apache.kafka.clients.consumer.ConsumerPartitionAssignor.RebalanceProtocol;
import org.apache.kafka.clients.consumer.ConsumerPartitionAssignor.Subscription;
import org.apache.kafka.clients.consumer.internals.ConsumerProtocol;
import org.apache.kafka.common.Cluster;
import org.apache.kafka.common.Node;
import org.apache.kafka.common.PartitionInfo;
import org.apache.kafka.common.TopicPartition;

/** A group whose leader calls one of Kafka's client assignors, as a Java consumer does. */
public final class ClientGroup {
    private static final Constructor<Subscription> WITH_GENERATION = constructor();

    private final Class<?> assignor;
    private final GroupArrays arrays;
    private final Cluster cluster;
    private final Map<String, Subscription> subscriptions = new HashMap<>();
    private final Map<IntBuffer, Topics> known = new HashMap<>();

    public ClientGroup(String assignor, GroupArrays arrays) throws ReflectiveOperationException {
        this.assignor = Class.forName(assignor);
        this.arrays = arrays;
        cluster = cluster();
        for (int member = 0; member < arrays.members.length; member++) {
            subscriptions.put(arrays.members[member], subscription(member));
        }
    }

    /** Calls the assignor so many times; keeps the last result in the arrays, returns the nanoseconds. */
    public long[] timed(int runs) throws ReflectiveOperationException {
        long[] nanoseconds = new long[runs];
        Map<String, Assignment> result = new HashMap<>();
        for (int run = 0; run < runs; run++) {
            ConsumerPartitionAssignor leader = create();
            // An earlier call has read what it could find in there.
            for (Subscription one : subscriptions.values()) {
                if (one.userData() != null) {
                    one.userData().rewind();
                }
            }
            GroupSubscription group = new GroupSubscription(subscriptions);
            long started = System.nanoTime();
            result = leader.assign(cluster, group).groupAssignment();
            nanoseconds[run] = System.nanoTime() - started;
        }
        read(result);
        return nanoseconds;
    }

    private ConsumerPartitionAssignor create() throws ReflectiveOperationException {
        return (ConsumerPartitionAssignor) assignor.getConstructor().newInstance();
    }

    /** Returns what the leader gets to know of a member: sent and received in Kafka's own bytes. */
    private Subscription subscription(int member) throws ReflectiveOperationException {
        int start = arrays.subscriptionStarts[member];
        IntBuffer reads = IntBuffer.wrap(arrays.subscribed, start, arrays.subscriptionStarts[member + 1] - start);
        Topics topics = known.get(reads);
        if (topics == null) {
            topics = new Topics(reads);
            known.put(reads, topics);
        }
        List<TopicPartition> owned = new ArrayList<>();
        for (int i = arrays.ownedStarts[member]; i < arrays.ownedStarts[member + 1]; i++) {
            owned.add(new TopicPartition(arrays.topics[arrays.ownedTopics[i]], arrays.ownedNumbers[i]));
        }
        Optional<String> instance = Optional.ofNullable(arrays.instances[member]);
        int generation = arrays.generations[member];
        ConsumerPartitionAssignor own = create();
        if (generation >= 0 || !owned.isEmpty()) {
            own.onAssignment(
                    new Assignment(owned),
                    new ConsumerGroupMetadata("group", generation, arrays.members[member], instance));
        }
        ByteBuffer userData = own.subscriptionUserData(topics.joined);
        boolean cooperative = own.supportedProtocols().contains(RebalanceProtocol.COOPERATIVE);
        List<TopicPartition> kept = cooperative ? owned : Collections.emptyList();
        Subscription heard = sent(said(Collections.emptyList(), userData, kept, member));
        Subscription result = said(topics.heard, heard.userData(), heard.ownedPartitions(), member);
        result.setGroupInstanceId(instance);
        return result;
    }

    private Subscription said(List<String> topics, ByteBuffer userData, List<TopicPartition> owned, int member)
            throws ReflectiveOperationException {
        return WITH_GENERATION == null
                ? new Subscription(topics, userData, owned)
                : WITH_GENERATION.newInstance(
                        topics,
                        userData,
                        owned,
                        arrays.generations[member],
                        Optional.ofNullable(arrays.rackOfMember(member)));
    }

    private static Subscription sent(Subscription said) {
        return ConsumerProtocol.deserializeSubscription(ConsumerProtocol.serializeSubscription(said));
    }

    /** What one or more members read; kept once, as ten thousand copies of it would fill the heap. */
    private final class Topics {
        private final Set<String> joined = new LinkedHashSet<>();
        private final List<String> heard = new ArrayList<>();

        Topics(IntBuffer reads) {
            Map<String, String> names = new HashMap<>();
            for (int i = reads.position(); i < reads.limit(); i++) {
                String name = arrays.topics[reads.get(i)];
                joined.add(name);
                names.put(name, name);
            }
            for (String name : sent(new Subscription(new ArrayList<>(joined))).topics()) {
                heard.add(names.get(name));
            }
        }
    }

    private Cluster cluster() {
        Node[] byRack = new Node[arrays.racks.length];
        for (int rack = 0; rack < byRack.length; rack++) {
            byRack[rack] = new Node(rack, "localhost", 9092, arrays.racks[rack]);
        }
        Node[] unknown = {new Node(byRack.length, "localhost", 9092)};
        int[][] racks = arrays.racksOfSets();
        Node[][] sets = new Node[racks.length][];
        for (int set = 0; set < sets.length; set++) {
            sets[set] = Arrays.stream(racks[set]).mapToObj(rack -> byRack[rack]).toArray(Node[]::new);
        }
        List<PartitionInfo> partitions = new ArrayList<>();
        int at = 0;
        for (int topic = 0; topic < arrays.partitions.length; topic++) {
            for (int number = 0; number < arrays.partitions[topic]; number++, at++) {
                int set = arrays.replicaSets.length == 0 ? -1 : arrays.replicaSets[at];
                Node[] replicas = set < 0 || set >= sets.length || sets[set].length == 0 ? unknown : sets[set];
                partitions.add(new PartitionInfo(arrays.topics[topic], number, replicas[0], replicas, replicas));
            }
        }
        List<Node> nodes = new ArrayList<>(Arrays.asList(byRack));
        nodes.add(unknown[0]);
        return new Cluster("cluster", nodes, partitions, Collections.emptySet(), Collections.emptySet());
    }

    private void read(Map<String, Assignment> result) {
        Map<String, Integer> index = new HashMap<>();
        for (int topic = 0; topic < arrays.topics.length; topic++) {
            index.put(arrays.topics[topic], topic);
        }
        int count = 0;
        for (Assignment one : result.values()) {
            count += one.partitions().size();
        }
        arrays.heldBy = new int[count];
        arrays.heldTopics = new int[count];
        arrays.heldNumbers = new int[count];
        int at = 0;
        for (int member = 0; member < arrays.members.length; member++) {
            Assignment one = result.get(arrays.members[member]);
            if (one == null) {
                continue;
            }
            for (TopicPartition partition : one.partitions()) {
                arrays.heldBy[at] = member;
                arrays.heldTopics[at] = index.get(partition.topic());
                arrays.heldNumbers[at++] = partition.partition();
            }
        }
    }

    /** Returns the constructor with generation and rack, or null before Kafka 3.4. */
    private static Constructor<Subscription> constructor() {
        try {
            return Subscription.class.getConstructor(
                    List.class, ByteBuffer.class, List.class, int.class, Optional.class);
        } catch (NoSuchMethodException older) {
            return null;
        }
    }
}
