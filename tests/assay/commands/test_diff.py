import json
import re

import pytest

from assay import Group, solve
from compare.diff import GAINS, KINDS
from tests.assay.calling import (
    ALL_GROUPS,
    CAPTURES,
    EVEN,
    LOPSIDED,
    assay,
    document_of,
    good,
    one_after_the_other,
    one_line,
    write,
)
from tests.compare.conftest import holding

YESTERDAY = CAPTURES / "4.3.1" / "coop-a-describe.txt"


def today() -> str:
    """Return yesterday's console text, with one partition moved and two members restarted."""
    text = YESTERDAY.read_text()
    one, other = (re.search(rf"{name}-\S+", text)[0] for name in ("coop-0", "coop-3"))
    rows = text.splitlines()
    at = next(i for i, row in enumerate(rows) if re.search(r"t1 +3 ", row))
    rows[at] = re.sub(rf"{one}(.*)coop-0", rf"{other}\1coop-3", rows[at])
    again = re.search(r"coop-1-\S+", text)[0]
    return "\n".join(rows).replace(again, again[:-4] + "beef")


BILLS = holding([5, 7], {"a": [0], "b": [1]}, group="bills")
MANY = [f"c{i:02}" for i in range(40)]
FILES = {
    "today.txt": today(),
    "solution.json": solve(Group.from_dict(LOPSIDED)).to_dict(),
    "plan.json": {"c0": {"t0": [0, 1], "t1": [0, 1]}},
    "many.json": {m: {"t": [2 * i, 2 * i + 1]} for i, m in enumerate(MANY)},
    "shifted.json": {m: {"t": [2 * i, 2 * i + 1]} for i, m in enumerate(MANY[1:] + MANY[:1])},
    "before.jsonl": [LOPSIDED, BILLS, EVEN, LOPSIDED | {"group": "gone"}],
    "later.jsonl": [
        LOPSIDED,
        holding([5, 7], {"a": [0, 1], "b": []}, group="bills"),
        EVEN,
        EVEN | {"group": "new"},
    ],
}
CALLS = {
    "solved": ("diff", "orders.json", "solution.json"),
    "same": ("diff", "orders.json", "orders.json"),
    "console": ("diff", YESTERDAY, "today.txt"),
    "by client": ("diff", YESTERDAY, "today.txt", "--by", "client-id"),
    "of many": ("diff", ALL_GROUPS, "today.txt", "--group", "coop-a"),
    "found by the other": ("diff", ALL_GROUPS, YESTERDAY),
    "plan": ("diff", "orders.json", "plan.json"),
    "long": ("diff", "many.json", "shifted.json"),
    "several": ("diff", ALL_GROUPS, ALL_GROUPS),
    "worse": ("diff", "before.jsonl", "later.jsonl"),
    "worse as json": ("diff", "before.jsonl", "later.jsonl", "--format", "json"),
}


@pytest.fixture(scope="module")
def shown(folder) -> dict:
    return one_after_the_other(CALLS, write(folder, FILES))


def test_a_sentence_then_the_members_that_changed_then_what_went_where(shown):
    assert good(shown["solved"]).stdout.splitlines() == [
        "orders: 2 partitions moved; loads were 0-5 and are 2-3.",
        "Got better: loads closer together.",
        "",
        "member  before  after  lost  gained",
        "c0           5      3     2       -",
        "c1           0      2     -       2",
        "",
        "from  to  partitions",
        "c0    c1           2  t1:1-2",
    ]


def test_the_same_is_said_to_be_the_same(shown):
    same = "orders: who holds what is the same in both. 2 members hold 5 partitions.\n"
    assert good(shown["same"]).stdout == same
    assert shown["found by the other"].stdout == (
        "coop-a: who holds what is the same in both. 4 members hold 14 partitions.\n"
        "not compared, only before: aio-f, empty-e, idle-h and 7 more\n"
    )


