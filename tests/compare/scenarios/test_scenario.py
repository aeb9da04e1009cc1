"""Scenarios: what the events do, and two journeys through them, each from its own state."""

import json
import re
from copy import deepcopy
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from compare.diff import Diff
from compare.scenarios.course import accept, claims_after, course, protocol_of
from compare.scenarios.events import EVENT_KINDS, happen
from compare.scenarios.journey import play, result_document
from compare.scenarios.mixed_group import perform
from compare.scenarios.rollout import Act, Rule
from compare.scenarios.scenario import Scenario
from compare.scenarios.upgrade_paths import OLD
from compare.scores import OPTIMUM
from groups import Assignment, BadInput, Group
from groups.assignment_files import NamedAssignment
from groups.wording import RANDOM_ID
from heuristics import WRITTEN, Plan
from heuristics.catalogue import usual_assignors
from heuristics.protocol import Protocol
from tests.assay import calling
from tests.assay.calling import ALL_GROUPS, good
from tests.compare.conftest import holding
from tests.optimal.small_groups import document

assay = partial(calling.assay, "scenario")
ROOT = Path(__file__).parents[3]
SHIPPED = ROOT / "corpus" / "scenarios"
PAGE = (ROOT / "docs" / "reference" / "scenarios.md").read_text("utf-8")
GROUP = document(
    {"t": 4, "u": {"partitions": 2, "lag": [5, None], "weight": [1, 2]}},
    {
        "a": {"subscription": ["t", "u"], "owned": {"t": [0, 1, 2, 3]}, "generation": 3},
        "b": {"subscription": ["t", "u"], "owned": {"u": [0, 1]}, "generation": 3},
    },
)


def written(*events, group=GROUP, **more) -> dict:
    events = list(events)
    return {"format": "assay-scenario/1", "name": "s", "group": group, "events": events} | more


def scenario(*events, **more) -> Scenario:
    return Scenario.from_dict(written(*events, **more))


def changed(*events, **more) -> dict:
    return scenario(*events, **more).stages[-1].document


# Events


def test_the_first_stage_is_the_group_as_it_was_given_and_no_later_one_says_who_owns_what():
    first, later = scenario({"stable": 1}).stages
    assert first.event == "now"
    assert Group.from_dict(first.document).owner.tolist() == [0, 0, 0, 0, 1, 1]
    members = later.document["members"]
    assert set(members) == set(GROUP["members"])
    assert not any("owned" in said or "generation" in said for said in members.values())


def test_members_join_by_name_or_by_number_and_read_what_somebody_reads():
    made = scenario({"join": {"c": {"subscription": ["u"], "rack": "x"}}}, {"join": 12})
    several = "new-01, new-02, new-03 and 9 more join"
    assert [s.event for s in made.stages] == ["now", "c joins", several]
    members = made.stages[-1].document["members"]
    assert members["c"] == {"subscription": ["u"], "rack": "x"}
    assert [m for m in members if m.startswith("new-")][::11] == ["new-01", "new-12"]
    rows = [said["subscription"] for m, said in members.items() if m.startswith("new-")]
    assert {tuple(row) for row in rows} == {("t", "u"), ("u",)}


def with_topic(topic: object) -> dict:
    """The group with another topic t, of which a owns nothing."""
    a = GROUP["members"]["a"] | {"owned": {}}
    members = GROUP["members"] | {"a": a}
    return GROUP | {"topics": GROUP["topics"] | {"t": topic}, "members": members}


RACKED = with_topic({"partitions": 2, "racks": [["x"], ["y"]]})
LATE = with_topic({"partitions": 1, "offsets": [{"beginning": 0, "end": 9, "committed": 2}]})
NEWCOMER = {"subscription": ["t", "u"]}


