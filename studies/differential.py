"""The differential table: assignors as written against the same as shipped, on seeded groups.

``python -m studies.differential`` compares anew: ``docs/findings/differential.csv`` has every
figure, the page a matrix of what differs for each assignor as written, with a row for
each as shipped and a column for each kind of group, and in words where the code departs.
"""

from __future__ import annotations

import sys
from argparse import ArgumentParser
from dataclasses import asdict, dataclass, fields
from fnmatch import fnmatchcase
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, TypeAlias

from compare.samples.kinds import DIFFERING, EQUAL, KINDS, ODD, RACKS, STATIC, seeded
from heuristics import assignors
from studies.measured import measured
from studies.page import share, table, write

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from studies.measured import Measured
    from studies.page import Cell

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


@dataclass
class Comparison:
    """How often an assignor as shipped agrees with one as written, on groups of one kind.

    Attributes
    ----------
    groups : compared: those that the one as written does not refuse
    written_invalid : groups for which it makes no valid assignment
    invalid, failed, timed_out : groups for which the shipped one makes none
    valid : groups for which both do; the rest is about these
    same_loads, same_each : loads the same, sorted and member by member
    better, worse : the shipped one has a lower, or higher, balance score
    same_moves, fewer, more : of those with the same balance score, by partitions moved
    """

    groups: int = 0
    written_invalid: int = 0
    invalid: int = 0
    failed: int = 0
    timed_out: int = 0
    valid: int = 0
    same_loads: int = 0
    same_each: int = 0
    better: int = 0
    worse: int = 0
    same_moves: int = 0
    fewer: int = 0
    more: int = 0

    def add(self, written: Measured, shipped: Measured) -> None:
        """Count one group."""
        if written.status == "refused":
            return
        self.groups += 1
        self.written_invalid += written.status != "valid"
        self.invalid += shipped.status == "invalid"
        self.failed += shipped.status in ("failed", "refused")
        self.timed_out += shipped.status == "timed-out"
        if written.status != "valid" or shipped.status != "valid":
            return
        self.valid += 1
        self.same_loads += sorted(written.loads) == sorted(shipped.loads)
        self.same_each += written.loads == shipped.loads
        self.better += shipped.balance < written.balance
        self.worse += shipped.balance > written.balance
        if shipped.balance == written.balance:
            self.same_moves += shipped.moves == written.moves
            self.fewer += shipped.moves < written.moves
            self.more += shipped.moves > written.moves


Rows: TypeAlias = "Mapping[tuple[str, str], Mapping[str, Comparison]]"
SAME, TIES_ONLY = "same", "ties"
# KIP-615 with its flaw: the same pairs and nearly the same figures as `kip-615-amended`.
IN_THE_RECORDS_ONLY = ("kip-615-constrained",)


def cell(row: Comparison | None) -> str:
    """Return in words how a shipped assignor differs, in shares of the groups; "" if not compared.

    "same" where every load and every count of moves is; "ties" where the loads are the same but
    for who has which.
    """
    if row is None:
        return ""
    if row.groups == row.valid == row.same_each == row.same_moves:
        return SAME
    if row.groups == row.valid == row.same_loads == row.same_moves:
        return TIES_ONLY
    broken = row.failed + row.timed_out
    parts = (
        (row.better, "more even"),
        (row.worse, "less even"),
        (row.fewer, "fewer moves"),
        (row.more, "more moves"),
        (row.invalid, "not valid"),
        (broken, "no answer"),
    )
    said = [f"{words} {share(count, row.groups)}" for count, words in parts if count]
    return ", ".join(said) or TIES_ONLY


def merged(names: Sequence[str]) -> str:
    """Return names as code; versions of the same assignor stand behind one name."""
    versions: dict[str, list[str]] = {}
    for name in names:
        client, _, version = name.partition("@")
        versions.setdefault(client, []).append(version)
    return ", ".join(f"`{client}` {', '.join(found)}" for client, found in versions.items())


def matrix_of(written: str, rows: Rows) -> str:
    """Return the matrix of one assignor as written; who never differs is one line below it."""
    shipped = {name: kinds for (one, name), kinds in rows.items() if one == written}
    alike: dict[tuple[str, ...], list[str]] = {}
    for name, found in shipped.items():
        cells = tuple(cell(found.get(kind)) for kind in KINDS)
        alike.setdefault((name.partition("@")[0], *cells), []).append(name)
    same, unlike = [], []
    for (_, *said), names in alike.items():
        if set(said) <= {SAME, TIES_ONLY, ""}:
            same += names
        else:
            unlike.append([merged(names), *said])
    parts = [f"### `{written}`"]
    if unlike:
        parts.append(table(["as shipped", *KINDS], unlike))
    if same:
        parts.append(f"No difference but in ties: {merged(same)}.")
    return "\n\n".join(parts)


def departures_of(rows: Rows) -> str:
    """Return a line for each way in which shipped code departs, with who does so.

    Versions stand there where not all that were compared do.
    """
    found: dict[str, dict[str, None]] = {}
    everybody: dict[str, set[str]] = {}
    for (written, shipped), kinds in rows.items():
        everybody.setdefault(shipped.partition("@")[0], set()).add(shipped)
        for kind, row in kinds.items() if written not in IN_THE_RECORDS_ONLY else ():
            for words in departures(written, shipped, kind, row):
                if words != TIES:
                    found.setdefault(words, {})[shipped] = None
    lines = []
    for words, names in sorted(found.items()):
        clients = dict.fromkeys(name.partition("@")[0] for name in names)
        said = [
            f"`{client}`"
            if everybody[client] <= names.keys()
            else merged([name for name in names if name.partition("@")[0] == client])
            for client in clients
        ]
        lines.append(f"- {', '.join(said)}: {words}")
    return "\n".join(lines)


