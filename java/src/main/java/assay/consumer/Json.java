package assay.consumer;

import java.util.Arrays;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.IntStream;

/** A claim as JSON: what is written, and a reader that takes nothing else but fields to come. */
final class Json {
    /** What is no claim. */
    static final class Unreadable extends Exception {
        private static final long serialVersionUID = 1;

        Unreadable(String reason) {
            super(reason);
        }
    }

    private static final int MOST_DEPTH = 64;

    private final String text;
    private int at;

    Json(String text) {
        this.text = text;
    }

    static String text(Claim claim) {
        StringBuilder text = new StringBuilder("{\"owned\":{");
        String separator = "";
        for (Map.Entry<String, int[]> topic : claim.owned.entrySet()) {
            quote(text.append(separator), topic.getKey());
            text.append(':').append(Arrays.toString(topic.getValue()).replace(" ", ""));
            separator = ",";
        }
        quote(text.append("},\"generation\":").append(claim.generation).append(",\"member\":"), claim.member);
        return text.append(",\"unfinished\":").append(claim.unfinished)
                .append(",\"holds\":").append(claim.holds)
                .append(",\"listed\":").append(claim.listed)
                .append('}').toString();
    }

    private static void quote(StringBuilder text, String said) {
        text.append('"');
        for (int i = 0; i < said.length(); i++) {
            char c = said.charAt(i);
            if (c == '"' || c == '\\') {
                text.append('\\').append(c);
            } else if (c < ' ') {
                text.append(String.format("\\u%04x", (int) c));
            } else {
                text.append(c);
            }
        }
        text.append('"');
    }

    Claim claim() throws Unreadable {
        Map<String, int[]> owned = Map.of();
        long generation = Claim.NEVER;
        String member = "";
        boolean unfinished = false;
        boolean holds = false;
        boolean listed = false;
        for (boolean more = opens('{', '}'); more; more = goesOn('}')) {
            switch (key()) {
                case "owned":
                    owned = owned();
                    break;
                case "generation":
                    generation = whole(Claim.NEVER, Claim.LAST_GENERATION);
                    break;
                case "member":
                    member = string();
                    break;
                case "unfinished":
                    unfinished = truth();
                    break;
                case "holds":
                    holds = truth();
                    break;
                case "listed":
                    listed = truth();
                    break;
                default:
                    skip(1);
            }
        }
        space();
        if (at < text.length()) {
            throw new Unreadable("more than one value");
        }
        return new Claim(owned, generation, member, unfinished, holds, listed);
    }

    private Map<String, int[]> owned() throws Unreadable {
        Map<String, int[]> owned = new TreeMap<>();
        for (boolean more = opens('{', '}'); more; more = goesOn('}')) {
            String topic = key();
            IntStream.Builder numbers = IntStream.builder();
            for (boolean other = opens('[', ']'); other; other = goesOn(']')) {
                numbers.add((int) whole(0, Integer.MAX_VALUE));
            }
            owned.put(topic, numbers.build().sorted().distinct().toArray());
        }
        return owned;
    }

    /** Goes over a value of a field that is not known. */
    private void skip(int depth) throws Unreadable {
        char first = peek();
        if (depth > MOST_DEPTH) {
            throw new Unreadable("too deep");
        } else if (first == '{') {
            for (boolean more = opens('{', '}'); more; more = goesOn('}')) {
                key();
                skip(depth + 1);
            }
        } else if (first == '[') {
            for (boolean more = opens('[', ']'); more; more = goesOn(']')) {
                skip(depth + 1);
            }
        } else if (first == '"') {
            string();
        } else if (first == 't' || first == 'f') {
            truth();
        } else if (!takes("null")) {
            number();
        }
    }

    private void number() throws Unreadable {
        takes("-");
        if (!takes("0")) {
            digits();
        }
        if (takes(".")) {
            digits();
        }
        if (takes("e") || takes("E")) {
            if (!takes("+")) {
                takes("-");
            }
            digits();
        }
    }

    private long whole(long least, long most) throws Unreadable {
        peek();
        int from = at;
        takes("-");
        if (!takes("0")) {
            digits();
        }
        try {
            long said = Long.parseLong(text, from, at, 10);
            if (least <= said && said <= most) {
                return said;
            }
        } catch (NumberFormatException tooLong) {
            // As below.
        }
        throw new Unreadable("a number that cannot be");
    }

    private void digits() throws Unreadable {
        int from = at;
        while (at < text.length() && text.charAt(at) >= '0' && text.charAt(at) <= '9') {
            at++;
        }
        if (at == from) {
            throw new Unreadable("no digit");
        }
    }

    private boolean truth() throws Unreadable {
        peek();
        if (takes("true")) {
            return true;
        }
        if (takes("false")) {
            return false;
        }
        throw new Unreadable("neither true nor false");
    }

    private String key() throws Unreadable {
        String key = string();
        next(':');
        return key;
    }

    private String string() throws Unreadable {
        next('"');
        StringBuilder said = new StringBuilder();
        while (at < text.length()) {
            char c = text.charAt(at++);
            if (c == '"') {
                return said.toString();
            } else if (c < ' ') {
                break;
            }
            said.append(c == '\\' ? escaped() : c);
        }
        throw new Unreadable("a string that does not end");
    }

    private char escaped() throws Unreadable {
        int which = at < text.length() ? "\"\\/bfnrtu".indexOf(text.charAt(at++)) : -1;
        if (which < 0) {
            throw new Unreadable("no such escape");
        }
        if (which < 8) {
            return "\"\\/\b\f\n\r\t".charAt(which);
        }
        int code = 0;
        for (int end = at + 4; at < end; at++) {
            int digit = at < text.length() ? Character.digit(text.charAt(at), 16) : -1;
            if (digit < 0) {
                throw new Unreadable("no hexadecimal digit");
            }
            code = 16 * code + digit;
        }
        return (char) code;
    }

    /** Takes the bracket that opens a list or an object; returns whether something is in it. */
    private boolean opens(char bracket, char end) throws Unreadable {
        next(bracket);
        if (peek() != end) {
            return true;
        }
        at++;
        return false;
    }

    /** Takes what follows an element; returns whether another one does. */
    private boolean goesOn(char end) throws Unreadable {
        if (peek() == ',') {
            at++;
            return true;
        }
        next(end);
        return false;
    }

    private void next(char wanted) throws Unreadable {
        if (peek() != wanted) {
            throw new Unreadable("not what comes next");
        }
        at++;
    }

    private char peek() throws Unreadable {
        space();
        if (at == text.length()) {
            throw new Unreadable("it ends");
        }
        return text.charAt(at);
    }

    private boolean takes(String wanted) {
        boolean there = text.startsWith(wanted, at);
        at += there ? wanted.length() : 0;
        return there;
    }

    private void space() {
        while (at < text.length() && " \t\n\r".indexOf(text.charAt(at)) >= 0) {
            at++;
        }
    }
}
