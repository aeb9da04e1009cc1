import re

import pytest

from compare.samples.families import Family
from tests.assay.calling import (
    ALL_GROUPS,
    ALONE,
    CAPTURES,
    LOPSIDED,
    assay,
    good,
    one_after_the_other,
    write,
)
from tests.compare.conftest import holding
from tests.compare.reasons.test_words import JARGON

VIEWS = [CAPTURES / "4.3.1" / f"next-b-{view}.txt" for view in ("describe", "members-verbose")]


@pytest.fixture(scope="module")
def shown(folder) -> dict:
    fresh = {"c0": {"subscription": ["t0", "t1"]}, "c1": {"subscription": ["t1"]}}
    all_with_one = {"c0": {"owned": LOPSIDED["members"]["c0"]["owned"]}, "c1": {}}
    files = {"nobody": {}, "fresh": fresh, "depends": all_with_one}
    write(folder, {f"{name}.json": LOPSIDED | {"members": of} for name, of in files.items()})
    calls = {
        "member": ("explain", "orders.json", "--member", "c1"),
        "even": ("explain", "even.json"),
        "fresh": ("explain", "fresh.json"),
        "good": ("explain", ALL_GROUPS, "--group", "coop-a"),
        "equal": ("explain", ALL_GROUPS, "--group", "aio-f", "--assume-equal"),
        "told": ("explain", ALL_GROUPS, "--group", "aio-f", "--reads", "aio-*=t0,t2"),
        "no members": ("explain", "nobody.json"),
        "peak": (
            *("explain", ALL_GROUPS, "--group", "kpr-c", "--assume-equal"),
            *("--objective", "peak_lag"),
        ),
        "unknown": ("explain", "depends.json"),
        "depends": ("explain", ALL_GROUPS, "--group", "aio-f"),
        "views": ("explain", *VIEWS),
        "views as points": ("frontier", *VIEWS, "balance", "moves", "--assume-equal"),
        "views as sizes": ("size", *VIEWS, "--assume-equal", "--members", "2-4"),
    }
    return one_after_the_other(calls, folder)


def test_several_views_of_a_group_are_put_together_as_in_score(shown):
    assert "next-b: what the members hold now is as good" in shown["views"].stdout
    equal = "This holds if all members read the same topics.\nnext-b: "
    assert shown["views as points"].stdout.startswith(f"{equal}nothing to trade")
    assert shown["views as sizes"].stdout.startswith(f"{equal}14 partitions, 3 members now")


def test_of_one_member_it_says_what_it_shares_and_what_it_gets(shown):
    assert good(shown["member"]).stdout.splitlines()[1:] == [
        "c1 holds 0 partitions now and 2 in the best assignment.",
        "It gets 2 from c0.",
        "It reads t1 (3 partitions, read by c0 too).",
        "5 partitions for 2 members: in an assignment as even as can be everybody holds 2 or 3.",
    ]


def test_where_now_is_the_best_it_says_so_and_nothing_moves(shown):
    assert good(shown["even"]).stdout.splitlines() == [
        "even: what the members hold now is as good as can be: loads 1.",
        "2 partitions for 2 members are 1 each at the best. No assignment is more even.",
        "No partition has to move for that.",
    ]
    assert "moves 0 of 0 owned partitions; loads are 0 now" in good(shown["fresh"]).stdout


def test_in_a_rebalance_it_speaks_of_what_members_will_hold(tmp_path):
    group = holding(4, {"a": [0, 1, 2], "b": [3]})
    for member, target in (("a", [0, 1]), ("b", [2, 3])):
        group["members"][member]["target"] = {"t": target}
    said = assay("explain", write(tmp_path, {"moving.json": group}) / "moving.json").stdout
    assert "what the members will hold then is as good as can be: loads 2." in said