def test_console_text_alone_says_who_lost_what_since_yesterday(shown):
    lines = shown["console"].stdout.splitlines()
    assert (
        lines[0] == "coop-a: 5 partitions moved, 1 member joined, 1 member left; loads stay 3-4."
    )
    assert lines[-1] == (
        "1 client id of members that left came back with new members: see --by client-id"
    )
    # An assumption about both sides is printed once.
    notes = shown["console"].stderr.splitlines()
    assert all(line.startswith("assumed: ") for line in notes)
    assert len(set(notes)) == len(notes)
    assert "assumed: members: those that hold partitions, no view lists idle ones" in notes
    # `of many` compares the same group in the output for all groups.
    assert shown["of many"].stdout == shown["console"].stdout
    assert "not compared" not in shown["of many"].stdout


def test_by_client_id_a_restart_is_no_move(shown):
    lines = shown["by client"].stdout.splitlines()
    assert lines[0] == "coop-a: 1 partition moved; loads stay 3-4."
    assert lines[-1] == "coop-0  coop-3           1  t1:3"


def laggards(name: str, first: int, lag: int) -> dict:
    """Return a group of two members with one client id, numbered from `first`, which lags."""
    members = {
        f"m{first + k}": {"subscription": ["t"], "owned": {"t": [k]}, "client_id": "pod"}
        for k in range(2)
    }
    topics = {"t": {"partitions": 2, "lag": [lag, 1]}}
    return EVEN | {"group": name, "topics": topics, "members": members}


def test_more_lag_on_the_same_assignment_is_told(folder):
    write(
        folder, {f"{n}.json": laggards("pods", 0, lag) for n, lag in (("calm", 5), ("late", 70))}
    )
    assert good(assay("diff", "calm.json", "late.json", cwd=folder)).stdout.splitlines() == [
        "pods: who holds what is the same in both. 2 members hold 2 partitions.",
        "Most lag on one member: 5 records before, 70 now.",
        "Got worse: at least a tenth more lag on one member.",
    ]


def test_several_groups_and_one_got_worse_or_better_by_the_same_rule(folder):
    """An owner lost comes before loads, and lag counts from a tenth on."""
    sides = {
        "lag 100": laggards("adrift", 0, 100),
        "lag 109": laggards("adrift", 0, 109),
        "lag 110": laggards("adrift", 0, 110),
        "lag 99": laggards("adrift", 0, 99),
        "level": adrift(a=[0, 1], b=[2, 3]),
        "uneven": adrift(a=[0, 1, 2], b=[3]),
        "lost": adrift(a=[0], b=[2]),
        # With one member more or less loads are as close together, and the group is not better.
        "alone": adrift(a=[0, 1, 2, 3]),
    }
    for name, group in sides.items():
        write(folder, {f"{name}.json": group, f"{name}.jsonl": [group, EVEN]})
    for before, after, worse, better in (
        ("lag 100", "lag 109", None, None),
        ("lag 100", "lag 110", KINDS[3], None),
        ("lag 110", "lag 100", None, None),
        ("lag 110", "lag 99", None, GAINS[3]),
        ("level", "uneven", KINDS[2], None),
        ("uneven", "level", None, GAINS[2]),
        ("uneven", "alone", KINDS[1], None),
        ("alone", "uneven", None, GAINS[1]),
        ("uneven", "lost", KINDS[0], None),
        ("lost", "uneven", None, GAINS[0]),
    ):
        one = good(assay("diff", f"{before}.json", f"{after}.json", cwd=folder)).stdout
        lines = [line for line in one.splitlines() if line.startswith("Got ")]
        got = {"worse": worse, "better": better}
        assert lines == [f"Got {how}: {what}." for how, what in got.items() if what]
        several = good(assay("diff", f"{before}.jsonl", f"{after}.jsonl", cwd=folder)).stdout
        first, *table = several.splitlines()
        named = {how: f"1{{}} got {how}: adrift ({what})" for how, what in got.items() if what}
        worse_part, better_part, *_ = first.split("; ")
        assert worse_part == named.get("worse", "0{} got worse").format(" of 2 groups")
        assert better_part == named.get("better", "0{} got better").format("")
        for how, what in got.items():
            assert any(f"adrift  {how}: {what} " in line for line in table) is bool(what)


