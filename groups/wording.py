"""Wording: texts for users: counts with nouns, shortened lists, and numbers, written and read."""

from __future__ import annotations

import re
from difflib import get_close_matches
from typing import TYPE_CHECKING, NamedTuple

from groups.errors import BadInput

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

MOST_NAMED = 3
MOST_LISTED = 12
# The beginning of a note in `assumed` on skipped lines of a text.
PASSED_OVER = "passed over as no part of a table"
# The beginning of a note on partitions whose log was cut below the committed offset.
BEYOND_THE_END = "lag: 0 where the commit is beyond the end of the log"
# The beginnings of notes of a capture on records that were deleted, and on unreadable offsets.
BEFORE_THE_BEGINNING = "lag: counted from the commit, though the log begins later"
ENDS_UNKNOWN = "lag: not known, as offsets cannot be read"
# The beginnings of notes on a group that is on the way to the broker's target: of what its members
# hold, and of what they will hold then.
HELD_NOW = "owned: what members hold now"
HELD_BY_SOME_NOW = f"{HELD_NOW}, {{}} of {{}} on the way to their target"
ON_THE_WAY = "a rebalance is under way"

# A note on a group whose text shows no member.
NO_MEMBER_SHOWN = "members: none, since no partition has an owner"
# Texts of importers' notes, by which pseudonyms recognise notes to keep. {} is a number.
HOLDERS_ALONE = "members: those that hold partitions, no view lists idle ones"
NAMED_AFTER_FILE = "the group was named after the file"
HIGHEST_SEEN = "the highest number seen"
TIME_OF = "captured_at: "
FAR_BEYOND = "far beyond the others"
CLAIMED_BY_SEVERAL = "shown with several members, all claim them"
ONE_CLAIMED_BY_SEVERAL = "shown with {} members, all claim it"
OF_CLASSIC_PROTOCOL = "{} of {} members use the classic protocol (UPGRADED false)"
# The beginning of a note on a classic Kafka Streams application.
CLASSIC_STREAMS = "a classic Kafka Streams application"

# The id of a member of KIP-848: 128 random bits in base64, as Java or as librdkafka writes it.
RANDOM_ID = re.compile(r"[A-Za-z0-9_/+-]{21}[AQgw]")

SIZES: Mapping[str, int] = {"": 1, "k": 10**3, "M": 10**6, "G": 10**9}
SECONDS_IN: Mapping[str, int] = {"": 1, "s": 1, "m": 60, "min": 60, "h": 3600, "d": 86_400}
_NUMBER = re.compile(r"([0-9]{1,18}|[0-9]{1,3}(?:,[0-9]{3}){1,5}) ?([A-Za-z]*)")


class Nouns(NamedTuple):
    """The nouns for a partition, a member, hosts and their group in texts for users."""

    partition: str = "partition"
    member: str = "member"
    hosts: str = "hosts"
    group: str = "consumer group"
    host: str = "host"
    topic: str = "topic"

    def said(self, text: str) -> str:
        """Return a text with its partitions, members and topics in these nouns; names stay.

        Examples
        --------
        >>> OF_STREAMS.said("2 members of topic-member each hold 1 partition of 2 topics")
        '2 threads of topic-member each hold 1 task of 2 subtopologies'
        """
        if self == OF_CONSUMERS:
            return text
        nouns = {"partition": self.partition, "member": self.member, "topic": self.topic}
        for noun, own in nouns.items():
            many = f"{own[:-1]}ies" if own.endswith("y") else f"{own}s"
            text = re.sub(rf"(?<![\w.-]){noun}s(?![\w-])", many, text)
            text = re.sub(rf"(?<![\w.-]){noun}(?![\w-])", own, text)
        return text

    def one(self, topic: str, number: int) -> str:
        """Return the name of a partition, or of a task as Kafka Streams writes it.

        Examples
        --------
        >>> OF_CONSUMERS.one("t", 0), OF_STREAMS.one("1", 0)
        ('t-0', '1_0')
        """
        return f"{topic}{'-' if self == OF_CONSUMERS else '_'}{number}"

    def held(self, topics: Mapping[str, Sequence[int]]) -> str:
        """Return a text of partitions by topic, or of tasks as Kafka Streams writes them.

        Examples
        --------
        >>> OF_CONSUMERS.held({"t": [0, 1, 2, 7]}), OF_STREAMS.held({"1": [0, 1, 2, 7]})
        ('t: 0-2,7', '1_0 to 1_2, 1_7')
        """
        if self == OF_CONSUMERS:
            return ", ".join(f"{topic}: {ranges(numbers)}" for topic, numbers in topics.items())
        runs = [(topic, run) for topic, n in topics.items() for run in ranges(n).split(",") if run]
        return ", ".join(f"{topic}_{run.replace('-', f' to {topic}_')}" for topic, run in runs)


