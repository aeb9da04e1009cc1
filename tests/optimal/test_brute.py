import random
from itertools import product

import numpy as np
import pytest

from groups import TIERS, Assignment, BadInput, values
from optimal.brute import brute
from optimal.proof import ProofKind
from optimal.solution import Status, Stopped
from optimal.solve import solve
from tests.optimal.random_groups import random_group
from tests.optimal.small_groups import group_of


def first_best(group, objective):
    """The first of the best assignments, one by one, scored by groups.tiers."""
    readers = [
        [m for m in range(len(group.members)) if group.subscribes(np.array([m]), [t])[0]] or [-1]
        for t in group.topic.tolist()
    ]
    rows = (np.array(row, np.int32) for row in product(*readers))
    scored = ((values(Assignment(group, row), objective), row) for row in rows)
    return min(scored, key=lambda found: found[0])


@pytest.mark.parametrize("tier", TIERS)
def test_the_least_value_of_every_tier_is_what_scoring_each_assignment_finds(tier):
    rng = random.Random(f"brute {tier}")
    for _ in range(25):
        group = random_group(rng, members=3, partitions=5)
        second = rng.choice([other for other in TIERS if other != tier])
        claim = brute(group, (tier, second))
        expected, row = first_best(group, (tier, second))
        assert claim.bounds == expected
        assert claim.owner.tolist() == row.tolist()


def test_a_claim_of_exhaustion_is_proved_and_its_bounds_are_its_values():
    group = group_of({"t0": 3}, {"c0": ["t0"], "c1": ["t0"]}, {"c1": {"t0": [0, 1]}})
    claim = brute(group, ("balance", "stickiness"))
    assert (claim.stopped, claim.proof.kind) == (Stopped.PROOF, ProofKind.EXHAUSTION)
    assert (
        claim.bounds == (1, 0) == values(Assignment(group, claim.owner), ("balance", "stickiness"))
    )


def test_of_the_best_assignments_the_lexicographically_first_is_returned():
    group = group_of({"t0": 2, "t1": 2}, {"c0": ["t0", "t1"], "c1": ["t0", "t1"]})
    assert brute(group, ("balance",)).owner.tolist() == [0, 0, 1, 1]


def test_partitions_that_nobody_reads_stay_with_nobody():
    group = group_of({"t0": 1, "t1": 2}, {"c0": ["t0"], "c1": []})
    assert brute(group, ("balance",)).owner.tolist() == [0, -1, -1]


@pytest.mark.parametrize(
    ("topics", "subscriptions"),
    [({}, {}), ({"t0": 2}, {}), ({}, {"c0": []}), ({"t0": 0}, {"c0": ["t0"]})],
)
def test_a_group_with_nothing_to_assign_costs_nothing_in_any_tier(topics, subscriptions):
    group = group_of(topics, subscriptions)
    claim = brute(group, tuple(TIERS))
    assert set(claim.bounds) == {0}
    assert (claim.owner == -1).all()


def test_twenty_partitions_of_two_members_are_refused_with_their_number():
    group = group_of({"t0": 20}, {"c0": ["t0"], "c1": ["t0"]})
    with pytest.raises(BadInput, match="method brute: 1048576 assignments, more than the 1000000"):
        brute(group, ("balance",))


def test_auto_enumerates_what_fits_in_one_table_and_says_so():
    """Sixteen assignments, whose lags near 2^46 say little to a search."""
    lags = [52085204366413, 41649134982478, 46279983211161, 68459243418258]
    topics = {"t0": {"partitions": 4, "lag": lags}}
    group = group_of(topics, {"c0": ["t0"], "c1": ["t0"]})
    found = solve(group, ("lag_spread", "balance"))
    assert (found.method, found.status, found.proof.kind) == (
        "brute", Status.OPTIMAL, ProofKind.EXHAUSTION
    )  # fmt: skip
    assert [term.value for term in found.terms] == list(first_best(group, found.objective)[0])
    assert found.terms[0].value == 11743190823162


@pytest.mark.parametrize(
    ("partitions", "members", "table"), [(14, 2, True), (15, 2, False), (10, 4, False)]
)
def test_auto_leaves_what_fits_in_no_table_to_exchange_or_cp_sat(partitions, members, table):
    topics = {"t0": {"partitions": partitions, "lag": [0] * partitions}}
    group = group_of(topics, {f"c{m}": ["t0"] for m in range(members)})
    assert solve(group, "peak_lag").method == ("brute" if table else "exchange")
    assert solve(group, "lag_spread").method == ("brute" if table else "exchange")
    assert solve(group, "idle_members").method == ("brute" if table else "cp-sat")
    assert solve(group, "balance").method in ("flow", "closed-form")
    assert solve(group, "peak_lag", method="cp-sat").method == "cp-sat"


def test_a_number_of_assignments_beyond_print_is_refused_as_a_power_of_ten():
    group = group_of({"t0": 1_000_000}, {f"c{m}": ["t0"] for m in range(10)})
    with pytest.raises(BadInput, match=r"about 10\^1000000 assignments"):
        brute(group, ("balance",))


def test_a_tier_without_its_data_is_refused():
    group = group_of({"t0": 1}, {"c0": ["t0"]})
    with pytest.raises(BadInput, match=r"topics.t0.lag\[0\]: unknown, but tier peak_lag needs it"):
        brute(group, ("balance", "peak_lag"))


def test_out_of_time_nothing_is_said_to_be_proved():
    group = group_of({"t0": 19}, {"c0": ["t0"], "c1": ["t0"]})
    claim = brute(group, ("balance", "stickiness"), time_limit=0)
    assert claim.bounds == (None, None)
    assert (claim.stopped, claim.proof.kind) == (Stopped.TIME_LIMIT, ProofKind.NONE)