@pytest.mark.parametrize(
    ("group", "events", "said", "part", "then"),
    [
        # A name that is taken is not given to a newcomer.
        (GROUP, [{"join": {"new-1": NEWCOMER}}, {"join": 1}], ["new-1 joins", "new-2 joins"],
         ("members", "new-2"), NEWCOMER),
        # Newcomers to a group of nobody read everything.
        (GROUP, [{"leave": 2}, {"join": 1}], ["a, b leave", "new-1 joins"],
         ("members",), {"new-1": NEWCOMER}),
        (GROUP, [{"leave": ["a"]}], ["a leaves"], ("members",), {"b": NEWCOMER}),
        # Partitions that are added are empty, and take the racks of the old ones in turn.
        (GROUP, [{"add_partitions": {"u": 4}}], ["u to 4 partitions"], ("topics", "u"),
         {"partitions": 4, "lag": [5, None, 0, 0], "weight": [1, 2, 0, 0]}),
        (RACKED, [{"add_partitions": {"t": 5}}], ["t to 5 partitions"], ("topics", "t"),
         {"partitions": 5, "racks": [["x"], ["y"], ["x"], ["y"], ["x"]]}),
        (GROUP, [{"delete": ["t"]}], ["t deleted"], ("topics",), {"u": GROUP["topics"]["u"]}),
        (GROUP, [{"delete": ["t"]}, {"create": {"t": 1}}, {"create": {"t": 2, "v": 0}}],
         ["t deleted", "t created with 1", "t re-created with 2, v created with 0"],
         ("topics", "t"), {"partitions": 2, "lag": [0, 0]}),
        # A subscription may be to a topic that does not exist.
        (GROUP, [{"subscribe": {"a": ["u", "later"]}}], ["a reads u, later"],
         ("members", "a"), {"subscription": ["u", "later"]}),
        (GROUP, [{"subscribe": {"a": [], "b": []}}], ["2 members read other topics"],
         ("members", "a"), {"subscription": []}),
        # Offsets become lags.
        (LATE, [], [], ("topics", "t"), {"partitions": 1, "lag": [7]}),
    ],
)  # fmt: skip
def test_what_an_event_changes_and_says(group, events, said, part, then):
    made = scenario(*events, group=group)
    assert [stage.event for stage in made.stages[1:]] == said
    found = made.stages[-1].document
    for key in part:
        found = found[key]
    assert found == then


def test_members_that_leave_are_drawn_by_seed():
    left = {tuple(changed({"leave": 1}, seed=seed)["members"]) for seed in range(9)}
    assert left == {("a",), ("b",)}
    assert changed({"leave": 1}, seed=4) == changed({"leave": 1}, seed=4)


def test_lag_drifts_by_seed_never_below_nothing_and_unknown_stays_unknown():
    drifts = {tuple(changed({"lag": {"least": -9, "most": 9}}, seed=s)["topics"]["u"]["lag"])
              for s in range(40)}  # fmt: skip
    known = {first for first, _ in drifts}
    assert {second for _, second in drifts} == {None}
    assert min(known) == 0
    assert max(known) <= 14
    assert len(known) > 5