def test_client_ids_that_several_members_share_are_not_compared_nor_offered(folder):
    for name, first in (("old", 0), ("new", 2)):
        write(folder, {f"{name}-pods.jsonl": [laggards(g, first, 5) for g in ("one", "two")]})
    both = ("diff", "old-pods.jsonl", "new-pods.jsonl")
    assert "--by" not in good(assay(*both, "--group", "one", cwd=folder)).stdout
    shared = "2 members have the client id pod, so client ids do not tell them apart"
    refused = assay(*both, "--group", "one", "--by", "client-id", cwd=folder)
    assert (refused.returncode, refused.stderr) == (2, f"assay: old-pods.jsonl: {shared}\n")
    run = assay(*both, "--by", "client-id", cwd=folder)
    notes = [f"{g}: compared by member; old-pods.jsonl: {shared}" for g in ("one", "two")]
    assert run.returncode == 0
    assert run.stderr.splitlines() == notes
    assert run.stdout.splitlines()[2].split()[:5] == ["one", "-", "2", "2", "2"]
    assert "; 2 changed otherwise: one, two; " in run.stdout


def test_a_plan_that_drops_a_partition_leaves_it_with_nobody(shown):
    lines = good(shown["plan"]).stdout.splitlines()
    assert lines[0] == "orders: 0 partitions moved, c1 left; loads were 0-5 and are 4."
    assert lines[5] == "c1           0      -     -       -"
    assert lines[-1] == "c0    nobody           1  t1:2"


def adrift(**owned: list[int]) -> dict:
    return holding([4, 9004, 4, 76], owned, group="adrift")


def test_partitions_that_lost_their_owner_come_first_with_what_waits_there(folder):
    """What nobody reads is no gain of the member that held it, in one group as in a table."""
    sides = {"owned": adrift(a=[0, 1, 3], b=[2]), "adrift": adrift(a=[0], b=[2])}
    for name, group in sides.items():
        write(folder, {f"{name}.json": group, f"{name}.jsonl": [group, EVEN]})
    run = good(assay("diff", "owned.json", "adrift.json", cwd=folder))
    assert run.stdout.splitlines()[:4] == [
        "adrift: 2 partitions lost their owner, where 9,080 records wait; 0 partitions moved; "
        "loads were 1-3 and are 1.",
        "Most lag on one member: 9,084 records before, 4 now among the partitions that still have "
        "an owner.",
        "Got worse: partitions newly without an owner.",
        "with nobody after: t:1,3",
    ]
    asked = ("diff", "owned.json", "adrift.json", "--format", "json")
    document = document_of(good(assay(*asked, cwd=folder)))
    assert (document["lost_owner"], document["waiting"]) == ({"t": [1, 3]}, 9080)
    run = good(assay("diff", "owned.jsonl", "adrift.jsonl", cwd=folder))
    assert run.stdout.startswith("1 of 2 groups got worse: adrift (partitions newly")
    run = good(assay("diff", "adrift.json", "owned.json", cwd=folder))
    assert run.stdout.splitlines()[1] == (
        "Most lag on one member: 4 records before among the partitions that had an owner, "
        "9,084 now."
    )
    # A group that loses one owner and gains another is worse, too.
    write(folder, {"other.jsonl": [adrift(a=[0, 1], b=[]), EVEN]})
    run = good(assay("diff", "adrift.jsonl", "other.jsonl", cwd=folder))
    assert run.stdout.startswith("1 of 2 groups got worse: adrift (partitions newly")


