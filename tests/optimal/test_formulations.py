"""Each formulation has the optimum that exhaustion proves, exhaustion that of a plain loop."""

import random
import sys

import pytest

from groups import TIERS, Assignment, BadInput, values
from optimal.brute import brute
from optimal.cpsat import cpsat
from optimal.ilp import ilp
from optimal.proof import ProofKind
from optimal.solution import Stopped
from optimal.solve import solve
from tests.optimal.random_groups import random_group
from tests.optimal.small_groups import every_assignment, group_of, lopsided, one_topic

FORMULATIONS = [cpsat, ilp]


def assert_equals_exhaustion(formulation, group, objective):
    claim, truth = formulation(group, objective, time_limit=None), brute(group, objective)
    found = Assignment(group, claim.owner)
    assert found.is_valid
    assert claim.bounds == truth.bounds == values(found, objective), (objective, group.to_dict())
    assert (claim.stopped, claim.proof.kind) == (Stopped.PROOF, ProofKind.SOLVER)


@pytest.mark.parametrize("method", [brute, *FORMULATIONS])
def test_after_a_lag_tier_the_pairwise_score_decides_and_not_the_sum_of_squares(method):
    """The least peak leaves loads of 13, 4, 4 (score 18) or of 12, 7, 2 (20, fewer squares)."""
    lags = {"four": [4], "twos": [2, 2], "ones": [1] * 4, "idle": [0] * 11, "still": [0] * 3}
    topics = {t: {"partitions": len(listed), "lag": listed} for t, listed in lags.items()}
    reads = {
        "c0": ["four", "twos", "idle"],
        "c1": ["four", "ones", "still"],
        "c2": ["twos", "ones"],
    }
    group = group_of(topics, reads)
    claim = method(group, ("peak_lag", "balance"), time_limit=None)
    assert sorted(Assignment(group, claim.owner).loads.tolist()) == [4, 4, 13]
    assert claim.bounds == (4, 18)


@pytest.mark.parametrize("formulation", [brute, *FORMULATIONS])
def test_a_group_with_nothing_to_assign_costs_nothing_in_any_tier(formulation):
    for topics, members in (({}, 0), ({}, 1), ({"t0": 0}, 3), ({"t0": 2}, 0), ({"t0": 2}, 3)):
        reads = {f"c{m}": ["t0"] if topics == {"t0": 0} else [] for m in range(members)}
        group = group_of(topics, reads, racks=["a"] * members, hosts=["a"] * members)
        claim = formulation(group, tuple(TIERS), time_limit=None)
        assert claim.bounds == (0,) * len(TIERS)
        assert (claim.owner == -1).all()


@pytest.mark.parametrize("formulation", FORMULATIONS)
@pytest.mark.parametrize("seconds", [0, 0.01, 0.03, 0.1])
def test_under_a_time_limit_every_bound_holds_and_out_of_time_nothing_is_said_to_be_proved(
    formulation, seconds
):
    rng = random.Random(seconds)
    group = one_topic([rng.randint(10**3, 10**4) for _ in range(60)], members=20)
    objective = ("lag_balance", "balance", "stickiness")
    claim = formulation(group, objective, time_limit=seconds)
    assert (claim.stopped, claim.proof.kind) == (Stopped.TIME_LIMIT, ProofKind.NONE)
    assert claim.bounds[1:] == (None, None)
    if claim.owner is None:
        assert claim.bounds[0] is None
    else:
        found = Assignment(group, claim.owner)
        assert found.is_valid
        assert claim.bounds[0] is None or claim.bounds[0] <= values(found, objective)[0]
    for _ in range(4):
        group = random_group(rng, members=4, partitions=9)
        objective = tuple(rng.sample(list(TIERS), 3))
        claim, best = formulation(group, objective, time_limit=seconds), brute(group, objective)
        for bound, optimum in zip(claim.bounds, best.bounds, strict=True):
            assert bound is None or bound <= optimum
        if claim.stopped is Stopped.PROOF:
            assert claim.bounds == best.bounds


@pytest.mark.parametrize(
    ("sizes", "members", "tier"),
    [
        ([110150152126, 77933632641, 53743544710, 107873129963, 16803416483], 4, "lag_spread"),
        ([52085204366413, 41649134982478, 46279983211161, 68459243418258], 2, "weight_spread"),
    ],
)
def test_cp_sat_is_right_where_its_presolve_is_wrong(sizes, members, tier):
    """google/or-tools issue 5293: lags beyond 32 bits, proved optimal at 107873129963."""
    assert_equals_exhaustion(cpsat, one_topic(sizes, members), (tier,))