def test_a_group_may_stand_in_a_file_beside_the_scenario_and_a_file_that_is_wrong_is_named(
    tmp_path,
):
    (tmp_path / "group.json").write_text(json.dumps(GROUP))
    (tmp_path / "scenario.json").write_text(json.dumps(written(group="group.json")))
    assert Scenario.read(tmp_path / "scenario.json").group.to_dict()["members"] == GROUP["members"]
    (tmp_path / "s.json").write_text("{")
    with pytest.raises(BadInput, match=r"s\.json: line 1 column 2: not JSON"):
        Scenario.read(tmp_path / "s.json")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"format": "assay-group/1"}, r"^format: \"assay-group/1\", expected 'assay-scenario/1'$"),
        ({"name": ""}, r"^name: \"\", expected a non-empty string$"),
        ({"speed": 1}, r"^unknown key 'speed'$"),
        ({"seed": -1}, r"^seed: -1, expected an integer of 0 or more$"),
        ({"group": {"format": "assay-group/1"}}, r"^group: key 'group' is missing$"),
        ({"group": "no.json"}, r"^group: no\.json: cannot be read: No such file"),
        ({"rollout": "upgrade"}, r"^expected either events or a rollout$"),
        ({"events": None, "rollout": "sideways"}, r"^rollout: 'sideways', expected one of upgr"),
        ({"events": 3}, r"^events: 3, expected a list$"),
        ({"events": ["stable"]}, r"^events\[0\]: \"stable\", expected an object$"),
        ({"events": [{}]}, r"^events\[0\]: 0 keys, expected one: join, leave, "),
        ({"events": [{"jion": 1}]}, r"^events\[0\]: unknown key 'jion', expected one of join,"),
        ({"events": [{"join": 0}]}, r"^events\[0\]\.join: 0, expected an integer of 1 or more$"),
        ({"events": [{"join": 10**8}]}, r"^events\[0\]\.join: 100000000, at most 100000 members"),
        ({"events": [{"join": {"c": {}}}]}, r"^events\[0\]\.join\.c: key 'subscription' is mis"),
        (
            {"events": [{"join": {"c": {"subscription": [], "owned": {}}}}]},
            r"^events\[0\]\.join\.c: unknown key 'owned'$",
        ),
        ({"events": [{"join": {"a": {"subscription": []}}}]}, r"join\.a: is a member already$"),
        (
            {"events": [{"join": {"c": {"subscription": [], "rack": 7}}}]},
            r"^events\[0\]\.join: members\.c\.rack: 7, expected a non-empty string$",
        ),
        ({"events": [{"stable": 1}, {"leave": ["z"]}]}, r"^events\[1\]\.leave\[0\]: 'z' is not a"),
        ({"events": [{"leave": 3}]}, r"leave: 3 members, but only 2 are there$"),
        ({"events": [{"delete": ["z"]}]}, r"^events\[0\]\.delete\[0\]: no topic 'z' at that time"),
        ({"events": [{"add_partitions": {"t": 4}}]}, r"add_partitions\.t: 4, but it has 4 alr"),
        ({"events": [{"add_partitions": {"z": 4}}]}, r"add_partitions\.z: no topic 'z' at that"),
        ({"events": [{"create": {"t": 10**9}}]}, r"create: topics: 1000000000 partitions, mo"),
        ({"events": [{"subscribe": {"z": []}}]}, r"subscribe\.z: is not a member at that time$"),
        ({"events": [{"lag": {"least": 1}}]}, r"^events\[0\]\.lag: key 'most' is missing$"),
        ({"events": [{"lag": {"least": 1, "most": 0}}]}, r"lag: most is 0, below least, which is"),
        ({"events": [{"stable": 10**6}]}, r"^events\[0\]: more than 10000 rebalances$"),
        (
            {"group": document({"t": 4}, {}), "events": [{"lag": {"least": 0, "most": 1}}]},
            r"^events\[0\]\.lag: no topic of the group has a lag",
        ),
    ],
)  # fmt: skip
def test_what_is_wrong_is_refused_in_one_line_that_names_the_place(change, message):
    said = written(**change)
    if said["events"] is None:
        del said["events"]
    with pytest.raises(BadInput, match=message) as caught:
        Scenario.from_dict(said)
    assert "\n" not in str(caught.value)


def test_unknown_subscriptions_need_to_be_assumed():
    unknown = written(group=GROUP | {"members": {"a": {"owned": {}}}})
    with pytest.raises(BadInput, match=r"members\.a\.subscription: unknown"):
        Scenario.from_dict(unknown)
    assert Scenario.from_dict(unknown, assume_equal=True).group.assumed


def test_an_event_leaves_the_document_before_it_as_it_was():
    group = {**GROUP, "topics": {"t": {"partitions": 4, "lag": [1, 1, 1, 1]}}}
    kept = deepcopy(group)
    values = {
        "join": 2, "leave": 1, "add_partitions": {"t": 5}, "create": {"t": 1}, "delete": ["t"],
        "subscribe": {"a": []}, "lag": {"least": 1, "most": 1}, "stable": 1,
    }  # fmt: skip
    assert values.keys() == EVENT_KINDS.keys() == {*re.findall(r'^\| `\{"(\w+)":', PAGE, re.M)}
    for kind, value in values.items():
        happen({kind: value}, "e", group, np.random.default_rng(1))
        assert group == kept


# Journeys


def test_each_journey_goes_on_from_its_own_last_assignment(limit):
    made = scenario({"join": {"c": {"subscription": ["t", "u"]}}}, {"leave": ["c"]})
    own, sticky, fairest = play(made, ["kip-54-sticky", "kip-54-fairest"], limit)
    assert [j.assignor for j in (own, sticky, fairest)] == [OPTIMUM, "kip-54-sticky",
                                                            "kip-54-fairest"]  # fmt: skip
    assert [step.best for step in own.steps] == [(0, 1), (0, 2), (0, 0)]
    loads = [step.row.loads for step in fairest.steps]
    assert loads == [(4, 2), (4, 2, 0), (4, 2)]
    # From the assignor's own state 4, 2 the optimum would have to move one, then two.
    assert [step.best for step in fairest.steps] == [(0, 1), (0, 2), (0, 1)]
    assert fairest.start["terms"] == {"balance": 2, "stickiness": 0}
    assert fairest.start["not_optimal"] == 1
    assert fairest.total["terms"] == {"balance": 8 + 2, "stickiness": 0}
    assert fairest.total["optimum"] == {"balance": 0, "stickiness": 3}
    assert fairest.total["not_optimal"] == 2


