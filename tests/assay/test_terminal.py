"""Tables on a terminal of 80 columns, and redirected."""

import json
import re
from pathlib import Path

import pytest

from assay import terminal
from assay.commands.promises import print_finding
from assay.terminal import Column, show_table
from compare.promises.findings import Finding
from groups import Group
from tests.assay.calling import ALL_GROUPS, ASSAY, LOPSIDED, assay, on_a_terminal

CORPUS = Path(__file__).parents[2] / "corpus"
LONG = "payments-settlement-consumer-eu-west-1"


def shown(monkeypatch, capsys, columns: int | None, heads: str, *rows: tuple, **how) -> list[str]:
    """Return the lines of a table with these rows; `how` has the options of columns by head."""
    monkeypatch.setattr(terminal, "width", lambda: columns)
    specs = (
        Column(head, lambda row, at=at: row[at], **how.get(head, {}))
        for at, head in enumerate(heads.split(", "))
    )
    show_table(rows, *specs)
    return capsys.readouterr().out.splitlines()


def test_redirected_tables_keep_whole_names_and_what_rich_takes_for_markup(monkeypatch, capsys):
    rows = [(LONG * 10, 4), ("pip install kafka-assay[java]", 5)]
    _, long, brackets = shown(monkeypatch, capsys, None, "member, now", *rows)
    assert long == f"{LONG * 10}    4"
    assert brackets.split("  ")[0] == "pip install kafka-assay[java]"


def test_numbers_end_at_the_same_place_and_what_is_unknown_is_a_dash(monkeypatch, capsys):
    rows = [("a", 5, "x1", "0.25", True), ("b", 12_000, None, None, False)]
    heads, right = "member, now, mine, ratio, fits", {"right": True}
    assert shown(monkeypatch, capsys, None, heads, *rows, ratio=right) == [
        "member     now  mine  ratio  fits",
        "a            5  x1     0.25  yes",
        "b       12,000  -         -  no",
    ]


def test_notes_stand_behind_numbers_that_end_at_the_same_place(monkeypatch, capsys):
    rows = [("a", ("18", " (+14)")), ("b", ("4", "")), ("c", ("104", " (+100)")), ("d", None)]
    assert shown(monkeypatch, capsys, None, "name, balance", *rows) == [
        "name     balance",
        "a      18 (+14)",
        "b       4",
        "c     104 (+100)",
        "d       -",
    ]


def test_names_are_cut_at_their_end_and_the_widest_give_way_first(monkeypatch, capsys):
    assert shown(monkeypatch, capsys, 36, "member, now, host", (LONG, 4, "10.0.0.1")) == [
        "member                 now  host",
        "payments-settlement-…    4  10.0.0.1",
    ]


def test_heads_go_on_in_a_second_line_before_a_name_is_cut(monkeypatch, capsys):
    row = (LONG[:20], 4, 5)
    assert shown(monkeypatch, capsys, 40, "member, partitions now, best loads", row) == [
        "                      partitions   best",
        "member                       now  loads",
        "payments-settlement-           4      5",
    ]


def test_columns_are_left_out_in_order_where_even_short_names_do_not_fit(monkeypatch, capsys):
    row = (LONG, "shipped", "called as it is", 4)
    how = {"member": {"whole": True}, "kind": {"gives_way": 2}, "source": {"gives_way": 1}}
    for columns, heads in ((64, ["kind", "now"]), (47, ["now"])):
        lines = shown(monkeypatch, capsys, columns, "member, kind, source, now", row, **how)
        assert lines[0].split() == ["member", *heads]
        assert lines[1].startswith(f"{LONG}  ")
        assert max(map(len, lines)) <= columns


def test_columns_that_still_do_not_fit_follow_below_with_the_names_again(monkeypatch, capsys):
    heads = ", ".join(["event", *(f"number{n}" for n in range(9))])
    lines = shown(monkeypatch, capsys, 40, heads, ("start", *range(9)))
    assert max(map(len, lines)) <= 40
    assert [line.split()[0] for line in lines] == ["event", "start"] * 3
    assert " ".join(lines[1::2]).split() == [
        "start", "0", "1", "2", "start", "3", "4", "5", "start", "6", "7", "8",
    ]  # fmt: skip


def test_words_of_a_row_go_on_in_the_next_line(monkeypatch, capsys):
    row = ("c0", f"1 to c1, 2 to {LONG}, 3 to c2")
    assert shown(monkeypatch, capsys, 30, "member, gives", row) == [
        "member  gives",
        "c0      1 to c1, 2 to",
        "        payments-settlement-c…",
        "        3 to c2",
    ]


