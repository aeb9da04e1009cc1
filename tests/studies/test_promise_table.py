"""The table of promises: what is true on every small group, and what the page says of it."""

import re
from itertools import islice
from pathlib import Path

import pytest

from compare.promises.findings import Finding, read_findings
from compare.promises.promise import PROMISES
from compare.samples.enumerated import owned
from groups import Group
from heuristics import WRITTEN
from studies.page import made_part
from studies.promise_table import scopes, table_of, tally

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "findings" / "promises.md"
FINDINGS = [
    finding
    for finding in read_findings(ROOT / "corpus" / "findings.jsonl")
    if finding.assignor in WRITTEN
]
EVEN = {
    "format": "assay-group/1", "group": "g", "topics": {"t": 4},
    "members": {
        "a": {"subscription": ["t"], "owned": {"t": [0, 1]}},
        "b": {"subscription": ["t"], "owned": {"t": [2, 3]}},
    },
}  # fmt: skip


@pytest.fixture(scope="module")
def small_tallies():
    small = scopes(equal_to=(3, 6), fresh_to=(2, 3, 4), owned_to=(2, 3, 3), seeded=300)
    return {
        (scope.name, *key): one for scope in small for key, one in tally(scope.groups()).items()
    }


def broken(tallies, scope):
    return {key[1:] for key, one in tallies.items() if key[0] == scope and one.broken}


def test_every_assignor_as_written_comes_to_an_end(small_tallies):
    ends = {key[:2]: one for key, one in small_tallies.items() if key[2] == "terminates"}
    assert len(ends) == 4 * len(WRITTEN)
    for one in ends.values():
        assert one.tested > 0
        assert one.broken == 0


def test_the_revert_rule_never_fires_though_moves_are_made(small_tallies):
    reverts = {k[0]: one for k, one in small_tallies.items() if k[2] == "no-revert"}
    assert not any(one.broken for one in reverts.values())
    assert reverts["owned"].tested > 100
    assert reverts["seeded"].tested > 50


def test_where_all_read_alike_kip_54_is_balanced_but_moves_too_much(small_tallies):
    of_kip_54 = {p for a, p in broken(small_tallies, "equal") if a == "kip-54-sticky"}
    assert of_kip_54 == {"optimal-moves"}
    least = small_tallies["equal", "kip-54-sticky", "optimal-moves"].smallest
    assert (len(least.group.members), least.group.n_partitions) == (3, 5)
    assert least.measured == {"moves": 2, "optimum": 1}


def test_where_all_read_alike_the_amended_kip_615_keeps_every_promise(small_tallies):
    asked = [p for p in PROMISES if PROMISES[p].asked_of("kip-615-amended")]
    for promise in asked:
        assert small_tallies["equal", "kip-615-amended", promise].tested == 629
    assert not {p for a, p in broken(small_tallies, "equal") if a == "kip-615-amended"}


def test_the_alternative_of_kip_54_moves_nothing_and_pays_in_balance(small_tallies):
    of_fairest = {p for a, p in broken(small_tallies, "owned") if a == "kip-54-fairest"}
    assert of_fairest == {"balanced", "optimal-balance"}


def test_without_differing_subscriptions_kip_615_is_not_put_to_the_test(small_tallies):
    one = small_tallies["fresh", "kip-615-amended", "balanced"]
    assert 0 < one.tested < small_tallies["fresh", "range", "balanced"].tested


def test_parts_add_up_to_the_whole():
    def groups():
        return (small.group() for small in islice(owned(2, 3, 3), 0, None, 1))

    whole = tally(groups(), ["kip-54-fairest"])
    assert whole["kip-54-fairest", "balanced"].broken > 0
    parts = [tally(groups(), ["kip-54-fairest"], part=part, parts=2) for part in range(2)]
    for key, one in whole.items():
        assert one.tested == sum(part[key].tested for part in parts)
        assert one.broken == sum(part[key].broken for part in parts)


def test_the_table_has_a_row_for_each_assignor_and_promise():
    lines = made_part(PAGE, "promises").splitlines()
    rows = [line for line in lines if line.startswith("| `")]
    cells = [[cell.strip() for cell in row.strip("|").split("|")] for row in rows]
    asked = [(f"`{a}`", p) for a in WRITTEN for p in PROMISES if PROMISES[p].asked_of(a)]
    assert [(row[0], row[1]) for row in cells] == asked
    named = {(row[0].strip("`"), row[1]) for row in cells if any("fails" in c for c in row)}
    assert named == {(f.assignor, f.promise) for f in FINDINGS}
    for row in cells:
        assert all(re.match(r"holds on all|\*\*fails\*\* on|not put to the test", c)
                   for c in row[2:6])  # fmt: skip
        assert ("fails" in "".join(row)) == bool(row[6])


def test_the_table_agrees_with_a_smaller_enumeration(small_tallies):
    """What fails on fewer groups fails on more; the table is made of supersets of these."""
    page = PAGE.read_text()
    rows = 0
    for scope, at in (("equal", 2), ("fresh", 3), ("owned", 4)):
        for assignor, promise in broken(small_tallies, scope):
            row = next(
                r for r in page.splitlines() if r.startswith(f"| `{assignor}` | {promise} ")
            )
            assert "fails" in row.split("|")[at + 1]
            rows += 1
    assert rows > 20


def test_a_table_is_made_of_tallies(small_tallies):
    finding = Finding.of("range", "balanced", Group.from_dict(EVEN), {"loads": [2, 2]})
    lines = table_of(small_tallies, [finding]).splitlines()
    assert len(lines) == 5 + 2 + len(WRITTEN) * (len(PROMISES) - 1) + 1
    row = next(line for line in lines if line.startswith("| `range` | balanced "))
    assert row.endswith("| 2 members, 1 topic, 4 partitions: `range-balanced` |")
