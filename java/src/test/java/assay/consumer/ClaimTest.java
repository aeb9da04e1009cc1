package assay.consumer;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.zip.DeflaterOutputStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

class ClaimTest {
    private static final String SAID_BY_PYTHON = "AXgBFcw7DoAgEAXAu7x6C4yFyV5FLfysQgJLAhgLw83svJjaTTUX4qmygi8UA+5bakbCc38cK2EXlTQVFxXcEYKEWRIYywADwqGbU5ftH2yTz0Kw0a8ZXNIh9QWDKR7B";
    private static final String NOTED_BY_PYTHON = "AXgBq1ZKT81LLUosyczPU7Iy1lHKTc1NSi1SslJKNlTSUSrNS8vMyyzOSE1RsiopKk2tBQCMWBBn";

    private static ByteBuffer bytes(String base64) {
        return ByteBuffer.wrap(Base64.getDecoder().decode(base64));
    }

    private static ByteBuffer packed(String text) {
        return packed(text.getBytes(StandardCharsets.UTF_8));
    }

    private static ByteBuffer packed(byte[] content) {
        ByteArrayOutputStream made = new ByteArrayOutputStream();
        made.write(1);
        try (DeflaterOutputStream deflater = new DeflaterOutputStream(made)) {
            deflater.write(content);
        } catch (IOException never) {
            throw new AssertionError(never);
        }
        return ByteBuffer.wrap(made.toByteArray());
    }

    @Test
    void whatPythonPackedIsRead() {
        Claim said = Claim.read(bytes(SAID_BY_PYTHON));
        assertEquals(Set.of("t0", "ü"), said.owned.keySet());
        assertArrayEquals(new int[] {1, 3}, said.owned.get("t0"));
        assertArrayEquals(new int[] {}, said.owned.get("ü"));
        assertEquals("7 c\"0 false true false", rest(said));
        assertEquals("3 c1 true false false", rest(Claim.read(bytes(NOTED_BY_PYTHON))));
    }

    private static String rest(Claim said) {
        return said.generation + " " + said.member + " " + said.unfinished + " " + said.holds + " " + said.listed;
    }

    @Test
    void whatWasPackedIsReadAgain() {
        Map<String, int[]> owned = Map.of("a b", new int[] {0, Integer.MAX_VALUE}, "", new int[] {2});
        Claim claim = new Claim(owned, Claim.LAST_GENERATION, "\"\\\u0001\n\u00fc\ud83d\ude00", true, true, true);
        Claim read = Claim.read(claim.packed());
        assertEquals(owned.keySet(), read.owned.keySet());
        owned.forEach((topic, numbers) -> assertArrayEquals(numbers, read.owned.get(topic)));
        assertEquals(rest(claim), rest(read));
    }

    @ParameterizedTest
    @ValueSource(strings = {
        "{}",
        "not JSON",
        "",
        "null",
        "[]",
        "{",
        "{\"owned\":{}",
        "{\"owned\":{}}}",
        "{\"owned\":{\"t0\":[1,]}}",
        "{\"owned\":{\"t0\":[-1]}}",
        "{\"owned\":{\"t0\":[2147483648]}}",
        "{\"owned\":{\"t0\":[01]}}",
        "{\"owned\":{\"t0\":[99999999999999999999]}}",
        "{\"owned\":{\"t0\":null}}",
        "{\"owned\":{\"t0\":[1]},\"generation\":9007199254740993}",
        "{\"owned\":{\"t0\":[1]},\"generation\":-2}",
        "{\"owned\":{\"t0\":[1]},\"member\":3}",
        "{\"owned\":{\"t0\":[1]},\"member\":\"\\x\"}",
        "{\"owned\":{\"t0\":[1]},\"member\":\"\\u12",
        "{\"owned\":{\"t0\":[1]},\"holds\":1}",
        "{\"owned\":{\"t0\":[1]},\"later\":tru}",
        "{\"owned\":{\"t0\":[1]},\"later\":.5}",
    })
    void whatIsNoClaimClaimsNothing(String text) {
        assertEquals(Map.of(), Claim.read(packed(text)).owned);
    }

    static List<ByteBuffer> noClaims() {
        byte[] invalid = "{\"owned\":{\"t0\":[1]},\"member\":\"?\"}".getBytes(StandardCharsets.UTF_8);
        invalid[invalid.length - 3] = (byte) 0xff;
        ByteBuffer cut = bytes(SAID_BY_PYTHON);
        ByteBuffer other = bytes(SAID_BY_PYTHON).put(0, (byte) 2);
        String deep = "[".repeat(100_000) + "]".repeat(100_000);
        return List.of(
                ByteBuffer.allocate(0),
                ByteBuffer.wrap(new byte[] {1}),
                ByteBuffer.wrap("text".getBytes(StandardCharsets.UTF_8)),
                ByteBuffer.wrap("\u0001text".getBytes(StandardCharsets.UTF_8)),
                cut.limit(cut.limit() - 9),
                other,
                packed(invalid),
                packed("{\"owned\":{\"t0\":[1]},\"later\":" + deep + "}"),
                packed("{\"later\":" + "{\"a\":".repeat(100_000)),
                packed("{}" + " ".repeat(Claim.MOST_BYTES)));
    }

    @ParameterizedTest
    @MethodSource("noClaims")
    void whateverBytesComeClaimNothing(ByteBuffer userData) {
        assertSame(Claim.NONE, Claim.read(userData));
        assertSame(Claim.NONE, Claim.read(null));
    }

    @Test
    void noBytesWhateverThrow() {
        Random random = new Random(1);
        for (int i = 0; i < 10_000; i++) {
            byte[] some = new byte[random.nextInt(20)];
            random.nextBytes(some);
            Claim.read(packed(some));
            byte[] damaged = Base64.getDecoder().decode(SAID_BY_PYTHON);
            damaged[1 + random.nextInt(damaged.length - 1)] = (byte) random.nextInt();
            Claim.read(ByteBuffer.wrap(damaged));
        }
    }

    @Test
    void aLaterVersionMaySayMore() {
        String later = "{\"a\":-0.5e+3,\"b\":{\"c\":[true,null,\"\\u00fc\"]}, \"owned\" : {\"t0\":[ 1 ]},\"d\":[]}";
        Claim said = Claim.read(packed(later));
        assertArrayEquals(new int[] {1}, said.owned.get("t0"));
    }

    @Test
    void aThousandPartitionsTakeLessThanTwoBytesEach() {
        int[] numbers = new int[1000];
        Arrays.setAll(numbers, i -> 3 * i);
        assertTrue(Claim.NONE.owning(Map.of("orders", numbers)).packed().remaining() < 2000);
    }
}
