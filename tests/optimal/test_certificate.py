"""A certificate is accepted exactly where it proves what it is said to prove.

Two checkers are written here in plain loops, for one partition and one member at a time: the
three conditions of ``assay-solution/1`` word by word, and their extension to any order of the
tiers that cost each partition by itself.
"""

import json
import random
from dataclasses import replace
from itertools import permutations

import numpy as np
import pytest

from groups import Assignment, BadInput, Group, InvalidAssignment, ProofError, values
from optimal import Proof, ProofKind, Solution, Status, Stopped, Term, check, solve
from optimal.brute import brute
from optimal.certificate import check_certificate
from tests.optimal.random_groups import random_group

KIP_54 = ("balance", "stickiness")
CERTIFIED = ("balance", "stickiness", "moved_weight", "racks")
ORDERS = [
    order for size in range(1, 5) for order in permutations(CERTIFIED, size) if "balance" in order
]


def readers_of(group: Group) -> dict[int, list[int]]:
    """The members that read each partition that somebody reads."""
    listed = np.split(group.subscription_topics, group.subscription_indptr[1:-1])
    rows = [set(listed[row].tolist()) for row in group.subscription_row.tolist()]
    found = {p: [m for m, row in enumerate(rows) if t in row] for p, t in enumerate(group.topic)}
    return {p: readers for p, readers in found.items() if readers}


def format_accepts(group, assignment, level, price, reward=None) -> bool:
    """The conditions (1), (2) and (3) of the format; `reward` is 1 for each partition kept."""
    readers, held = readers_of(group), assignment.owner.tolist()
    own, members = group.owner.tolist(), range(len(group.members))
    reward = reward or dict.fromkeys(readers, 1)
    load = [sum(held[p] == m for p in readers) for m in members]
    lo, hi = [max(level[m], 0) for m in members], [level[m] + 1 for m in members]
    topic_level = {p: min(level[m] for m in readers[p]) for p in readers}
    allowed = {p: [m for m in readers[p] if level[m] == topic_level[p]] for p in readers}
    if not all(held[p] in allowed[p] for p in readers):
        return False
    if not all(lo[m] <= load[m] <= hi[m] for m in members):
        return False
    for k in range(max(load, default=0) + 1):
        inside = sum(topic_level[p] >= k for p in readers)
        outside = k * sum(level[m] >= k for m in members)
        if sum(max(0, load[m] - k) for m in members) != inside - outside:
            return False
    kept = sum(reward[p] for p in readers if held[p] == own[p])
    bound = sum(max((own[p] == m) * reward[p] - price[m] for m in allowed[p]) for p in readers)
    bound += sum(hi[m] * max(price[m], 0) - lo[m] * max(-price[m], 0) for m in members)
    return kept == bound


def weights_of(group: Group) -> list[int]:
    return [0] * group.n_partitions if group.weight is None else group.weight.tolist()


def cost_of(group: Group, tier: str, partition: int, member: int) -> int:
    """What it costs in a tier that a member holds a partition."""
    if tier == "racks":
        near = group.racks.of_set(int(group.racks.replicas[partition]))
        mine = int(group.racks.member[member])
        return int(mine < 0 or group.racks.names[mine] not in near)
    moves = group.owner[partition] not in (-1, member)
    return int(moves) * (1 if tier == "stickiness" else weights_of(group)[partition])


def priced(objective: tuple[str, ...]) -> tuple[str, ...]:
    """The tiers that the prices are about; the format proves balance alone with stickiness."""
    return objective[objective.index("balance") + 1 :] or (
        ("stickiness",) if objective == ("balance",) else ()
    )