def page_of(rows: Rows) -> str:
    """Return what stands between the marks: kinds of groups, matrices, departures in words."""
    sizes = {
        kind: max(
            (of_pair[kind].groups for of_pair in rows.values() if kind in of_pair), default=0
        )
        for kind in KINDS
    }
    kinds = "\n".join(
        f"- *{kind}*, {sizes[kind]:,} groups: {text}" for kind, text in KINDS.items()
    )
    shown = [
        one for one in dict.fromkeys(one for one, _ in rows) if one not in IN_THE_RECORDS_ONLY
    ]
    parts = [kinds, *(matrix_of(written, rows) for written in shown)]
    return "\n\n".join([*parts, "## Where the code departs, in words", departures_of(rows)])


GROUPS = 5000
# Members list a shipped assignor by this name; whose it is comes before the slash.
SHIPPED_AS = {
    "range": ("range",),
    "roundrobin": ("roundrobin", "RoundRobinAssigner"),
    "kip-54-sticky": ("sticky",),
    "kip-615-constrained": ("sticky", "cooperative-sticky"),
    "kip-615-amended": ("sticky", "cooperative-sticky"),
    "kip-429-cooperative": ("cooperative-sticky",),
}


def pairs(names: Iterable[str]) -> list[tuple[str, str]]:
    """Return (as written, as shipped) for each of the assignors as shipped."""
    shipped = list(names)
    return [
        (written, name)
        for written, kept in SHIPPED_AS.items()
        for name in shipped
        if name.partition("/")[2].partition("@")[0] in kept
    ]


def rows_of(
    names: Iterable[str],
    by_name: Mapping[str, Sequence[Measured]],
    sizes: Mapping[str, int],
) -> dict[tuple[str, str], dict[str, Comparison]]:
    """Return the rows of each pair, by kind; kinds of which no group is compared are left out.

    Parameters
    ----------
    names : of assignors as shipped
    by_name : what was measured of every assignor, on the groups of one kind after the other
    sizes : how many groups each kind has, in that order
    """
    found: dict[tuple[str, str], dict[str, Comparison]] = {}
    for written, shipped in pairs(names):
        start, rows = 0, {}
        for kind, size in sizes.items():
            row, span = Comparison(), slice(start, start + size)
            for one, other in zip(by_name[written][span], by_name[shipped][span], strict=True):
                row.add(one, other)
            start += size
            if row.groups:
                rows[kind] = row
        found[written, shipped] = rows
    return found


def compared(
    names: Sequence[str], total: int, *, seconds: float = 2.0, workers: int = 2
) -> dict[tuple[str, str], dict[str, Comparison]]:
    """Run assignors as shipped, and those as written that they are held against.

    Returns
    -------
    dict
        Rows by pair and kind, over at least `total` groups.
    """
    kinds = seeded(total)
    groups = [group for found in kinds.values() for group in found]
    written = list(dict.fromkeys(one for one, _ in pairs(names)))
    by_name = measured([*written, *names], groups, seconds=seconds, workers=workers)
    return rows_of(names, by_name, {kind: len(found) for kind, found in kinds.items()})


def records_of(
    rows: Mapping[tuple[str, str], Mapping[str, Comparison]],
) -> list[dict[str, Cell]]:
    """Return a record for each pair and kind: every count, and where the shipped code departs."""
    return [
        {
            "written": written,
            "shipped": shipped,
            "kind": kind,
            **asdict(row),
            "departs": departure(written, shipped, kind, row),
        }
        for (written, shipped), kinds in rows.items()
        for kind, row in kinds.items()
    ]


def rows_in(records: Iterable[Mapping[str, str]]) -> dict[tuple[str, str], dict[str, Comparison]]:
    """Return the rows that records were made of."""
    found: dict[tuple[str, str], dict[str, Comparison]] = {}
    for record in records:
        counts = {field.name: int(record[field.name]) for field in fields(Comparison)}
        pair = record["written"], record["shipped"]
        found.setdefault(pair, {})[record["kind"]] = Comparison(**counts)
    return found


def main() -> None:
    """Compare anew."""
    parser = ArgumentParser(description="hold the KIPs against the code that people run")
    parser.add_argument("--out", type=Path, default=Path("docs/findings/differential.csv"))
    parser.add_argument("--groups", type=int, default=GROUPS)
    parser.add_argument("--workers", type=int, default=2)
    asked = parser.parse_args()
    started = perf_counter()
    names = list(dict.fromkeys(shipped for _, shipped in pairs(assignors())))
    absent = [name for name in names if assignors()[name].missing() is not None]
    here = [name for name in names if name not in absent]
    rows = compared(here, asked.groups, workers=asked.workers)
    write(asked.out, records_of(rows))
    sys.stderr.write("".join(f"not there: {name}\n" for name in absent))
    sys.stderr.write(f"{len(rows)} pairs in {perf_counter() - started:.0f} s\n")


if __name__ == "__main__":
    main()
