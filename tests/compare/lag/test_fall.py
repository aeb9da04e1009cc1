import random
from fractions import Fraction
from itertools import product

import pytest

from compare.lag.fall import worth_moving
from groups import Assignment, BadInput, Group, values
from tests.compare.conftest import holding
from tests.optimal.small_groups import every_assignment
from tests.seeds import for_each

TIERS = ("balance", "stickiness", "peak_lag")


def late(rng: random.Random) -> Group:
    names = ["a", "b", "c"]
    lag = [rng.randint(0, 60) for _ in range(6)]
    owned: dict[str, list[int]] = {name: [] for name in names}
    for p in range(6):
        owned[names[min(rng.randrange(3), rng.randrange(3))]].append(p)
    return Group.from_dict(holding(lag, owned))


@for_each(range(12))
def test_it_is_left_alone_or_moved_least_as_exhaustion_says(seed):
    group = late(random.Random(seed))
    (now,) = values(Assignment.current(group), ("peak_lag",))
    scored = [values(one, TIERS) for one in every_assignment(group)]
    even = [one for one in scored if one[0] == min(scored)[0]]
    asked = {"peak_lag": scored, "balance > peak_lag": even}
    shares = (Fraction(1, 20), Fraction(1, 4), Fraction(1, 2), Fraction(3, 4))
    for (objective, known), falls in product(asked.items(), shares):
        found = worth_moving(group, falls, objective)
        enough = [one for one in known if one[2] <= now * (1 - falls)]
        assert (found.leave, found.sure, found.now) == (not enough, True, now)
        assert found.found == found.bound == min(one[2] for one in known)
        if enough:
            fewest = min(one[1] for one in enough)
            held = values(found.solution.assignment, TIERS)
            assert (held[1], found.fewest) == (fewest, fewest)
            assert held in enough


def test_a_share_may_be_a_percentage():
    group = late(random.Random(1))
    for text, share in (("25%", 0.25), ("12.5%", "1/8"), ("100%", 1)):
        assert worth_moving(group, text).wanted == worth_moving(group, share).wanted


def test_where_nobody_is_behind_nothing_is_worth_moving():
    group = Group.from_dict(holding([0] * 6, {"a": [0, 1, 2, 3], "b": [4, 5]}))
    found = worth_moving(group, 0.01)
    assert (found.leave, found.sure, found.now) == (True, True, 0)


def test_of_a_larger_group_few_moves_are_found_and_the_bound_on_them_is_true():
    rng = random.Random(4)
    lag = [int(rng.lognormvariate(8, 1)) for _ in range(400)]
    owned = {f"m{i}": [] for i in range(10)}
    for p in range(400):
        owned[f"m{int(rng.random() ** 2 * 10)}"].append(p)
    group = Group.from_dict(holding(lag, owned))
    found = worth_moving(group, 0.25, "peak_lag", time_limit=10)
    moves, peak = values(found.solution.assignment, TIERS[1:])
    assert peak <= found.wanted == found.now * 3 // 4
    assert found.fewest <= moves <= 10


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        *(((share,), "^falls_by: ") for share in (0, -0.1, 1.01, "x", "1/0", None)),
        *(((share,), "^falls_by: ") for share in ("0%", "101%", "x%", "5%%", "%")),
        ((0.1, "kip-54"), "objective: no peak in balance > moves"),
    ],
)
def test_what_cannot_be_asked_is_refused(asked, message):
    with pytest.raises(BadInput, match=message):
        worth_moving(late(random.Random(1)), *asked)


def test_what_is_not_valid_cannot_be_left_alone():
    group = Group.from_dict(holding([5, 5], {"a": [], "b": [0]}))
    with pytest.raises(BadInput, match="g: what the members hold cannot be left alone, it is not"):
        worth_moving(group, 0.1)
