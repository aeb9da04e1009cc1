import random
from dataclasses import replace
from itertools import product

import numpy as np
import pytest

from groups import Group, ProofError
from optimal import ProofKind, Solution, check, solve
from optimal.flow.algorithm import flow
from optimal.loads.candidates import candidates_of
from optimal.loads.lower_bounds import densest, highest_floor, weighted_average
from optimal.proof import Floor
from tests.optimal.judging import (
    REFUSED,
    changed,
    with_owner,
)
from tests.optimal.small_groups import group_of, one_topic


def drawn(rng: random.Random, topics: int, most: int) -> dict[str, object]:
    """Return topics of one to three partitions, each with a lag of at most `most`."""
    return {
        f"t{t}": {"partitions": n, "lag": [rng.randint(0, most) for _ in range(n)]}
        for t, n in enumerate(rng.choices((1, 2, 3), k=topics))
    }


@pytest.fixture
def group() -> Group:
    lags = {"t0": [90, 5, 4, 3, 2, 1], "t1": [2]}
    topics = {topic: {"partitions": len(lag), "lag": lag} for topic, lag in lags.items()}
    return group_of(topics, {"c0": ["t0"], "c1": ["t0"], "c2": ["t0", "t1"]})


@pytest.fixture
def solution(group) -> Solution:
    return solve(group, "balance > peak_lag", method="exchange")


def test_the_floor_says_what_its_members_have_to_carry(solution):
    """One of the readers of t0-0 holds it and one more, the lightest of which weighs 1."""
    assert [term.value for term in solution.terms] == [2, 91]
    assert solution.proof.floor == Floor("crowd", (0, 1, 2), 90)
    assert check(solution.group, solution) == ()


@pytest.mark.parametrize(
    ("floor", "message"),
    [
        (None, "floor is missing"),
        (Floor("average", (0, 1, 2)), "floor: the average bounds peak_lag by 36, not by 91"),
        (Floor("average", (0, 1)), "floor: the average bounds peak_lag by 0, not by 91"),
        (Floor("crowd", (0, 1), 90), "floor: the crowd bounds peak_lag by"),
        (Floor("crowd", (0, 1, 2), 91), "floor: the crowd bounds peak_lag by 90, not by 91"),
        (Floor("crowd", (0, 1, 2), 5), "floor: the crowd bounds peak_lag by 90, not by 91"),
        (Floor("crowd", (0, 1, 3), 90), "floor.members: an index outside the group's members"),
    ],
)
def test_a_floor_that_shows_less_than_the_peak_is_refused(solution, floor, message):
    with pytest.raises(ProofError, match=message):
        check(solution.group, changed(solution, floor=floor))


def test_a_certificate_of_a_peak_comes_back_from_its_document(solution):
    document = solution.to_dict()
    assert document["proof"]["floor"] == {
        "bound": "crowd", "members": ["c0", "c1", "c2"], "at_least": 90,
    }  # fmt: skip
    assert Solution.from_dict(solution.group, document).proof.floor == solution.proof.floor


@pytest.mark.parametrize("last", ["lag_balance", "lag_spread"])
@pytest.mark.parametrize(
    ("before", "lags", "members"),
    [("balance > peak_lag", [90, 5, 4, 3, 2, 1], 3), ("balance", [5, 4, 3, 2], 2)],
)
def test_loads_that_could_be_more_even_are_refused(before, lags, members, last):
    """Beside 90 with 1, or by themselves, 5, 4, 3 and 2 make 7 and 7."""
    group = one_topic(lags, members)
    genuine = solve(group, f"{before} > {last}", method="exchange")
    assert check(group, genuine) == ()
    fives = lags.index(5)
    owner = genuine.assignment.owner.copy()
    owner[[fives, fives + 1]] = owner[[fives + 1, fives]]
    with pytest.raises(ProofError, match=f"{last}: the loads show"):
        check(group, with_owner(genuine, owner))


def test_the_lags_that_the_floor_is_about_are_those_of_the_group(solution):
    """A solution of other lags is judged by the lags of the group it is held against."""
    group = solution.group
    lag = group.lag_records.copy()
    lag[5] = 0
    with pytest.raises((ProofError, *REFUSED), match="peak_lag"):
        check(replace(group, lag_records=lag), solution)


def test_weights_say_what_members_carry_that_have_to_take_some_of_a_topic():
    """t1 has two places for three readers: c1 and c2 have one of them, at best of lag 4."""
    lags = {"t0": [6, 9, 8], "t1": [9, 4]}
    topics = {topic: {"partitions": len(lag), "lag": lag} for topic, lag in lags.items()}
    reads = {"c0": ["t1"], "c1": ["t0", "t1"], "c2": ["t0", "t1"]}
    weighted = solve(group_of(topics, reads), "kip-169", method="exchange")
    assert [(term.value, term.bound) for term in weighted.terms] == [(7, 7), (14, 14)]
    assert (weighted.proof.kind, weighted.proof.floor) == (ProofKind.SOLVER, None)


@pytest.mark.parametrize("seed", range(2))
def test_no_weights_bound_a_peak_above_the_best_of_all_assignments(seed):
    rng, above_average = random.Random(f"weights {seed}"), 0
    for _ in range(60):
        topics = drawn(rng, 3, 9)
        reads = {f"c{m}": [t for t in topics if rng.random() < 0.6] for m in range(3)}
        group = group_of(topics, reads)
        best = solve(group, "kip-169", method="brute")
        flowed = flow(group, ("topic_balance",)).proof
        candidates = candidates_of(group, ("topic_balance",), flowed, group.lag_records)
        bound = weighted_average(candidates)
        assert bound <= best.terms[1].value
        above_average += bound > highest_floor(candidates)[0]
    assert above_average > 3


def test_the_set_that_has_most_to_carry_on_average_is_found():
    """No set of members has more, rounded up, of what nobody else reads, beside all others."""
    rng, smaller = random.Random("densest"), 0
    for _ in range(150):
        topics = drawn(rng, 4, 99)
        reads = {f"c{m}": [t for t in topics if rng.random() < 0.4] for m in range(4)}
        group = group_of(topics, reads)
        flowed = flow(group, ("balance",)).proof
        candidates = candidates_of(group, (), flowed, group.lag_records)
        weight = np.bincount(candidates.kind, candidates.size, len(candidates.may))

        def average(members, candidates=candidates, weight=weight):
            only = ~candidates.may[:, ~members].any(axis=1)
            return -(-int(weight[only].sum()) // int(members.sum()))

        sets = [np.array(one, bool) for one in product((False, True), repeat=4) if any(one)]
        found = densest(candidates)
        assert average(found) == max(map(average, sets))
        smaller += not found.all()
    assert smaller > 50


@pytest.mark.parametrize("members", [(), (1, 0), (0, 0), [0], (True,), (0.5,)])
def test_members_of_a_floor_are_ascending_indices(members):
    with pytest.raises(ProofError, match=r"^floor\.members: "):
        Floor("crowd", members)