OF_CONSUMERS = Nouns()
OF_STREAMS = Nouns("task", "thread", "processes", "streams group", "process", "subtopology")


def counted(number: int, noun: str) -> str:
    """Return ``1 partition``, ``2 partitions`` or ``1,000 partitions``.

    Examples
    --------
    >>> counted(1, "member"), counted(0, "member")
    ('1 member', '0 members')
    """
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def agreed(number: int, verb: str) -> str:
    """Return a verb that agrees with a number.

    Examples
    --------
    >>> agreed(1, "hold"), agreed(2, "hold"), agreed(1, "are"), agreed(0, "have")
    ('holds', 'hold', 'is', 'have')
    """
    return {"are": "is", "have": "has"}.get(verb, f"{verb}s") if number == 1 else verb


def few(names: Sequence[str], many: int | None = None, noun: str | None = None) -> str:
    """Return the first three names, and how many more there are.

    Parameters
    ----------
    many : the number of all names, if `names` are only the first of them
    noun : the noun of the names, in the singular; for names that are followed by numbers

    Examples
    --------
    >>> few(["a", "b"]), few(["a", "b", "c", "d", "e"]), few(["a", "b"], 2_002)
    ('a, b', 'a, b, c and 2 more', 'a, b and 2,000 more')
    """
    named = names[:MOST_NAMED]
    more = (len(names) if many is None else many) - len(named)
    others = f"{more:,} more" if noun is None else counted(more, f"more {noun}")
    return ", ".join(named) + (f"{',' if noun else ''} and {others}" if more > 0 else "")


def with_client(member: str, client: str | None) -> str:
    """Return a member's id, with its client id if the id does not begin with it.

    Examples
    --------
    >>> with_client("orders-2-5f0c", "orders-2"), with_client("FVpH17MgT9Oni5cLnfE1Uw", "orders-2")
    ('orders-2-5f0c', 'FVpH17MgT9Oni5cLnfE1Uw (orders-2)')
    """
    return member if client is None or member.startswith(client) else f"{member} ({client})"


def listed(names: Sequence[str]) -> str:
    """Return all names in a sentence.

    Examples
    --------
    >>> listed(["a"]), listed(["a", "b"]), listed(["a", "b", "c"])
    ('a', 'a and b', 'a, b and c')
    """
    return " and ".join(filter(None, (", ".join(names[:-1]), *names[-1:])))


def names_or_count(names: Sequence[str], noun: str, longest: int) -> str:
    """Return all names if they take at most `longest` letters, otherwise how many there are.

    Examples
    --------
    >>> names_or_count(["a", "b"], "member", 9), names_or_count(["a", "b"], "member", 3)
    ('a, b', '2 members')
    >>> names_or_count([], "member", 9)
    '-'
    """
    text = ", ".join(names)
    return (text or "-") if len(text) <= longest else counted(len(names), noun)


def first_lines(lines: Sequence[str], most: int, more: str = "") -> list[str]:
    """Return the first `most` lines, and one that says how many more there are, if any.

    Examples
    --------
    >>> first_lines(["a", "b", "c"], 1, ": see each"), first_lines(["a"], 1)
    (['a', 'and 2 more: see each'], ['a'])
    """
    left = len(lines) - most
    return [*lines[:most], *([f"and {left:,} more{more}"] if left > 0 else [])]


def nearest_of(name: str, known: Iterable[str]) -> str:
    """Return a hint at similar names, to append to a message that a name is not known.

    Examples
    --------
    >>> nearest_of("biling", ["audit", "billing"]), nearest_of("xyz", ["audit"])
    ('; nearest: billing', '')
    """
    near = get_close_matches(name, list(known), n=MOST_NAMED)
    return f"; nearest: {', '.join(near)}" if near else ""


def nearest_or_some(name: str, known: Iterable[str]) -> str:
    """Return the hint of :func:`nearest_of`, or some known names if none is similar.

    Examples
    --------
    >>> nearest_or_some("biling", ["audit", "billing"]), nearest_or_some("xyz", ["b", "audit"])
    ('; nearest: billing', '; there is audit, b')
    """
    there = sorted(set(known))
    return nearest_of(name, there) or (f"; there is {few(there)}" if there else "")