def test_what_a_member_held_that_leaves_changes_hands_and_is_no_move(limit):
    made = scenario({"leave": ["b"]}, {"join": {"b": {"subscription": ["t", "u"]}}})
    _, sticky = play(made, ["kip-54-sticky"], limit)
    left, joined = sticky.steps[1:]
    held = sticky.steps[0].row.loads[1]
    assert left.row.terms[1].value == 0
    assert left.course.change_hands == held
    assert (
        joined.course.change_hands
        == joined.row.terms[1].value
        == sticky.total["terms"]["stickiness"]
    )
    assert sticky.total["change_hands"] == held + joined.course.change_hands


def test_the_first_event_is_played_from_the_assignment_as_it_is_now(limit):
    group = holding(4, {"a": [0, 1, 2], "b": [3], "c": []})
    for journey in play(
        scenario({"leave": ["a"]}, group=group), ["range", "kip-54-fairest"], limit
    ):
        now, left = journey.steps
        assert (now.event, now.row.loads, now.course.rounds) == ("now", (3, 1, 0), 0)
        assert journey.start["change_hands"] == 0
        # By range b gives t-3 to c, and no optimum of the other two would.
        moves = 1 if journey.assignor == "range" else 0
        assert journey.total["change_hands"] == left.course.change_hands == 3 + moves


@pytest.mark.parametrize("owned", [{}, {"a": [0, 1]}, {"a": [0, 1, 2, 3], "b": [3]}])
def test_where_the_assignment_now_is_not_valid_a_rebalance_comes_first_that_no_sum_counts(
    owned, limit
):
    made = scenario({"stable": 3}, group=holding(4, {"a": [], "b": [], **owned}))
    _, ranged = play(made, ["range"], limit)
    assert [step.event for step in ranged.steps] == ["start", *["stable"] * 3]
    assert ranged.steps[0].row.loads == (2, 2)
    assert ranged.total["change_hands"] == 0


def test_what_is_handed_over_is_what_a_diff_of_before_and_after_finds(limit):
    rng = np.random.default_rng(7)
    for _ in range(20):
        topics = {f"t{i}": int(rng.integers(1, 7)) for i in range(3)}
        many = int(rng.integers(2, 6))
        owned: dict[str, dict] = {f"m{i}": {} for i in range(many)}
        for topic, count in topics.items():
            for number in range(count):
                owned[f"m{rng.integers(many)}"].setdefault(topic, []).append(number)
        members = {m: {"subscription": list(topics), "owned": held} for m, held in owned.items()}
        made = Scenario.of_group(Group.from_dict(document(topics, members)), leaves=["m0"])
        del members["m0"]
        rest = Group.from_dict(document(topics, members))
        for journey in play(made, ["range", "kip-54-sticky"], limit)[1:]:
            then = WRITTEN[journey.assignor].function(rest).assignment.to_dict()
            sides = (NamedAssignment.from_dict(held, "") for held in (owned, then))
            moves = Diff(*sides).moves
            assert journey.rebalances[0].course.handed_over == moves
            assert journey.total["change_hands"] == sum(move.count for move in moves)


def test_members_leave_by_id_client_id_or_glob_and_after_a_restart_too():
    members = {f"app-{i}-x": {"subscription": ["t"], "client_id": f"c{i // 2}"} for i in range(4)}
    group = Group.from_dict(document({"t": 4}, members))
    for leaves in (["app-0-x", "app-1-x"], ["c0"], ["app-[01]-*"]):
        made = Scenario.of_group(group, leaves=leaves)
        assert made.stages[-1].event == "app-0-x, app-1-x leave"
    renamed = ["app-01111111-1111-4111-8111-111111111111", "app-1"]
    group = Group.from_dict(holding(4, {renamed[0]: [0, 1, 2, 3], renamed[1]: []}))
    made = Scenario.of_group(group, restarts=1, leaves=renamed[:1])
    assert list(made.stages[-1].document["members"]) == ["app-1"]
    with pytest.raises(BadInput, match=r"^leaves: no member 'app-2', expected one of app-0111"):
        Scenario.of_group(group, leaves=["app-2"])


def test_the_optimum_is_never_off_and_never_beaten_in_balance(limit):
    made = Scenario.read(SHIPPED / "differing-topics.json")
    own, *others = play(made, ["range", "kip-54-sticky", "kip-429-cooperative"], limit)
    assert own.total["not_optimal"] == 0
    for journey in others:
        for step, best in zip(journey.steps, own.steps, strict=True):
            assert step.row.terms[0].value >= step.best[0] == best.best[0]


