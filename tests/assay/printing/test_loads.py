import numpy as np
import pytest

from assay import Group
from assay.printing import terminal
from assay.printing.loads import print_loads
from compare.judged import judge
from tests.assay.calling import EVEN, LOPSIDED


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


def test_of_nothing_at_all_there_is_no_bar():
    assert terminal.bar(0, most=0, width=10) == ""


def lines_of(capsys, document):
    (judged,) = judge([Group.from_dict(document)])
    print_loads(judged)
    return capsys.readouterr().out.splitlines()


def uneven(members):
    """Members that read a topic each, with 1 partition, 2 and so on: nothing should move."""
    topics = {f"t{i:02}": i + 1 for i in range(members)}
    reads = {
        f"c{t[1:]}": {"subscription": [t], "owned": {t: [*range(n)]}} for t, n in topics.items()
    }
    return LOPSIDED | {"topics": topics, "members": reads}


def test_who_gives_what_to_whom_stands_beside_the_bar(capsys):
    assert [line.split() for line in lines_of(capsys, LOPSIDED)] == [
        ["member", "now", "best", "gives"],
        ["c0", "#" * 20, "5", "3", "2", "to", "c1"],
        ["c1", "0", "2"],
    ]


def test_loads_that_differ_for_good_reason_are_shown_too(capsys):
    assert [line.split() for line in lines_of(capsys, uneven(3))] == [
        ["member", "now"],
        ["c02", "#" * 20, "3"],
        ["c01", "#" * 13, "2"],
        ["c00", "#" * 7, "1"],
    ]


def test_even_loads_take_no_lines(capsys):
    assert lines_of(capsys, EVEN) == []
    assert lines_of(capsys, EVEN | {"members": {}}) == []


def test_of_many_members_the_most_uneven_are_shown_and_the_rest_counted(capsys):
    _, *lines, more = lines_of(capsys, uneven(30))
    loads = [int(line.split()[-1]) for line in lines]
    assert loads == [30, 29, 28, 27, 26, 25, 6, 5, 4, 3, 2, 1]
    assert np.mean(loads) == 15.5
    assert more == "and 18 more"