def test_a_partition_with_two_owners_is_one_partition_and_named(folder):
    double, single = adrift(a=[0, 1], b=[1, 2, 3]), adrift(a=[0, 1], b=[2, 3])
    write(folder, {"double.json": double, "single.json": single})
    assert good(assay("diff", "double.json", "double.json", cwd=folder)).stdout.splitlines() == [
        "adrift: who holds what is the same in both. 2 members hold 4 partitions.",
        "with several members, before and after: t:1",
    ]
    for files, when, move in (
        (("single.json", "double.json"), "after", "another too  b            1  t:1"),
        (("double.json", "single.json"), "before", "b     another too           1  t:1"),
    ):
        lines = good(assay("diff", *files, cwd=folder)).stdout.splitlines()
        assert f"with several members {when}: t:1" in lines
        assert lines[-1] == move


def test_long_lists_are_cut_with_the_number_of_those_left_out(shown):
    lines = good(shown["long"]).stdout.splitlines()
    assert lines[0] == "the group: 80 partitions moved; loads stay 2."
    assert len(lines) == 2 + 13 + 1 + 1 + 13 + 1
    assert (lines[15], lines[-1]) == ("and 28 more", "and 56 more partitions")


def test_of_several_groups_the_one_that_got_worst_comes_first(shown):
    lines = good(shown["worse"]).stdout.splitlines()
    assert lines[0] == (
        "1 of 3 groups got worse: bills (loads farther apart); 0 got better; 2 did not change; "
        "only before: gone; only after: new."
    )
    mark, numbers = ["worse:", "loads", "farther", "apart"], "1 0 0 1 0-2 0 0 7 12"
    assert lines[2].split() == ["bills", *mark, *numbers.split()]
    documents = [json.loads(line) for line in good(shown["worse as json"]).stdout.splitlines()]
    assert [made["group"] for made in documents] == ["bills", "even", "orders", "gone", "new"]
    assert [made["before"] is None for made in documents] == [False] * 4 + [True]
    assert documents[3]["before"] == documents[2]["before"]
    assert (documents[3]["after"], documents[4]["after"]["members"]) == (None, 2)
    assert documents[0]["after"]["peak_lag"] == 12
    assert (
        shown["several"].stdout == "0 of 11 groups got worse; 0 got better; 11 did not change.\n"
    )


def test_a_pipe_can_be_either_side(folder):
    plan = json.dumps({"c0": {"t0": [0, 1], "t1": [0, 1, 2]}, "c1": {}})
    run = good(assay("diff", "-", folder / "orders.json", stdin=plan))
    assert run.stdout.startswith("orders: who holds what is the same in both.")
    run = good(assay("diff", folder / "even.json", "-", stdin=json.dumps(EVEN)))
    assert run.stdout.startswith("even: who holds what is the same in both.")


def test_a_damaged_part_costs_a_line_and_exit_code_2_and_the_group_is_compared(folder):
    damaged = f"{json.dumps(LOPSIDED)}\n{{oops\n{json.dumps(EVEN)}\n"
    state = f"Consumer group 'even' is rebalancing.\n{ALL_GROUPS.read_text()}"
    write(folder, {"damaged.jsonl": damaged, "state.txt": state})
    run = assay("diff", "damaged.jsonl", "even.json", cwd=folder)
    assert run.stdout.startswith("even: who holds what is the same in both.")
    assert re.fullmatch(r"damaged\.jsonl:2: .*not JSON.*\n", run.stderr)
    assert run.returncode == 2
    assert assay("diff", folder / "state.txt", YESTERDAY).returncode == 0
    refused = one_line(assay("diff", "even.json", "state.txt", cwd=folder), 2)
    assert "group 'even' is rebalancing" in refused


