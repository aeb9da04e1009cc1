"""Verdicts on groups whose subscriptions nobody shows."""

from collections import Counter
from dataclasses import replace
from itertools import islice

import numpy as np
import pytest

from compare.judged import judge, worst_first
from compare.lag.behind import behind
from compare.overview import overview_of
from compare.reasons.sure import solve
from compare.remedy import remedy
from compare.samples.drawn import drawn
from compare.scores import score_assignors
from compare.sentences import sentence
from compare.verdict import ALL_ALIKE
from groups import Assignment, BadInput, Group, MemberDetails
from groups.unknown import reading_as_told
from groups.wording import agreed, counted
from heuristics import assign
from heuristics.time_limit import TimeLimit
from optimal import solve_many
from tests.compare.conftest import holding
from tests.optimal.small_groups import document, group_of


def hidden(group: Group, members: np.ndarray) -> Group:
    """Return the group as a console shows it: without the subscriptions of these members."""
    shown = group.to_dict()
    for name, hide in zip(group.members, members.tolist(), strict=True):
        if hide:
            shown["members"][name]["subscription"] = None
    return Group.from_dict(shown)


def settled(group: Group, owner: np.ndarray) -> Group:
    """Return the group in which members own what an assignment gives them."""
    return group.with_claims(*Assignment(group, owner).holdings, generation=1)


def in_good_order(count: int) -> list[Group]:
    """Return groups whose members own what an assignor or chance gave them."""
    rng = np.random.default_rng(5)
    found = []
    for number, group in enumerate(islice(drawn(11), count)):
        way = ("range", "roundrobin", "kip-54-fairest", "somehow")[number % 4]
        if way == "somehow":
            readers = [group.subscribers(t) for t in range(len(group.topics))]
            owner = np.array(
                [rng.choice(readers[t]) if len(readers[t]) else -1 for t in group.topic], np.int32
            )
        else:
            owner = assign(group, way).owner
        found.append(settled(group, owner))
    return found


@pytest.mark.exhaustive
def test_no_sure_verdict_is_wrong_and_the_true_excess_lies_in_the_interval():
    truths = [g for g in in_good_order(1_200) if g.members and (g.owner >= 0).any()]
    rng = np.random.default_rng(7)
    shown = [hidden(g, rng.random(len(g.members)) < (i % 3 + 1) / 3) for i, g in enumerate(truths)]
    said = Counter()
    for truth, optimum, judged in zip(truths, solve_many(truths), judge(shown), strict=True):
        verdict = judged.verdict
        now = Assignment.current(truth)
        excess = (
            sum(abs(a - b) for a in now.loads.tolist() for b in now.loads.tolist()) // 2
            - optimum.terms[0].value
        )
        said[verdict.says, verdict.sure] += 1
        if verdict.says == "as good as can be":
            assert verdict.sure
            assert excess == 0
        elif verdict.says == "improvable":
            assert verdict.sure
            assert excess > 0
        else:
            assert verdict.says == "depends on who reads what"
            assert not verdict.sure
        if verdict.tier is not None:
            assert verdict.tier == "balance"
            assert verdict.at_least <= excess <= verdict.at_most
        if verdict.moves is not None:
            assert verdict.moves == optimum.terms[1].value
    assert said["improvable", True] > 120
    assert said["as good as can be", True] > 120
    assert said["depends on who reads what", False] > 36


@pytest.mark.exhaustive
def test_what_decides_a_group_is_asked_and_a_yes_decides_it():
    shown = [hidden(g, np.ones(len(g.members), bool)) for g in in_good_order(400)]
    asked = 0
    for judged in judge(shown):
        question = judged.verdict.question
        assert (question is not None) == (judged.verdict.says == "depends on who reads what")
        if question is None or "which topics" in question:
            continue
        asked += 1
        pairs = [part.split(" read ") for part in question[5:-1].split(", and ")]
        held = judged.now.to_dict()
        told = [
            f"{member}={','.join([*held[member], *(t for m, t in pairs if m == member)])}"
            for member in held
            if [*held[member], *(t for m, t in pairs if m == member)]
        ]
        (again,) = judge([*reading_as_told([judged.group], told)])
        assert again.verdict.says == "improvable"
    assert asked > 10


