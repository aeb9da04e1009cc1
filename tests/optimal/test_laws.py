"""What holds for the optimum of every group, whatever its members are called."""

import random
from copy import deepcopy

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from groups import Assignment, Group, values
from groups.documents.pseudonyms import anonymise
from optimal import solve
from tests.optimal.random_groups import random_group

TOPICS = ("t0", "t1", "t2", "t3", "t4")
RACKS = ("a", "b", "c")
OBJECTIVES = (
    ("balance", "stickiness"),
    ("stickiness", "balance"),
    ("balance", "racks", "stickiness"),
    ("racks", "balance", "moved_weight"),
    ("topic_balance", "balance", "stickiness"),
    ("balance", "moved_weight", "topic_balance"),
)
lawful = settings(deadline=None, derandomize=True, max_examples=25)


@st.composite
def documents(draw, least_members=0) -> dict:
    topics = {}
    for topic in TOPICS[: draw(st.integers(0, 5))]:
        weight = draw(st.lists(st.integers(0, 9), max_size=6))
        racks = [draw(st.lists(st.sampled_from(RACKS), max_size=2, unique=True)) for _ in weight]
        topics[topic] = {"partitions": len(weight), "weight": weight, "racks": racks}
    members = {}
    for member in range(draw(st.integers(least_members, 6))):
        members[f"m{member}"] = {
            "subscription": sorted(draw(st.sets(st.sampled_from(TOPICS)))),
            "rack": draw(st.sampled_from(RACKS)),
            "generation": draw(st.integers(-1, 2)),
            "owned": {},
        }
    for topic, described in topics.items():
        for number in range(described["partitions"]):
            holders = st.lists(st.sampled_from(sorted(members) or [""]), max_size=2, unique=True)
            for member in filter(None, draw(holders)):
                members[member]["owned"].setdefault(topic, []).append(number)
    return {"format": "assay-group/1", "group": "g", "topics": topics, "members": members}


def found(document: dict, objective) -> tuple[int, ...]:
    return tuple(t.value for t in solve(Group.from_dict(document), objective).terms)


def loads(document: dict) -> list[int]:
    return sorted(solve(Group.from_dict(document), "balance").assignment.loads.tolist())


def other_order(draw: st.DrawFn, value):
    if not isinstance(value, dict):
        return value
    keys = draw(st.permutations(list(value)))
    return {key: other_order(draw, value[key]) for key in keys}


@lawful
@given(documents(), st.permutations(range(6)), st.sampled_from(OBJECTIVES))
def test_other_names_of_the_members_change_no_value_and_no_load(document, names, objective):
    renamed = deepcopy(document)
    renamed["members"] = {
        f"m{names[int(member[1:])]}": body for member, body in document["members"].items()
    }
    assert found(renamed, objective) == found(document, objective)
    assert loads(renamed) == loads(document)


@lawful
@given(documents(), st.permutations(range(5)), st.sampled_from(OBJECTIVES))
def test_other_names_of_the_topics_change_no_value(document, names, objective):
    text = str.maketrans("01234", "".join(map(str, names)))
    renamed = deepcopy(document)
    renamed["topics"] = {t.translate(text): body for t, body in document["topics"].items()}
    for body in renamed["members"].values():
        body["subscription"] = [t.translate(text) for t in body["subscription"]]
        body["owned"] = {t.translate(text): held for t, held in body["owned"].items()}
    assert found(renamed, objective) == found(document, objective)


@lawful
@given(st.data(), documents(), st.sampled_from(OBJECTIVES))
def test_the_order_of_keys_and_lists_changes_nothing_in_the_answer(data, document, objective):
    other = other_order(data.draw, document)
    for body in other["members"].values():
        body["subscription"] = data.draw(st.permutations(body["subscription"]))
        body["owned"] = {t: data.draw(st.permutations(held)) for t, held in body["owned"].items()}
    first, second = (solve(Group.from_dict(d), objective).to_dict() for d in (document, other))
    assert first | {"seconds": 0} == second | {"seconds": 0}