def accepts(group, assignment, objective, level, price, scale) -> bool:
    """The three conditions for tiers before balance, balance, and tiers after it."""
    readers, held = readers_of(group), assignment.owner.tolist()
    members, at = range(len(group.members)), objective.index("balance")
    before, after = objective[:at], priced(objective)
    load = [sum(held[p] == m for p in readers) for m in members]
    bound = paid = 0
    levels = {}
    for p, all_readers in readers.items():
        costs = {m: [cost_of(group, tier, p, m) for tier in before] for m in all_readers}
        open_ones = [m for m in all_readers if costs[m] == min(costs.values())]
        levels[p] = min(level[m] for m in open_ones)
        allowed = [m for m in open_ones if level[m] == levels[p]]
        if held[p] not in allowed:
            return False
        cost = {
            m: sum(u * cost_of(group, t, p, m) for u, t in zip(scale, after, strict=True))
            for m in allowed
        }
        bound += min(cost[m] + price[m] for m in allowed)
        paid += cost[held[p]]
    for k in range(max(load, default=0) + 1):
        inside = sum(levels[p] >= k for p in readers)
        outside = k * sum(level[m] >= k for m in members)
        if sum(max(0, load[m] - k) for m in members) != inside - outside:
            return False
    for m in members:
        lo, hi = max(level[m], 0), level[m] + 1
        if not lo <= load[m] <= hi:
            return False
        bound -= hi * max(price[m], 0) - lo * max(-price[m], 0)
    for i, unit in enumerate(scale):
        most = [
            sum(weights_of(group)[p] for p in readers if group.owner[p] >= 0)
            if tier == "moved_weight"
            else len(readers)
            for tier in after[i + 1 :]
        ]
        if unit <= sum(u * w for u, w in zip(scale[i + 1 :], most, strict=True)):
            return False
    return bound == paid


def is_accepted(group: Group, owner, objective, level, price, scale) -> bool:
    proof = Proof(
        ProofKind.CERTIFICATE, np.array(level, np.int64), np.array(price, np.int64), scale
    )
    try:
        check_certificate(Assignment(group, owner), objective, proof)
    except ProofError:
        return False
    return True


def changed(solution: Solution, **columns) -> Solution:
    return replace(solution, proof=replace(solution.proof, **columns))


def with_owner(solution: Solution, owner) -> Solution:
    """The same claim for another assignment, with the values that it really has."""
    assignment = Assignment(solution.group, np.array(owner, np.int32))
    found = values(assignment, solution.objective)
    terms = tuple(map(Term, solution.objective, found, found))
    return replace(solution, assignment=assignment, terms=terms)


@pytest.fixture
def group() -> Group:
    """Three members of levels 0, 2 and 2; c1 owned too much of what c2 reads too."""
    return Group.from_dict(
        {
            "format": "assay-group/1",
            "group": "g",
            "topics": {"t0": 1, "t1": 5, "t9": 1},
            "members": {
                "c0": {"subscription": ["t0"]},
                "c1": {"subscription": ["t0", "t1"], "owned": {"t0": [0], "t1": [0, 1, 2, 3]}},
                "c2": {"subscription": ["t1"]},
            },
        }
    )


@pytest.fixture
def solution(group) -> Solution:
    return solve(group, KIP_54, method="flow")


def test_the_certificate_of_a_small_group_is_what_the_format_says(group, solution):
    assert [t.value for t in solution.terms] == [4, 2]
    assert solution.proof.level.tolist() == [0, 2, 2]
    assert format_accepts(
        group, solution.assignment, solution.proof.level.tolist(), solution.proof.price.tolist()
    )
    assert check(group, solution) == ()


