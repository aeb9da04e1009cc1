"""Where nobody says who reads what: advice holds for every truth that there may be."""

import pytest

from assay import Group, advise
from tests.compare.advice.made import (
    applied,
    document_of,
    least_load,
    load_now,
    topics_read,
    without_subscriptions,
)

SEEDS = range(80)


@pytest.fixture(scope="module")
def advised() -> list:
    """The truth, and what is said by somebody who does not know it."""
    found = []
    for seed in SEEDS:
        truth = document_of(seed)
        shown = without_subscriptions(truth, seed)
        if topics_read(truth) and shown["members"] != truth["members"]:
            said = advise(Group.from_dict(shown), assignors=(), time_limit=None)
            found.append((truth, said))
    return found


def test_what_is_promised_holds_for_the_truth(advised):
    gains = 0
    for truth, said in advised:
        least = least_load(truth)
        assert said.best.bound <= least <= said.best.value
        for change in said.changes:
            if change.kind == "partitions":
                continue
            gains += 1
            after = least_load(applied(truth, change))
            assert change.after.bound <= after <= change.after.value
            before = load_now(truth) if change.kind == "rebalance" else least
            assert 0 < change.at_least <= before - after <= change.at_most
    assert gains > 50


def test_a_question_is_asked_where_something_is_open_and_no_assignor_is_tried(advised):
    assert any(said.question is not None for _, said in advised)
    assert all(said.question is None for _, said in advised if said.best.bound == said.now)
    assert not any(said.assignors for _, said in advised)


def test_members_taken_as_equal_are_a_condition():
    shown = without_subscriptions(document_of(4), 1)
    assert None in [said["subscription"] for said in shown["members"].values()]
    found = advise(Group.from_dict(shown), assignors=(), assume_equal=True)
    assert found.condition == "all members read the same topics"
    assert found.question is None