@pytest.mark.parametrize(
    "content",
    [
        b'{"c\xe9": {"t": [0]}}',
        b"",
        b"[1, 2]",
        b'{"c0": {"t0": [0]}, "c0": {"t0": [1]}}',
        b'{"": {"t0": [0]}}',
        b'{"c0": {"": [0]}}',
        b'{"c0": {"t0": [' + b"9" * 5000 + b"]}}",
        b'{"a":' * 50_000,
        b'{"c\\ud800": {"t0": [0]}}',
        b'{"format": "assay-solution/1", "group": 5, "assignment": {}}',
        b'{"format": "assay-scores/1"}',
    ],
    ids=lambda content: content[:20].decode("latin-1"),
)
def test_a_file_that_is_no_assignment_is_refused_in_one_line_that_names_it(folder, content):
    (folder / "odd.json").write_bytes(content)
    for asked in (
        ("diff", "odd.json", "orders.json"),
        ("score", "orders.json", "--plan", "odd.json"),
        ("explain", "odd.json"),
    ):
        assert one_line(assay(*asked, cwd=folder), 2).startswith("odd.json: ")


def committing(second: int, *logs: tuple[int | None, int], name: str = "orders") -> dict:
    """Return a group captured at a second; each log is the commit and the end of a partition."""
    offsets = [{"beginning": 0, "end": end, "committed": commit} for commit, end in logs]
    return {
        "format": "assay-group/1",
        "group": name,
        "captured_at": f"2026-11-29T19:10:{second:02}Z",
        "auto_offset_reset": "latest",
        "topics": {"t": {"partitions": len(logs), "offsets": offsets}},
        "members": {
            f"m{n}": {"subscription": ["t"], "owned": {"t": [n]}, "client_id": f"pod-{n}"}
            for n in range(len(logs))
        },
    }


def test_a_member_that_committed_nothing_though_records_wait_is_named(tmp_path):
    """m1 commits, m2 has nothing to read, and of m3 no commit is known."""
    before = [(100, 100), (100, 120), (7, 7), (None, 5)]
    later = [(100, 60_100), (5000, 5020), (7, 7), (None, 50)]
    write(tmp_path, {"a.json": committing(0, *before), "b.json": committing(40, *later)})
    lines = good(assay("diff", "a.json", "b.json", cwd=tmp_path)).stdout.splitlines()
    assert (
        "Committed nothing in the 40 s between the captures: m0 (pod-0) (60,000 records wait, "
        "60,000 of them new)." in lines
    )
    document = document_of(assay("diff", "a.json", "b.json", "--format", "json", cwd=tmp_path))
    assert document["stuck"] == [{"member": "m0", "waiting": 60_000, "arrived": 60_000}]
    turned = assay("diff", "b.json", "a.json", cwd=tmp_path)
    assert "a.json (2026-11-29T19:10:00Z) was captured before b.json (2026-" in turned.stderr
    # Of two captures of one time, and of a member that came in between, nothing is said.
    same = document_of(assay("diff", "b.json", "b.json", "--format", "json", cwd=tmp_path))
    assert same["stuck"] == []
    write(tmp_path, {"c.json": committing(0, *before[:1]) | {"members": {}}})
    joined = document_of(assay("diff", "c.json", "b.json", "--format", "json", cwd=tmp_path))
    assert joined["stuck"] == []


def test_of_many_groups_those_with_such_a_member_have_a_line_each(tmp_path):
    for folder, second, end in (("a", 0, 10), ("b", 30, 25)):
        (tmp_path / folder).mkdir()
        groups = [committing(second, (10, end), name=f"g{n}") for n in range(5)]
        write(tmp_path / folder, {"groups.jsonl": groups})
    lines = good(assay("diff", "a", "b", cwd=tmp_path)).stdout.splitlines()
    assert lines[1:5] == [
        *(
            f"g{n}: committed nothing in the 30 s between the captures: m0 (pod-0) (15 records "
            "wait, 15 of them new)."
            for n in range(3)
        ),
        "Members of 2 more groups committed nothing either, though records wait.",
    ]