@pytest.mark.parametrize(
    ("events", "loads", "cleaned"),
    [
        # A member that left comes back with nothing.
        ([{"leave": ["a"]}, {"join": {"a": NEWCOMER}}], [(4, 2), (6,), (0, 6)], [0, 0, 0]),
        # Claims on partitions that went fall away.
        ([{"create": {"t": 2}}, {"delete": ["t"]}, {"create": {"t": 2}}],
         [(4, 2), (2, 2), (0, 2), (2, 2)], [0, 2, 2, 0]),
    ],
)  # fmt: skip
def test_what_went_is_held_no_longer(events, loads, cleaned, limit):
    journey = play(scenario(*events), ["kip-54-fairest"], limit)[1]
    assert [step.row.loads for step in journey.steps] == loads
    assert [step.course.cleaned for step in journey.steps] == cleaned


def test_where_an_assignor_refuses_the_members_keep_what_they_hold(limit):
    made = scenario({"stable": 1}, {"subscribe": {"b": ["u"]}}, {"subscribe": {"b": ["t", "u"]}})
    journey = play(made, ["kip-615-amended"], limit)[1]
    statuses = [step.row.status for step in journey.steps]
    assert statuses == ["scored", "scored", "refused", "scored"]
    assert "subscriptions differ" in journey.steps[2].row.reason
    assert journey.steps[3].row.terms[1].value == 0
    assert journey.total["without_plan"] == 1
    assert [step.course.rounds for step in journey.steps] == [0, 1, 0, 1]


TWICE = holding(2, {"a": [0], "b": [0]})


def test_two_owners_of_one_partition_stay_two_claims(limit):
    made = scenario({"stable": 1}, group=TWICE)
    journey = play(made, ["kip-615-constrained"], limit)[1]
    assert [step.row.valid for step in journey.steps] == [False, False]
    assert (journey.total["invalid"], journey.total["not_optimal"]) == (1, 0)
    assert journey.total["terms"] == journey.total["optimum"] == {"balance": 0, "stickiness": 0}


def test_the_listener_cleans_up_needlessly_what_stays_where_it_was_unless_cooperative(limit):
    """StickyAssignor, "Impact on ConsumerRebalanceListener", after its example 1.

    C1 goes. The other two hold five partitions: all stay under the sticky assignor, three under
    round robin.
    """
    topics = {f"t{i}": 2 for i in range(4)}
    members = {f"C{i}": {"subscription": sorted(topics)} for i in range(3)}
    made = scenario({"leave": ["C1"]}, group=document(topics, members))
    sticky, dealt, cooperative = play(
        made, ["kip-54-sticky", "roundrobin", "kip-429-cooperative"], limit
    )[1:]
    last = [journey.steps[-1].course for journey in (sticky, dealt, cooperative)]
    assert [(c.needless, c.built, c.cleaned) for c in last] == [(5, 3, 0), (3, 5, 2), (0, 3, 0)]


def test_the_protocol_follows_from_the_assignor():
    eager = ("range", "kip-54-sticky", "kafka-java/sticky@4.4.0")
    assert {*map(protocol_of, eager)} == {Protocol.EAGER}
    cooperative = (
        "kip-429-cooperative", "kafka-java/cooperative-sticky@4.4.0", "kafka-broker/uniform@4.4.0",
        "java-optimal/optimal@4.4.0", OPTIMUM,
    )  # fmt: skip
    assert {*map(protocol_of, cooperative)} == {Protocol.COOPERATIVE}


def test_other_objectives_have_their_own_tiers(limit):
    made = Scenario.read(SHIPPED / "lag-drift.json")
    own, lag = play(made, ["kip-169-lag"], limit, "topic_balance > peak_lag")
    assert len(lag.steps) == len(made.stages) > 1
    for step, best in zip(lag.steps, own.steps, strict=True):
        assert [t.name for t in step.row.terms] == ["topic_balance", "peak_lag"]
        assert step.row.terms[1].value >= step.best[1] == best.best[1]


