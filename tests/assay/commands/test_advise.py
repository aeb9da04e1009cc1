import json
from pathlib import Path

import pytest

from tests.assay.calling import (
    EVEN,
    LOPSIDED,
    UNKNOWN,
    assay,
    good,
    one_after_the_other,
    one_line,
)

IDLE = EVEN | {"group": "idle", "members": {m: {"subscription": ["t"]} for m in "ab"}}
NOT_VALID = LOPSIDED | {
    "group": "torn",
    "members": LOPSIDED["members"] | {"c0": {"subscription": ["t0", "t1"], "owned": {"t0": [0]}}},
}
EMPTY = EVEN | {"group": "empty", "members": {}}
SPARE = {
    "format": "assay-group/1",
    "group": "spare",
    "topics": {"t": 5},
    "members": {f"m{i}": {"subscription": ["t"], "owned": {"t": [i]}} for i in range(4)},
}
SPARE["members"]["m0"]["owned"]["t"].append(4)
LAG = EVEN | {"topics": {"t": {"partitions": 2, "lag": [7, 3]}}, "group": "lag"}
# Lag decides, and the partitions could be more even; of one of them nobody has committed.
LAGGING = {
    "format": "assay-group/1",
    "group": "behind",
    "topics": {
        "t": {
            "partitions": 4,
            "offsets": [
                {"beginning": 0, "end": 90, "committed": 10},
                *[{"beginning": 0, "end": 90, "committed": 90}] * 2,
                {"beginning": 0, "end": 90, "committed": None},
            ],
        }
    },
    "members": {
        "a": {"subscription": ["t"], "owned": {"t": [0, 1, 2]}},
        "b": {"subscription": ["t"], "owned": {"t": [3]}},
    },
}
LATEST = (
    "if consumers start at the end (auto.offset.reset=latest, assumed for 1 partition without a "
    "commit)"
)
# Where it makes no difference which assignors are tried, those that need no JVM.
RANGE = ("--assignor", "range")
CALLS = {
    "behind": ("advise", "behind.json", *RANGE),
    "behind and more": ("advise", "behind.json", "all.jsonl"),
    "behind since": ("advise", "behind.json", "all.jsonl", "--reset", "earliest"),
    "one": ("advise", "orders.json"),
    "json": ("advise", "orders.json", "--format", "json"),
    "all": ("advise", "all.jsonl"),
    "all json": ("advise", "all.jsonl", "--format", "json"),
    "of several": ("advise", "all.jsonl", "--group", "torn", *RANGE),
    "idle": ("advise", "all.jsonl", "--group", "idle", *RANGE),
    "empty": ("advise", "all.jsonl", "--group", "empty", *RANGE),
    "spare": ("advise", "spare.json", *RANGE),
    "unknown": ("advise", "unknown.json"),
    "equal": ("advise", "unknown.json", "--assume-equal", *RANGE),
    "lag": ("advise", "lag.json", *RANGE),
    "named": ("advise", "orders.json", "--assignor", "range"),
    "twice": ("advise", "twice.jsonl"),
    "one without lag": ("advise", "lagging.jsonl", "--lower", "peak_lag"),
    "one without lag, json": (
        "advise",
        "lagging.jsonl",
        "--lower",
        "peak_lag",
        "--format",
        "json",
    ),
    "none with lag": ("advise", "twice.jsonl", "--lower", "peak_lag"),
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    made = tmp_path_factory.mktemp("advise")
    several = [LOPSIDED, EVEN, IDLE, NOT_VALID, EMPTY]
    (made / "all.jsonl").write_text("".join(f"{json.dumps(one)}\n" for one in several))
    captures = [LOPSIDED | {"captured_at": f"2026-11-2{day}T10:00:00Z"} for day in (0, 1)]
    (made / "twice.jsonl").write_text("".join(f"{json.dumps(one)}\n" for one in captures))
    lagging = [LOPSIDED, LAG, LAG | {"group": "other"}]
    (made / "lagging.jsonl").write_text("".join(f"{json.dumps(one)}\n" for one in lagging))
    documents = {
        "orders": LOPSIDED, "spare": SPARE, "unknown": UNKNOWN, "lag": LAG,
        "behind": LAGGING,
    }  # fmt: skip
    for name, document in documents.items():
        (made / f"{name}.json").write_text(json.dumps(document))
    return made


@pytest.fixture(scope="module")
def said(folder) -> dict:
    return one_after_the_other(CALLS, folder)


def lines(run) -> list[str]:
    return good(run).stdout.splitlines()


def test_what_to_do_comes_with_its_gain_its_proof_and_its_moves(said):
    found = lines(said["one"])
    assert found[:5] == [
        "orders: the busiest of 2 members holds 5 of 5 partitions; at the best it holds 3.",
        "Verdict of assay score (balance > moves): improvable. 1 of 2 members holds nothing.",
        "1. Move 2 partitions: the busiest member then holds 3 instead of 5.",
        "   Proved (certificate): no assignment of the same members has less.",
        "   2 from c0 to c1: t1: 1-2",
    ]
    assert "3. Add 1 member (2 -> 3): the busiest one then holds 2 instead of 3; " in "\n".join(
        found
    )
    assert found[-1] == "what decides: peak_load, the partitions of the busiest member"


def test_the_document_has_every_move_and_the_numbers_of_the_sentences(said):
    document = json.loads(good(said["json"]).stdout)
    first = document["changes"][0]
    assert (document["format"], document["lower"], document["now"]) == (
        "assay-advice/1", "peak_load", 5,
    )  # fmt: skip
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


def test_of_several_groups_there_is_a_line_each_and_the_greatest_gain_first(said):
    found = lines(said["all"])
    rows = [line.split()[0] for line in found[3:8]]
    assert rows == ["torn", "orders", "empty", "even", "idle"]
    documents = [json.loads(line) for line in good(said["all json"]).stdout.splitlines()]
    assert [one["group"] for one in documents] == ["orders", "even", "idle", "torn", "empty"]
    assert not any(one["assignors"] for one in documents)


def test_of_several_groups_the_verdicts_are_those_of_score(said, folder):
    first = good(assay("score", "all.jsonl", cwd=folder)).stdout.splitlines()[0]
    assert (
        lines(said["all"])[0]
        == first
        == (
            "1 of 5 groups is not valid: torn with 4 partitions without an owner; "
            "1 is improvable: orders by moving 2 partitions."
        )
    )


def test_of_several_groups_the_gain_is_one_of_the_numbers_beside_it(said):
    found = lines(said["all"])
    assert found[2].split() == [
        "group", "what", "decides", "now", "then", "less", "change", "first", "moves", "verdict",
    ]  # fmt: skip
    (orders,) = [line for line in found if line.startswith("orders ")]
    assert orders.split()[2:5] == ["5", "3", "40%"]
    documents = [json.loads(line) for line in good(said["all json"]).stdout.splitlines()]
    (changes,) = [one["changes"] for one in documents if one["group"] == "orders"]
    assert (changes[0]["before"]["value"], changes[0]["after"]["value"]) == (5, 3)


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


def test_of_several_groups_it_is_said_which_advice_rests_on_where_consumers_start(said):
    assert f"behind: only {LATEST}" in lines(said["behind and more"])
    assert "start at the end" not in good(said["behind since"]).stdout


def test_partitions_that_could_be_more_even_are_told_where_lag_decides(said):
    found = said["behind"].stdout.splitlines()
    assert found[0].endswith(f" has less, {LATEST}.")
    assert found[1] == "Verdict of assay score (balance > moves): improvable."
    assert found[2].startswith("One partition (t-0) has 80 of the lag.")
    assert found[3] == (
        "Decided by lag; 1 move would make the partitions more even: --lower peak_load."
    )
    nothing = f"Nothing that was tried lowers peak_lag, and that is proved, {LATEST}: moving "
    assert any(line.startswith(nothing) for line in found)
    assert not any("as good as can be" in line.lower() for line in found)


def test_captures_of_one_group_are_told_by_their_time(said):
    found = lines(said["twice"])
    assert found[2].split()[:3] == ["group", "captured", "at"]
    assert [line.split()[1] for line in found[3:5]] == [
        "2026-11-20T10:00:00Z", "2026-11-21T10:00:00Z",
    ]  # fmt: skip


def test_a_group_that_lacks_what_decides_is_named_and_the_others_are_advised(said):
    run = said["one without lag"]
    assert run.returncode == 2
    assert run.stderr == (
        "orders: topics.t0.lag[0]: unknown, but tier peak_lag needs it (and 4 more)\n"
    )
    assert [line.split()[0] for line in run.stdout.splitlines()[3:-2]] == ["lag", "other"]
    as_json = said["one without lag, json"]
    assert (as_json.returncode, as_json.stderr) == (2, run.stderr)
    found = [json.loads(line)["group"] for line in as_json.stdout.splitlines()]
    assert found == ["lag", "other"]


def test_where_no_group_can_be_advised_one_line_says_why_of_the_first(said):
    message = "orders: topics.t0.lag[0]: unknown, but tier peak_lag needs it"
    assert message in one_line(said["none with lag"], 2)


def test_what_is_not_valid_is_mended_first(said):
    found = lines(said["of several"])
    assert found[0] == (
        "torn: the busiest of 2 members holds 1 of 5 partitions, but what members hold is not "
        "valid: 4 partitions have no owner: t0-1, t1-0, t1-1 and 1 more."
    )
    assert (
        found[1]
        == "Verdict of assay score (balance > moves): not valid. 1 of 2 members holds nothing."
    )
    assert found[2] == (
        "1. Assign again what is not valid: the busiest member then holds 3; nothing moves."
    )


def test_a_group_that_holds_nothing_or_has_no_members_is_said_to_be_so(said):
    assert lines(said["idle"])[0] == (
        "idle: nothing assigned yet. At the best the busiest of 2 members holds 1 of 2 partitions."
    )
    assert lines(said["empty"]) == ["empty: no members, so there is nothing to change."]


def test_members_to_spare_are_named(said):
    found = lines(said["spare"])
    at = found.index("For the same peak:")
    assert found[at + 1] == ("- 1 member can leave (4 -> 3): the busiest one still holds 2.")
    assert found[at + 2] == "   Proved (certificate): 2 is the least of 4 members, and of 3."
    assert found[at + 3].startswith("   Who leaves makes no difference; ")


def test_unknown_subscriptions_give_what_is_sure_or_a_condition(said):
    run = said["unknown"]
    assert run.returncode == 0
    assert not any("kip-54" in line for line in run.stdout.splitlines())
    equal = said["equal"]
    assert (
        ", if all members read the same topics, but what members hold is not valid: 4 "
        in (equal.stdout.splitlines()[0])
    )
    assert "assumed: subscription of 1 member unknown" in equal.stderr


def test_lag_decides_where_it_is_known_and_that_is_said(said):
    found = lines(said["lag"])
    assert found[0] == (
        "lag: the busiest of 2 members has 7 of 10 records of lag. No assignment of the same "
        "members with loads as even as can be has less."
    )
    assert found[1] == "Verdict of assay score (balance > moves): as good as can be."
    assert found[-5] == (
        "Nothing that was tried lowers peak_lag, and that is proved: moving partitions, another "
        "assignor, one more topic for one member, more members, more partitions."
    )
    assert found[-1].startswith("what decides: peak_lag, the records of lag")


def test_only_the_assignors_named_are_tried(said):
    rows = [line.split()[0] for line in lines(said["named"])]
    assert "range" in rows
    assert "roundrobin" not in rows


def test_of_several_groups_those_that_nobody_reads_come_first():
    captures = Path(__file__).parents[3] / "corpus" / "captures" / "3.9.2" / "all-describe.txt"
    table = good(assay("advise", captures)).stdout.splitlines()[3:]
    assert [line.split()[0] for line in table[:3]] == ["empty-e", "static-d", "static848-d"]