def test_wide_letters_take_two_columns(monkeypatch, capsys):
    _, wide, narrow = shown(monkeypatch, capsys, 30, "member, now", ("漢" * 20, 4), ("ab", 5))
    assert wide == f"{'漢' * 12}…    4"
    assert narrow == f"ab{' ' * 27}5"


@pytest.mark.parametrize(
    ("value", "blocks", "plain"),
    [
        (0, "", ""),
        (1, "▏", "#"),
        (50, "█████", "#####"),
        (55, "█████▌", "######"),
        (100, "█" * 10, "#" * 10),
    ],
)
def test_a_bar_is_as_long_as_its_value_and_nothing_only_for_0(monkeypatch, value, blocks, plain):
    for has, expected in ((True, blocks), (False, plain)):
        monkeypatch.setattr(terminal, "_has_blocks", lambda has=has: has)
        assert terminal.bar(value, most=100, width=10) == expected
        assert terminal.bar(0, most=0, width=10) == ""


def test_a_finding_with_long_names_fits_too(monkeypatch, capsys):
    monkeypatch.setattr(terminal, "width", lambda: 80)
    topics = {f"{LONG}-{n}": 5 for n in range(4)}
    members = {LONG: {"subscription": [*topics], "owned": {t: [0, 2] for t in topics}}}
    group = Group.from_dict(LOPSIDED | {"topics": topics, "members": members})
    print_finding(Finding.of("range", "balanced", group, {"loads": [*range(40)]}), 1.0)
    lines = capsys.readouterr().out.splitlines()
    assert max(map(len, lines)) <= 80
    said = " ".join(lines).split()
    assert all(f"{topic}" in said for topic in topics)
    assert [word for word in said if word.startswith(LONG[:9]) and word.endswith("…")]


COMMANDS = {
    "score of many": ("score", ALL_GROUPS),
    "score": (
        "score", "long.json", "--objective", "balance > topic_balance > stickiness",
        "--assignor", "range", "--assignor", "kafka-java/cooperative-sticky@9.9",
    ),
    "solve": ("solve", "long.json"),
    "assignors": ("assignors",),
    "scenario": ("scenario", CORPUS / "scenarios/deploy.json", "--assignor", "kip-54-sticky"),
    "rollout": ("scenario", CORPUS / "scenarios/downgrade.json"),
}  # fmt: skip


@pytest.fixture(scope="module")
def long_names(tmp_path_factory) -> Path:
    """A group with names as long as in deployments."""
    folder = tmp_path_factory.mktemp("long")
    topics = {f"{LONG}-topic-{n}": 8 for n in range(3)}
    ids = [f"{LONG}-{n}-9e9480e3-fb86-495b-a540-9a7c10bdb384" for n in range(4)]
    members = {m: {"subscription": [*topics], "owned": {}} for m in ids}
    members[ids[0]]["owned"] = {topic: [*range(0, 8, 2)] for topic in topics}
    document = LOPSIDED | {"group": LONG, "topics": topics, "members": members}
    (folder / "long.json").write_text(json.dumps(document))
    return folder


@pytest.mark.parametrize("name", COMMANDS)
def test_80_columns_suffice_and_no_word_is_broken(long_names, monkeypatch, name):
    whole = set(assay(*COMMANDS[name], cwd=long_names).stdout.split())
    monkeypatch.setattr(terminal, "width", lambda: 80)
    text = assay(*COMMANDS[name], cwd=long_names).stdout
    # A command is to be copied as it is.
    lines = [line for line in text.splitlines() if "one group in full: " not in line]
    assert [line for line in lines if len(line) > 80 and " " in line.strip()] == []
    times = re.compile(r"\d+\.\d+")
    for word in {word for line in lines for word in line.split()} - whole:
        assert times.fullmatch(word) or (
            word.endswith("…") and any(one.startswith(word[:-1]) for one in whole)
        ), word


def test_bars_are_blocks_where_the_terminal_has_them_and_plain_elsewhere(long_names):
    """And a terminal's width is found out, and no colour is written to it."""
    program = [ASSAY, *COMMANDS["score"]]
    plain, xterm = (
        on_a_terminal(program, long_names, TERM=term, LC_ALL="C.UTF-8")[0].replace("\r\n", "\n")
        for term in ("dumb", "xterm")
    )
    times = re.compile(r"\d+\.\d{4}")
    assert "#" * 20 in plain
    assert "\x1b" not in plain
    assert max(map(len, plain.splitlines())) <= 80
    assert times.sub("", plain.replace("#", "█")) == times.sub("", xterm)