def test_the_certificate_of_the_formats_own_example_is_accepted():
    group = Group.from_dict(
        {
            "format": "assay-group/1",
            "group": "orders",
            "topics": {"t0": 2, "t1": 3, "t9": 1},
            "members": {
                "c0": {"subscription": ["t0", "t1"], "owned": {"t0": [0]}},
                "c1": {"subscription": ["t1"]},
            },
        }
    )
    document = {
        "format": "assay-solution/1",
        "group": "orders",
        "objective": ["balance", "stickiness"],
        "status": "optimal",
        "stopped": "proof",
        "method": "flow",
        "seconds": 0.004,
        "terms": [
            {"name": "balance", "value": 1, "bound": 1},
            {"name": "stickiness", "value": 0, "bound": 0},
        ],
        "assignment": {"c0": {"t0": [0, 1]}, "c1": {"t1": [0, 1, 2]}},
        "unassigned": {"t9": [0]},
        "proof": {
            "kind": "certificate",
            "level": {"c0": 2, "c1": 2},
            "price": {"c0": 0, "c1": 0},
        },
        "assumed": [],
    }
    assert check(group, Solution.from_dict(group, document)) == ()
    mine = solve(group).to_dict()
    for key in ("objective", "status", "stopped", "terms", "unassigned", "assumed"):
        assert mine[key] == document[key]


def test_every_change_of_one_integer_is_judged_as_the_format_judges_it():
    rng = random.Random("one integer")
    judged = {True: 0, False: 0}
    for _ in range(40):
        group = random_group(rng, members=5, partitions=12)
        solution = solve(group, KIP_54, method="flow")
        columns = {key: getattr(solution.proof, key).tolist() for key in ("level", "price")}
        for key in columns:
            for member in range(len(group.members)):
                for step in (-1, 1):
                    column = list(columns[key])
                    column[member] += step
                    proof = columns | {key: column}
                    expected = format_accepts(group, solution.assignment, **proof)
                    found = is_accepted(
                        group, solution.assignment.owner, KIP_54, scale=(1,), **proof
                    )
                    assert found is expected, (group.to_dict(), proof)
                    judged[expected] += 1
    assert judged[False] > 400
    assert judged[True] > 20


def few_members_many_partitions(rng: random.Random) -> Group:
    """Topics of several levels and prices, some read by nobody, partly owned by readers."""
    topics, members = 5, rng.randint(2, 4)
    counts = np.array([rng.choice((0, 3, 12, 30)) for _ in range(topics)])
    rows = [sorted(rng.sample(range(topics), rng.randint(1, 3))) for _ in range(members)]
    owner = []
    for topic in np.repeat(np.arange(topics), counts):
        readers = [m for m, row in enumerate(rows) if topic in row]
        stays = readers and rng.random() < 0.8
        owner.append(readers[min(rng.randrange(3), len(readers) - 1)] if stays else -1)
    return Group.from_arrays(
        group="g",
        topics=[f"t{t}" for t in range(topics)],
        partitions=counts,
        members=[f"c{m}" for m in range(members)],
        subscription_indptr=np.cumsum([0, *map(len, rows)]),
        subscription_topics=[t for row in rows for t in row],
        owner=owner,
    )


def test_partitions_counted_by_topic_and_owner_prove_what_each_by_itself_proves():
    rng = random.Random("counted")
    judged = {True: 0, False: 0}
    for _ in range(60):
        group = few_members_many_partitions(rng)
        solution = solve(group, KIP_54)
        columns = {key: getattr(solution.proof, key).tolist() for key in ("level", "price")}
        assert format_accepts(group, solution.assignment, **columns)
        for _ in range(8):
            proof = {key: list(column) for key, column in columns.items()}
            member = rng.randrange(len(group.members))
            proof[rng.choice(("level", "price", "price"))][member] += rng.choice((-1, 1))
            owner = solution.assignment.owner.copy()
            if rng.random() < 0.3 and len(owner):
                partition = rng.randrange(len(owner))
                owner[partition] = rng.choice(readers_of(group).get(partition, [-1]))
            assignment = Assignment(group, owner)
            expected = format_accepts(group, assignment, **proof)
            assert is_accepted(group, owner, KIP_54, scale=(1,), **proof) is expected, (
                group.to_dict(),
                proof,
            )
            judged[expected] += 1
    assert judged[False] > 100
    assert judged[True] > 20


