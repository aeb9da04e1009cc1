import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.File;
import java.util.*;
import java.util.concurrent.*;

/**
 * Holds assign() of Assign.java to the promises of files: java ... Conformance ../../valid.json ...
 * Exit code 1 where one is broken. Copy both files, and put your own assignor into Assign.java.
 */
final class Conformance {
    static final int SECONDS = 5, ROUNDS = 50;
    static final ObjectMapper JSON = new ObjectMapper();

    record Pair(String member, String topic, int number) {}

    record Measured(boolean valid, boolean balanced, List<Integer> loads, int moves, int racks) {}

    static Set<Pair> pairs(JsonNode held) {
        Set<Pair> found = new HashSet<>();
        held.properties().forEach(member -> member.getValue().properties().forEach(topic -> topic.getValue()
                .forEach(number -> found.add(new Pair(member.getKey(), topic.getKey(), number.asInt())))));
        return found;
    }

    static int missing(Set<Pair> one, Set<Pair> other) {
        return (int) one.stream().filter(pair -> !other.contains(pair)).count();
    }

    static Set<Pair> owned(JsonNode group) {
        ObjectNode held = JSON.createObjectNode();
        group.path("members").properties().forEach(m -> held.set(m.getKey(), m.getValue().path("owned")));
        return pairs(held);
    }

    /** Returns the group in which each member owns what it was given, a generation later. */
    static JsonNode claiming(JsonNode group, JsonNode made) {
        int generation = 0;
        JsonNode copy = group.deepCopy();
        for (JsonNode member : group.path("members")) {
            generation = Math.max(generation, member.path("generation").asInt(0));
        }
        for (Map.Entry<String, JsonNode> member : copy.path("members").properties()) {
            JsonNode given = made.has(member.getKey()) ? made.get(member.getKey()) : JSON.createObjectNode();
            ((ObjectNode) member.getValue()).put("generation", generation + 1).set("owned", given);
        }
        return copy;
    }

    /** Returns the assignment once nobody has to revoke; null where the rounds do not end. */
    static JsonNode settled(JsonNode group) throws Exception {
        for (int round = 0; round < ROUNDS; round++) {
            JsonNode made = JSON.valueToTree(Assign.assign(group));
            if (!Assign.COOPERATIVE || missing(owned(group), pairs(made)) == 0) {
                return made;
            }
            group = claiming(group, made);
        }
        return null;
    }

    static boolean reads(JsonNode group, String member, String topic) {
        for (JsonNode one : group.at("/members").path(member).path("subscription")) {
            if (one.asText().equals(topic)) {
                return true;
            }
        }
        return false;
    }

    static Measured measured(JsonNode group, JsonNode made, JsonNode best) {
        Set<Pair> held = pairs(made);
        Map<String, Integer> load = new TreeMap<>(), holders = new HashMap<>();
        group.path("members").fieldNames().forEachRemaining(member -> load.put(member, 0));
        boolean valid = true, balanced = true;
        int far = 0, every = 0, given = 0;
        for (JsonNode topics : made) {
            for (JsonNode numbers : topics) {
                given += numbers.size();
            }
        }
        for (Pair pair : held) {
            load.merge(pair.member, 1, Integer::sum);
            holders.merge(pair.topic + "-" + pair.number, 1, Integer::sum);
            valid &= reads(group, pair.member, pair.topic);
            JsonNode racks = group.path("topics").path(pair.topic).path("racks");
            boolean near = racks.isMissingNode();
            for (JsonNode rack : racks.path(pair.number)) {
                near |= rack.equals(group.path("members").path(pair.member).path("rack"));
            }
            far += near ? 0 : 1;
        }
        for (Map.Entry<String, JsonNode> topic : group.path("topics").properties()) {
            if (load.keySet().stream().anyMatch(member -> reads(group, member, topic.getKey()))) {
                int count = topic.getValue().path("partitions").asInt(topic.getValue().asInt());
                for (int number = 0; number < count; number++, every++) {
                    valid &= holders.getOrDefault(topic.getKey() + "-" + number, 0) == 1;
                }
            }
        }
        for (Pair pair : held) {
            for (String other : load.keySet()) {
                balanced &= load.get(pair.member) - load.get(other) < 2 || !reads(group, other, pair.topic);
            }
        }
        List<Integer> loads = load.values().stream().sorted().toList();
        Set<Pair> owners = best.has("owners") ? pairs(best.path("owners")) : owned(group);
        return new Measured(valid && given == every, balanced, loads, missing(owners, held), far);
    }

    /** Returns whether the promise is kept, or null where it is not put to the test. */
    static Boolean judged(String promise, String id, JsonNode group, JsonNode best) {
        JsonNode made, again;
        try {
            made = settled(group);
            again = made != null && promise.equals("idempotent") ? settled(claiming(group, made)) : null;
        } catch (Exception error) {
            return promise.equals("answers") ? said(promise, id, false, error, best) : null;
        }
        if (promise.equals("terminates") || promise.equals("answers")) {
            return true;
        }
        if (promise.equals("settles") || made == null) {
            return promise.equals("settles") ? said(promise, id, made != null, "rounds without end", best) : null;
        }
        Measured found = measured(group, made, best);
        if (promise.equals("valid") || !found.valid) {
            return promise.equals("valid") ? said(promise, id, found.valid, made, best) : null;
        }
        boolean isBest = JSON.valueToTree(found.loads).equals(best.path("loads"));
        return switch (promise) {
            case "idempotent" -> again == null
                    ? null
                    : said(promise, id, missing(pairs(made), pairs(again)) == 0, again, best);
            case "balanced" -> said(promise, id, found.balanced, found, best);
            case "optimal-balance" -> said(promise, id, isBest, found, best);
            case "optimal-moves" -> isBest ? said(promise, id, found.moves <= best.path("moves").asInt(), found, best) : null;
            default -> isBest ? said(promise, id, found.racks <= best.path("racks").asInt(), found, best) : null;
        };
    }

    static boolean said(String promise, String id, boolean kept, Object what, JsonNode best) {
        if (!kept) {
            System.out.println(promise + " " + id + " " + what + " best: " + best);
        }
        return kept;
    }

    public static void main(String[] files) throws Exception {
        ExecutorService threads = Executors.newCachedThreadPool();
        int code = 0;
        for (String file : files) {
            JsonNode document = JSON.readTree(new File(file));
            String promise = document.path("promise").asText();
            int kept = 0, broken = 0, untested = 0, left = 0;
            for (JsonNode one : document.path("instances")) {
                if (!one.has("group")) {
                    left++;
                    continue;
                }
                String id = one.path("id").asText();
                Boolean came = null;
                try {
                    came = threads.submit(() -> judged(promise, id, one.path("group"), one.path("answer")))
                            .get(SECONDS, TimeUnit.SECONDS);
                } catch (TimeoutException late) {
                    came = promise.equals("terminates") ? said(promise, id, false, "no answer", one.path("answer")) : null;
                }
                kept += came == Boolean.TRUE ? 1 : 0;
                broken += came == Boolean.FALSE ? 1 : 0;
                untested += came == null ? 1 : 0;
            }
            code = broken > 0 ? 1 : code;
            System.out.printf("%s: %d kept, %d broken, %d not tested, %d only recipes%n", promise, kept, broken, untested, left);
        }
        System.exit(code);
    }
}
