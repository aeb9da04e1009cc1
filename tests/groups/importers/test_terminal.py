"""Text as people copy it from a terminal."""

from __future__ import annotations

import re
from itertools import product
from typing import Any

import pytest

from groups.errors import BadInput
from groups.importers import import_each
from tests.groups.importers.imported import import_texts, squeezed, tables, text_of, wrapped

DESCRIBE = text_of("4.3.1/coop-a-describe.txt")
MEMBERS = text_of("4.3.1/next-b-members-verbose.txt")
STATIC = text_of("4.3.1/static-d-members-verbose.txt")
OLD = text_of("3.6.2/coop-a-members-verbose.txt")
RPK = text_of("written/rpk-describe.txt")
STATE = text_of("4.3.1/coop-a-state.txt")
LOGGED = "[2026-11-20 10:00:00,123] WARN [AdminClient clientId=a] slow (org.apache.Foo)"


def read(text: str, name: str = "pasted.txt") -> dict[str, Any]:
    (document,) = import_texts([(name, text.encode())])
    return document


def prefixed(prefix: str) -> str:
    return "\n".join(prefix + line for line in DESCRIBE.split("\n"))


def with_bars(text: str) -> str:
    lines = [f"| {' | '.join(line.split())} |" for line in text.strip().split("\n")]
    return "\n".join([lines[0], "|---" * lines[0].count("| ") + "|", *lines[1:]])


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
        f"{DESCRIBE}{LOGGED}\n",
        DESCRIBE.replace("\ncoop-a          t1", f"\n{LOGGED}\ncoop-a          t1", 1),
        "log4j:WARN No appenders could be found for logger (kafka.utils).\n" + DESCRIBE,
        "\ufeff" + DESCRIBE,
        f"```console\n{DESCRIBE}```\n",
        DESCRIBE.replace("\n", "\r"),
        f"{{noformat}}\n{DESCRIBE}{{noformat}}\n",
        f"<pre>\n{DESCRIBE}</pre>\n",
        DESCRIBE.replace("CLIENT-ID\n", "CLIENT-ID\n~\n") + "(END)\n",
        DESCRIBE.replace("  ", "\xa0 "),
        DESCRIBE.replace(" ", "\xa0"),
        prefixed("> "),
        "```\n" + prefixed("> ") + "\n```\n",
        prefixed("> ").replace("> \n", ">\n"),
        prefixed(">> "),
        prefixed("a.txt:"),
        prefixed("kafka-1  | "),
        prefixed("[kafka-0] "),
        prefixed("2026-11-24T08:00:00.123Z stdout F "),
        "\n".join(f"{i:6}\t{line}" for i, line in enumerate(DESCRIBE.split("\n"), 1)),
        "\n".join(f"{i}:{line}" for i, line in enumerate(DESCRIBE.split("\n"), 1)),
        "\n".join(f"pod-{i % 3}:{i} {line}" for i, line in enumerate(DESCRIBE.split("\n"), 8)),
        with_bars(DESCRIBE),
        f"+----+\n{with_bars(DESCRIBE)}\n+----+\n",
        DESCRIBE.replace("coop-a", "coop-a\u200b"),
        f"=====\n{DESCRIBE}---\n",
    ],
)
def test_what_a_terminal_adds_changes_nothing(copied: str) -> None:
    assert read(copied) == read(DESCRIBE)


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


@pytest.mark.parametrize("width", [80, 100, 120])
def test_a_wrapped_list_of_topics_is_put_together(width: int) -> None:
    topics = text_of("4.3.1/topics-describe.txt").expandtabs()
    text = DESCRIBE + wrapped(topics, width, stripped=True)
    counts = {t: said["partitions"] for t, said in read(text)["topics"].items()}
    assert counts == {"t0": 6, "t1": 5, "t2": 3}
    assert not any("highest" in note for note in read(text)["assumed"])


def refusals(text: str) -> tuple[list[str], list[str]]:
    """Return the groups imported from a text, and the failures, which must be one line each."""
    imported, failures = import_each([("a.txt", text.encode())])
    said = [f"{one.place}: {one.reason}" for one in failures]
    assert not any("\n" in line for line in said)
    return [one.snapshot.group for one in imported], said