def test_a_rejected_integer_names_the_place_where_the_proof_fails():
    rng = random.Random("places")
    rejected = 0
    for _ in range(30):
        solution = solve(random_group(rng, members=4, partitions=10), KIP_54, method="flow")
        group, owner = solution.group, solution.assignment.owner
        for key in ("level", "price"):
            for member in range(len(group.members)):
                column = getattr(solution.proof, key).copy()
                column[member] += rng.choice((-2, -1, 1, 2))
                proof = {k: getattr(solution.proof, k) for k in ("level", "price")} | {key: column}
                if is_accepted(group, owner, KIP_54, scale=(1,), **proof):
                    continue
                with pytest.raises(ProofError, match=r"^(level(\.c\d)?|price|t\d-\d+|c\d): .+$"):
                    check(group, changed(solution, **proof))
                rejected += 1
    assert rejected > 100


@pytest.mark.parametrize("method", ["flow", "auto"])
def test_every_flow_certificate_passes_the_conditions_of_the_format(method):
    rng = random.Random(f"format {method}")
    for _ in range(60):
        group = random_group(rng, members=5, partitions=14)
        for objective in (KIP_54, ("balance", "moved_weight")):
            solution = solve(group, objective, method=method)
            reward = dict(enumerate(weights_of(group)))
            assert format_accepts(
                group,
                solution.assignment,
                solution.proof.level.tolist(),
                solution.proof.price.tolist(),
                reward if objective[1] == "moved_weight" else None,
            ), group.to_dict()


def test_both_checkers_agree_on_the_certificates_of_every_order_and_on_their_neighbours():
    rng = random.Random("neighbours")
    for order in ORDERS:
        group = random_group(rng, members=4, partitions=9)
        solution = solve(group, order, method="flow")
        assert solution.proof.kind is ProofKind.CERTIFICATE
        proof, owner = solution.proof, solution.assignment.owner
        columns = {"level": proof.level.tolist(), "price": proof.price.tolist()}
        assert accepts(group, solution.assignment, order, **columns, scale=proof.scale), order
        for _ in range(12):
            near = {key: list(column) for key, column in columns.items()}
            if group.members:
                near[rng.choice(("level", "price"))][rng.randrange(len(group.members))] += (
                    rng.choice((-2, -1, 1, 2))
                )
            scale = tuple(unit + rng.choice((0, 0, -1, 1)) for unit in proof.scale)
            expected = all(unit > 0 for unit in scale) and accepts(
                group, solution.assignment, order, **near, scale=scale
            )
            assert is_accepted(group, owner, order, **near, scale=scale) is expected, (
                group.to_dict(),
                order,
                near,
                scale,
            )


def valid_owner(rng: random.Random, group: Group) -> np.ndarray:
    """Any valid assignment of a group."""
    owner = np.full(group.n_partitions, -1, np.int32)
    for partition, readers in readers_of(group).items():
        mine = int(group.owner[partition])
        owner[partition] = mine if mine >= 0 and rng.random() < 0.5 else rng.choice(readers)
    return owner


def likely_scale(rng: random.Random, group: Group, after: tuple[str, ...]) -> tuple[int, ...]:
    scale: list[int] = []
    rest = 0
    for tier in reversed(after):
        scale.append(rest + rng.choice((1, 1, 1, 2)))
        total = group.n_partitions
        if tier == "moved_weight":
            total = sum(weights_of(group))
        rest += scale[-1] * total
    return tuple(reversed(scale))


