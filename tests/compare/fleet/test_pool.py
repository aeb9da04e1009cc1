"""The tables of a run without Spark: those of Spark, row by row."""

import gzip
import json
import pickle
import random
import shutil
import sys
from dataclasses import replace
from importlib import import_module
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from assay import BadInput, fleet
from compare.fleet.ending import glance, ways_beyond
from compare.fleet.items import BATCH_GROUPS, items_in_file
from compare.fleet.job import job_of
from compare.fleet.tables import TABLES
from compare.judged import judge, judge_as_solved
from compare.overview import Glance, glance_of, is_lagging
from compare.verdict import ALL_ALIKE, EVEN_LAGGING
from groups.group import Group
from groups.table.batch import each_of
from groups.table.layout import LAYOUT
from groups.table.parquet import write_groups
from groups.table.rows import batch_of
from groups.tiers import TIERS
from groups.unknown import settled
from tests.assay.calling import write
from tests.compare.conftest import lopsided, snapshot
from tests.optimal.random_groups import random_group

CORPUS = Path(__file__).parents[3] / "corpus"
CAPTURES, FINDINGS = CORPUS / "captures", CORPUS / "findings.jsonl"


def fill(folder: Path) -> None:
    """Write groups in all formats to oddly named files, some twice, and inputs without a group."""
    shutil.copytree(CAPTURES / "3.6.2", folder / "texts")
    lines = [json.dumps(lopsided(f"g{n}")) for n in range(30)]
    broken = [*lines, "", "no group", lines[3]]
    (folder / "a b%20[1].jsonl").write_text("\n".join(broken) + "\n")
    with gzip.open(folder / "b.ndjson.gz", "wt") as packed:
        packed.write("\n".join(lines[:2]) + '\n{"format": "assay-group/1", "group": "cut"')
    (folder / "_passed over.jsonl").write_text(json.dumps(lopsided("nobody")))
    (folder / "x%y {z}").mkdir()
    (folder / "x%y {z}" / "one+?.json").write_text(json.dumps(lopsided("one")))
    (folder / "empty.txt").write_text("")
    # Findings are skipped in a folder.
    shutil.copy(FINDINGS, folder)
    (folder / "indented.ndjson").write_text(json.dumps(lopsided(), indent=1))
    write_groups(
        [Group.from_dict(lopsided(f"p{n}")) for n in range(3)], str(folder / "c%20 d*.parquet")
    )


def test_what_tables_and_groups_do_not_take_is_refused_in_one_line(tmp_path):
    group = Group.from_dict(lopsided())
    for function in (fleet.tables, lambda *given, **named: fleet.groups(None, *given, **named)):
        with pytest.raises(
            BadInput, match=r"^source: list, expected a path, not the text itself$"
        ):
            function([group])
        with pytest.raises(BadInput, match=r"^reset: 'boo', expected latest or earliest$"):
            function(tmp_path, reset="boo")
    with pytest.raises(BadInput, match=r"/no: cannot be read: No such file or directory$"):
        fleet.tables(tmp_path / "no")
    with pytest.raises(BadInput, match=": no snapshot in this folder"):
        fleet.tables(tmp_path)


@pytest.mark.spark
def test_the_rows_are_those_of_spark(spark, tmp_path):
    fill(tmp_path)
    found = fleet.tables(tmp_path, ["range"], processes=2)
    groups = fleet.groups(spark, str(tmp_path)).dropDuplicates(["key", "reason"])
    readable = groups.where("reason IS NULL")
    of_spark = {
        "groups": readable.drop("reason"),
        "optima": fleet.optima(readable),
        "scores": fleet.scores(readable, ["range"]),
    }
    assert len(found.optima) == 30 + len({"one.json", "p0", "p1", "p2", "coop-a"})
    for name, frame in of_spark.items():
        # A group that stands in several places is there once: in which of them is left open.
        drop = ["seconds", "source", "place"]
        here = _rows(getattr(found, name), drop)
        assert here == _rows(frame.toArrow(), drop), name
    sources = {Path(row["source"]).name for row in readable.select("source").collect()}
    assert {"one+?.json", "c%20 d*.parquet"} < sources
    reasons = groups.where("reason IS NOT NULL").select("place", "reason").collect()
    told = found.failures.select(["place", "reason"]).to_pylist()
    assert sorted(map(tuple, reasons)) == sorted((row["place"], row["reason"]) for row in told)
    bad = {row["place"].rpartition("/")[2] for row in told}
    assert bad == {"a b%20[1].jsonl:32", "b.ndjson.gz:3", "empty.txt", "indented.ndjson"}


