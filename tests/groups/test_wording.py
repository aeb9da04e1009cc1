import doctest

import pytest

from groups import wording
from groups.wording import duration, rounded


def test_the_examples_are_true():
    assert doctest.testmod(wording).failed == 0


@pytest.mark.parametrize(
    ("number", "said"),
    [
        (0, "0"), (999, "999"), (1000, "1,000"), (9999, "9,999"), (10_000, "10 k"),
        (999_499, "999 k"), (999_500, "1.0 M"), (2**62, "4611686 T"),
    ],
)  # fmt: skip
def test_a_rounded_number_never_has_a_unit_too_small(number, said):
    assert rounded(number) == said


@pytest.mark.parametrize(
    ("seconds", "said"),
    [
        (0, "0 s"), (59, "59 s"), (60, "1 min"), (90, "1 min 30 s"),
        (3599, "59 min 59 s"), (3600, "1 h"),
        (5400, "1 h 30 min"), (86_399, "1 d"), (90_000, "1 d 1 h"), (10**9, "11,574 d 2 h"),
    ],
)  # fmt: skip
def test_a_duration_has_two_units_at_most_and_no_sixty_minutes(seconds, said):
    assert duration(seconds) == said