def test_no_level_price_or_scale_proves_an_assignment_that_brute_force_beats():
    rng = random.Random("adversary")
    tried = {"wrong": 0, "accepted": 0}
    for _ in range(200):
        group = random_group(rng, members=3, partitions=rng.randint(2, 6))
        order = rng.choice(ORDERS)
        optimum = brute(group, order).bounds
        genuine = solve(group, order, method="flow")
        for _ in range(30):
            owner = valid_owner(rng, group)
            if rng.random() < 0.3:
                owner = genuine.assignment.owner.copy()
            loads = Assignment(group, owner).loads.tolist()
            level = [load - rng.choice((0, 0, 1, 1, 2)) for load in loads]
            price = [rng.randint(-3, 3) for _ in loads]
            if rng.random() < 0.5:
                level = genuine.proof.level.tolist()
            if rng.random() < 0.3:
                price = genuine.proof.price.tolist()
            scale = likely_scale(rng, group, priced(order))
            found = is_accepted(group, owner, order, level, price, scale)
            expected = min(level, default=0) >= -1 and accepts(
                group, Assignment(group, owner), order, level, price, scale
            )
            assert found is expected, (group.to_dict(), order, level, price, scale)
            best = values(Assignment(group, owner), order) == optimum
            assert best or not found, (group.to_dict(), order, level, price, scale)
            tried["wrong"] += not best
            tried["accepted"] += found
    assert tried["wrong"] > 1500
    assert tried["accepted"] > 100


def test_no_certificate_is_accepted_for_tiers_without_balance_unless_each_partition_costs_least():
    rng = random.Random("no balance")
    orders = list(permutations(("stickiness", "moved_weight", "racks")))
    for _ in range(120):
        group = random_group(rng, members=3, partitions=5)
        order = rng.choice(orders)[: rng.randint(1, 3)]
        owner = valid_owner(rng, group)
        best = values(Assignment(group, owner), order) == brute(group, order).bounds
        assert is_accepted(group, owner, order, [], [], ()) is best, (group.to_dict(), order)


def test_an_assignment_with_one_partition_moved_is_rejected_wherever_it_costs_more():
    rng = random.Random("moved")
    moved = 0
    for _ in range(40):
        group = random_group(rng, members=4, partitions=8)
        solution = solve(group, KIP_54, method="flow")
        optimum = tuple(t.value for t in solution.terms)
        for partition, readers in readers_of(group).items():
            for member in readers:
                owner = solution.assignment.owner.copy()
                owner[partition] = member
                other = with_owner(solution, owner)
                if tuple(t.value for t in other.terms) == optimum:
                    assert check(group, other) == ()
                    continue
                with pytest.raises(ProofError, match=r"^(t\d-\d+|c\d|level|price): "):
                    check(group, other)
                with pytest.raises(InvalidAssignment, match=r"^terms\.\w+: \d+, but the value is"):
                    check(group, replace(solution, assignment=other.assignment))
                moved += 1
    assert moved > 300


def test_a_partition_with_a_reader_of_a_higher_level_is_named(group, solution):
    owner = solution.assignment.owner.copy()
    owner[0] = 1
    with pytest.raises(ProofError, match="t0-0: with c1 of level 2, but its least level is 0"):
        check(group, with_owner(solution, owner))


def test_a_member_that_holds_more_than_its_level_allows_is_named(group, solution):
    owner = [0, 1, 1, 1, 1, 2, -1]
    with pytest.raises(ProofError, match="c1: holds 4, but level 2 allows 2 to 3"):
        check(group, with_owner(solution, owner))


def test_a_load_below_its_level_is_refused_as_one_above_it_is(group, solution):
    level = np.array([0, 1, 1])
    other = changed(with_owner(solution, [0, 1, 1, 2, 2, 2, -1]), level=level)
    with pytest.raises(ProofError, match="c2: holds 3, but level 1 allows 1 to 2"):
        check(group, other)
    level = np.array([0, 3, 3])
    with pytest.raises(ProofError, match="c1: holds 2, but level 3 allows 3 to 4"):
        check(group, changed(other, level=level))