@pytest.mark.parametrize("text", [DESCRIBE, squeezed(DESCRIBE)])
@pytest.mark.parametrize("width", [80, 100, 1000])
def test_wherever_the_last_line_is_cut_off_its_group_is_lost_and_no_other(
    text: str, width: int
) -> None:
    other = OLD.replace("coop-a ", "good-a ")
    above, last = text.rstrip("\n").rsplit("\n", 1)
    for length in range(1, len(last)):
        cut = last[:length]
        made, said = refusals(other + wrapped(f"{above}\n{cut}", width))
        if len(cut.split()) == 9:
            assert (made, said) == (["coop-a", "good-a"], [])
        else:
            assert made == ["good-a"]
            assert f"the last line is cut off, {len(cut.split())} of 9 columns" in said[0]


# Where client ids have a blank, one may be two cells, and rows of rpk end with their hosts.
WITH_BLANKS = DESCRIBE.replace("coop-", "coop ").replace("/127.0.0.1 ", "h/127.0.0.1")
CUT = {
    **dict.fromkeys((OLD, MEMBERS, STATIC, STATE), (None, "cut off")),
    WITH_BLANKS.replace("coop a", "coop-a"): ("coop ", "cut off|columns"),
    RPK: ("/10.0.0.1", "cut off|is no row of the table|lag "),
}


@pytest.mark.parametrize("text", CUT)
def test_of_any_view_a_cut_last_line_is_refused(text: str) -> None:
    end, says = CUT[text]
    above, last = text.rstrip().rsplit("\n", 1)
    for length in range(1, len(last) if end is None else last.rindex(end)):
        made, said = refusals(f"{above}\n{last[:length]}")
        assert made == []
        assert re.search(says, said[0]), said
    assert refusals(f"{above}\n{last}\n")[1] == refusals(text)[1]


def test_the_state_of_an_empty_group_in_two_lines_is_refused() -> None:
    above, last = text_of("3.9.2/empty-e-state.txt").rstrip().rsplit("\n", 1)
    for cut in range(1, len(last)):
        made, _ = refusals(f"{above}\n{last[:cut]}\n{last[cut:]}\n")
        assert made in ([], ["empty-e"])


def test_text_of_rpk_is_cleaned_as_well() -> None:
    lines = RPK.split("\n")
    for copied in (
        "\n".join(f"> {line}" for line in lines),
        "\n".join(f"{i}:{line}" for i, line in enumerate(lines, 1)),
        RPK.replace("  ", "\xa0 "),
    ):
        assert read(copied) == read(RPK)
    unheld = (
        RPK[: RPK.index("a.t-2_x  0")].rstrip("\n").replace("MEMBERS               3", "MEMBERS 2")
    )
    assert refusals(unheld)[1][0].endswith(
        "no member, or cut off: copy it again, or begin a line below it"
    )
    assert refusals(f"{unheld}\n")[0] == ["group.9"]
    assert "'thanks!' is no row of the table above" in refusals(f"{RPK}thanks!\n")[1][0]


def without(line: str, at: int, *, padded: bool) -> str:
    """Return a line with one word deleted, or replaced by blanks if `padded`."""
    word = list(re.finditer(r"\S+", line))[at]
    return line[: word.start()] + " " * (len(word[0]) * padded) + line[word.end() :]


@pytest.mark.parametrize(("at", "missing"), [(7, "host"), (8, "client_id")])
def test_a_cell_that_is_empty_is_read_where_only_one_can_be(at: int, missing: str) -> None:
    header, *rows = DESCRIBE.strip().split("\n")
    members = {
        name: {key: value for key, value in said.items() if key != missing}
        for name, said in read(DESCRIBE)["members"].items()
    }
    padded = [without(row, at, padded=True) for row in rows]
    tabs = ["\t".join(row.split()) for row in (header, *rows)]
    for lines in (
        [header, *padded],
        [header, *(row.rstrip() for row in padded)],
        [tabs[0], *(without(row, at, padded=False) for row in tabs[1:])],
    ):
        assert read("\n".join(lines))["members"] == members
    one = [squeezed(row) for row in (header, *rows)]
    one[3] = without(one[3], at, padded=False)
    found = read("\n".join(one))
    assert found["topics"] == read(DESCRIBE)["topics"]