def test_files_of_findings_are_skipped_in_a_folder_and_refused_by_name(tmp_path):
    shutil.copy(FINDINGS, write(tmp_path, {"one.jsonl": lopsided()}))
    found = fleet.tables(tmp_path, ["current"])
    assert (len(found.groups), len(found.failures)) == (1, 0)
    (reason, *_) = fleet.tables(FINDINGS, ["current"]).failures["reason"]
    assert reason.as_py() == "format: 'assay-finding/1', expected 'assay-group/1'"


def test_the_rows_of_a_parquet_file_travel_in_parts_that_know_where_they_begin(tmp_path):
    count = 2 * BATCH_GROUPS + 900
    rows = pa.Table.from_batches([batch_of([Group.from_dict(lopsided())])])
    pq.write_table(pa.concat_tables([rows] * count), tmp_path / "g.parquet")
    data = (tmp_path / "g.parquet").read_bytes()
    parts = [*items_in_file("g.parquet", data, in_folder=False)]
    assert [one.number for one in parts] == [0, BATCH_GROUPS, 2 * BATCH_GROUPS]
    assert sum(one.groups for one in parts) == count
    # A slice of Arrow would take the values of all others along.
    assert sum(len(pickle.dumps(one)) for one in parts) < 1.1 * sum(one.size for one in parts)


def random_groups() -> list[Group]:
    """Return random groups with lag, and the same groups with an optimum as their owners."""
    rng = random.Random(11)
    drawn = [random_group(rng, members=5, partitions=14) for _ in range(60)]
    best = [one.target for one in judge(drawn) if one.target is not None]
    held = [one.group.with_claims(*one.holdings, generation=9) for one in best]
    nobody = {"a": {"subscription": []}}
    unread = [
        Group.from_dict({"format": "assay-group/1", "group": "u", "topics": t, "members": nobody})
        for t in (
            {"t": 2},
            {"t": {"partitions": 2, "lag": [0, 0]}},
            {"t": {"partitions": 1, "lag": [9]}},
        )
    ]
    return [replace(one, name=f"g{n}") for n, one in enumerate([*drawn, *held, *unread])]


# What a line of `assay score` shows and tables of runs do not hold.
NOT_STORED = {
    "peak", "then", "lowest", "longest", "longest_best", "lowest_proved", "has_tasks", "wrong",
}  # fmt: skip


@pytest.mark.parametrize(
    ("source", "verdicts"),
    [
        ("captures", {"improvable"}),
        ("known.jsonl", {"as good as can be", "nothing assigned yet"}),
        ("random groups", {EVEN_LAGGING, "as good as can be", "improvable", "not valid"}),
    ],
)
def test_a_row_has_the_verdict_that_score_shows(tmp_path, source, verdicts):
    """Of console output, of groups that are known, and of such whose lag could fall."""
    path = CORPUS / source
    if source == "random groups":
        write(tmp_path, {"in.jsonl": [one.to_dict() for one in random_groups()]})
        path = tmp_path / "in.jsonl"
    found = fleet.tables(path, ["current"])
    keys = found.groups["key"].to_pylist()
    batch = found.groups.select(LAYOUT.names).combine_chunks().to_batches()[0]
    judged = {key: judge([one])[0] for key, one in zip(keys, each_of(batch), strict=True)}
    loads = dict(zip(found.scores["group_key"].to_pylist(), found.scores["loads"], strict=True))
    shown: set[str] = set()
    for row in found.optima.to_pylist():
        one = judged[row["group_key"]]
        # Of the moves of an optimum, what becomes of the lag is told of the one that is stored.
        (stored,) = judge_as_solved([one.group], "kip-54")
        of_row, of_score = glance(row, loads[row["group_key"]].as_py()), glance_of(stored)
        assert of_row.verdict == of_score.verdict
        for name in Glance.__dataclass_fields__.keys() - NOT_STORED:
            assert getattr(of_row, name) == getattr(of_score, name), name
        assert is_lagging(of_row) == (one.shown == EVEN_LAGGING)
        shown.add("without owner" if of_row.without_owner else one.shown)
    assert shown >= verdicts