def verdict_of(group: Group, **how):
    (judged,) = judge([group], **how)
    return judged.verdict


UNEVEN = group_of(
    {"t0": 3, "t1": 1}, {"a": None, "b": None}, {"a": {"t0": [0, 1, 2]}, "b": {"t1": [0]}}
)
SHIPPING = group_of(
    {"parcels": 3, "labels": 1},
    {"ship-1": None, "ship-2": None, "ship-3": None},
    {"ship-1": {"parcels": [0, 1]}, "ship-2": {"parcels": [2], "labels": [0]}},
)


def test_with_equal_subscriptions_assumed_the_verdict_says_so_where_it_depends_on_that():
    asked = verdict_of(UNEVEN)
    assert (asked.says, asked.sure, asked.question) == (
        "depends on who reads what", False, "does b read t0?",
    )  # fmt: skip
    assert verdict_of(SHIPPING).question == "does ship-3 read labels?"
    assert verdict_of(UNEVEN, assume_equal=True).to_dict() == {
        "says": "improvable", "sure": False, "at_least": 2, "at_most": 2, "moves": 1,
        "if": ALL_ALIKE, "waiting": None, "shown": "improvable",
    }  # fmt: skip


def test_a_member_that_is_named_as_fullest_or_emptiest_is_said_to_be_one_of_several():
    owned = {"a": [0, 1, 2], "b": [3, 4, 5], "c": [], "d": [6, 7]}
    [judged] = judge([Group.from_dict(holding(8, owned))])
    assert sentence(judged).endswith("gives everyone 2; now a and 1 more hold 3 and c holds 0.")


@pytest.mark.parametrize(
    ("lag", "says", "told"),
    [
        (None, "no members", "orders: no members, so there is nothing to assign."),
        (
            [0, 0, None],
            "no members",
            "orders: no members, so there is nothing to assign. The lag of 1 partition is "
            "unknown.",
        ),
        (
            [7, None, 5],
            "nobody reads",
            "orders: nobody reads. The group has no members. At least 12 records wait. The lag of "
            "1 partition is unknown. Start its consumers;",
        ),
        (
            [0, 1, 0],
            "nobody reads",
            "orders: nobody reads. The group has no members. 1 record waits. Start its consumers;",
        ),
    ],
)
def test_what_waits_in_a_group_without_members_is_the_verdict(lag, says, told):
    topic = 3 if lag is None else {"partitions": 3, "lag": lag}
    (judged,) = judge([Group.from_dict(document({"t": topic}, {}, group="orders"))])
    waiting = None if lag is None else sum(filter(None, lag))
    assert (judged.verdict.says, judged.verdict.waiting) == (says, waiting)
    assert sentence(judged).startswith(told)
    least = "at least " if None in (lag or ()) else ""
    shown, more = overview_of([judged]).attention()
    to_do = [one.to_do for one in shown]
    waits = f"{least}{counted(waiting, 'record')} {agreed(waiting, 'wait')}" if waiting else ""
    assert to_do == [f"start its consumers: {waits}"] * (says == "nobody reads")
    assert not more


def test_groups_that_nobody_reads_come_first_and_the_most_records_before_others():
    def empty(name: str, lag: int) -> Group:
        return lagging(name, [lag], {})

    bad = group_of({"t0": 3}, {"a": None}, {"a": {"t0": [0]}})
    groups = [bad, empty("few", 3), empty("none", 0), empty("many", 9_000)]
    overview = overview_of(judge(groups))
    assert [one.name for one in overview.worst] == ["many", "few", bad.name, "none"]
    assert overview.headline() == "4 groups: 2 that nobody reads; 1 not valid; 1 without members."
    shown, _ = overview.attention()
    assert [f"{one.name}: {one.to_do}" for one in shown] == [
        "many: start its consumers: 9,000 records wait",
        "few: start its consumers: 3 records wait",
        f"{bad.name}: 2 partitions have no owner: t0-1, t0-2",
    ]


