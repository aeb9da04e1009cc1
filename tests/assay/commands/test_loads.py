import numpy as np

from assay import Group
from assay.commands.score import show_loads
from compare.judged import judge
from tests.assay.calling import EVEN, LOPSIDED


def lines_of(capsys, document):
    (judged,) = judge([Group.from_dict(document)])
    show_loads(judged)
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