def one_of_several(place: str, groups: Sequence[str]) -> BadInput:
    """Return the error for several groups in a place where one is expected.

    Examples
    --------
    >>> print(one_of_several("all.jsonl", ["orders", "invoices"]))
    all.jsonl: 2 groups, expected one of invoices, orders; name one of them
    >>> print(one_of_several("all.jsonl", ["orders", "orders"]))
    all.jsonl: 2 captures of group orders, expected one
    """
    names = sorted(set(groups))
    if len(names) == 1:
        return BadInput(f"{place}: {len(groups):,} captures of group {names[0]}, expected one")
    more = len(names) - MOST_LISTED
    rest = f" and {more:,} more" if more > 0 else ""
    listed = ", ".join(names[:MOST_LISTED])
    return BadInput(
        f"{place}: {len(names):,} groups, expected one of {listed}{rest}", remedy="group"
    )


def rounded(number: int) -> str:
    """Return a number in full below 10,000, otherwise in two or three digits with a unit.

    Examples
    --------
    >>> rounded(1_382), rounded(12_345), rounded(1_234_567)
    ('1,382', '12 k', '1.2 M')
    """
    if number < 10_000:
        return f"{number:,}"
    units = (("T", 10**12), ("G", 10**9), ("M", 10**6), ("k", 10**3))
    # 999,500 already rounds to 1 M.
    unit, size = next(one for one in units if 2 * number >= 2 * one[1] - one[1] // 1000)
    whole = number / size
    return f"{whole:.1f} {unit}" if whole < 9.95 else f"{whole:.0f} {unit}"


def bounded(value: int, bound: int) -> str:
    """Return a value, or the range from its bound to it if the bound is not met.

    Examples
    --------
    >>> bounded(929, 929), bounded(1_382, 929)
    ('929', '929 to 1,382')
    """
    return f"{value:,}" if value == bound else f"{bound:,} to {value:,}"


def percent(part: int, whole: int) -> str:
    """Return a share in whole percent; only nothing is 0% and only all is 100%.

    Examples
    --------
    >>> percent(2, 3), percent(1, 1_000), percent(999, 1_000), percent(3, 3), percent(-2, 3)
    ('67%', 'under 1%', 'over 99%', '100%', '-67%')
    """
    if 0 < 200 * part < whole:
        return "under 1%"
    if whole > part and 200 * part >= 199 * whole:
        return "over 99%"
    return f"{(200 * part + whole) // (2 * whole)}%"


def whole_number(text: str, units: Mapping[str, int] = SIZES) -> int | None:
    """Return the number that a text says, with separators and units; None if it is no number.

    Parameters
    ----------
    units : the units that may follow it, and the factor of each

    Examples
    --------
    >>> whole_number("1,382"), whole_number("400k"), whole_number("1.4 M"), whole_number("1,2")
    (1382, 400000, None, None)
    """
    found = _NUMBER.fullmatch(text)
    if found is None or found[2] not in units:
        return None
    return int(found[1].replace(",", "")) * units[found[2]]


def digits(number: int) -> str:
    """Return a whole number in digits, or how many bits it has if they are more than 256.

    Examples
    --------
    >>> digits(12), digits(10**400)
    ('12', 'an integer of 1329 bits')
    """
    bits = number.bit_length()
    return str(number) if bits <= 256 else f"an integer of {bits} bits"


def duration(seconds: int) -> str:
    """Return a time in its two greatest units.

    Examples
    --------
    >>> duration(45), duration(720), duration(85), duration(12_000), duration(180_000)
    ('45 s', '12 min', '1 min 25 s', '3 h 20 min', '2 d 2 h')
    """
    if seconds < 60:
        return f"{seconds} s"
    if seconds < 60 * 60:
        return _in_two(*divmod(seconds, 60), "min", "s")
    minutes = (seconds + 30) // 60
    if minutes < 24 * 60:
        return _in_two(*divmod(minutes, 60), "h", "min")
    return _in_two(*divmod((seconds + 1800) // 3600, 24), "d", "h")


def _in_two(great: int, small: int, unit: str, part: str) -> str:
    return f"{great:,} {unit}{f' {small} {part}' if small else ''}"


def ranges(numbers: Sequence[int]) -> str:
    """Return ascending numbers as a text of ranges: 0-3,7."""
    runs: list[list[int]] = []
    for number in numbers:
        if runs and number == runs[-1][1] + 1:
            runs[-1][1] = number
        else:
            runs.append([number, number])
    return ",".join(str(a) if a == b else f"{a}-{b}" for a, b in runs)
