"""Text as people copy it from a terminal."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from groups.errors import BadInput
from groups.importers import import_each
from tests.groups.importers.imported import import_texts

CAPTURES = Path(__file__).parents[1] / "captures"
DESCRIBE = (CAPTURES / "4.3.1/coop-a-describe.txt").read_text()
MEMBERS = (CAPTURES / "4.3.1/next-b-members-verbose.txt").read_text()
STATIC = (CAPTURES / "4.3.1/static-d-members-verbose.txt").read_text()
OLD = (CAPTURES / "3.6.2/coop-a-members-verbose.txt").read_text()
STATE = (CAPTURES / "4.3.1/coop-a-state.txt").read_text()


def read(text: str, name: str = "pasted.txt") -> dict[str, Any]:
    (document,) = import_texts([(name, text.encode())])
    return document


def wrapped(text: str, width: int, *, stripped: bool) -> str:
    pieces = [
        line[i : i + width]
        for line in text.split("\n")
        for i in range(0, max(len(line), 1), width)
    ]
    return "\n".join(piece.rstrip() if stripped else piece for piece in pieces)


@pytest.mark.parametrize(
    "copied",
    [
        DESCRIBE.replace("\n", "\r\n"),
        DESCRIBE.replace("\n", "\n\n"),
        "\n".join("\t".join(line.split()) for line in DESCRIBE.split("\n")),
        "\n".join("   " + line for line in DESCRIBE.split("\n")),
        "$ bin/kafka-consumer-groups.sh --bootstrap-server b:9092 --describe --group coop-a\n"
        + DESCRIBE
        + "\n$ ",
        "[kafka@broker-1 ~]$ kafka-consumer-groups --describe --group coop-a \n" + DESCRIBE,
        "root@broker:/opt/kafka# ./bin/kafka-consumer-groups.sh --describe --all-groups\n"
        + DESCRIBE
        + "root@broker:/opt/kafka# ",
        "\x1b[32muser@host\x1b[0m % \n" + DESCRIBE,
        DESCRIBE + "\nWarning: the option --zookeeper is deprecated.\n",
        DESCRIBE
        + "[2026-11-20 10:00:00,123] WARN [AdminClient clientId=a] slow (org.apache.Foo)\n",
        "log4j:WARN No appenders could be found for logger (kafka.utils).\n" + DESCRIBE,
        "\ufeff" + DESCRIBE,
        f"```console\n{DESCRIBE}```\n",
        DESCRIBE.replace("\n", "\r"),
    ],
)
def test_what_a_terminal_adds_changes_nothing(copied: str) -> None:
    assert read(copied) == read(DESCRIBE)


def test_a_file_that_powershell_wrote_is_read() -> None:
    (document,) = import_texts([("pasted.txt", DESCRIBE.encode("utf-16"))])
    assert document == read(DESCRIBE)


@pytest.mark.parametrize("stripped", [False, True])
@pytest.mark.parametrize("width", [40, 60, 80, 100, 120, 132, 140, 160, 200])
@pytest.mark.parametrize("text", [DESCRIBE, MEMBERS, STATIC, OLD])
def test_a_table_wrapped_at_the_edge_is_put_together_or_refused(
    text: str, width: int, stripped: bool
) -> None:
    try:
        found = read(wrapped(text, width, stripped=stripped))
    except BadInput:
        assert width < 80
    else:
        assert found == read(text)


def test_warnings_in_between_the_rows_are_not_rows() -> None:
    lines = DESCRIBE.split("\n")
    lines.insert(6, "[2026-11-20 10:00:00,123] WARN something (org.apache.kafka.Foo)")
    assert read("\n".join(lines)) == read(DESCRIBE)


def test_a_line_that_is_no_row_is_refused_rather_than_skipped() -> None:
    lines = DESCRIBE.split("\n")
    lines[6] = lines[6][:60]
    with pytest.raises(BadInput, match=r"pasted\.txt:7: 5 columns, but the header has 9"):
        read("\n".join(lines))


def test_a_client_id_with_a_blank_is_found_by_its_column() -> None:
    spaced = DESCRIBE.replace("coop-1-e7b027b4", "coop 1-e7b027b4").replace(
        "  coop-1\n", "  coop 1\n"
    )
    member = read(spaced)["members"]["coop 1-e7b027b4-516a-4b52-9da9-97536dd7038d"]
    assert member["client_id"] == "coop 1"
    assert member["owned"] == {"t0": [0, 2, 3, 4]}


def test_a_member_without_an_instance_id_beside_static_ones_is_read() -> None:
    blank = STATIC.replace("f6f8 inst-0 ", "f6f8        ").replace(
        "86a6f8 inst-0", "86a6f8       "
    )
    members = read(blank)["members"]
    said = [members[name].get("instance_id") for name in sorted(members)]
    assert said == [None, "inst-1"]
    assert [m["owned"] for m in members.values()] == [
        m["owned"] for m in read(STATIC)["members"].values()
    ]


def test_a_group_without_its_column_is_named_by_the_command_line() -> None:
    columns = "\n".join(line[16:] for line in DESCRIBE.split("\n"))
    command = "$ kafka-consumer-groups.sh --describe --group coop-a\n"
    assert read(command + columns) == read(DESCRIBE)
    named_by_file = read(columns, "coop-a.txt")
    assert named_by_file["group"] == "coop-a"
    assert "named after the file" in named_by_file["assumed"][0]


def test_several_groups_and_views_in_one_text_are_each_a_group() -> None:
    text = DESCRIBE + MEMBERS + STATE + (CAPTURES / "4.3.1/topics-describe.txt").read_text()
    documents = import_texts([("all.txt", text.encode())])
    assert [document["group"] for document in documents] == ["coop-a", "next-b"]
    assert not any("assumed" in document for document in documents)
    assert {len(document["members"]) for document in documents} == {3, 4}


def test_a_warning_about_one_group_spares_the_others() -> None:
    text = "Warning: Consumer group 'coop-a' is rebalancing.\n" + DESCRIBE + MEMBERS
    imported, failures = import_each([("all.txt", text.encode())])
    assert [found.document["group"] for found in imported] == ["next-b"]
    assert [(f.place, f.group) for f in failures] == [("all.txt:1", "coop-a")]
    assert "capture it again once its state is Stable" in failures[0].reason


@pytest.mark.parametrize("width", [80, 100, 120])
def test_a_wrapped_list_of_topics_is_put_together(width: int) -> None:
    topics = (CAPTURES / "4.3.1/topics-describe.txt").read_text().expandtabs()
    text = DESCRIBE + wrapped(topics, width, stripped=True)
    counts = {t: said["partitions"] for t, said in read(text)["topics"].items()}
    assert counts == {"t0": 6, "t1": 5, "t2": 3}
    assert not any("highest" in note for note in read(text)["assumed"])


def test_an_error_with_its_trace_spares_the_tables_after_it() -> None:
    trace = (
        "\nError: Executing consumer group command failed due to GroupId c is not one\n"
        "java.util.concurrent.ExecutionException: java.lang.IllegalArgumentException: GroupId c\n"
        "\tat java.base/java.util.concurrent.CompletableFuture.get(CompletableFuture.java:2096)\n"
        "Caused by: java.lang.IllegalArgumentException: GroupId c\n\t... 9 more\n"
    )
    imported, failures = import_each([("all.txt", (trace + DESCRIBE).encode())])
    assert [found.document["group"] for found in imported] == ["coop-a"]
    assert [failure.place for failure in failures] == ["all.txt:2"]


def test_a_static_member_that_is_away_still_holds_its_partitions() -> None:
    away = MEMBERS.replace(
        "next-0          5               4 ", "next-0          5               -2"
    )
    said = read(away)["members"]["XVCxw8YdTCuBtphL3tJwhA"]
    assert "epoch" not in said
    assert said["owned"] == {"t0": [5], "t1": [0], "t2": [0, 1, 2]}
