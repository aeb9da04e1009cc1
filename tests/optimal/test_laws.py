"""What holds for the optimum of every group, whatever its members are called."""

from copy import deepcopy

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from groups import Group
from optimal import solve
from tests.optimal.random_groups import TOPICS, documents

OBJECTIVES = (
    ("balance", "stickiness"),
    ("stickiness", "balance"),
    ("balance", "racks", "stickiness"),
    ("racks", "balance", "moved_weight"),
    ("topic_balance", "balance", "stickiness"),
    ("balance", "moved_weight", "topic_balance"),
)
lawful = settings(deadline=None, derandomize=True, max_examples=15)


def found(document: dict, objective) -> tuple[int, ...]:
    return tuple(t.value for t in solve(Group.from_dict(document), objective).terms)


def loads(document: dict) -> list[int]:
    return sorted(solve(Group.from_dict(document), "balance").assignment.loads.tolist())


@lawful
@given(
    documents(), st.permutations(range(6)), st.permutations(range(5)), st.sampled_from(OBJECTIVES)
)
def test_other_names_of_members_and_topics_change_no_value_and_no_load(
    document, members, topics, objective
):
    text = str.maketrans("01234", "".join(map(str, topics)))
    renamed = deepcopy(document)
    renamed["topics"] = {t.translate(text): body for t, body in document["topics"].items()}
    renamed["members"] = {
        f"m{members[int(member[1:])]}": body
        | {
            "subscription": [t.translate(text) for t in body["subscription"]],
            "owned": {t.translate(text): held for t, held in body["owned"].items()},
        }
        for member, body in document["members"].items()
    }
    assert found(renamed, objective) == found(document, objective)
    assert loads(renamed) == loads(document)


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
