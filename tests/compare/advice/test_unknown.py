"""Where nobody says who reads what: advice holds for every truth that there may be."""

import pytest

from assay import Group, TimeLimit, advise, judge, read_groups
from compare.advice.words import not_advised, to_find_out
from compare.scores import DEPENDS, score_whoever_reads_what
from tests.assay.calling import ALL_GROUPS
from tests.compare.advice.made import (
    applied,
    document_of,
    least_load,
    load_now,
    topics_read,
    without_subscriptions,
)

SEEDS = range(50)


@pytest.fixture(scope="module")
def advised() -> list:
    """Return pairs of a group, and the advice when some of its subscriptions are unknown."""
    found = []
    for seed in SEEDS:
        truth = document_of(seed)
        shown = without_subscriptions(truth, seed)
        if topics_read(truth) and shown["members"] != truth["members"]:
            said = advise(Group.from_dict(shown), assignors=(), time_limit=None)
            found.append((truth, said))
    return found


@pytest.mark.exhaustive
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
    assert gains > 30


def test_a_question_is_asked_where_something_is_open_and_no_assignor_is_tried(advised):
    assert any(said.question is not None for _, said in advised)
    asked = [(said, said.judged.verdict.question) for _, said in advised]
    assert all(said.question == own for said, own in asked if own or said.best.bound == said.now)
    assert not any(said.assignors for _, said in advised)


def test_members_taken_as_equal_are_a_condition():
    shown = without_subscriptions(document_of(4), 1)
    assert None in [said["subscription"] for said in shown["members"].values()]
    found = advise(Group.from_dict(shown), assignors=(), assume_equal=True)
    assert found.condition == "all members read the same topics"
    assert found.question is None


def holding(topics: dict, *held: dict) -> dict:
    members = {f"c{m}": {"owned": owned} for m, owned in enumerate(held)}
    return {"format": "assay-group/1", "group": "g", "topics": topics, "members": members}


# range's assignment of ten topics of three partitions: two of five members hold nothing.
TOPICS = {f"t{i}": 3 for i in range(10)}
RANGE = holding(TOPICS, *({topic: [m] for topic in TOPICS} for m in range(3)), {}, {})


@pytest.mark.parametrize(
    ("document", "lower", "idle"),
    [
        (RANGE, "peak_load", "c3"),
        # The greatest load is the same for all subscriptions, so load decides.
        (holding({"t0": 4}, {"t0": [0, 1]}, {"t0": [2, 3]}, {}), "peak_load", "c2"),
        # Lag can surely fall, and further if the idle member reads the topic.
        (
            holding(
                {"t0": {"partitions": 6, "lag": [1000, 1000, 200, 100, 100, 100]}},
                {"t0": [0, 1, 2]},
                {"t0": [3, 4, 5]},
                {},
            ),
            "peak_lag",
            "c2",
        ),
    ],
)
def test_members_that_hold_nothing_are_asked_about_before_more_are_offered(document, lower, idle):
    found = advise(Group.from_dict(document), lower=lower)
    assert found.question == f"does {idle} read t0?"
    assert to_find_out(found) == (
        f"Find out first: does {idle} read t0? If so, partitions can be more even."
    )
    assert "members" not in [one.kind for one in (*found.changes, *found.no_gain)]


def test_nothing_is_asked_where_all_say_what_they_read():
    said = {m: held | {"subscription": [*TOPICS]} for m, held in RANGE["members"].items()}
    told = advise(Group.from_dict(RANGE | {"members": said}), assignors=())
    assert to_find_out(told) == ""
    assert [one.kind for one in told.changes] == ["rebalance", "members"]


def test_the_moves_are_those_of_the_verdict():
    seen = 0
    for group in read_groups(ALL_GROUPS):
        (judged,) = judge([group])
        for lower in ("peak_load", "peak_lag") if judged.plan is not None else ():
            moved = [one for one in advise(group, lower=lower, assignors=()).changes if one.moves]
            same = [one for one in moved if one.moves == len(judged.plan.moved)]
            assert all(one.assignment.moves == judged.plan.moves for one in same)
            seen += len(same)
    assert seen > 2


def test_advice_refuses_the_assignors_that_the_score_refuses():
    (group,) = [one for one in read_groups(ALL_GROUPS) if one.name == "kpr-c"]
    (judged,) = judge([group])
    with TimeLimit(10) as limit:
        asked = ("range", "roundrobin", "kip-54-sticky", "kip-615-constrained")
        found = advise(group, lower="peak_load", assignors=asked, limit=limit)
        names = [trial.assignor for trial in found.assignors]
        rows = score_whoever_reads_what(group, judged.reference, names, limit)
    refused = [row.assignor for row in rows if row.reason == DEPENDS]
    assert [one.assignor for one in found.assignors if one.reason == DEPENDS] == refused
    assert refused == ["range", "roundrobin", "kip-615-constrained"]
    assert not_advised(found) == []
