"""Both sides of a comparison run equally often, in turn."""

import pytest

from studies.in_turn import in_turn


def sides(seconds):
    """Two sides that take so long, by what they say, and the order in which they were called."""
    called = []

    def side(name):
        def run():
            called.append(name)
            return seconds[name]

        return run

    return side("ours"), side("theirs"), called


def test_both_sides_are_warmed_up_and_run_equally_often_and_in_turn():
    ours, theirs, called = sides({"ours": 1.0, "theirs": 3.0})
    came = in_turn(ours, theirs, warm=2, runs=3)
    assert called == ["ours", "theirs"] * 5
    assert (came.protocol, came.medians, came.least, came.times) == ("2 + 3", [1, 3], [1, 3], 3)


@pytest.mark.parametrize(("patience", "protocol"), [(0.0, "1 + 1"), (9.0, "3 + 3")])
def test_a_slow_side_cuts_the_runs_of_both(patience, protocol):
    ours, theirs, _ = sides({"ours": 0.0, "theirs": 3.0})
    came = in_turn(ours, theirs, warm=15, runs=9, patience=patience)
    assert came.protocol == protocol
    assert len({*map(len, came.seconds)}) == 1
