"""What a verdict says of the hosts on which members stand."""

import shlex
from dataclasses import replace
from pathlib import Path

from assay import read_groups
from compare.judged import judge
from compare.sentences import NO_ASSIGNOR_EVENS_HOSTS, hosts_sentence
from groups import Group, MemberDetails
from groups.tiers import parse_objective
from tests.assay.calling import assay, good, write
from tests.compare.page.parsed import Parsed
from tests.optimal.small_groups import group_of

UNEVEN = {"c0": [0, 1, 2], "c1": [3, 4, 5], "c2": [6, 7], "c3": [8, 9]}


def orders(owned, hosts, **more) -> Group:
    members = {m: ["t"] for m in owned}
    return group_of(
        {"t": 10}, members, {m: {"t": p} for m, p in owned.items()}, hosts=hosts, **more
    )


def told(group: Group, objective: str = "kip-54") -> str | None:
    return hosts_sentence(judge([group], parse_objective(objective))[0], "It")


def test_hosts_that_are_uneven_though_members_are_even_are_named():
    assert told(orders(UNEVEN, "aabb")) == (
        "Hosts are uneven: a has 6 for 2 members, b 4 for 2 members. With loads as even they "
        f"could have 5 each. It prints that assignment. {NO_ASSIGNOR_EVENS_HOSTS}"
    )


def test_nothing_is_said_where_hosts_are_even_unknown_alone_or_asked_for():
    for hosts in ("abab", "aaaa", "abcd", "aab"):
        assert told(orders(UNEVEN, hosts)) is None
    assert told(orders(UNEVEN, "aabb"), "balance > host_balance") is None
    lopsided = {"c0": [0, 1, 2, 3, 4, 5], "c1": [6, 7], "c2": [8], "c3": [9]}
    assert told(orders(lopsided, "abab")) is None


def test_hosts_of_client_ids_are_what_stands_before_the_thread():
    ids = {
        "app-5f-StreamThread-1-consumer": "app-5f",
        "app-5f-StreamThread-12": "app-5f",
        "orders-3": "orders",
        "orders.pod7-3": "orders.pod7",
        "orders": "orders",
        "-1": "-1",
        None: None,
    }
    group = orders({f"c{m}": [] for m in range(len(ids))}, "")
    group = replace(group, details=tuple(MemberDetails(client_id=name) for name in ids))
    found = group.with_hosts_by_client_id()
    assert [one.host for one in found.details] == list(ids.values())
    assert found.places("host").member.tolist()[-1] == -1
    assert "client ids" in found.assumed[-1]


def test_client_ids_move_no_thread_of_a_streams_group_and_nobody_of_an_empty_one():
    (shop,) = read_groups(Path(__file__).parents[2] / "docs" / "how-to" / "streams-shop.json")
    for group in (shop, orders({}, "")):
        found = group.with_hosts_by_client_id()
        assert (found.details, found.assumed) == (group.details, group.assumed)


def test_score_and_explain_show_what_each_host_holds_on_which_members(tmp_path):
    lopsided = {"c0": [0, 1, 2, 3, 4], "c1": [5, 6, 7], "c2": [8], "c3": [9]}
    files = {"pods.json": orders(lopsided, "aabb"), "alone.json": orders(lopsided, "abcd")}
    folder = write(tmp_path, {name: group.to_dict() for name, group in files.items()})
    for command in (("score", "pods.json", "--assignor", "current"), ("explain", "pods.json")):
        lines = good(assay(*command, cwd=folder)).stdout.splitlines()
        at = next(i for i, line in enumerate(lines) if line.startswith("host "))
        rows = [line.split(maxsplit=4) for line in lines[at : at + 3]]
        assert rows[0] == ["host", "now", "best", "members", "each holds"]
        assert rows[1:] == [["a", "8", "6", "2", "c0 5, c1 3"], ["b", "2", "4", "2", "c2 1, c3 1"]]
    assert "host " not in good(assay("explain", "alone.json", cwd=folder)).stdout


def test_the_commands_say_it_and_take_hosts_from_client_ids(tmp_path):
    document = orders(UNEVEN, "").to_dict()
    for at, member in enumerate(document["members"].values()):
        member["client_id"] = f"pod{at // 2}-{at % 2}"
    folder = write(tmp_path, {"orders.json": document})
    score = ("score", "orders.json", "--assignor", "current")
    said = assay(*score, "--host-by", "client-id", cwd=folder)
    assert "Hosts are uneven: pod0 has 6 for 2 members, pod1 4 for 2 members." in said.stdout
    _, _, hint = said.stdout.replace("\n", " ").partition("could have 5 each. assay ")
    command, _, by_whom = hint.partition(" prints that assignment. ")
    assert by_whom.startswith("No assignor of Kafka's or ours makes it: they know no hosts.")
    assert "host_balance     50     50" in assay(*shlex.split(command), cwd=folder).stdout
    page = ("report", "orders.json", "--assignor", "current", "--host-by", "client-id")
    good(assay(*page, cwd=folder))
    told = Parsed((folder / "report.html").read_text()).words
    assert f"could have 5 each. assay {command} prints that assignment. No assignor" in told
    write(tmp_path, {"other.json": document | {"group": "other"}})
    both = ("score", "orders.json", "other.json", "--host-by", "client-id", "--rate", "7")
    in_full = "assay score orders.json other.json --group NAME --rate 7 --host-by client-id"
    listed = assay(*both, cwd=folder).stdout
    assert in_full in listed
    assert "hosts uneven: g, other" in listed
    sizes = assay("size", "orders.json", *both[3:5], cwd=folder).stdout.splitlines()
    assert sizes[1] == "Now 2 hosts hold 4-6 each, and 4 members 2-3."
    assert sizes[4].split() == ["2", "4", "2-3", "5", "0", "no", "yes", "now"]
    assert "Hosts" not in good(assay(*score, cwd=folder)).stdout
    asked = ("--objective", "balance > host_balance > moves", "--host-by", "client-id")
    assert "host_balance     50     50" in assay("solve", "orders.json", *asked, cwd=folder).stdout
    assert "moves 1 of 10 owned" in assay("explain", "orders.json", *asked, cwd=folder).stdout
    tiers = ("frontier", "orders.json", "host_balance", "moves", *asked[2:])
    assert "host_balance 52 for 0 moves, 50 for 1 move" in assay(*tiers, cwd=folder).stdout
    advise = ("advise", "orders.json", "--assignor", "range", *asked[2:])
    told = assay(*advise, cwd=folder).stdout
    assert "Hosts are uneven: pod0 has 6 for 2 members" in told
    assert (
        "2-3 with the 2 pods of now and 1-2 with one more. Threads are even with 1 and 5 pods."
        in told
    )


def test_the_hosts_of_a_plan_stand_beside_those_of_now_and_of_the_best(tmp_path):
    held = {"c0": [0], "c1": [1, 2], "c2": [3, 4, 5], "c3": [6, 7, 8, 9]}
    plan = {member: {"t": partitions} for member, partitions in held.items()}
    documents = {"g.json": orders(UNEVEN, "aabb").to_dict(), "mine.json": plan}
    said = good(assay("score", "g.json", "--plan", "mine.json", cwd=write(tmp_path, documents)))
    rows = [line.split() for line in said.stdout.splitlines()]
    at = next(i for i, row in enumerate(rows) if row[:1] == ["host"])
    column = rows[at].index("mine")
    assert {row[0]: row[column] for row in rows[at + 1 : at + 3]} == {"a": "3", "b": "7"}