def test_console_text_alone_is_explained_where_that_holds_whoever_reads_what(shown):
    """docs/tour.md shows it of a group that is not as good as can be."""
    assert shown["good"].returncode == 0
    said = shown["good"].stdout
    assert said.startswith("Members whose subscription is not known are taken")
    assert "with 14 partitions" not in said
    assert "No partition has to move for that." in said


def test_elsewhere_subscriptions_are_asked_for_or_the_assumption_stands_in_front(shown):
    for name, question in (("unknown", "does c1 read t0?"), ("depends", "does aio-1-")):
        assert shown[name].returncode == 0
        said = " ".join(shown[name].stdout.split())
        assert f": depends on who reads what: {question}" in said
        assert said.endswith(
            "--assume-equal takes all members as equal; assay capture asks the broker."
        )
    equal = shown["equal"].stdout
    assert equal.startswith("This holds if all members read the same topics.\naio-f: ")
    assert shown["told"].stdout.startswith("aio-f: ")


def test_where_the_best_is_open_it_has_the_verdict_of_score_and_the_question_left(folder):
    # a can surely give b one partition; only if c, of unknown subscription, reads t0, all is even.
    members = {"a": {"owned": {"t0": [0, 1, 2, 3, 4]}}, "b": {"owned": {"t0": [5, 6]}}, "c": {}}
    topics = {"t0": {"partitions": 7, "lag": [100, 40, 90, 80, 70, 5, 5]}}
    write(folder, {"idle.json": LOPSIDED | {"topics": topics, "members": members}})
    scored, told = (
        " ".join(assay(*command, "idle.json", cwd=folder).stdout.split())
        for command in (("score", *ALONE), ("explain",))
    )
    verdict = (
        "orders: improvable, whoever reads what. Moving 1 of 7 partitions makes loads of 0-4; "
        "now a holds 5 and c holds 0. The lag of the busiest member falls from 380 to 280 with "
        "just these moves. How good it can be depends on who reads what: does c read t0?"
    )
    assert scored.startswith(verdict)
    assert told.startswith(
        f"{verdict} The best one known has balance 8 (no assignment is below 2), moves 1."
    )
    # The answer to the question, `--reads`, leaves nothing open.
    answered = assay("explain", "idle.json", "--reads", "c=t0", cwd=folder).stdout
    assert "has loads 2-3 and moves 2 of 7 owned partitions" in answered


def test_a_group_without_members_has_nothing_to_explain(shown):
    assert good(shown["no members"]).stdout == (
        "orders: no members, so there is nothing to assign.\n"
    )


def test_it_fits_on_one_screen(folder):
    families = (
        Family(200, 10, 60, "random", "join-many", skewed=True),
        Family(300, 10, 60, "buckets", "partitions-added", skewed=True),
        Family(60, 10, 20, "nested", "leave-many", skewed=True),
        Family(6, 10, 10, "random", "join-one"),
    )
    groups = [family.group(3).to_dict() for family in families]
    write(folder, {"large.jsonl": groups})
    calls = {g["group"]: ("explain", "large.jsonl", "--group", g["group"]) for g in groups}
    for run in one_after_the_other(calls, folder).values():
        lines = good(run).stdout.splitlines()
        assert max(map(len, lines)) <= 100
        # On 80 columns, where longer lines are two.
        assert sum(1 + len(line) // 80 for line in lines) <= 24
        assert not JARGON.search(run.stdout)


def test_of_a_peak_it_says_how_much_it_is_now_and_why_no_less(shown):
    text = " ".join(shown["peak"].stdout.split())
    assert re.search(r"now it is 1,382 \(kpr-0-\S+\)\. One partition \(t0-0\) alone has ", text)
    assert "looked at" not in text


def test_a_client_id_that_one_member_alone_has_names_it():
    told = ("explain", ALL_GROUPS, "--group", "kpr-c", "--member")
    by_client = assay(*told, "kpr-0")
    assert by_client.returncode == 0
    assert by_client.stdout == assay(*told, "kpr-0-9e9480e3-fb86-495b-a540-9a7c10bdb384").stdout