def with_unknown_subscriptions() -> list[dict]:
    """Return random groups, about half of whose members do not say what they read."""
    rng = random.Random(5)
    made = []
    for number in range(60):
        topics = {f"t{n}": rng.randint(1, 5) for n in range(rng.randint(1, 4))}
        members = {
            f"m{m}": {"owned": {}} | rng.choice([{}, {"subscription": [*topics]}])
            for m in range(rng.randint(1, 4))
        }
        for topic, partitions in topics.items() if number % 10 else ():
            for one in range(partitions):
                who = rng.choice([*members])
                members[who]["owned"].setdefault(topic, []).append(one)
        made.append(snapshot(f"g{number}", topics, members))
    return made


def test_subscriptions_that_are_assumed_are_a_condition_only_where_score_says_so(tmp_path):
    """A run had the condition also in verdicts that hold whatever the members read."""
    groups = [Group.from_dict(one) for one in with_unknown_subscriptions()]
    write(tmp_path, {"in.jsonl": [one.to_dict() for one in groups]})
    path = tmp_path / "in.jsonl"
    found = fleet.tables(path, ["range"], assume_equal=True)
    optima = {row["group"]: row for row in found.optima.to_pylist()}
    conditions: dict[str, set[str | None]] = {}
    for one in judge([settled(group) for group in groups], assume_equal=True):
        row = optima[one.group.name]
        expected = vars(one.verdict) | {"to_move": one.to_move}
        assert {name: row["verdict"][name] for name in expected} == expected
        assert row["assumed"] == [*one.group.with_equal_subscriptions().assumed]
        assert row["subscriptions_known"]
        conditions.setdefault(one.verdict.says, set()).add(one.verdict.condition)
    assert conditions == {
        "as good as can be": {None},
        "improvable": {None, ALL_ALIKE},
        "nothing assigned yet": {None},
    }
    assert set(found.scores["status"].to_pylist()) == {"scored"}
    without = fleet.tables(path, ["current"])
    assert {*without.groups["key"].to_pylist()} & {*found.groups["key"].to_pylist()} == {
        row["group_key"] for row in without.optima.to_pylist() if row["subscriptions_known"]
    }


def test_a_strict_run_counts_what_may_be_too_far():
    """What aio-f holds is 0 to 2 above the best, depending on who reads what."""
    found = fleet.tables(CAPTURES / "3.9.2" / "all-describe.txt", ["current"])
    optimum = {row["group_key"]: row["terms"] for row in found.optima.to_pylist()}
    rows = [row | {"optimum": optimum[row["group_key"]]} for row in found.scores.to_pylist()]
    batch = pa.RecordBatch.from_pylist([row for row in rows if row["group"] == "aio-f"])
    for sure, limit, told in (
        (True, 1, []),
        (False, 2, []),
        (False, 1, ["current: balance may exceed the optimum by more than 1 aio-f 0 to 2"]),
    ):
        (way,) = ways_beyond({"balance": limit}, sure, [batch])
        assert [" ".join(row.values()) for row in way.to_pylist()] == told


