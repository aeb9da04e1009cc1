package assay.consumer;

import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.Collection;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.IntStream;
import java.util.zip.DataFormatException;
import java.util.zip.Deflater;
import java.util.zip.Inflater;
import org.apache.kafka.clients.consumer.ConsumerPartitionAssignor.Assignment;
import org.apache.kafka.common.TopicPartition;

/**
 * What a member says when it joins: what it was given last. Travels as user data.
 *
 * <p>The leader's note travels in the same form with an assignment: its generation, whom it is for,
 * and whether it is unfinished. Leader and members count generations of their own, as the Python
 * clients do not tell their assignors any: the leader's is one more than that of any claim.
 */
final class Claim {
    static final long NEVER = -1;
    static final long LAST_GENERATION = 1L << 53;

    /** A broker keeps the metadata of a whole group in about a megabyte. */
    static final int MOST_BYTES = 1 << 24;

    static final Claim NONE = new Claim(Map.of(), NEVER, "", false, false, false);

    private static final byte FORMAT = 1;

    /** Topics, each with the numbers of its partitions, ascending. */
    final Map<String, int[]> owned;

    final long generation;

    /** The id that the member had then. */
    final String member;

    /** Whether some partition of that plan waited until its old owner had given it up. */
    final boolean unfinished;

    /** Whether the member goes on reading what it owns until it is given something else. */
    final boolean holds;

    /** Whether what it goes on reading are exactly the owned partitions that its client sends. */
    final boolean listed;

    Claim(Map<String, int[]> owned, long generation, String member, boolean unfinished, boolean holds, boolean listed) {
        this.owned = owned;
        this.generation = generation;
        this.member = member;
        this.unfinished = unfinished;
        this.holds = holds;
        this.listed = listed;
    }

    static Claim note(long generation, String member, boolean unfinished) {
        return new Claim(Map.of(), generation, member, unfinished, false, false);
    }

    /** Returns what a member remembers of an assignment and the note that came with it. */
    static Claim after(Assignment given) {
        return read(given.userData()).owning(byTopic(given.partitions()));
    }

    /** Returns the claim with other partitions. */
    Claim owning(Map<String, int[]> partitions) {
        return new Claim(partitions, generation, member, unfinished, holds, listed);
    }

    /** Returns the claim on what of this is in some topics, as a member sends it. */
    Claim about(Collection<String> topics, boolean nowHolds) {
        Map<String, int[]> kept = new TreeMap<>(owned);
        kept.keySet().retainAll(topics);
        return new Claim(kept, generation, member, unfinished, nowHolds, nowHolds);
    }

    static Map<String, int[]> byTopic(Collection<TopicPartition> partitions) {
        Map<String, IntStream.Builder> found = new TreeMap<>();
        for (TopicPartition one : partitions) {
            if (one.partition() >= 0) {
                found.computeIfAbsent(one.topic(), any -> IntStream.builder()).add(one.partition());
            }
        }
        Map<String, int[]> result = new TreeMap<>();
        found.forEach((topic, numbers) ->
                result.put(topic, numbers.build().sorted().distinct().toArray()));
        return result;
    }

    ByteBuffer packed() {
        Deflater deflater = new Deflater(Deflater.BEST_SPEED);
        try {
            return packed(deflater);
        } finally {
            deflater.end();
        }
    }

    /** Returns the claim as bytes; a new deflater for each of many claims would take a third of a rebalance. */
    ByteBuffer packed(Deflater deflater) {
        deflater.reset();
        deflater.setInput(Json.text(this).getBytes(StandardCharsets.UTF_8));
        deflater.finish();
        ByteArrayOutputStream packed = new ByteArrayOutputStream();
        packed.write(FORMAT);
        byte[] some = new byte[4096];
        while (!deflater.finished()) {
            packed.write(some, 0, deflater.deflate(some));
        }
        return ByteBuffer.wrap(packed.toByteArray());
    }

    /** Returns what user data says; {@link #NONE} where it says nothing of the kind, whatever it is. */
    static Claim read(ByteBuffer userData) {
        if (userData == null || !userData.hasRemaining() || userData.get(userData.position()) != FORMAT) {
            return NONE;
        }
        byte[] sent = new byte[userData.remaining()];
        userData.duplicate().get(sent);
        try {
            byte[] opened = inflated(sent, 1);
            return new Json(StandardCharsets.UTF_8.newDecoder().decode(ByteBuffer.wrap(opened)).toString()).claim();
        } catch (DataFormatException | CharacterCodingException | Json.Unreadable nothingOfTheKind) {
            return NONE;
        }
    }

    private static byte[] inflated(byte[] sent, int from) throws DataFormatException {
        Inflater inflater = new Inflater();
        try {
            inflater.setInput(sent, from, sent.length - from);
            ByteArrayOutputStream opened = new ByteArrayOutputStream();
            byte[] some = new byte[4096];
            int count = inflater.inflate(some);
            while (count > 0) {
                opened.write(some, 0, count);
                if (opened.size() > MOST_BYTES) {
                    throw new DataFormatException("too much");
                }
                count = inflater.inflate(some);
            }
            return opened.toByteArray();
        } finally {
            inflater.end();
        }
    }
}