def test_the_sums_above_every_level_close_wherever_readers_and_loads_fit_the_levels():
    rng = random.Random("the second condition")
    fitting = 0
    for _ in range(400):
        group = random_group(rng, members=3, partitions=4)
        readers, owner = readers_of(group), valid_owner(rng, group)
        loads = Assignment(group, owner).loads.tolist()
        level = [load - rng.choice((0, 1)) for load in loads]
        least = {p: min(level[m] for m in readers[p]) for p in readers}
        if all(level[owner[p]] == least[p] for p in readers):
            fitting += 1
            for k in range(max(loads, default=0) + 1):
                inside = sum(level >= k for level in least.values())
                outside = k * sum(one >= k for one in level)
                assert sum(max(0, load - k) for load in loads) == inside - outside
    assert fitting > 40


def test_a_price_too_high_is_refused_with_both_sums(group, solution):
    price = solution.proof.price + np.array([0, 1, 0])
    with pytest.raises(ProofError, match=r"price: the prices bound stickiness by .+, not by 2"):
        check(group, changed(solution, price=price))


@pytest.mark.parametrize(("level", "member"), [(-2, "c0"), (8, "c2"), (2**62, "c1")])
def test_a_level_that_no_load_can_have_is_refused_with_its_member(group, solution, level, member):
    column = solution.proof.level.copy()
    column[group.members.index(member)] = level
    with pytest.raises(ProofError, match=rf"level\.{member}: {level} is no possible load"):
        check(group, changed(solution, level=column))


@pytest.mark.parametrize("key", ["level", "price"])
def test_a_certificate_without_one_of_its_columns_is_refused(group, solution, key):
    with pytest.raises(ProofError, match="level or price is missing"):
        check(group, changed(solution, **{key: None}))


@pytest.mark.parametrize("length", [1, 2, 4])
@pytest.mark.parametrize("key", ["level", "price"])
def test_a_column_of_another_length_than_the_members_is_refused(group, solution, key, length):
    with pytest.raises(ProofError, match=r"^(level|price)"):
        check(group, changed(solution, **{key: np.zeros(length, np.int64)}))


@pytest.mark.parametrize("price", [2**60, -(2**60), 2**63 - 1, -(2**63)])
def test_prices_whose_sum_leaves_64_bits_are_refused(group, solution, price):
    with pytest.raises(ProofError, match=r"price: .*leaves 64 bits"):
        check(group, changed(solution, price=np.full(3, price)))


def test_prices_that_would_close_only_modulo_64_bits_are_refused():
    members = {f"m{m:02}": {"subscription": ["t"]} for m in range(40)}
    members["m00"]["owned"] = {"t": [0]}
    group = Group.from_dict(
        {"format": "assay-group/1", "group": "g", "topics": {"t": 2}, "members": members}
    )
    each, rest = divmod(2**64, 38)
    price = np.full(40, each)
    price[39] += rest - 1
    assert (2 * each - int(price.sum(dtype=object)) - 1) % 2**64 == 0
    genuine = solve(group)
    assert genuine.terms[1].value == 0
    wrong = changed(with_owner(genuine, [1, 2]), level=np.zeros(40, np.int64), price=price)
    with pytest.raises(ProofError, match=r"^price: "):
        check(group, wrong)


def test_a_solution_is_judged_by_the_group_that_is_asked_about():
    def other(**member) -> Group:
        members = {"a": {"subscription": ["t"]} | member, "b": {"subscription": ["t"]}}
        return Group.from_dict(
            {"format": "assay-group/1", "group": "g", "topics": {"t": 4}, "members": members}
        )

    fresh = solve(other())
    assert fresh.assignment.to_dict() == {"a": {"t": [0, 1]}, "b": {"t": [2, 3]}}
    with pytest.raises(InvalidAssignment, match=r"terms\.stickiness: 0, but the value is 1"):
        check(other(owned={"t": [1, 3]}), fresh)
    with pytest.raises(InvalidAssignment, match="t-0 with a: unsubscribed"):
        check(other(subscription=[]), fresh)


