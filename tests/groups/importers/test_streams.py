"""What ``kafka-streams-groups.sh`` printed of a real application, in Kafka 4.2.1 and 4.4.0."""

import re

import pytest

from groups.errors import BadInput
from groups.group import Group
from groups.importers import import_each
from tests.groups.importers.imported import OFFSETS, capture, import_texts, text_of, wrapped

VERSIONS = ("streams-4.2.1", "streams-4.4.0")
HEADER = "GROUP MEMBER PROCESS CLIENT-ID ASSIGNMENTS\n"
MEMBER = "5etRXNGsRKiqQXbPGpg4Xg"


def tasks_by_pattern(text: str, role: str) -> dict:
    """Return the tasks of each member in a role, read with regular expressions."""
    found = {}
    for line in text.splitlines()[1:]:
        if line.startswith("GROUP"):
            continue
        member = re.search(r" ([\w-]{22}) ", line)[1]
        part = re.search(rf"(?<![\w-]){role}:((?: \d+:\[[\d,]+\];)+)", line)
        pairs = re.findall(r"(\d+):\[([\d,]+)\]", part[1] if part else "")
        found[member] = {name: [int(n) for n in numbers.split(",")] for name, numbers in pairs}
    return found


def test_a_members_view_imports_to_the_tasks_that_it_shows() -> None:
    for version in VERSIONS:
        for name in ("shop-members", "shop-members-verbose", "rebalancing-members-verbose"):
            text = f"{version}/{name}.txt"
            (document,) = import_texts(capture(text))
            said = document["members"]
            for role in ("ACTIVE", "STANDBY", "WARMUP"):
                held = {member: one["tasks"][role.lower()] for member, one in said.items()}
                assert held == tasks_by_pattern(text_of(text), role), text
                if "verbose" in name:
                    wanted = {member: one["target"][role.lower()] for member, one in said.items()}
                    assert wanted == tasks_by_pattern(text_of(text), f"TARGET-{role}"), text
            assert len({one["process"] for one in said.values()}) == len(said) // 2 + len(said) % 2
            # That the other one keeps no state is printed nowhere.
            assert document["subtopologies"] == {
                "0": {"tasks": 6, "stateful": None},
                "1": {"tasks": 4, "stateful": True},
            }


def test_a_group_that_rebalances_is_judged_as_it_will_be() -> None:
    (found,), failures = import_each(
        capture(
            "streams-4.2.1/rebalancing-state.txt", "streams-4.2.1/rebalancing-members-verbose.txt"
        )
    )
    group = found.group()
    assert failures == []
    assert sorted(group.owned.tolist()) == [0, 2, 2, 2, 3]
    then = group.with_target()
    assert then.owned.tolist() == [2, 2, 2, 2, 2]
    assert "2 tasks are still to be handed over" in then.assumed[-1]


def test_a_table_that_a_terminal_wrapped_or_a_mail_quoted_is_read_as_it_was_printed() -> None:
    for name in ("shop-members", "five-members-verbose"):
        text = text_of(f"streams-4.4.0/{name}.txt")
        (printed,) = import_texts([("a", text.encode())])
        for width in (80, 120, 200):
            assert import_texts([("a", wrapped(text, width).encode())]) == [printed]
        quoted = "\n".join(f"> {line}" for line in text.split("\n"))
        assert import_texts([("a", quoted.encode())]) == [printed]


def test_a_view_without_members_says_what_to_add() -> None:
    for version in VERSIONS:
        for view in ("describe", "describe-verbose", "offsets", "state", "state-verbose"):
            with pytest.raises(BadInput, match="add --describe --members --verbose"):
                import_texts(capture(f"{version}/shop-{view}.txt"))


def test_what_is_no_assignment_of_tasks_is_refused_in_one_line() -> None:
    cells = {
        "ACTIVE: 0:[1": "2: ASSIGNMENTS 'ACTIVE: 0:[1', expected tasks as in ACTIVE: 0:[1,5];",
        "0:[1];": "2: ASSIGNMENTS '0:[1]', expected tasks",
        "ACTIVE: 0:[1]; ACTIVE: 1:[1];": "2: ASSIGNMENTS 'ACTIVE: 1:[1]', expected tasks",
        "ACTIVE: 0:[1]; 0:[2];": "2: topic '0' twice in one assignment",
        "ACTIVE: 0:[1,1];": "2: a partition of '0' twice in one assignment",
        "ACTIVE: 0:[x];": "2: ASSIGNMENTS 'ACTIVE: 0:[x]', expected tasks",
    }
    for cell, says in cells.items():
        with pytest.raises(BadInput, match=re.escape(says)):
            import_texts([("a", f"{HEADER}g {MEMBER} p c {cell} \n\n".encode())])
    for cut in ("", "ACTIVE: 0:[1];", "ACTIVE: 0:[1]; "):
        with pytest.raises(BadInput, match="cut off"):
            import_texts([("a", f"{HEADER}g {MEMBER} p c {cut}".encode())])


def test_a_row_in_two_lines_is_read_in_full_or_refused() -> None:
    for name in ("streams-4.4.0/shop-members.txt", "streams-4.2.1/shop-members-verbose.txt"):
        (whole,) = import_texts([("a", text_of(name).encode())])
        lines = text_of(name).split("\n")
        at = next(n for n, line in enumerate(lines) if "ACTIVE: 0:[" in line)
        for cut in range(1, len(lines[at]) - 1):
            halves = [lines[at][:cut], lines[at][cut:]]
            text = "\n".join([*lines[:at], *halves, *lines[at + 1 :]])
            made, _ = import_each([("a", text.encode())])
            assert all(one.document["members"] == whole["members"] for one in made), halves


def test_a_document_says_where_it_is_wrong() -> None:
    (good,) = import_texts(capture("streams-4.4.0/shop-members.txt"))
    member = sorted(good["members"])[0]

    def changed(**tasks):
        return good | {"members": {member: {"process": "p", "tasks": tasks}}}

    wrong = {
        "subtopologies.0.stateful: 1, expected true or false": good
        | {"subtopologies": {"0": {"tasks": 6, "stateful": 1}}},
        "subtopologies.0.lag: 1 value, but 0 has 2 tasks": good
        | {"members": {}, "subtopologies": {"0": {"tasks": 2, "lag": [1]}}},
        f"members.{member}.tasks.active.0: task 6, but 0 has 6 tasks": changed(active={"0": [6]}),
        f"members.{member}.tasks.standby.1: a task appears twice": changed(standby={"1": [1, 1]}),
        f"members.{member}.tasks.warmup: there is no subtopology '7'": changed(warmup={"7": [1]}),
        f"members.{member}: key 'process' is missing": good | {"members": {member: {"tasks": {}}}},
        "format: 'assay-streams/2', expected 'assay-group/1'": good
        | {"format": "assay-streams/2"},
    }
    for says, document in wrong.items():
        with pytest.raises(BadInput, match=rf"^{re.escape(says)}$"):
            Group.from_dict(document)
    assert Group.from_dict(good).snapshot() == good


def test_a_classic_application_is_threads_on_the_hosts_that_its_processes_are() -> None:
    rows = "".join(
        f"shop t0 {n} 5 9 4 {name}-0af /10.0.0.1 {name}\n"
        for n, name in enumerate(
            f"shop-{p}-StreamThread-{t}-consumer" for p in "ab" for t in (1, 2)
        )
    )
    (document,) = import_texts([("a", f"{OFFSETS}{rows}".encode())])
    assert {one["host"] for one in document["members"].values()} == {"shop-a", "shop-b"}
    assert "which tasks keep state are not known" in document["assumed"][-1]
