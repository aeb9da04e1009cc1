from __future__ import annotations

import json
import re
from collections import defaultdict

import pytest

from groups import Group
from groups.documents.pseudonyms import anonymise_all
from groups.importers import import_each
from groups.importers.console.headers import LONG
from tests.groups.importers.imported import (
    CAPTURES,
    capture,
    import_texts,
    only,
    owners,
    tables,
    text_of,
)


def rows_counted_by_pattern(text: str) -> dict[str, dict]:
    """Return the rows of the offsets views, read with one regular expression."""
    found: dict[str, dict] = defaultdict(dict)
    row = r"^(\S+) +(t\d) +(\d+) +(?:- +)?(\d+|-) +(\d+) +(\d+|-) +(\S+) +(\S+) +(\S+)$"
    for group, topic, number, committed, end, lag, member, _, client in re.findall(
        row, text, re.M
    ):
        found[group][topic, int(number)] = (committed, end, lag, member, client)
    return found


@pytest.mark.parametrize(
    "name",
    sorted(
        str(path.relative_to(CAPTURES))
        for pattern in ("[0-9]*/*-describe.txt", "[0-9]*/*-offsets-verbose.txt")
        for path in CAPTURES.glob(pattern)
        if not path.name.startswith(("nosuch", "topics", "rebal-j"))
    ),
)
def test_a_describe_view_imports_to_the_owners_offsets_and_lag_that_it_shows(name: str) -> None:
    counted = rows_counted_by_pattern(text_of(name))
    imported, _ = import_each(capture(name))
    assert [found.document["group"] for found in imported] == sorted(counted)
    for found in imported:
        document, rows = found.document, counted[found.document["group"]]
        assert owners(document) == {k: row[3] for k, row in rows.items() if row[3] != "-"}
        for (topic, number), (committed, end, lag, member, client) in rows.items():
            said = document["topics"][topic]["offsets"][number]
            assert said["beginning"] is None
            assert (str(said["committed"]), str(said["end"])) == (
                committed.replace("-", "None"), end,
            )  # fmt: skip
            if lag != "-":
                assert said["end"] - said["committed"] == int(lag)
            if member != "-":
                assert document["members"][member]["client_id"] == client
                assert document["members"][member]["host"] == "/127.0.0.1"


def test_an_empty_group_is_a_group_without_members() -> None:
    for version, views, name in (
        ("3.9.2", ("empty-e-state.txt", "empty-e-state.err.txt"), "empty-e"),
        ("4.3.1", ("empty-e-describe.txt",), "empty-e"),
        ("streams-4.2.1", ("empty-state.txt",), "shop"),
        ("streams-4.4.0", ("empty-state.txt",), "shop"),
    ):
        for view in views:
            ((found,), failures) = import_each(capture(f"{version}/{view}"))
            group = found.group()
            assert (group.name, group.members, failures) == (name, (), [])


def test_a_kip_848_members_view_imports_its_epochs_and_targets() -> None:
    (document,) = import_texts(capture("4.3.1/next-b-members-verbose.txt"))
    said = document["members"]["XVCxw8YdTCuBtphL3tJwhA"]
    assert said["owned"] == said["target"] == {"t0": [5], "t1": [0], "t2": [0, 1, 2]}
    assert said["epoch"] == 4
    (classic,) = import_texts(capture("4.3.1/coop-a-members-verbose.txt"))
    assert not any({"epoch", "target"} & said.keys() for said in classic["members"].values())


@pytest.mark.parametrize("version", ["3.6.2", "3.9.2", "4.3.1"])
def test_any_view_with_members_shows_whether_a_group_is_of_kip_848(version: str) -> None:
    views = [
        *(CAPTURES / version).glob("*-describe.txt"),
        *(CAPTURES / version).glob("*-verbose.txt"),
    ]
    found = {}
    for view in views:
        for one in import_each(capture(f"{version}/{view.name}"))[0]:
            group = Group.from_dict(one.document)
            if group.members:
                assert found.setdefault(group.name, group.is_kip_848) == group.is_kip_848
    new = {"next-b", "mixed-l", "regex-g", "static848-d"}
    assert {name for name, is_so in found.items() if is_so} == new & found.keys()
    assert False in found.values()


def test_kafka_python_json_imports_to_subscriptions_and_current_assignments() -> None:
    (document,) = import_texts(capture("kafka-python/coop-a-describe.json"))
    told = json.loads(text_of("kafka-python/coop-a-describe.json"))["coop-a"]
    for member in told["members"]:
        said = document["members"][member["member_id"]]
        assert said["subscription"] == member["member_metadata"]["topics"]
        assert said["owned"] == {
            pair["topic"]: sorted(pair["partitions"])
            for pair in member["member_assignment"]["assigned_partitions"]
        }
        assert "generation" not in said
    first = told["members"][0]
    first["member_metadata"] = None
    said = only(json.dumps({"coop-a": told}))["members"][first["member_id"]]
    assert said["subscription"] is None


def test_a_plan_is_a_group_of_its_own_under_the_name_of_its_file() -> None:
    plan = {"a": {"t": [0, 2], "u": [0]}, "b": {}}
    (found,), failures = import_each([("plans/own.json", json.dumps(plan).encode())])
    assert failures == []
    assert found.document["group"] == "own"
    assert found.document["topics"] == {"t": 3, "u": 1}
    held = {m: said.get("owned", {}) for m, said in found.document["members"].items()}
    assert held == plan
    named = "the group was named after the file"
    assert f"{named}, a plan does not show its name" in found.document["assumed"]
    assert named in anonymise_all([found.group()])[0]["assumed"]
    idle_first = json.dumps({"b": {}, "a": {"t": [0]}}).encode()
    assert len(import_each([("-", idle_first)])[0]) == 1
    _, (refused,) = import_each([("p.json", b'{"a": {"t": [0, -1]}}')])
    assert refused.reason == "a.t[1]: -1, expected an integer of 0 or more"


def test_a_list_says_that_a_group_is_rebalancing_whatever_other_views_show() -> None:
    header = f"{'GROUP':<20}{'TYPE':<20}STATE"
    row = f"{'coop-a':<20}{'Classic':<20}PreparingRebalance"
    text = f"{header}\n{row}\n\n{text_of('4.3.1/coop-a-describe.txt')}"
    imported, refused = import_each([("a", text.encode())])
    assert imported == []
    assert [one.group for one in refused] == [None, "coop-a"]
    assert "is rebalancing" in refused[1].reason


def test_of_every_table_that_is_read_there_is_a_text_of_its_tool_which_is_read() -> None:
    # Nobody has captured static members in these views.
    static = "GROUP CONSUMER-ID GROUP-INSTANCE-ID HOST CLIENT-ID #PARTITIONS"
    epochs = "CURRENT-EPOCH CURRENT-ASSIGNMENT TARGET-EPOCH TARGET-ASSIGNMENT"
    without = {static, f"{static} ASSIGNMENT", f"{static} {epochs} UPGRADED"}
    assert LONG - tables().keys() == without
    for header, table in tables().items():
        # A view that shows no member makes no group, but is read.
        for refused in import_each([("a.txt", f"{table}\n".encode())])[1]:
            assert re.search("are shown|is rebalancing", refused.reason), header