def test_where_cp_sat_with_presolve_finds_no_assignment_it_is_asked_without(monkeypatch):
    """The same issue at the second tier, where the first one's answer is an assignment."""
    monkeypatch.setattr("optimal.cpsat.PRESOLVED", 2**62)
    group = one_topic([7459721947, 29470747705, 32866509449, 14210761063], members=4, owned=[0, 1])
    assert_equals_exhaustion(cpsat, group, ("lag_spread", "stickiness"))


@pytest.mark.parametrize(
    ("formulation", "place", "lower", "bound"),
    [
        (cpsat, "optimal.cpsat._bound", lambda solver, cost, _: int(solver.value(cost)) - 1, 5),
        (ilp, "optimal.ilp.SLACK", -1, 6),
    ],
)
def test_where_a_solver_finds_no_assignment_the_best_one_known_is_the_answer(
    monkeypatch, formulation, place, lower, bound
):
    """A limit below the least cost of the first tier leaves the solver nothing to find."""
    monkeypatch.setattr(place, lower)
    group = one_topic([5, 4, 3, 3], members=3)
    answer = formulation(group, ("peak_lag", "lag_spread"), time_limit=None)
    assert (answer.bounds, answer.stopped) == ((bound, None), Stopped.TIME_LIMIT)
    assert values(Assignment(group, answer.owner), ("peak_lag",)) == (6,)
    assert answer.proof.kind is ProofKind.NONE


@pytest.mark.parametrize(
    ("formulation", "bits"), [(cpsat, 31), (cpsat, 40), (cpsat, 52), (ilp, 23)]
)
def test_lags_of_many_bits_lose_no_unit(formulation, bits):
    rng = random.Random(bits)
    for _ in range(3):
        lags = [2**bits // 14 - rng.randint(0, 3) for _ in range(7)]
        group = one_topic(lags, members=3, owned=[0, 1, 2], capacities=[1, 3, 5])
        unknown = {tier for tier in TIERS if TIERS[tier].needs in ("racks", "copies")}
        tiers = [t for t in TIERS if t not in unknown and not t.endswith("_balance")]
        assert_equals_exhaustion(formulation, group, tuple(rng.sample(tiers, 2)))


@pytest.mark.parametrize(("formulation", "limit"), [(brute, 2**62), (cpsat, 2**53), (ilp, 2**24)])
def test_costs_that_a_method_cannot_tell_apart_are_refused_with_the_place_and_the_limit(
    formulation, limit
):
    """The sum of a tier counts; a score of pairs has a greatest value of its own."""
    half, ninth = limit // 2, limit // 9
    place = (
        rf"topics\.t\.lag\[1\]: {half} lets peak_lag reach {limit}, but method .* below {limit}$"
    )
    scored = rf"topics\.t\.lag\[0\]: {ninth + 1} lets lag_balance reach {9 * (ninth + 1)},"
    for tier, lags, members, message in (
        ("peak_lag", [1, half, half - 1], 3, place if formulation is not brute else "total lag"),
        ("lag_balance", [ninth + 1], 10, scored),
    ):
        with pytest.raises(BadInput, match=message):
            formulation(one_topic(lags, members), (tier,), time_limit=1)
        lags[0] -= 1
        best = formulation(one_topic(lags, members), (tier,), time_limit=None).bounds
        assert best == ((half,) if tier == "peak_lag" else (9 * ninth,))
    with pytest.raises(
        BadInput, match=r"topics\.t\.partitions: 4096 lets balance reach 16777216,"
    ):
        ilp(one_topic([0] * 4096, members=1), ("balance",), time_limit=1)


@pytest.mark.parametrize("formulation", FORMULATIONS)
@pytest.mark.parametrize(
    ("objective", "lags", "weights"),
    [
        ("peak_weight > lag_spread", [1, 10**6, 1, 1], [10**6, 1, 1, 10**6]),
        ("peak_weight > lag_spread", [1, 10**6, 10**6, 10**6], [1, 10**6, 1, 10**6]),
        (
            "peak_weight > lag_balance",
            [997, 10**5, 134, 99999, 1000, 343, 10**5],
            [990, 1000, 10**4, 10**4, 10**5, 979, 99999],
        ),
    ],
)
def test_units_beside_millions_are_no_reason_to_find_no_assignment(
    formulation, objective, lags, weights
):
    """CBC's preprocessing calls these infeasible with the first tier at exactly its optimum."""
    topics = {"t": {"partitions": len(lags), "lag": lags, "weight": weights}}
    group = group_of(topics, {"a": ["t"], "b": ["t"], "c": []})
    assert_equals_exhaustion(formulation, group, tuple(objective.split(" > ")))


def test_an_answer_of_cbc_that_does_not_add_up_is_no_optimum(monkeypatch):
    """A tolerance of 0.4 calls a partition whole of which a reader gets 0.6."""
    monkeypatch.setattr("optimal.ilp.TOLERANCE", 0.4)
    rng = random.Random("loose")
    open_answers = 0
    for _ in range(10):
        group = one_topic([rng.randint(1, 1000) for _ in range(6)], members=3)
        answer, best = ilp(group, ("peak_lag",), time_limit=None), brute(group, ("peak_lag",))
        assert answer.bounds in (best.bounds, (None,))
        assert Assignment(group, answer.owner).is_valid
        open_answers += answer.stopped is Stopped.TIME_LIMIT
    assert open_answers


@pytest.mark.parametrize("formulation", [brute, *FORMULATIONS])
def test_a_tier_without_its_data_is_refused(formulation):
    group = group_of({"t0": 1}, {"c0": ["t0"]})
    with pytest.raises(BadInput, match=r"topics.t0.lag\[0\]: unknown, but tier peak_lag needs it"):
        formulation(group, ("balance", "peak_lag"), time_limit=None)


def test_without_pulp_the_message_says_how_to_install_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "pulp", None)
    group = random_group(random.Random(1), members=2, partitions=3)
    with pytest.raises(BadInput, match=r"method ilp: PuLP is missing: .*pip install '\.\[ilp\]'"):
        ilp(group, ("balance",), time_limit=None)