@lawful
@given(documents(), st.sampled_from(OBJECTIVES), st.integers(0, 2**32 - 1))
def test_no_valid_assignment_beats_the_optimum_tier_by_tier_in_order(document, objective, seed):
    group, rng = Group.from_dict(document), np.random.default_rng(seed)
    optimum = tuple(term.value for term in solve(group, objective).terms)
    readers = [
        np.flatnonzero([topic in body["subscription"] for body in document["members"].values()])
        for topic in document["topics"]
    ]
    for stays in (0.0, 0.5, 0.9):
        owner = np.full(group.n_partitions, -1, np.int32)
        for partition, topic in enumerate(group.topic.tolist()):
            mine = int(group.owner[partition])
            if mine >= 0 and rng.random() < stays:
                owner[partition] = mine
            elif len(readers[topic]):
                owner[partition] = rng.choice(readers[topic])
        assignment = Assignment(group, owner)
        assert assignment.is_valid
        assert values(assignment, objective) >= optimum


@lawful
@given(documents(least_members=1), st.sets(st.sampled_from(TOPICS)))
def test_one_more_member_of_topics_that_are_read_never_raises_the_greatest_load(
    document, subscription
):
    joined = deepcopy(document)
    read = {topic for body in document["members"].values() for topic in body["subscription"]}
    joined["members"]["m9"] = {"subscription": sorted(subscription & read)}
    before, after = loads(document), loads(joined)
    assert after[-1] <= before[-1]


@lawful
@given(documents(least_members=1), st.data())
def test_one_more_subscription_to_a_topic_that_is_read_never_worsens_the_balance(document, data):
    wider = deepcopy(document)
    read = sorted({t for body in document["members"].values() for t in body["subscription"]})
    member = data.draw(st.sampled_from(sorted(wider["members"])))
    if read:
        mine = set(wider["members"][member]["subscription"])
        wider["members"][member]["subscription"] = [*mine, *(set(read[:1]) - mine)]
    assert found(wider, ("balance",)) <= found(document, ("balance",))


@lawful
@given(documents(), st.sampled_from(OBJECTIVES))
def test_solving_again_from_the_optimum_moves_nothing(document, objective):
    first = solve(Group.from_dict(document), objective)
    settled = deepcopy(document)
    for member, held in first.assignment.to_dict().items():
        settled["members"][member] |= {"owned": held, "generation": 3}
    group = Group.from_dict(settled)
    again = solve(group, objective)
    terms = {term.name: term.value for term in again.terms}
    assert all(terms[tier] == 0 for tier in ("stickiness", "moved_weight") if tier in terms)
    before = {term.name: term.value for term in first.terms}
    if objective[0] != "stickiness":
        for tier in ("balance", "racks", "topic_balance"):
            assert terms.get(tier) == before.get(tier)
    if "stickiness" in objective:
        assert again.assignment.owner.tolist() == first.assignment.owner.tolist()


@lawful
@given(documents(least_members=1))
def test_the_loads_of_the_optimum_are_least_majorised(document):
    """The k greatest loads together are least for every k at once."""
    group = Group.from_dict(document)
    best = np.cumsum(loads(document)[::-1])
    for objective in ("balance > stickiness", "balance > racks", "balance > topic_balance"):
        mine = sorted(solve(group, objective).assignment.loads.tolist(), reverse=True)
        assert np.cumsum(mine).tolist() == best.tolist()
    for objective in ("stickiness > balance", "racks", "topic_balance"):
        mine = sorted(solve(group, objective).assignment.loads.tolist(), reverse=True)
        assert (np.cumsum(mine) >= best).all()


@lawful
@given(documents())
def test_every_optimum_is_balanced_as_kip_54_defines_it(document):
    assert solve(Group.from_dict(document)).assignment.balanced()


@pytest.mark.parametrize("objective", ["kip-54", "kip-54-fairest", "kip-881", "topic_balance"])
def test_pseudonyms_change_neither_the_optimum_nor_who_gets_what(objective):
    rng = random.Random(f"anonymous {objective}")
    for _ in range(20):
        group = random_group(rng, members=5, partitions=12)
        hidden = Group.from_dict(anonymise(group.to_dict()))
        assert set(hidden.members).isdisjoint(group.members) or not group.members
        before, after = solve(group, objective), solve(hidden, objective)
        assert after.terms == before.terms
        assert after.assignment.owner.tolist() == before.assignment.owner.tolist()