@pytest.mark.parametrize("scale", [(0,), (-1,), (1, 1)])
def test_a_scale_of_another_length_or_without_value_is_refused(group, solution, scale):
    with pytest.raises(ProofError, match="scale: expected 1 units of 1 or more"):
        check(group, changed(solution, scale=scale))


def test_a_scale_that_does_not_outweigh_the_later_tiers_is_refused():
    group = random_group(random.Random(7), members=3, partitions=6)
    solution = solve(group, "balance > stickiness > racks", method="flow")
    assert check(group, solution) == ()
    with pytest.raises(ProofError, match="scale: 6 for stickiness does not outweigh the tiers"):
        check(group, changed(solution, scale=(6, 1)))


def test_what_costs_more_by_a_tier_before_balance_is_named():
    document = {
        "format": "assay-group/1",
        "group": "g",
        "topics": {"t0": 2},
        "members": {
            "c0": {"subscription": ["t0"], "owned": {"t0": [0, 1]}},
            "c1": {"subscription": ["t0"]},
        },
    }
    group = Group.from_dict(document)
    solution = solve(group, "kip-54-fairest")
    assert solution.assignment.owner.tolist() == [0, 0]
    with pytest.raises(ProofError, match="t0-1: its member costs more than another by stickiness"):
        check(group, with_owner(solution, [0, 1]))


def test_no_certificate_is_defined_for_topic_balance_or_lag(group, solution):
    other = replace(solution, objective=("balance", "topic_balance"), proof=solution.proof)
    with pytest.raises(ProofError, match=r"no certificate is defined .* with topic_balance"):
        check(group, with_owner(other, solution.assignment.owner))


def test_a_term_that_is_not_the_value_is_refused_by_its_name(group, solution):
    for place, tier in enumerate(KIP_54):
        terms = list(solution.terms)
        terms[place] = Term(tier, terms[place].value + 1, terms[place].bound)
        with pytest.raises(InvalidAssignment, match=rf"terms\.{tier}: \d, but the value is \d"):
            check(group, replace(solution, terms=tuple(terms)))


@pytest.mark.parametrize("names", [KIP_54[::-1], KIP_54[:1], (*KIP_54, "racks")])
def test_terms_in_another_order_or_number_than_the_objective_are_refused(group, solution, names):
    terms = tuple(Term(name, 0, 0) for name in names)
    with pytest.raises(InvalidAssignment, match=r"terms: .*, expected balance, stickiness"):
        check(group, replace(solution, terms=terms))


def test_a_bound_above_the_value_is_refused(group, solution):
    terms = (solution.terms[0], Term("stickiness", 2, 3))
    with pytest.raises(ProofError, match=r"terms\.stickiness: the bound 3 is above 2"):
        check(group, replace(solution, terms=terms, status=Status.FEASIBLE))


@pytest.mark.parametrize("bound", [None, 1])
def test_optimal_with_an_open_bound_is_refused(group, solution, bound):
    terms = (solution.terms[0], Term("stickiness", 2, bound))
    with pytest.raises(ProofError, match="status: optimal, but the bounds or the kind of proof"):
        check(group, replace(solution, terms=terms))


def test_optimal_without_a_proof_is_refused_and_feasible_says_what_was_not_checked(
    group, solution
):
    bare = replace(solution, proof=Proof(ProofKind.NONE))
    with pytest.raises(ProofError, match="status: optimal, but the bounds or the kind of proof"):
        check(group, bare)
    assert check(group, replace(bare, status=Status.FEASIBLE)) == (
        "no proof is given: the bounds were not checked",
    )


@pytest.mark.parametrize("kind", [ProofKind.SOLVER, ProofKind.EXHAUSTION])
def test_a_proof_that_rests_on_somebodys_word_is_called_that(group, solution, kind):
    assert check(group, replace(solution, proof=Proof(kind))) == (
        f"proof of kind {kind}: the bounds are its word and were not checked",
    )