@pytest.mark.parametrize("at", [0, 1, 2, 3, 4, 5, 6])
def test_a_cell_that_no_tool_leaves_empty_is_not_guessed(at: int) -> None:
    for text in (DESCRIBE, squeezed(DESCRIBE)):
        rows = text.strip().split("\n")
        for padded in (True, False):
            row = without(rows[3], at, padded=padded)
            made, said = refusals("\n".join([*rows[:3], row, *rows[4:]]))
            assert made == []
            assert said[0].startswith("a.txt:4: ")
            made, said = refusals("\n".join([*rows[:3], *rows[4:], row, "thanks!"]))
            assert made == []


def test_a_group_may_have_blanks_in_its_name_where_the_columns_are_aligned() -> None:
    named = DESCRIBE.replace("coop-a ", "my  g 1")
    found = read(named)
    assert found == read(DESCRIBE) | {"group": "my  g 1"}
    made, said = refusals(squeezed(named))
    assert (made, said) == (
        [],
        [
            "a.txt:3: 11 columns, but the header has 9: a name with blanks, or text beside a row? "
            "Copy the table as it was printed"
        ],
    )
    _, (failure,) = import_each([("a.txt", squeezed(named).encode())])
    assert failure.group is None
    damaged = named.replace("my  g 1", "my !g 1", 1)
    assert refusals(damaged) == ([], ["a.txt:4: group 'my  g 1', but 'my !g 1' above"])


def test_two_lines_in_one_are_refused_and_lose_no_row() -> None:
    lines = DESCRIBE.rstrip("\n").split("\n")
    for between in ("", " "):
        for at in range(2, len(lines) - 1):
            joined = "\n".join([*lines[:at], between.join(lines[at : at + 2]), *lines[at + 2 :]])
            made, said = refusals(joined)
            assert (made, said[0].split(": ")[0]) == ([], f"a.txt:{at + 1}")
        two = DESCRIBE.rstrip("\n") + between + MEMBERS.lstrip("\n")
        made, said = refusals(DESCRIBE.rstrip("\n") + between + DESCRIBE.lstrip("\n"))
        assert made == []
        assert "a header follows a row in one line: begin a new line before it" in said[0]
        assert refusals(two)[0] == []


def test_rows_of_which_only_some_are_quoted_are_not_passed_over() -> None:
    several = [one.split("\n") for one in tables().values() if one.count("\n") > 2]
    assert len(several) > 8
    for header, *rows in several:
        for at, sign in product(range(len(rows)), ("> ", "$ ", "# ")):
            quoted = [header, *rows[:at], sign + rows[at], *rows[at + 1 :], ""]
            made, said = refusals("\n".join(quoted))
            assert (made, said[0].split(" ")[0]) == ([], f"a.txt:{at + 2}:")
    bars = with_bars(DESCRIBE).split("\n")
    assert refusals("\n".join([*bars[:4], "> " + bars[4], *bars[5:]]))[0] == []


def test_a_word_below_a_table_is_no_row_and_is_passed_over_below_a_blank_line() -> None:
    for word in ("thanks!", "Max Power"):
        made, said = refusals(f"{DESCRIBE}{word}\n")
        line = DESCRIBE.count("\n") + 1
        assert made == []
        assert said == [
            f"a.txt:{line}: {word!r} is no row of the table above: "
            "delete the line, or copy the row in full"
        ]
        assert read(f"{DESCRIBE}\n{word}\n")["members"] == read(DESCRIBE)["members"]
        long = DESCRIBE.replace(" coop-2\n", " coop-2-of-a-long-name\n")
        assert refusals(f"{long}{word}\n")[0] == []
        for width in (80, 100, 120):
            assert refusals(wrapped(DESCRIBE, width) + f"{word}\n")[0] == []


def test_a_missing_value_that_a_wiki_wrote_as_a_long_dash_is_no_member() -> None:
    empty = text_of("4.3.1/empty-e-describe.txt")
    for dash in "\u2013\u2014\u2212":
        assert read(re.sub(r"(?<=\s)-(?=\s)", dash, empty)) == read(empty)