def test_the_result_is_a_document_of_numbers(limit):
    made = scenario({"stable": 2})
    found = result_document(made, play(made, ["range", "kip-169-lag"], limit))
    assert json.loads(json.dumps(found)) == found
    assert found["format"] == "assay-scenario-result/1"
    assert [j["assignor"] for j in found["journeys"]] == ["optimum", "range", "kip-169-lag"]
    step = found["journeys"][1]["steps"][2]
    assert step["terms"][0] == {"name": "balance", "value": 0, "excess": 0}
    assert step["optimum"] == [0, 0]
    assert step["listener"] == {"cleaned": 0, "built": 0, "needless": 6}
    took = {key: step[key] for key in ("rounds", "revoked", "stopped", "ownerless")}
    assert took == {"rounds": 1, "revoked": 6, "stopped": 6, "ownerless": 0}
    assert found["journeys"][2]["steps"][1]["terms"] is None


def test_every_scenario_that_ships_can_be_played(limit):
    files = sorted(SHIPPED.glob("*.json"))
    assert len(files) >= 7
    for file in files:
        made = Scenario.read(file)
        assert made.name == file.stem
        if made.rollout is None:
            for journey in play(made, list(WRITTEN), limit):
                assert len(journey.steps) == len(made.stages)


NUMBERS = ("rounds", "revoked", "stopped", "ownerless")


def test_eager_members_give_up_all_that_they_hold_and_cooperative_ones_what_moves(limit):
    """Two of four partitions must move."""
    made = scenario({"stable": 1}, group=holding(4, {"a": [0, 1, 2, 3], "b": []}))
    optimum, eager, cooperative = (
        tuple(getattr(journey.steps[1].course, number) for number in NUMBERS)
        for journey in play(made, ["kip-54-sticky", "kip-429-cooperative"], limit)
    )
    assert eager == (1, 4, 4, 0)
    assert cooperative == optimum == (2, 2, 0, 2)


def test_what_a_member_gives_up_that_leaves_stands_still_under_either_protocol(limit):
    made = scenario({"leave": ["a"]})
    for journey in play(made, ["kip-54-sticky", "kip-429-cooperative"], limit):
        held, loads = journey.steps[1].course, journey.steps[0].row.loads
        eager = journey.assignor == "kip-54-sticky"
        assert held.revoked == held.stopped == (sum(loads) if eager else loads[0])
        assert (held.rounds, held.ownerless) == (1, 0)


def test_partitions_of_an_only_reader_that_left_are_not_ownerless(limit):
    reads = {"a": {"subscription": ["t"]}, "b": {"subscription": ["u"]}}
    group = document({"t": 2, "u": 3}, reads)
    made = scenario({"leave": ["b"]}, {"join": {"b": reads["b"]}}, group=group)
    for journey in play(made, ["range", "kip-429-cooperative"], limit):
        assert journey.total["ownerless"] == 0
        assert journey.steps[1].course.stopped == (5 if journey.assignor == "range" else 3)


def test_a_rollout_and_a_journey_count_the_same_of_the_same_restart(limit):
    """Range, whose members all list only range: one protocol throughout."""
    reads = {"subscription": ["t", "u"]}
    group = document({"t": 4, "u": 3}, dict.fromkeys("abc", reads))
    made = scenario({"leave": ["a"]}, {"join": {"a": reads}}, group=group)
    journey = play(made, ["range"], limit)[1]
    acts = [Act("leave", "a"), Act("join", "a", OLD)]
    rollout = perform(Group.from_dict(group), "s", Rule.DYNAMIC, dict.fromkeys("abc", OLD), acts)
    for step, act in zip(journey.steps, rollout.steps, strict=True):
        for number in NUMBERS:
            assert getattr(step.course, number) == getattr(act, number)
        assert step.row.terms[1].value == act.moves


# Assignments that are not valid


def test_a_journey_goes_on_after_kafkas_sticky_gave_a_partition_twice(limit):
    """A claim on a partition that is no more is enough, and nothing happens."""
    members = {
        "a2": {"subscription": ["clicks"], "owned": {"clicks": [13]}, "generation": 8},
        "new-3": {"subscription": ["payments"], "owned": {"payments": [0]}, "generation": 8},
    }
    made = scenario({"stable": 2}, group=document({"clicks": 1, "payments": 1}, members))
    own, sticky = play(made, ["kafka-java/sticky@4.4.0"], limit)
    assert own.total["invalid"] == 0
    assert (sticky.total["invalid"], sticky.total["without_plan"]) == (2, 0)
    assert {v.kind for step in sticky.steps for v in step.row.violations} >= {"no-such-partition"}