@pytest.mark.parametrize(
    ("rule", "says"),
    [
        ("b", "reads b: expected PATTERN=TOPIC,TOPIC as in 'app-*=t0,t1'"),
        ("b=,", "reads b=,: expected PATTERN=TOPIC,TOPIC as in 'app-*=t0,t1', or 'app-*='"),
        ("b=+", "reads b=+: expected PATTERN=TOPIC"),
        ("=t0", "reads =t0: expected PATTERN=TOPIC"),
        ("b=", "reads: b holds a partition of t1, but is not said to read it"),
        ("b=t7", "reads: group g has no topic 't7'"),
        ("x*=t0", "reads x*=t0: no member's id or client id matches 'x*'"),
        ("b=t0", "reads: b holds a partition of t1, but is not said to read it"),
    ],
)
def test_a_subscription_by_hand_that_cannot_be_is_refused(rule, says):
    with pytest.raises(BadInput) as caught:
        reading_as_told([UNEVEN], [rule])
    assert str(caught.value).startswith(says)


BY_CLIENT = replace(UNEVEN, details=tuple(MemberDetails(client_id=f"app-{m}") for m in "ab"))
GOOD, BAD = "as good as can be", "improvable"


@pytest.mark.parametrize(
    ("group", "rules", "says"),
    [
        (UNEVEN, ["a=t0", "b=t1"], GOOD),
        (UNEVEN, ["b=t1"], GOOD),
        (UNEVEN, ["b=t1,t0"], BAD),
        (UNEVEN, ["b=+t0"], BAD),
        (BY_CLIENT, ["app-*=t0,t1"], BAD),
        (SHIPPING, ["ship-3="], GOOD),
        (SHIPPING, ["ship-3=labels"], BAD),
        (SHIPPING, ["ship-3=parcels"], BAD),
    ],
)
def test_subscriptions_by_hand_make_the_verdict_sure(group, rules, says):
    (told,) = reading_as_told([group], rules)
    assert (verdict_of(told).says, verdict_of(told).sure) == (says, True)


def test_what_if_a_member_read_a_topic_too_is_told_with_a_plus():
    held = {"a": {"t0": [0, 1, 2]}, "b": {"t1": [0]}}
    group = group_of({"t0": 3, "t1": 1}, {"a": ["t0"], "b": ["t1"]}, held)
    assert verdict_of(group).says == GOOD
    (told,) = reading_as_told([group], ["b=+t0"])
    assert told.assumed == ("subscription of 1 member as told, not as the source shows it",)
    assert verdict_of(told).says == BAD
    (same,) = reading_as_told([group], ["b=+t1"])
    assert same is group


def test_a_member_told_to_read_less_owns_nothing_of_the_rest():
    read = ["t0", "t1"]
    group = group_of({"t0": 1, "t1": 1}, {"a": read, "b": read}, {"a": {"t0": [0], "t1": [0]}})
    (told,) = reading_as_told([group], ["a=t0"])
    assert told.owner.tolist() == [0, -1]
    assert verdict_of(told).says == "not valid"
    by_columns = Group.from_arrays(
        group="g", topics=["t0", "t1"], partitions=[1, 1], members=["a", "b"],
        subscription_indptr=[0, 2, 4], subscription_topics=[0, 1, 0, 1], owner=[0, 0],
    )  # fmt: skip
    (told,) = reading_as_told([by_columns], ["a=t0"])
    assert told.owner.tolist() == [0, -1]


def test_the_worst_group_is_farthest_then_has_most_to_move_then_is_first_by_name():
    def loads(name: str, *owned: int) -> Group:
        ends = np.cumsum((0, *owned)).tolist()
        held = {f"c{i}": [*range(*ends[i : i + 2])] for i in range(len(owned))}
        return Group.from_dict(holding(ends[-1], held, group=name))

    groups = [
        loads("a", 2, 2), loads("c", 4, 0), loads("b", 4, 0), loads("d", 4, 0, 4, 0),
        loads("e", 8, 0),
    ]  # fmt: skip
    judged = judge(groups)
    order = [judged[i] for i in worst_first(judged)]
    assert [one.verdict.at_least for one in order][:4] == sorted(
        (one.verdict.at_least for one in order[:4]), reverse=True
    )
    assert [one.group.name for one in order] == ["d", "e", "b", "c", "a"]


def lagging(
    name: str, lag: list[int | None], owned: dict[str, list[int]], **capacity: int
) -> Group:
    made = holding(lag, owned, group=name)
    for member, records in capacity.items():
        made["members"][member]["capacity"] = records
    return Group.from_dict(made)


