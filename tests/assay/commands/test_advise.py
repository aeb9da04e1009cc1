"""assay advise of several groups, and what docs/how-to/know-what-to-change.md does not show."""

import json
from pathlib import Path

import pytest

from tests.assay.calling import (
    ALL_GROUPS,
    AS_JSON,
    EVEN,
    LOPSIDED,
    RANGE,
    UNKNOWN,
    assay,
    good,
    one_after_the_other,
    write,
)
from tests.compare.conftest import holding

IDLE = holding(2, {"a": [], "b": []}, group="idle")
TORN = LOPSIDED | {
    "group": "torn",
    "members": LOPSIDED["members"] | {"c0": {"subscription": ["t0", "t1"], "owned": {"t0": [0]}}},
}
SPARE = holding(5, {"m0": [0, 4], "m1": [1], "m2": [2], "m3": [3]}, group="spare")
LAG = holding([7, 3], {"a": [0], "b": [1]}, group="lag")
# Lag decides here; loads could be more even too, and one partition has no commit.
COMMITS = [{"beginning": 0, "end": 90, "committed": at} for at in (10, 90, 90, None)]
BEHIND = holding({"partitions": 4, "offsets": COMMITS}, {"a": [0, 1, 2], "b": [3]}, group="behind")
LATEST = (
    "if consumers start at the end (auto.offset.reset=latest, assumed for 1 partition without a "
    "commit)"
)
DAYS = [f"2026-11-2{day}T10:00:00Z" for day in (0, 1)]
LATEST_OF_TWO = f"orders: 2 captures, of which the latest counts, of {DAYS[1]} (twice.jsonl:2)\n"
FILES = {
    "all.jsonl": [LOPSIDED, EVEN, IDLE, TORN, EVEN | {"group": "empty", "members": {}}],
    "twice.jsonl": [LOPSIDED | {"captured_at": day} for day in DAYS],
    "lagging.jsonl": [LOPSIDED, LAG, LAG | {"group": "other"}],
    "orders.json": LOPSIDED,
    "spare.json": SPARE,
    "unknown.json": UNKNOWN,
    "lag.json": LAG,
    "behind.json": BEHIND,
}
CALLS = {
    "json": ("orders.json", *AS_JSON),
    "all": ("all.jsonl",),
    "all json": ("all.jsonl", *AS_JSON),
    "torn": ("all.jsonl", "--group", "torn", *RANGE),
    "idle": ("all.jsonl", "--group", "idle", *RANGE),
    "empty": ("all.jsonl", "--group", "empty", *RANGE),
    "behind": ("behind.json", *RANGE),
    "behind and more": ("behind.json", "all.jsonl"),
    "behind since": ("behind.json", "all.jsonl", "--reset", "earliest"),
    "spare": ("spare.json", *RANGE),
    "unknown": ("unknown.json", *RANGE),
    "equal": ("unknown.json", "--assume-equal", *RANGE),
    "lag": ("lag.json", *RANGE),
    "twice": ("twice.jsonl",),
    "one without lag": ("lagging.jsonl", "--lower", "peak_lag"),
    "one without lag, json": ("lagging.jsonl", "--lower", "peak_lag", *AS_JSON),
    "none with lag": ("twice.jsonl", "--lower", "peak_lag"),
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    return write(tmp_path_factory.mktemp("advise"), FILES)


@pytest.fixture(scope="module")
def said(folder) -> dict:
    return one_after_the_other({name: ("advise", *call) for name, call in CALLS.items()}, folder)


def lines(run) -> list[str]:
    return good(run).stdout.splitlines()


def documents(run) -> list[dict]:
    return [json.loads(line) for line in run.stdout.splitlines()]


def test_the_document_has_every_move_and_the_numbers_of_the_sentences(said):
    (document,) = documents(said["json"])
    first = document["changes"][0]
    head = (document["format"], document["lower"], document["now"])
    assert head == ("assay-advice/1", "peak_load", 5)
    assert document["best"] == {"value": 3, "bound": 3, "per": 1, "proof": "certificate"}
    assert (first["kind"], first["gain"]) == ("rebalance", {"at_least": 2, "at_most": 2, "per": 1})
    assert first["moves"] == [
        {"topic": "t1", "partition": n, "from": "c0", "to": "c1"} for n in (1, 2)
    ]
    assert [one["assignor"] for one in document["assignors"]] == [
        "range", "roundrobin", "kafka-java/sticky@4.4.0", "kafka-java/cooperative-sticky@4.4.0",
        "kafka-broker/uniform@4.4.0",
    ]  # fmt: skip
    assert document["verdict"]["says"] == "improvable"


def test_of_several_groups_there_is_a_line_each_and_the_greatest_gain_first(said, folder):
    found = lines(said["all"])
    assert found[0] == lines(assay("score", "all.jsonl", cwd=folder))[0]
    assert found[2].split() == [
        "group", "what", "decides", "now", "then", "less", "change", "first", "moves", "verdict",
    ]  # fmt: skip
    assert [line.split()[0] for line in found[3:8]] == ["torn", "orders", "empty", "even", "idle"]
    (orders,) = [line for line in found if line.startswith("orders ")]
    assert orders.split()[2:5] == ["5", "3", "40%"]
    # Of a group with partitions without an owner there is no peak to compare with.
    (torn,) = [line for line in found if line.startswith("torn ")]
    assert torn.split()[2:6] == ["-", "3", "not", "valid"]
    assert found[-1] == "one group in full: assay advise all.jsonl --group NAME"
    answers = documents(said["all json"])
    assert [one["group"] for one in answers] == ["orders", "even", "idle", "torn", "empty"]
    assert not any(one["assignors"] for one in answers)
    first = answers[0]["changes"][0]
    assert (first["before"]["value"], first["after"]["value"]) == (5, 3)


def test_of_several_groups_each_without_a_change_has_the_reason(said):
    found = {line.split()[0]: line for line in lines(said["behind and more"]) if line}
    for group, (reason, verdict) in {
        "behind": ("decided by lag; 1 move would make the partitions more even", "improvable"),
        "empty": ("no members", "no members"),
        "idle": ("nothing assigned yet", "nothing assigned yet"),
        "even": ("nothing lowers it", "as good as can be"),
    }.items():
        before, _, says = found[group].rpartition("-  ")
        assert before.rstrip(" -").endswith(reason)
        assert says == verdict
    # The table also names the groups whose advice depends on where consumers start.
    assert f"behind: only {LATEST}" in lines(said["behind and more"])
    assert lines(said["behind and more"])[-2:] == [
        "one group in full: assay advise behind.json all.jsonl --group NAME",
        "by partitions, not lag: assay advise behind.json all.jsonl --lower peak_load",
    ]
    assert "start at the end" not in good(said["behind since"]).stdout


def test_partitions_that_could_be_more_even_are_told_where_lag_decides(said):
    found = said["behind"].stdout.splitlines()
    assert found[1] == (
        "This is about lag. Of partitions assay score says: improvable (balance > moves); what "
        "helps there: assay advise behind.json --group behind --assignor range --lower peak_load."
    )
    assert found[2].startswith("One partition (t-0) alone has 80 of lag.")
    assert not any("as good as can be" in line.lower() for line in found)


def test_of_captures_of_one_group_the_latest_is_advised_and_told_by_its_time(said):
    assert said["twice"].stderr == LATEST_OF_TWO
    assert said["twice"].stdout.startswith("orders: the busiest of ")


def test_a_group_that_lacks_what_decides_is_named_and_the_others_are_advised(said):
    run, as_json = said["one without lag"], said["one without lag, json"]
    message = "orders: topics.t0.lag[0]: unknown, but tier peak_lag needs it"
    for one in (run, as_json):
        assert (one.returncode, one.stderr) == (2, f"{message} (and 4 more)\n")
    assert [line.split()[0] for line in run.stdout.splitlines()[3:-3]] == ["lag", "other"]
    assert [one["group"] for one in documents(as_json)] == ["lag", "other"]
    # If it holds for all groups, the refusal is this line.
    run, refusal = said["none with lag"], message.removeprefix("orders: ")
    assert (run.returncode, run.stdout) == (2, "")
    assert run.stderr == f"{LATEST_OF_TWO}assay: {refusal} (and 4 more)\n"


def test_what_is_not_valid_is_mended_first(said):
    assert lines(said["torn"])[:3] == [
        "torn: the busiest of 2 members holds 1 of 5 partitions, but what members hold is not "
        "valid: 4 partitions have no owner: t0-1, t1-0, t1-1 and 1 more.",
        "Verdict of assay score (balance > moves): not valid. 1 of 2 members holds nothing.",
        "1. Assign again what is not valid: the busiest member then holds 3; nothing moves.",
    ]


def test_a_group_that_holds_nothing_or_has_no_members_is_said_to_be_so(said):
    assert lines(said["idle"])[0] == (
        "idle: nothing assigned yet. At the best the busiest of 2 members holds 1 of 2 partitions."
    )
    assert lines(said["empty"]) == ["empty: no members, so there is nothing to change."]


def test_members_to_spare_are_named(said):
    found = lines(said["spare"])
    at = found.index("For the same peak:") + 1
    assert found[at : at + 2] == [
        "- 1 member can leave (4 -> 3): the busiest one still holds 2.",
        "   Proved (certificate): 2 is the least of 4 members, and of 3.",
    ]
    assert found[at + 2].startswith("   Who leaves makes no difference; ")


def test_unknown_subscriptions_give_what_is_sure_or_a_condition(said):
    run, equal = said["unknown"], said["equal"]
    assert run.returncode == 0
    assert "range: what the busiest has depends on who reads what; " in run.stdout
    condition = ", if all members read the same topics, but what members hold is not valid: 4 "
    assert condition in equal.stdout.splitlines()[0]
    assert "assumed: subscription of 1 member unknown" in equal.stderr


def test_lag_decides_where_it_is_known_and_that_is_said(said):
    found = lines(said["lag"])
    assert found[0].endswith(" of 10 records of lag. No assignment of the same members with loads "
                             "as even as can be has less.")  # fmt: skip
    assert found[1] == (
        "This is about lag. Of partitions assay score says: as good as can be (balance > moves)."
    )
    assert found[-5] == (
        "Nothing that was tried lowers peak_lag, and that is proved: moving partitions, another "
        "assignor, one more topic for one member, more members, more partitions."
    )
    assert found[-1].startswith("what decides: peak_lag, the records of lag")


def test_only_the_assignors_named_are_tried(said):
    rows = [line.split()[0] for line in lines(said["spare"])]
    assert "range" in rows
    assert "roundrobin" not in rows


def test_groups_that_gain_as_they_are_come_before_those_that_need_more_and_all_are_counted():
    warning = ALL_GROUPS.parents[1] / "4.3.1" / "rebal-j-describe.err.txt"
    run = assay("advise", ALL_GROUPS, warning, "--lower", "peak_load")
    shown = run.stdout.splitlines()
    assert [line.split()[0] for line in shown[3:6]] == ["empty-e", "kpr-c", "aio-f"]
    assert shown[0].endswith("; 1 rebalancing (rebal-j).")
    assert "group 'rebal-j' is rebalancing" in run.stderr


def test_of_several_groups_those_that_nobody_reads_come_first():
    table = lines(assay("advise", ALL_GROUPS))[3:]
    assert [line.split()[0] for line in table[:3]] == ["empty-e", "static-d", "static848-d"]