def test_a_partition_that_two_were_given_is_claimed_by_both():
    group = Group.from_dict(GROUP)
    both = {"a": {"t": [0, 0, 1]}, "b": {"t": [0, 2, 3], "u": [0, 1]}}
    state = claims_after(group, accept(Assignment.from_dict(group, both), "range"))
    assert state == {
        "a": {"owned": {"t": [0, 1]}, "generation": 4},
        "b": {"owned": {"t": [0, 2, 3], "u": [0, 1]}, "generation": 4},
    }


@pytest.mark.parametrize(
    ("assignor", "claims", "ownerless", "built", "of_target"),
    [
        # It refuses all, and keeps its claims.
        ("range", {"owned": {}}, 3, 3, (2, 9)),
        # Members of KafkaJS only leave out that topic.
        ("kafkajs/RoundRobinAssigner@2.2.4", {"owned": {"u": [0, 1]}, "generation": 4}, 1, 5,
         (2, 7)),
    ],
)  # fmt: skip
def test_a_member_given_a_topic_that_it_does_not_read_does_not_take_it(
    assignor, claims, ownerless, built, of_target
):
    members = {**GROUP["members"], "c": {"subscription": ["u"]}}
    group = Group.from_dict({**GROUP, "members": members})
    made = Assignment.from_dict(group, {"b": {"t": [1, 2, 3]}, "c": {"u": [0, 1], "t": [0]}})
    accepted = accept(made, assignor)
    state = claims_after(group, accepted)
    assert state["c"] == claims
    assert state["b"] == {"owned": {"t": [1, 2, 3]}, "generation": 4}
    eager = course(group, Plan(made), assignor, accepted=accepted, departed={})
    assert (eager.ownerless, eager.built) == (ownerless, built)
    target = course(group, Plan(made), OPTIMUM, accepted=accepted, departed={})
    assert (target.rounds, target.ownerless) == of_target


def test_without_an_assignment_all_claim_what_they_claimed():
    state = claims_after(Group.from_dict(GROUP), {})
    assert state["a"] == {"owned": {"t": [0, 1, 2, 3]}, "generation": 3}


# The command


def test_a_member_that_restarts_has_another_uuid_and_reads_the_same():
    ids = ["0YutUtnFQw+hNd0QvsUxFA", "app-01111111-1111-4111-8111-111111111111", "plain"]
    members = {m: {"subscription": ["t"], "owned": {"t": [i]}} for i, m in enumerate(ids)}
    group = Group.from_dict(document({"t": 3}, members))
    made = Scenario.of_group(group, restarts=2, joins=1, leaves=2)
    assert len(made.stages) == 1 + 2 * 2 * 3 + 2
    first, *_, last, more, fewer = (stage.document["members"] for stage in made.stages)
    assert set(first) == set(ids)
    assert {*last} & {*ids} == {"plain"}
    assert sum(RANDOM_ID.fullmatch(member) is not None for member in last) == 1
    assert all(said == {"subscription": ["t"]} for said in last.values())
    assert (len(more), len(fewer)) == (4, 2)
    assert made == Scenario.of_group(group, restarts=2, joins=1, leaves=2)


def test_a_group_of_kafka_streams_is_refused_with_and_without_a_rollout():
    shop = Path(__file__).parents[3] / "docs" / "how-to" / "streams-shop.json"
    for options in (("--scale-in", "1"), ("--rollout", "upgrade")):
        run = assay(shop, *options)
        refused = "group 'shop' is of Kafka Streams, and scenarios are for consumers"
        assert run.returncode == 2
        assert refused in run.stderr


def test_the_answer_says_who_leaves_by_which_draw_and_what_goes_to_whom():
    group = json.dumps(holding(4, {"a": [0, 1], "b": [2], "c": [3]}))
    drawn = assay("-", "--scale-in", "1", "--assignor", "range", stdin=group)
    assert (
        "what happens: b leaves (drawn by seed 1; --scale-in MEMBER names another)" in drawn.stdout
    )
    named = assay("-", "--scale-in", "a", "--assignor", "kip-54-sticky", stdin=group)
    lines = named.stdout.splitlines()
    first = "scenario g: 1 rebalance from the assignment as it is now, balance > moves"
    assert lines[:2] == [first, "what happens: a leaves"]
    # What moves and what changes hands is told before it is listed.
    told = lines.index("in brackets: the optimum from the same state")
    assert lines[told + 1 : told + 3] == [
        "moves: partitions that leave a member that stays and reads them",
        "change hands: partitions that end with another member than before",
    ]
    at = lines.index("what changes hands with the optimum, kip-54-sticky:")
    assert at > told
    assert lines[at + 1 : at + 3] == ["  1 from a to b: t: 0", "  1 from a to c: t: 1"]
    assert "KIP-345" not in named.stdout
    static = json.loads(group)
    static["members"]["a"]["instance_id"] = "i-0"
    told = assay("-", "--deploys", "1", "--assignor", "range", stdin=json.dumps(static)).stdout
    assert "A static member that comes back within session.timeout.ms keeps its" in told
    nobody = assay("-", "--scale-in", "d", stdin=group)
    assert "g: --scale-in: no member 'd', expected one of a, b, c" in nobody.stderr