@pytest.mark.parametrize("formulation", FORMULATIONS)
def test_the_solvers_print_nothing(formulation, capfd):
    group = random_group(random.Random(5), members=4, partitions=8)
    formulation(group, ("balance", "peak_lag", "stickiness"), time_limit=5)
    assert capfd.readouterr() == ("", "")


def test_the_least_value_of_every_tier_is_what_scoring_each_assignment_finds():
    """Two tiers at a time, each tier first and second with many others."""
    rng, tiers = random.Random("brute"), [*TIERS]
    for _ in range(30):
        group = random_group(rng, members=3, partitions=5)
        scored = [
            (values(one, tuple(TIERS)), one.owner.tolist()) for one in every_assignment(group)
        ]
        order = rng.sample(range(len(tiers)), len(tiers))
        for pair in zip(order, order[1:] + order[:1], strict=True):
            claim = brute(group, tuple(tiers[at] for at in pair))
            best, owner = min(
                ((tuple(score[at] for at in pair), owner) for score, owner in scored),
                key=lambda found: found[0],
            )
            assert (claim.bounds, claim.owner.tolist()) == (best, owner)
            assert (claim.stopped, claim.proof.kind) == (Stopped.PROOF, ProofKind.EXHAUSTION)


@pytest.mark.parametrize(
    ("partitions", "members", "said"),
    [(20, 2, "1048576 assignments, more than the 1000000"), (10**6, 10, r"about 10\^1000000 ass")],
)
def test_more_assignments_than_can_be_enumerated_are_refused_with_their_number(
    partitions, members, said
):
    group = lopsided(members, partitions)
    with pytest.raises(BadInput, match=f"^method brute: {said}"):
        brute(group, ("balance",))


@pytest.mark.parametrize(
    ("partitions", "members", "table"), [(14, 2, True), (15, 2, False), (10, 4, False)]
)
def test_auto_leaves_what_fits_in_no_table_to_exchange_or_cp_sat(partitions, members, table):
    group = one_topic([0] * partitions, members)
    assert solve(group, "peak_lag").method == ("brute" if table else "exchange")
    assert solve(group, "lag_spread").method == ("brute" if table else "exchange")
    assert solve(group, "idle_members").method == ("brute" if table else "cp-sat")
    assert solve(group, "balance").method in ("flow", "closed-form")
    assert solve(group, "peak_lag", method="cp-sat").method == "cp-sat"


def test_out_of_time_nothing_is_said_to_be_proved():
    group = one_topic([0] * 19, 2)
    claim = brute(group, ("balance", "stickiness"), time_limit=0)
    assert claim.bounds == (None, None)
    assert (claim.stopped, claim.proof.kind) == (Stopped.TIME_LIMIT, ProofKind.NONE)
