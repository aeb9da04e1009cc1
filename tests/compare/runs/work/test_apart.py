"""A batch that comes to harm loses nothing but what did the harm."""

from random import Random

import pytest

from compare.runs.work.apart import taken_apart
from heuristics.child import Lost


def answers(count: int, harmful: set[int]) -> tuple[dict[int, object], int]:
    """What each row got, and how many calls were lost."""
    lost = 0

    def ask(first: int, end: int) -> range | Lost:
        nonlocal lost
        if harmful.isdisjoint(range(first, end)):
            return range(first, end)
        lost += 1
        return Lost("the child process died")

    got: dict[int, object] = {}
    for first, end, answer in taken_apart(0, count, ask):
        assert list(range(len(got), end))[:1] in ([first], [])
        for row in range(first, end):
            got[row] = answer if isinstance(answer, Lost) else answer[row - first]
    return got, lost


@pytest.mark.parametrize("count", [1, 2, 33, 1_024, 5_000])
def test_only_the_harmful_row_is_lost_and_with_few_deaths(count):
    for harmful in (0, count // 2, count - 1):
        got, lost = answers(count, {harmful})
        assert isinstance(got.pop(harmful), Lost)
        assert got == {row: row for row in range(count) if row != harmful}
        assert lost <= 4


def test_several_harmful_rows_are_each_lost_by_themselves():
    random = Random(14)
    for _ in range(20):
        harmful = set(random.sample(range(1_000), 5))
        got, _ = answers(1_000, harmful)
        assert {row for row, answer in got.items() if isinstance(answer, Lost)} == harmful
        assert len(got) == 1_000


def test_a_batch_that_comes_to_no_harm_is_asked_about_once():
    assert answers(1_024, set()) == ({row: row for row in range(1_024)}, 0)
    assert answers(0, set()) == ({}, 0)
