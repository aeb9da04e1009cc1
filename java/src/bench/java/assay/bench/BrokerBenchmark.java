package assay.bench;

import assay.broker.OptimalPartitionAssignor;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.coordinator.group.api.assignor.ConsumerGroupPartitionAssignor;
import org.apache.kafka.coordinator.group.api.assignor.GroupAssignment;
import org.apache.kafka.coordinator.group.api.assignor.MemberAssignment;
import org.apache.kafka.coordinator.group.api.assignor.SubscribedTopicDescriber;
import org.apache.kafka.coordinator.group.api.assignor.SubscriptionType;
import org.apache.kafka.coordinator.group.assignor.UniformAssignor;
import org.apache.kafka.coordinator.group.modern.Assignment;
import org.apache.kafka.coordinator.group.modern.GroupSpecImpl;
import org.apache.kafka.coordinator.group.modern.MemberSubscriptionAndAssignmentImpl;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.Warmup;

/** The broker's assignors on points of the maintainers' grid: what one assignment takes. */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.MILLISECONDS)
@Fork(value = 1, jvmArgsAppend = {"-Xmx4g", "-XX:+UseSerialGC"})
@Warmup(iterations = 5, time = 1)
@Measurement(iterations = 5, time = 1)
public class BrokerBenchmark {
    private static final int BUCKETS = 5;

    @Param({"optimal", "uniform"})
    public String assignor;

    /** Members, partitions and topics, who reads what (equal, buckets, differing), and the event. */
    @Param({
        "1000x10000-100-equal-fresh", "1000x10000-100-equal-join",
        "1000x10000-100-buckets-fresh", "1000x10000-100-buckets-join",
        "10000x50000-100-equal-fresh", "10000x50000-100-equal-join",
        "10000x50000-100-buckets-fresh", "10000x50000-100-buckets-join",
        "10000x500000-1000-equal-fresh", "10000x500000-1000-equal-join",
        "10000x500000-1000-buckets-fresh", "10000x500000-1000-buckets-join",
        "1000x50000-1000-differing-fresh", "1000x50000-1000-differing-join"
    })
    public String point;

    private final Map<Uuid, Integer> topics = new HashMap<>();
    private ConsumerGroupPartitionAssignor called;
    private GroupSpecImpl group;
    private SubscribedTopicDescriber describer;

    @Setup
    public void setUp() {
        called = assignor.equals("optimal") ? new OptimalPartitionAssignor() : new UniformAssignor();
        String[] said = point.split("[x-]");
        int members = Integer.parseInt(said[0]);
        int partitions = Integer.parseInt(said[1]);
        int count = Integer.parseInt(said[2]);
        List<Uuid> ids = new ArrayList<>();
        for (int topic = 0; topic < count; topic++) {
            ids.add(new Uuid(0x9e3779b97f4a7c15L * (topic + 1), topic));
            topics.put(ids.get(topic), partitions / count);
        }
        describer = new Topics();
        List<Set<Uuid>> reads = new ArrayList<>();
        Map<Set<Uuid>, Set<Uuid>> known = new HashMap<>();
        for (int member = 0; member < members; member++) {
            Set<Uuid> own = new HashSet<>();
            for (int topic = 0; topic < count; topic++) {
                if (reads(said[3], member, topic)) {
                    own.add(ids.get(topic));
                }
            }
            reads.add(known.computeIfAbsent(own, one -> one));
        }
        boolean joins = said[4].equals("join");
        group = group(reads, joins ? members - 1 : members, Map.of());
        if (joins) {
            group = group(reads, members, new UniformAssignor().assign(group, describer).members());
        }
    }

    private static boolean reads(String who, int member, int topic) {
        if (who.equals("differing")) {
            return (member * 31L + topic * 17L) * 0x9e3779b97f4a7c15L >>> 62 == 0;
        }
        return who.equals("equal") || member % BUCKETS == topic % BUCKETS;
    }

    private GroupSpecImpl group(List<Set<Uuid>> reads, int members, Map<String, MemberAssignment> before) {
        Map<String, MemberSubscriptionAndAssignmentImpl> spec = new HashMap<>();
        Map<Uuid, Map<Integer, String>> inverted = new HashMap<>();
        for (int member = 0; member < members; member++) {
            String id = new Uuid(member * 0x9e3779b97f4a7c15L, member).toString();
            Map<Uuid, Set<Integer>> held = new HashMap<>();
            if (before.containsKey(id)) {
                before.get(id).partitions().forEach((topic, numbers) -> {
                    held.put(topic, new HashSet<>(numbers));
                    numbers.forEach(n -> inverted.computeIfAbsent(topic, any -> new HashMap<>()).put(n, id));
                });
            }
            spec.put(id, new MemberSubscriptionAndAssignmentImpl(
                    Optional.empty(), Optional.empty(), reads.get(member), new Assignment(held)));
        }
        boolean same = Collections.frequency(reads, reads.get(0)) == reads.size();
        return new GroupSpecImpl(
                spec, same ? SubscriptionType.HOMOGENEOUS : SubscriptionType.HETEROGENEOUS, inverted);
    }

    @Benchmark
    public GroupAssignment assign() {
        return called.assign(group, describer);
    }

    private final class Topics implements SubscribedTopicDescriber {
        @Override
        public int numPartitions(Uuid topic) {
            return topics.getOrDefault(topic, -1);
        }

        @Override
        public Set<String> racksForPartition(Uuid topic, int partition) {
            return Set.of();
        }
    }
}
