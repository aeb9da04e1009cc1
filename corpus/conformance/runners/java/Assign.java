import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.*;
import java.nio.ByteBuffer;
import java.util.*;
import org.apache.kafka.clients.consumer.ConsumerGroupMetadata;
import org.apache.kafka.clients.consumer.ConsumerPartitionAssignor;
import org.apache.kafka.clients.consumer.ConsumerPartitionAssignor.*;
import org.apache.kafka.common.*;

/** A ConsumerPartitionAssignor, -Dassignor=CLASS, as a program for conformance.py. Replace assign() by your own. */
final class Assign {
    static final String CLASS =
            System.getProperty("assignor", "org.apache.kafka.clients.consumer.StickyAssignor");

    public static void main(String[] none) throws IOException {
        ObjectMapper json = new ObjectMapper();
        BufferedReader groups = new BufferedReader(new InputStreamReader(System.in, "UTF-8"));
        for (String line; (line = groups.readLine()) != null; ) {
            System.out.println(json.writeValueAsString(assign(json.readTree(line))));
        }
    }

    /** Returns partition numbers, by member and topic. */
    static Map<String, Map<String, List<Integer>>> assign(JsonNode group) {
        Map<String, Subscription> members = new HashMap<>();
        group.path("members").properties().forEach(one -> members.put(one.getKey(), subscription(one)));
        Map<String, Map<String, List<Integer>>> made = new TreeMap<>();
        create().assign(cluster(group), new GroupSubscription(members)).groupAssignment().forEach((name, given) -> {
            Map<String, List<Integer>> topics = made.computeIfAbsent(name, member -> new TreeMap<>());
            for (TopicPartition one : given.partitions()) {
                topics.computeIfAbsent(one.topic(), topic -> new ArrayList<>()).add(one.partition());
            }
        });
        return made;
    }

    @SuppressWarnings("removal")
    static Subscription subscription(Map.Entry<String, JsonNode> member) {
        JsonNode said = member.getValue();
        List<String> topics = new ArrayList<>();
        said.path("subscription").forEach(topic -> topics.add(topic.asText()));
        List<TopicPartition> owned = new ArrayList<>();
        said.path("owned").properties().forEach(topic -> topic.getValue()
                .forEach(number -> owned.add(new TopicPartition(topic.getKey(), number.asInt()))));
        int generation = said.path("generation").asInt();
        Optional<String> instance = Optional.ofNullable(said.path("instance_id").asText(null));
        ConsumerPartitionAssignor own = create();
        if (generation >= 0 || !owned.isEmpty()) {
            own.onAssignment(
                    new Assignment(owned), new ConsumerGroupMetadata("group", generation, member.getKey(), instance));
        }
        ByteBuffer data = own.subscriptionUserData(new TreeSet<>(topics));
        boolean cooperative = own.supportedProtocols().contains(RebalanceProtocol.COOPERATIVE);
        List<TopicPartition> kept = cooperative ? owned : List.of();
        Optional<String> rack = Optional.ofNullable(said.path("rack").asText(null));
        Subscription made = new Subscription(topics, data, kept, generation, rack);
        made.setGroupInstanceId(instance);
        return made;
    }

    static Cluster cluster(JsonNode group) {
        Map<String, Node> racks = new TreeMap<>();
        Node none = new Node(0, "localhost", 9092);
        List<PartitionInfo> partitions = new ArrayList<>();
        group.path("topics").properties().forEach(topic -> {
            for (int number = 0; number < topic.getValue().path("partitions").asInt(); number++) {
                List<Node> near = new ArrayList<>();
                topic.getValue().path("racks").path(number).forEach(rack -> near.add(racks.computeIfAbsent(
                        rack.asText(), name -> new Node(racks.size() + 1, "localhost", 9092, name))));
                Node[] replicas = near.isEmpty() ? new Node[] {none} : near.toArray(Node[]::new);
                partitions.add(new PartitionInfo(topic.getKey(), number, replicas[0], replicas, replicas));
            }
        });
        List<Node> nodes = new ArrayList<>(racks.values());
        nodes.add(none);
        return new Cluster("cluster", nodes, partitions, Set.of(), Set.of());
    }

    static ConsumerPartitionAssignor create() {
        try {
            return (ConsumerPartitionAssignor) Class.forName(CLASS).getConstructor().newInstance();
        } catch (ReflectiveOperationException error) {
            throw new IllegalStateException(error);
        }
    }
}
