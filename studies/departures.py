"""Departures: where the code that people run departs from the KIPs, in words."""

from __future__ import annotations

from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

from compare.samples.kinds import DIFFERING, EQUAL, ODD, RACKS, STATIC

if TYPE_CHECKING:
    from collections.abc import Callable

    from studies.comparison import Comparison

Kinds = tuple[str, ...]
ALL: Kinds = (EQUAL, DIFFERING, ODD, STATIC, RACKS)

TIES = "ties are decided otherwise"
UNEXPLAINED = "differs, nobody has looked why"

_FORGOTTEN = (
    "tells static members from others by runs of neighbours and forgets all runs but the last of "
    "each sort: their members get nothing"
)
_NO_INSTANCE = "instance ids do not reach the assignor, members go by member id"
_TWO_BY_TWO = "goes by instance id only between two members that have one, else by member id"
_SKIPPING = "breaks down (KeyError) as soon as a member must be skipped"
_NEAR = "KIP-881: balance first, then racks, then stickiness; KIP-54 and KIP-615 know no racks"
_SHARES = "KIP-881: racks decide who gets which partitions and who gets one above the quota"
_AGAIN = "goes on reassigning until nothing can move any more; KIP-54 has one pass"
_ROUNDS = "goes on reassigning until nothing can move any more; as written there is one a round"
_NEWLY = "reassigns newly given partitions first, then the others; KIP-54 makes no difference"
_FULLEST = "takes from the fullest member in turn; KIP-54 goes by topic and number"
_QUOTA = "has KIP-615's quotas for equal subscriptions; KIP-54 has no such case"
_CHAINS = "looks for chains of moves, as the optimum needs; KIP-54 moves one partition at a time"
_EVEN = "keeps the difference at one, as kip-615-amended does"
_KEPT = "keeps claims of an older generation that nobody contests; KIP-615 drops them all"
_DROPPED = "drops claims of an older generation, as KIP-615 has it; who gets them back is a tie"
_READ_TWICE = (
    "reads user data twice: members up to the first whose subscription differs lose their claims"
)
_RETURNED = (
    "a partition claimed in two generations may go back to the older claimant, even to one that "
    "does not subscribe"
)
_NO_GENERATION = "sends no generation: of two claims on a partition the first by member stands"
_FIRST = "of two claims of one generation the first by member stands; as written both are void"
_NEITHER = "of two claims on a partition neither stands, whatever the generations"
_FOREIGN = "leaves a member what it claims of a topic that it does not read"
_BY_CHANCE = (
    "gives out unassigned partitions in random order; KIP-54 starts with those that fewest "
    "members can take"
)
_EITHER = "of two claims of one generation one stands, at random"
_GIVEN_BACK = (
    "of two claims of one generation the first by member stands, and whoever loses a claim may "
    "get the partition back"
)
_UNREPAIRED = "before 1.22 looks for no other plan with the same loads and fewer moves"
_LEADERS = (
    "before 1.22 the racks of partition leaders count, after balance; KIP-54 and KIP-615 know no "
    "racks"
)
_AS_TEXT = "orders partitions as text, t-10 before t-2"
_ALIKE = (
    "takes all members to read what the leader reads: its topics go out to everybody, others to "
    "nobody"
)
_CRASHES = "the client crashes, or stops at an assertion about its movements of partitions"
_CIRCLE = "the rounds may come back to where they were, and the group never settles"


def _any(_: Comparison) -> bool:
    return True


def _invalid(row: Comparison) -> bool:
    return bool(row.invalid)


def _failed(row: Comparison) -> bool:
    return bool(row.failed)


def _uneven(row: Comparison) -> bool:
    return row.same_loads < row.valid


def _more(row: Comparison) -> bool:
    return bool(row.more)


def _moved(row: Comparison) -> bool:
    return bool(row.fewer or row.more)


def _differs(row: Comparison) -> bool:
    return _uneven(row) or _moved(row)


_STICKY = ("kip-54-sticky", "kip-429-cooperative")
_QUOTAS = ("kip-615-constrained", "kip-615-amended")
_BOTH = _STICKY + _QUOTAS
_BEYOND: Kinds = (DIFFERING, ODD, STATIC, RACKS)