def test_of_groups_that_are_not_valid_those_come_first_where_most_waits():
    groups = [
        lagging("a-few-wait", [1, 2, 3, 4], {"a": [0, 1], "b": [2]}),
        lagging("many-wait", [1, 2, 3, 9_000], {"a": [0, 1], "b": [2]}),
        lagging("two-owners", [1, 2, 3, 4], {"a": [0, 1, 2], "b": [2, 3]}),
        lagging("none-wait", [1, 2, 3, 0], {"a": [0, 1], "b": [2]}),
        lagging("unknown", [1, 2, 3, None], {"a": [0, 1], "b": [2]}),
    ]
    judged = judge(groups)
    order = [groups[at].name for at in worst_first(judged)]
    assert order == ["many-wait", "a-few-wait", "none-wait", "two-owners", "unknown"]
    # 0 is known, null is not.
    assert [one.verdict.waiting for one in judged] == [4, 9_000, None, 0, None]
    assert "record" not in sentence(judged[3])
    assert sentence(judged[2]) == "two-owners: not valid. t-2 is with b and with a."
    # Partitions without an owner are always named, never only counted.
    both = lagging("both", [1, 2, 3, 4, 5], {"a": [0, 1, 2, 9, 10], "b": [2]})
    assert sentence(*judge([both])) == (
        "both: not valid. 2 partitions have no owner: t-3, t-4; 9 records wait there. Also t-2 is "
        "with b and with a. Also t-9 is with a, and t has 5 partitions, and 1 more like that."
    )
    assert "; 9,000 records wait there. Capture again" in sentence(judged[1])


def test_less_lag_that_is_caught_up_with_later_is_not_gone_for():
    lag, owned = [200, 700, 300, 600, 200], {"fast": [0, 1], "mid": [2, 3], "slow": [4]}
    (alike,) = judge([lagging("alike", lag, owned)])
    assert alike.fall is not None
    (slower,) = judge([lagging("slower", lag, owned, fast=30, mid=20, slow=1)])
    assert slower.fall is None or behind(slower.fall.assignment).longest <= 200


def test_a_remedy_is_an_assignor_that_can_be_deployed_and_is_as_good_before_the_moves():
    group = lagging("g", [90, 50, 40, 30, 20, 10], {"a": [0, 1, 2], "b": [3, 4, 5]})
    (one,) = judge([group], "balance > peak_lag > stickiness")
    assert one.verdict.says == "improvable"
    with TimeLimit(10) as limit:
        rows = score_assignors(group, one.best, ["kip-169-lag", "range"], limit)
    assert any(row.terms[0].excess == 0 for row in rows if row.assignor == "kip-169-lag")
    said = remedy(one, rows, None)
    assert said.startswith("Who makes the moves: none of the 2 assignors tried. An assignor that ")


def test_the_moves_of_a_group_do_not_depend_on_what_it_is_judged_with():
    rng, groups = np.random.default_rng(2), []
    for one in in_good_order(80):
        counts = dict(zip(one.topics, one.partitions.tolist(), strict=True))
        without_lag = Group.from_dict(one.to_dict() | {"topics": counts})
        groups += [without_lag, hidden(without_lag, rng.random(len(one.members)) < 0.5)]
    to_improve = 0
    for one in judge(groups):
        if one.verdict.says == "improvable":
            to_improve += 1
            assert np.array_equal(one.target.owner, solve(one.group).assignment.owner)
    assert to_improve > 20


@pytest.mark.parametrize(
    ("lag", "reads", "says"),
    [
        ([0, 0], [], "as good as can be"),
        ([0, 9], [], "nothing assigned yet"),
        ([0, 0], ["t"], "nothing assigned yet"),
        ([0, 0], None, "nothing assigned yet"),
    ],
)
def test_members_that_read_no_partition_hold_all_that_they_can_unless_records_wait(
    lag, reads, says
):
    """They were told that nothing is assigned yet, which fails a strict gate for ever."""
    one = document({"t": {"partitions": 2, "lag": lag}}, {"a": {"subscription": reads}})
    (judged,) = judge([Group.from_dict(one)])
    assert judged.verdict.says == says
