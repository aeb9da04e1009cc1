import pytest

from assay.commands.options import Asked
from assay.commands.score import score_document, show_group
from compare.judged import judge
from compare.lag.behind import is_read, sentences_without_reader, without_reader
from compare.overview import glance_of
from compare.scores import ScoredGroup
from groups import Group
from tests.optimal.small_groups import document


def at(committed, end):
    return {"beginning": 0, "end": end, "committed": committed}


def group_of(*left, reads=("t",), members=2, **more):
    """Return a group whose members own a partition of t each; `left` are offsets of topic left."""
    topics = {
        "left": {"partitions": len(left), "offsets": list(left)},
        "never": {"partitions": 3, "offsets": [at(None, 500)] * 3},
        "t": {"partitions": 2, "offsets": [at(9, 9)] * 2},
    }
    described = {
        f"m{i}": {"subscription": reads and list(reads), "owned": {"t": [i]}}
        for i in range(members)
    }
    return Group.from_dict(document(topics, described, **more))


@pytest.mark.parametrize(
    ("left", "reads", "said"),
    [
        ([at(10, 1000), at(0, 3010)], ("t",),
         "2 partitions that nobody reads (left) have commits; 4,000 records wait there."),
        ([at(9, 10)], ("t",),
         "1 partition that nobody reads (left) has a commit; 1 record waits there."),
        ([at(10, 10)], ("t",),
         "1 partition that nobody reads (left) has a commit; no record waits there."),
        ([at(0, 5), at(0, None), at(None, 99)], ("t",),
         "2 partitions that nobody reads (left) have commits; at least 5 records wait there."),
        ([at(0, None)], ("t",),
         "1 partition that nobody reads (left) has a commit; how many records wait in it is not "
         "known."),
        # Consoles do not print who reads what.
        ([at(0, 7)], None,
         "1 partition that nobody is known to read (left) has a commit; 7 records wait there."),
    ],
)  # fmt: skip
def test_what_waits_where_nobody_reads_any_more_is_said(left, reads, said):
    found = without_reader(group_of(*left, reads=reads))
    assert found is not None
    assert found.sentence() == said


@pytest.mark.parametrize("more", [{}, {"reads": ("left", "t")}, {"members": 0}])
def test_nothing_is_said_of_what_nobody_ever_read_what_somebody_reads_or_a_group_without(more):
    # For a group without members the verdict is enough.
    assert without_reader(group_of(at(0, 99) if more else at(None, 99), **more)) is None


def test_one_group_says_so_beside_its_verdict_and_so_does_its_document(capsys):
    (one,) = judge([group_of(at(0, 7), at(None, 7))])
    scored = ScoredGroup(one, one.reference, [])
    show_group(scored, Asked(sources=["groups.txt"], group=one.group.name))
    assert capsys.readouterr().out.splitlines()[:2] == [
        "g: as good as can be in balance > moves. 2 members hold 1 each of 2 partitions.",
        "1 partition that nobody reads (left) has a commit; 7 records wait there.",
    ]
    written = score_document(scored, ("balance", "stickiness"), ())
    assert written["without_reader"] == {
        "partitions": 1, "topics": ["left"], "records": 7, "unknown": 0,
    }  # fmt: skip
    (one,) = judge([group_of(at(None, 7))])
    scored = ScoredGroup(one, None, [])
    assert score_document(scored, ("balance",), ())["without_reader"] is None


def test_a_line_of_an_overview_counts_the_partitions_that_the_single_view_counts():
    group = group_of(at(0, 7), at(None, 7))
    assert is_read(group).tolist() == [False] * 5 + [True] * 2
    (one,) = judge([group])
    assert glance_of(one).partitions == 2


def test_of_several_groups_those_where_most_waits_are_named_and_the_others_counted():
    groups = [group_of(at(0, i), group=f"g{i}") for i in range(6)]
    said = sentences_without_reader([*groups, group_of(at(None, 9), group="silent")])
    assert [line.split(":")[0] for line in said] == [
        "g5", "g4", "g3", "3 more groups have partitions with commits and no reader.",
    ]  # fmt: skip
    assert said[0] == (
        "g5: 1 partition that nobody reads (left) has a commit; 5 records wait there."
    )
    assert len(sentences_without_reader(groups[:3])) == 3