# As written; as shipped; kinds of groups; what it explains; words. All that match are said.
_WORDS: tuple[tuple[tuple[str, ...], str, Kinds, Callable[[Comparison], bool], str], ...] = (
    (("range", "roundrobin"), "kafka-python/*", (STATIC,), _differs, _FORGOTTEN),
    (("range", "roundrobin"), "aiokafka/*", (STATIC,), _any, _NO_INSTANCE),
    (("range", "roundrobin"), "sarama/*", (STATIC,), _any, _NO_INSTANCE),
    (("roundrobin",), "kafkajs/*", (STATIC,), _any, _NO_INSTANCE),
    (("range", "roundrobin"), "librdkafka/*", (STATIC,), _any, _TWO_BY_TWO),
    (("range",), "*", (RACKS,), _differs, _SHARES),
    (_BOTH, "franz-go/*@1.21*", (RACKS,), _more, _LEADERS),
    (("roundrobin",), "kafka-python/*", ALL, _failed, _SKIPPING),
    (("roundrobin",), "kafkajs/*", ALL, _invalid, _ALIKE),
    (("roundrobin",), "sarama/*", (EQUAL, DIFFERING), _moved, _AS_TEXT),
    (_STICKY, "kafka-java/*", (EQUAL, ODD, STATIC), _moved, _QUOTA),
    (_STICKY, "franz-go/*", ALL, _differs, _CHAINS),
    (_STICKY, "franz-go/*@1.21*", _BEYOND, _more, _UNREPAIRED),
    (_STICKY, "[!fk]*", (EQUAL, STATIC), _moved, _FULLEST),
    (_STICKY, "kafka-python/*", (EQUAL, STATIC), _moved, _FULLEST),
    (("kip-54-sticky",), "[!f]*", _BEYOND, _uneven, _AGAIN),
    (("kip-429-cooperative",), "[!f]*", _BEYOND, _uneven, _ROUNDS),
    (_STICKY, "[!fs]*", _BEYOND, _moved, _NEWLY),
    (_STICKY, "sarama/*", _BEYOND, _differs, _BY_CHANCE),
    (("kip-615-constrained",), "*", ALL, _uneven, _EVEN),
    (_BOTH, "kafka-java/*@[34]*", (RACKS,), _differs, _NEAR),
    (_BOTH, "librdkafka/*", (RACKS,), _differs, _NEAR),
    (_QUOTAS, "[!k]*", (ODD,), _moved, _KEPT),
    (_QUOTAS, "kafka-python/*", (ODD,), _moved, _KEPT),
    (_QUOTAS, "kafka-java/*@[34]*", (ODD,), _moved, _KEPT),
    (_BOTH, "kafka-java/*@2*", (ODD,), _moved, _DROPPED),
    (("kip-54-sticky",), "kafka-java/sticky@2*", _BEYOND, _moved, _READ_TWICE),
    (_BOTH, "kafka-java/sticky@*", (ODD,), _invalid, _RETURNED),
    (_BOTH, "kafka-python/sticky@*", (ODD,), _differs, _RETURNED),
    (_BOTH, "kafka-python/sticky@*", (ODD,), _differs, _FIRST),
    (_BOTH, "kafka-python/cooperative-sticky@*", (ODD,), _differs, _NO_GENERATION),
    (_BOTH, "aiokafka/*", (ODD,), _differs, _NO_GENERATION),
    (_BOTH, "franz-go/*", (ODD,), _more, _GIVEN_BACK),
    (_BOTH, "sarama/*", (ODD,), _differs, _EITHER),
    (_BOTH, "sarama/sticky@*", (ODD,), _differs, _RETURNED),
    (_BOTH, "librdkafka/*", (ODD,), _differs, _NEITHER),
    (_BOTH, "librdkafka/*", (ODD,), _invalid, _FOREIGN),
    (_BOTH, "librdkafka/*", ALL, _failed, _CRASHES),
    (_BOTH, "*/cooperative-sticky@*", (RACKS,), _failed, _CIRCLE),
)


def departures(written: str, shipped: str, kind: str, row: Comparison) -> list[str]:
    """Return the ways in which a shipped assignor departs from the KIP on groups of a kind.

    None where the figures show no difference; `UNEXPLAINED` where there are no words for one.
    """
    same = row.groups == row.valid == row.same_each == row.same_moves
    if same:
        return []
    said = [
        words
        for kips, pattern, kinds, explains, words in _WORDS
        if written in kips and fnmatchcase(shipped, pattern) and kind in kinds and explains(row)
    ]
    if said:
        return said
    unexplained = row.groups > row.valid + row.written_invalid or _differs(row)
    return [UNEXPLAINED if unexplained else TIES]


def departure(written: str, shipped: str, kind: str, row: Comparison) -> str:
    """Return the departures as one text, "" where there are none."""
    return "; ".join(departures(written, shipped, kind, row))