def test_a_solution_without_an_assignment_can_only_be_unknown(group, solution):
    empty = replace(
        solution, assignment=None, terms=(), stopped=Stopped.TIME_LIMIT, status=Status.UNKNOWN
    )
    assert check(group, empty) == ("there is no assignment to check",)
    with pytest.raises(ProofError, match="status: optimal, but there is no assignment"):
        check(group, replace(empty, status=Status.OPTIMAL))
    with pytest.raises(ProofError, match="status: unknown, but there is an assignment"):
        check(group, replace(solution, status=Status.UNKNOWN))


@pytest.mark.parametrize(
    ("owner", "message"),
    [
        ([1, 1, 1, 1, 2, -1, -1], "t1-4 with nobody: unassigned"),
        ([2, 1, 1, 1, 2, 2, -1], "t0-0 with c2: unsubscribed"),
        ([0, 1, 1, 1, 2, 2, 0], "t9-0 with c0: unsubscribed"),
    ],
)
def test_an_assignment_that_is_not_valid_is_refused_first(group, solution, owner, message):
    with pytest.raises(InvalidAssignment, match=message):
        check(group, with_owner(solution, owner))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"format": "assay-solution/2"}, 'format: "assay-solution/2", expected'),
        ({"group": "other"}, "group: 'other', but the group is 'g'"),
        ({"status": "best"}, 'status: "best", expected one of optimal, feasible, unknown'),
        ({"stopped": None}, "stopped: null, expected one of proof, time-limit"),
        ({"seconds": -1}, "seconds: -1, expected a number of 0 or more"),
        ({"terms": []}, "terms: expected one for each of balance > stickiness, in this order"),
        ({"objective": ["balance", "fun"]}, "objective: unknown tier 'fun'"),
        ({"assignment": {"c9": {}}}, "assignment: 'c9' is not a member of the group"),
        ({"assignment": {"c0": {"t0": [-1]}}}, r"assignment\.c0\.t0\[0\]: -1, expected"),
        ({"unassigned": {}}, "unassigned: {}, but what nobody reads is"),
        ({"proof": {"kind": "faith"}}, 'proof.kind: "faith", expected one of certificate'),
        ({"proof": {"kind": "certificate"}}, "proof.level: null, expected an object"),
        ({"proof": {"kind": "certificate", "level": {}}}, "proof.level: key 'c0' is missing"),
        ({"wish": 1}, "unknown key 'wish'"),
    ],
)
def test_a_bad_solution_document_names_its_place(group, solution, change, message):
    document = solution.to_dict() | change
    with pytest.raises((BadInput, InvalidAssignment), match=message):
        Solution.from_dict(group, document)
    assert check(group, Solution.from_dict(group, solution.to_dict())) == ()


@pytest.mark.parametrize("objective", ["stickiness", "topic_balance", "racks > moved_weight"])
def test_a_certificate_without_integers_survives_the_way_through_json(objective):
    group = random_group(random.Random("plain"), members=3, partitions=7)
    solution = solve(group, objective, method="flow")
    assert solution.proof.kind is ProofKind.CERTIFICATE
    document = json.loads(json.dumps(solution.to_dict()))
    assert document["proof"] == {"kind": "certificate"}
    assert check(group, Solution.from_dict(group, document)) == ()


def test_a_topic_that_is_not_spread_evenly_is_no_proved_topic_balance():
    document = {
        "format": "assay-group/1",
        "group": "g",
        "topics": {"t": 4},
        "members": {"a": {"subscription": ["t"]}, "b": {"subscription": ["t"]}},
    }
    group = Group.from_dict(document)
    uneven = Assignment(group, np.array([0, 0, 0, 1], np.int32))
    with pytest.raises(ProofError, match="topic_balance: its least value is 8, not 10"):
        check_certificate(uneven, ("topic_balance",), Proof(ProofKind.CERTIFICATE))
