"""As written against as shipped: what the records say, what a sample says again, how it counts."""

from collections import Counter
from pathlib import Path

import pytest

from compare.samples.drawn import DIFFERING, EQUAL, KINDS, ODD, RACKS, STATIC
from heuristics import assignors
from studies.differential import Measured, compared, counts_of, pairs, rows_in
from studies.page import read

PAGE = Path(__file__).parents[2] / "docs" / "findings" / "differential.md"
RECORDS = rows_in(read(PAGE.with_suffix(".csv")))
CALLED_HERE = tuple(
    f"{client}/{assignor}@{version}"
    for client, version, assignors in (
        ("kafka-java", "4.4.0", ("range", "roundrobin", "sticky", "cooperative-sticky")),
        ("kafka-broker", "4.4.0", ("range",)),
        ("kafka-python", "3.0.12", ("range", "roundrobin", "sticky", "cooperative-sticky")),
        ("aiokafka", "0.14.0", ("range", "roundrobin", "sticky")),
    )
    for assignor in assignors
)
RANGES = [name for name in CALLED_HERE if "/range@" in name]
STICKIES = [name for name in CALLED_HERE if "sticky" in name]
ALIKE = {
    *(("range", name, kind) for name in RANGES for kind in (EQUAL, DIFFERING, ODD)),
    # Kafka's assignors put static members first, as written; only the consumer's uses racks.
    *(("range", f"kafka-{of}/range@4.4.0", STATIC) for of in ("java", "broker")),
    *(("range", name, RACKS) for name in RANGES if "java" not in name),
    *(("roundrobin", "kafka-java/roundrobin@4.4.0", kind) for kind in KINDS),
    *(("roundrobin", "aiokafka/roundrobin@0.14.0", k) for k in (EQUAL, DIFFERING, ODD, RACKS)),
}


def agrees(row):
    """Say whether the two agree in validity, in every load and in moves."""
    return row["groups"] == row["valid"] == row["same_each"] == row["same_moves"]


def require(rows):
    """Hold what the page tells of the assignors that can be called here against some rows."""
    for key in ALIKE & rows.keys():
        assert agrees(rows[key]), key
    for (written, shipped, kind), row in rows.items():
        name = shipped.partition("@")[0].partition("/")[2]
        if shipped not in STICKIES:
            continue
        if (written, kind) == ("kip-615-amended", EQUAL):
            assert row["groups"] == row["valid"] == row["same_loads"], shipped
        text = "kip-54-sticky" if name == "sticky" else "kip-429-cooperative"
        if (written, kind) == (text, EQUAL):
            assert row["more"] == 0, shipped
        if (written, name, kind) == ("kip-54-sticky", "sticky", DIFFERING):
            assert row["groups"] == row["valid"], shipped
            assert row["worse"] == 0, shipped


def test_the_records_say_what_the_page_tells_of_five_thousand_groups():
    assert set(pairs(CALLED_HERE)) <= {key[:2] for key in RECORDS}
    assert RECORDS.keys() >= ALIKE
    for version in ("4.4.0", "2.8.2"):
        pair = ("range", f"kafka-java/range@{version}")
        assert sum(row["groups"] for key, row in RECORDS.items() if key[:2] == pair) >= 5000
    require(RECORDS)
    # The consumer heeds racks, and the one that goes on is more even than a single pass.
    assert not agrees(RECORDS["range", "kafka-java/range@4.4.0", RACKS])
    for name in STICKIES:
        if "/sticky" in name:
            assert RECORDS["kip-54-sticky", name, DIFFERING]["better"] > 0
    # The rule that ends costs neither balance nor moves; with racks Kafka heeds these first.
    for kind in (EQUAL, DIFFERING, ODD, STATIC):
        ends = RECORDS["sticky-that-ends", "kafka-java/sticky@4.4.0", kind]
        assert (ends["written_invalid"], ends["better"], ends["fewer"]) == (0, 0, 0), kind
    # It gives an answer if no member is skipped.
    name = "kafka-python/roundrobin@3.0.12"
    assert agrees(RECORDS["roundrobin", name, EQUAL])
    differing = RECORDS["roundrobin", name, DIFFERING]
    assert differing["failed"] > differing["groups"] / 2
    answered = differing["groups"] - differing["failed"]
    assert differing["valid"] == differing["same_each"] == answered


@pytest.mark.exhaustive
def test_a_sample_says_the_same_again():
    here = [name for name in CALLED_HERE if assignors()[name].missing() is None]
    require(compared(here, 120, seconds=5.0))


def test_a_row_counts_what_is_worse_and_what_is_missing():
    found = Counter()
    even, odd = Measured("valid", (2, 2), 0, 1), Measured("valid", (3, 1), 2, 0)
    for written, shipped in (
        (even, even),
        (even, odd),
        (odd, even),
        (odd, Measured("valid", (1, 3), 2, 5)),
        (odd, Measured("valid", (1, 3), 2, 0)),
        (Measured("invalid"), even),
        (even, Measured("invalid")),
        (even, Measured("failed")),
        (even, Measured("timed-out")),
        (Measured("refused"), even),
    ):
        found.update(counts_of(written, shipped))
    assert found == Counter(
        groups=9, written_invalid=1, invalid=1, failed=1, timed_out=1, valid=5, same_loads=3,
        same_each=1, better=1, worse=1, same_moves=2, fewer=0, more=1,
    )  # fmt: skip
