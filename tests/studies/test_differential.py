"""As written against as shipped: what holds on every seeded group, and how it is counted."""

import importlib
from pathlib import Path

import numpy as np
import pytest

from compare.samples.kinds import DIFFERING, EQUAL, KINDS, ODD, RACKS, STATIC, seeded
from groups import Assignment, Group
from heuristics import Assignor, assignors
from heuristics.time_limit import TimeLimit
from studies.differential import Comparison, Measured, compared, measured_on, pairs, rows_in
from studies.page import read

PAGE = Path(__file__).parents[2] / "docs" / "findings" / "differential.md"
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
BY_KAFKA = ("kafka-java/", "kafka-broker/")
ON_MANY = tuple(name for name in CALLED_HERE if "kafka-java" in name and "sticky" in name)
MANY, FEW = 1000, 250
EVEN = {
    "format": "assay-group/1",
    "topics": {"t": 2},
    "members": {m: {"subscription": ["t"]} for m in "ab"},
}


@pytest.fixture(scope="module")
def rows():
    """Every pair that can be called in a child process, Kafka's sticky ones over more groups."""
    here = [name for name in CALLED_HERE if assignors()[name].missing() is None]
    many = [name for name in here if name in ON_MANY]
    rest = [name for name in here if name not in ON_MANY]
    return compared(many, MANY, seconds=5.0) | compared(rest, FEW, seconds=5.0)


def row(rows, written, shipped, kind):
    if (written, shipped, kind) not in rows:
        pytest.skip(assignors()[shipped].missing())
    return rows[written, shipped, kind]


def agrees(row):
    """Say whether the two agree in validity, in every load and in moves."""
    return row.groups == row.valid == row.same_each == row.same_moves


RANGES = [name for name in CALLED_HERE if "/range@" in name]
STICKIES = [name for name in CALLED_HERE if "sticky" in name]
ALIKE = [
    *[("range", name, kind) for name in RANGES for kind in (EQUAL, DIFFERING, ODD)],
    # Kafka's put static members first, as written; the consumer alone heeds racks.
    *[("range", name, STATIC) for name in RANGES if name.startswith(BY_KAFKA)],
    *[("range", name, RACKS) for name in RANGES if "java" not in name],
    *[("roundrobin", "kafka-java/roundrobin@4.4.0", kind) for kind in KINDS],
    *[("roundrobin", "aiokafka/roundrobin@0.14.0", k) for k in (EQUAL, DIFFERING, ODD, RACKS)],
]


@pytest.mark.exhaustive
@pytest.mark.parametrize(("written", "shipped", "kind"), ALIKE)
def test_as_shipped_is_as_written(rows, written, shipped, kind):
    assert agrees(row(rows, written, shipped, kind))


@pytest.mark.exhaustive
def test_the_java_consumer_heeds_racks_in_range(rows):
    assert not agrees(row(rows, "range", "kafka-java/range@4.4.0", RACKS))


@pytest.mark.exhaustive
def test_round_robin_of_kafka_python_answers_where_nobody_is_skipped(rows):
    name = "kafka-python/roundrobin@3.0.12"
    assert agrees(row(rows, "roundrobin", name, EQUAL))
    differing = row(rows, "roundrobin", name, DIFFERING)
    assert differing.failed > differing.groups / 2
    assert differing.valid == differing.same_each == differing.groups - differing.failed


def text_of(name):
    return "kip-54-sticky" if "/sticky" in name else "kip-429-cooperative"


@pytest.mark.exhaustive
@pytest.mark.parametrize("name", STICKIES)
def test_sticky_as_shipped_is_valid_even_and_moves_no_more_for_equal_subscriptions(rows, name):
    found = row(rows, "kip-615-amended", name, EQUAL)
    assert found.groups == found.valid == found.same_loads
    assert found.better == found.worse == 0
    assert row(rows, text_of(name), name, EQUAL).more == 0


@pytest.mark.exhaustive
@pytest.mark.parametrize("name", [n for n in STICKIES if "/sticky" in n])
def test_sticky_as_shipped_is_never_less_even_than_the_one_pass_of_the_text(rows, name):
    differing = row(rows, "kip-54-sticky", name, DIFFERING)
    assert differing.groups == differing.valid
    assert differing.worse == 0
    assert differing.better > 0


def test_the_records_are_of_five_thousand_groups_and_of_every_pair_called_here():
    found = rows_in(read(PAGE.with_suffix(".csv")))
    for name in ("kafka-java/range@4.4.0", "kafka-java/range@2.8.2"):
        assert sum(row.groups for key, row in found.items() if key[:2] == ("range", name)) >= 5000
    assert set(pairs(CALLED_HERE)) <= {key[:2] for key in found}


def test_a_row_counts_what_is_worse_and_what_is_missing():
    found = Comparison()
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
        found.add(written, shipped)
    assert found == Comparison(
        groups=9, written_invalid=1, invalid=1, failed=1, timed_out=1, valid=5, same_loads=3,
        same_each=1, better=1, worse=1, same_moves=2, fewer=0, more=1,
    )  # fmt: skip


def test_the_kinds_of_groups_are_what_they_are_called():
    found = seeded(300)
    assert sum(map(len, found.values())) >= 300
    for kind, groups in found.items():
        assert len(groups) > 20
        for group in groups:
            equal = np.isin(group.readers, (0, len(group.members))).all()
            current = Assignment.current(group)
            if kind in (EQUAL, DIFFERING):
                assert equal == (kind == EQUAL)
                assert not current.strays
                assert (current.owner == group.owner).all()
            assert (group.racks is not None) == (kind == RACKS)
            static = any(said.instance_id for said in group.details)
            assert not static or kind == STATIC


def test_a_batch_that_hangs_or_dies_costs_only_the_group_that_does(monkeypatch):
    monkeypatch.syspath_prepend(Path(__file__).parent)
    picky = importlib.import_module("picky")
    names = ["fine", "hangs", "dies", "fails", "raises", "refused", "gives nothing", "fine too"]
    groups = [Group.from_dict(EVEN | {"group": name}) for name in names]
    fine = Measured("valid", (1, 1), 0, 0)
    with TimeLimit(1.0) as limit:
        found = measured_on(Assignor("picky", "written", "", None, picky.plan), groups, limit)
    assert found == [
        fine,
        Measured("timed-out"),
        Measured("failed"),
        Measured("failed"),
        Measured("failed"),
        Measured("refused"),
        Measured("invalid"),
        fine,
    ]