def test_nobodys_partitions_are_first_assigned_and_the_answer_says_so():
    group = json.dumps(holding(4, {"a": [], "b": []}))
    run = assay("-", "--scale-out", "1", "--assignor", "range", stdin=group)
    lines = run.stdout.splitlines()
    assert lines[:3] == [
        "scenario g: 1 rebalance, balance > moves",
        "g: nobody holds a partition. So a first rebalance is played, which no sum counts.",
        "what happens: new-1 joins",
    ]


def test_a_captured_group_changes_its_assignor():
    options = ("--from", "range", "--to", "cooperative-sticky")
    lines = assay(ALL_GROUPS, "--group", "coop-a", *options).stdout.splitlines()
    assert lines[0].startswith(
        "upgrade, if all members read the same topics: Safe in 2 rolling restarts: 4 members with "
    )
    said = [i for i, line in enumerate(lines) if line.startswith("as ")]
    assert "clients of today" in lines[said[0]]
    assert "KIP-726 proposes" in lines[said[1]]


def test_the_sums_say_of_how_many_rebalances_they_are_and_reward_no_invalid_assignment():
    twice = json.dumps(written({"stable": 1}, group=TWICE))
    run = assay("-", "--assignor", "kip-615-constrained", stdin=twice)
    assert "start: not valid: t-0 with b: double" in run.stdout
    lines = run.stdout.splitlines()
    at = next(at for at, line in enumerate(lines) if line.startswith("assignor "))
    heads, optimum, invalid = (line.split() for line in lines[at : at + 3])
    assert heads[:3] == ["assignor", "scored", "not"]
    assert optimum[:5] == ["optimum", "1", "of", "1", "0"]
    assert invalid[:7] == ["kip-615-constrained", "0", "of", "1", "-", "-", "-"]


def test_a_sum_below_the_optimums_is_explained():
    said = "; where that is more, an earlier tier is worse than it could be\n"
    file = SHIPPED / "differing-topics.json"
    assert said in assay(file, "--assignor", "kip-54-fairest").stdout
    assert said not in assay(file, "--assignor", "kip-54-sticky").stdout


def test_without_assignors_named_kafkas_are_summed_up_and_the_option_for_others_is_said():
    lines = good(assay("-", stdin=json.dumps(written({"stable": 1})))).stdout.splitlines()
    heads = next(at for at, line in enumerate(lines) if line.startswith("assignor "))
    names = ["optimum", *usual_assignors([Group.from_dict(GROUP)])]
    first = [line.split()[0] for line in lines[heads + 1 : heads + 1 + len(names)]]
    assert first == names
    assert "These are Kafka's; for others add --assignor NAME, 'written' or 'shipped'." in lines


def test_the_command_prints_a_rollout_under_both_rules_and_with_its_options():
    said = good(assay(SHIPPED / "range-only.json")).stdout
    assert said.startswith("range-only: range-only is turned away with range: ")
    assert "turned away: no assignor is supported by all members" in said
    assert said.splitlines()[-1].split() == ["ends", "cooperative", "cooperative"]
    run = good(assay(SHIPPED / "missed.json", "--misses", "app-0"))
    assert "app-0 misses a rebalance" in run.stdout


def test_the_command_takes_several_files_and_answers_in_their_order():
    run = assay(
        SHIPPED / "upgrade.json", SHIPPED / "downgrade.json", "--order", "app-2", "--back",
        "--from", "*=range", "--to", "cooperative-sticky,range", "--format", "json",
    )  # fmt: skip
    first, second = map(json.loads, good(run).stdout.splitlines())
    assert (first["rollout"], second["rollout"]) == ("upgrade and back", "downgrade and back")
    for found in (first, second):
        dynamic = found["rules"][1]
        assert dynamic["steps"][1]["act"] == "app-2 leaves"
        assert dynamic["total"]["restarts"] == 6