@pytest.mark.exhaustive
def test_rows_do_not_depend_on_the_groups_that_are_solved_with_them(tmp_path):
    rng = random.Random(11)
    groups = [random_group(rng, members=5, partitions=14) for _ in range(150)]
    lines = [json.dumps(replace(one, name=f"g{n}").to_dict()) for n, one in enumerate(groups)]

    def optima(some: list[str]) -> list[str]:
        (tmp_path / "in.jsonl").write_text("\n".join(some))
        return _rows(fleet.tables(tmp_path / "in.jsonl", processes=1).optima, ["seconds", "place"])

    parts = [row for start in range(0, 150, 37) for row in optima(lines[start : start + 37])]
    assert optima(lines) == sorted(parts)


def _rows(table: pa.Table, drop: list[str]) -> list[str]:
    kept = table.select([name for name in table.column_names if name not in drop])
    return sorted(json.dumps(row, sort_keys=True) for row in kept.to_pylist())


def test_its_tables_have_the_columns_of_a_run_also_of_nothing(tmp_path):
    (tmp_path / "none.jsonl").write_text("no group\n")
    found = fleet.tables(tmp_path / "none.jsonl", processes=1)
    for name in found._fields:
        assert getattr(found, name).schema.names == TABLES[name].names
    assert (len(found.groups), len(found.scores), len(found.failures)) == (0, 0, 1)


def test_a_tier_of_a_module_reaches_other_processes(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setitem(TIERS, "moves_again", TIERS["stickiness"])  # goes when the test ends
    monkeypatch.delitem(sys.modules, "again", raising=False)
    (tmp_path / "again.py").write_text(
        "from dataclasses import replace\n"
        "from groups.tiers import TIERS, of_moved\n"
        "def value(assignment, fleet):\n"
        "    return 2 * of_moved(assignment, fleet, None)\n"
        "moves = TIERS['stickiness']\n"
        "TIERS['moves_again'] = replace(moves, name='moves_again', value=value)\n",
        encoding="utf-8",
    )
    import_module("again")
    found = fleet.tables(CAPTURES / "3.6.2", ["range"], "balance > moves_again", assume_equal=True)
    assert set(found.optima["status"].to_pylist()) == {"optimal"}
    for row in found.scores["terms"].to_pylist():
        assert (row[1]["name"], row[1]["value"] % 2) == ("moves_again", 0)
    with pytest.raises(
        BadInput, match=r"^objective: a run does not serve moves_again, a tier of "
    ):
        job_of(CAPTURES / "3.6.2", tmp_path / "out", objective="balance > moves_again")


def test_a_tier_of_the_program_itself_is_refused_where_other_processes_solve(monkeypatch):
    def value(assignment, fleet):
        raise AssertionError

    value.__module__ = "__main__"
    monkeypatch.setitem(TIERS, "mine", replace(TIERS["stickiness"], name="mine", value=value))
    line = r"^objective: no other process can import mine from __main__: add it in a module$"
    with pytest.raises(BadInput, match=line):
        fleet.tables(CAPTURES / "3.6.2", ["range"], "balance > mine")


def test_a_tier_that_a_child_does_not_know_is_the_reason_in_each_row(monkeypatch):
    monkeypatch.setitem(TIERS, "mine", replace(TIERS["stickiness"], name="mine"))
    found = fleet.tables(CAPTURES / "3.6.2", ["range"], "balance > mine", assume_equal=True)
    reasons = [*found.optima["reason"].to_pylist(), *found.failures["reason"].to_pylist()]
    assert all("objective: unknown tier 'mine'" in reason for reason in reasons)
    assert reasons


def test_the_reset_of_a_run_is_part_of_what_made_the_group(tmp_path):
    offsets = {"partitions": 1, "offsets": [{"beginning": 2, "end": 9, "committed": None}]}
    write(tmp_path, {"g.json": snapshot("g", {"t": offsets}, {})})
    found = [
        fleet.tables(tmp_path / "g.json", ["current"], reset=reset, processes=1).groups.to_pylist()
        for reset in (None, "latest", "earliest")
    ]
    rows = [row for (row,) in found]
    assert [row["lag"] for row in rows] == [[0], [0], [7]]
    assert [len(row["assumed"]) for row in rows] == [1, 0, 0]
    assert len({row["key"] for row in rows}) == 3
