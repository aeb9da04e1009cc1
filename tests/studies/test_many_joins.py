"""Kafka's client assignors on many small groups: those that hang are told, all others counted."""

import pytest

from compare.samples.enumerated import Small
from compare.samples.joins import joins
from groups import BadInput
from heuristics import assignor_named
from studies.many_joins import hanging, line_of

HANGS = Small(
    (5, 10), ((0,), (0,), (0, 1), (1,), (1,)), (1, 1, 0, 0, 0, 3, 3, 3, 3, 3, 4, 4, 4, 4, 4)
)


def called() -> None:
    reason = assignor_named("kafka-java/sticky@4.4.0").missing()
    if reason is not None:
        pytest.skip(reason)


@pytest.mark.parametrize("assignor", ["sticky", "cooperative-sticky"])
def test_what_hangs_is_told_and_what_comes_after_it_is_answered(assignor):
    called()
    groups = [*joins(3, 2, 3, new=1)]
    told = list(hanging([*groups, HANGS, *groups[:7]], assignor, "4.4.0", 300))
    assert told == [len(groups), HANGS, 7]


def test_a_group_is_one_line():
    assert line_of(Small((2, 1), ((0,), (0, 1)), (0, 0, -1))) == "2,1;0,0 1;0,0,-1\n"


def test_a_release_that_is_not_here_is_refused():
    with pytest.raises(BadInput, match=r"assay fetch kafka-java@2\.4\.9"):
        list(hanging([HANGS], "sticky", "2.4.9"))
