"""KIP-726, rebalance by rebalance: what each rule costs, and that nobody commits twice."""

import json
import re
from dataclasses import replace
from itertools import product
from pathlib import Path

import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from compare.scenarios.mixed_group import perform
from compare.scenarios.rollout import Act, Rollout, Rule
from compare.scenarios.scenario import Scenario
from compare.scenarios.upgrade_paths import (
    COOPERATIVE_ONLY,
    NEW,
    OLD,
    Variation,
    roll_out,
    roll_out_by_rule,
    rollout_document,
)
from groups import BadInput, Group, MemberDetails
from heuristics import WRITTEN
from tests.compare.scenarios.simulator import simulate
from tests.optimal.small_groups import document

ROOT = Path(__file__).parents[3]
STICKY = ("sticky", "range")


def group_of(members: int) -> Group:
    said = {f"c{i}": {"subscription": ["t", "u"]} for i in range(members)}
    return Group.from_dict(document({"t": 6, "u": 3}, said))


THREE = group_of(3)


def rolled(name: str, rule: Rule = Rule.STATIC, *, of: Group = THREE, **chosen) -> Rollout:
    return roll_out(of, name, rule, variation=Variation(**chosen))


def acts_of(rollout: Rollout) -> list[str]:
    return [step.act for step in rollout.steps[1:]]


def test_a_downgrade_loses_everything_once_and_bars_the_others_until_they_join_again():
    steps = rolled("downgrade", Rule.DYNAMIC).steps
    joined = steps[2]
    assert joined.act == "c0 joins with range"
    assert (joined.protocol, joined.rounds, joined.lost) == ("eager", 2, 9)
    assert joined.barred == ("c1", "c2")
    assert all((step.lost, step.barred) == (0, ()) for step in steps if step is not joined)


@pytest.mark.parametrize(("name", "used"), [("upgrade", "range"), ("downgrade", "kip-54-sticky")])
def test_from_what_the_old_assignor_made_a_rollout_goes_as_if_all_members_started(name, used):
    held = THREE.with_claims(*WRITTEN[used].function(THREE).assignment.holdings)
    for rule in (Rule.STATIC, Rule.DYNAMIC):
        made, anew = rolled(name, rule, of=held), rolled(name, rule)
        assert (made.steps[0].act, anew.steps[0].act) == ("now", "start")
        assert made.steps[0].rounds == 0
        assert made.steps[1:] == anew.steps[1:]


def test_a_rollout_begins_with_what_the_members_hold_now():
    made = rolled("upgrade", of=THREE.with_claims([1] * 9, range(9)), order=("c1",))
    assert made.steps[1].act == "c1 leaves"
    assert made.steps[1].change_hands == 9


LISTS = st.sampled_from(
    [
        OLD, NEW, STICKY, ("cooperative-sticky", "sticky", "range"), ("range",),
        COOPERATIVE_ONLY, ("roundrobin", "range"), ("sticky", "roundrobin"),
    ]
)  # fmt: skip


def common(lists) -> bool:
    return bool(set.intersection(*map(set, lists)))


@st.composite
def stories(draw) -> tuple[dict, list[Act]]:
    """Draw first members, and acts that are possible in this order; a member always remains."""
    there = {f"c{i}": draw(LISTS) for i in range(draw(st.integers(1, 4)))}
    assume(common(there.values()))
    first, away, acts = dict(there), set(), []
    for number in range(draw(st.integers(1, 8))):
        kind = draw(st.sampled_from(["leave", "join", "miss", "return"]))
        present = sorted(set(there) - away)
        fits = [there[m] for m in present]
        if kind == "join":
            # A member that left may join again; one that is refused does not become a member.
            new = next(m for m in (f"c{i}" for i in range(number % 2 * 4, 20)) if m not in there)
            acts.append(Act("join", new, draw(LISTS)))
            if common([*fits, acts[-1].assignors]):
                there[new] = acts[-1].assignors
        elif kind == "return" and away:
            acts.append(Act("return", draw(st.sampled_from(sorted(away)))))
            away.remove(acts[-1].member)
            if not common([*fits, there[acts[-1].member]]):
                del there[acts[-1].member]
        elif kind in ("leave", "miss") and len(present) > 1:
            acts.append(Act(kind, draw(st.sampled_from(present))))
            if kind == "miss":
                away.add(acts[-1].member)
            else:
                del there[acts[-1].member]
    return first, acts


@st.composite
def mixed_groups(draw) -> dict:
    """Draw groups of four members with different subscriptions, some of them static."""
    topics = draw(st.dictionaries(st.sampled_from("tuv"), st.integers(0, 5), min_size=1))
    ids = draw(st.permutations(["i0", "i1", "i2", "i3"]))
    members = {}
    for i in range(4):
        members[f"c{i}"] = {"subscription": draw(st.lists(st.sampled_from("tuv"), unique=True))}
        if draw(st.booleans()):
            members[f"c{i}"]["instance_id"] = ids[i]
    return document(topics, members)


@settings(deadline=None, max_examples=150, derandomize=True)
@given(mixed_groups(), stories(), st.sampled_from([Rule.DYNAMIC, *Rule]))
@example(
    # Nobody draws that c0 is turned away when it returns: c2 does not list range.
    document({"t": 4}, {member: {"subscription": ["t"]} for member in ("c0", "c1")}),
    (
        {"c0": OLD, "c1": ("roundrobin", "range")},
        [Act("miss", "c0"), Act("join", "c2", ("roundrobin",)), Act("return", "c0")],
    ),
    Rule.DYNAMIC,
)
def test_counts_are_those_of_an_independent_simulator_and_the_proposal_keeps_commits_apart(
    drawn, story, rule
):
    first, acts = story
    made = perform(Group.from_dict(drawn), "story", rule, first, acts)
    expected = simulate(drawn, rule, first, acts)
    if rule is Rule.DYNAMIC:
        assert made.is_safe
        for step in made.steps:
            assert step.rounds <= 5
            assert step.lost == 0 or step.barred or step.act.endswith(" returns")
    for step, row in zip(made.steps, expected, strict=True):
        found = step.to_dict() | {"refused": step.refused is not None}
        assert {**found, "act": None} == {**row, "act": None}


def test_the_page_on_rollouts_has_the_sums_of_the_scenarios_that_ship():
    page = (ROOT / "docs/findings/rollouts.md").read_text("utf-8")
    _, _, *rows = page.partition("\n| | upgrade, today |")[2].partition("\n\n")[0].splitlines()
    said = dict(row.strip("| ").split(" | ", 1) for row in rows)
    totals = []
    for name in ("upgrade", "downgrade", "missed", "range-only"):
        group = Scenario.read(ROOT / f"corpus/scenarios/{name}.json").group
        totals += [rollout.total for rollout in roll_out_by_rule(group, name)]
    for what, values in said.items():
        key = what.replace(" ", "_")
        assert values.split(" | ") == [str(total[key]) for total in totals], what
    assert said.keys() == {key.replace("_", " ") for key in totals[0]}
    downgraded = Scenario.read(ROOT / "corpus/scenarios/downgrade.json").group
    contested = roll_out(downgraded, "downgrade", Rule.UNGUARDED).total["contested"]
    assert f"leaves {contested} of 9 partitions contested" in " ".join(page.split())


@pytest.mark.parametrize(
    ("acts", "message"),
    [
        ([Act("leave", "z")], r"^acts\[0\]: 'z' is not a member at that time$"),
        ([Act("miss", "z")], r"^acts\[0\]: 'z' is not a member at that time$"),
        ([Act("leave", "c0"), Act("return", "c0")], r"^acts\[1\]: 'c0' is not a member at that t"),
        ([Act("join", "c0", NEW)], r"^acts\[0\]: 'c0' is a member already$"),
        ([Act("miss", "c0"), Act("join", "c0", NEW)], r"^acts\[1\]: 'c0' is a member already$"),
        ([Act("miss", "c0"), Act("leave", "c0")], r"^acts\[1\]: 'c0' is away$"),
        ([Act("return", "c0")], r"^acts\[0\]: 'c0' is not away$"),
        ([Act("leave", "c0"), Act("miss", "c1")], r"^acts\[1\]: 'c1' is the last one, nobody wou"),
    ],
)
def test_an_act_that_cannot_be_is_refused_in_one_line(acts, message):
    with pytest.raises(BadInput, match=message):
        perform(group_of(2), "s", Rule.DYNAMIC, dict.fromkeys(["c0", "c1"], NEW), acts)


def test_sticky_keeps_under_the_eager_protocol_what_cooperative_sticky_forgets():
    """A member that is eager owns nothing when it joins; only sticky carries a memory."""
    acts = [Act("leave", "c2")]
    for rule, listed, moved in (
        (Rule.DYNAMIC, STICKY, False), (Rule.STATIC, NEW, True), (Rule.DYNAMIC, NEW, False),
    ):  # fmt: skip
        lists = dict.fromkeys(["c0", "c1", "c2"], listed)
        assert (perform(THREE, "s", rule, lists, acts).steps[1].moves > 0) == moved


RESTARTED = f"joins with {', '.join(NEW)}"


@pytest.mark.parametrize(
    ("name", "rule", "chosen", "acts"),
    [
        # Members restart in the order that is chosen, the others after them by name.
        ("upgrade", Rule.DYNAMIC, {"order": ("c2", "c0")},
         ["c2 leaves", f"c2 {RESTARTED}", "c0 leaves", f"c0 {RESTARTED}",
          "c1 leaves", f"c1 {RESTARTED}"]),
        # Another member may miss the rebalance.
        ("missed", Rule.DYNAMIC, {"misses": "c0"},
         ["c0 misses a rebalance", "c0 returns", "c0 leaves", f"c0 {RESTARTED}"]),
        # It lists what is chosen for it.
        ("missed", Rule.DYNAMIC, {"misses": "c0", "start": NEW},
         ["c0 misses a rebalance", "c0 returns"]),
        # Members start with other lists, and only those restart whose list changes.
        ("upgrade", Rule.DYNAMIC,
         {"start": STICKY, "starts": {"c1": NEW}, "to": ("cooperative-sticky", "range")},
         ["c0 leaves", "c0 joins with cooperative-sticky, range",
          "c2 leaves", "c2 joins with cooperative-sticky, range"]),
        # An intruder with another list is let in where all have it.
        ("range-only", Rule.STATIC, {"to": COOPERATIVE_ONLY},
         ["range-only joins with cooperative-sticky", "range-only leaves"]),
    ],
)  # fmt: skip
def test_a_variation_of_a_rollout_has_these_acts(name, rule, chosen, acts):
    assert acts_of(rolled(name, rule, **chosen)) == acts


def test_a_group_goes_there_and_back_again_and_ends_as_it_began():
    for name, rule in product(("upgrade", "downgrade"), (Rule.STATIC, Rule.DYNAMIC)):
        made, there = rolled(name, rule, back=True), rolled(name, rule)
        assert made.name == f"{name} and back"
        assert made.total["restarts"] == 2 * there.total["restarts"]
        assert made.total["ends"] == made.steps[0].protocol != there.total["ends"]
        assert acts_of(made)[: len(there.steps) - 1] == acts_of(there)


@pytest.mark.parametrize(
    ("name", "chosen", "message"),
    [
        ("upgrade", {"order": ("z",)}, r"^order: no member 'z', expected one of c0, c1, c2$"),
        ("upgrade", {"order": ("c0", "c0")}, r"^order: 'c0' appears twice$"),
        ("range-only", {"order": ("c0",)}, r"^order: nobody restarts in range-only$"),
        ("missed", {"misses": "z"}, r"^misses: no member 'z', expected one of c0, c1, c2$"),
        ("upgrade", {"misses": "c0"}, r"^misses: nobody misses a rebalance in upgrade$"),
        ("missed", {"back": True}, r"^back: for upgrade and downgrade, not for missed$"),
        ("upgrade", {"start": ("own",)}, r"^start: 'own', expected one of range, round"),
        ("upgrade", {"to": ("range", "range")}, r"^to: 'range' appears twice$"),
        ("upgrade", {"starts": {"z*": OLD}}, r"^start z\*: no member's id or client id matches$"),
        ("upgrade", {"to": OLD}, r"^rollout: upgrade changes nothing: all list that from the sta"),
        (
            "upgrade",
            {"starts": {"c0": COOPERATIVE_ONLY}},
            r"^first: no assignor is supported by all members \(c0: coop",
        ),
        ("range-only", {"stays": ("c0",)}, r"^stays: nobody restarts in range-only$"),
    ],
)
def test_a_variation_that_does_not_fit_is_refused(name, chosen, message):
    with pytest.raises(BadInput, match=message):
        rolled(name, **chosen)


def test_members_go_by_their_client_id_too():
    details = tuple(MemberDetails(client_id=client) for client in ("web", "job", "job"))
    group = replace(THREE, details=details)
    by_client = {"order": ("job", "c0"), "starts": {"j*": ("range", "roundrobin")}}
    by_id = {"order": ("c1", "c2", "c0"), "starts": {"c[12]": ("range", "roundrobin")}}
    for chosen, same in ((by_client, by_id), ({"stays": ("job",)}, {"stays": ("c1", "c2")})):
        made, expected = (acts_of(rolled("upgrade", of=group, **one)) for one in (chosen, same))
        assert made == expected
    assert acts_of(rolled("missed", of=group, misses="web"))[0] == "c0 misses a rebalance"
    with pytest.raises(BadInput, match=r"^misses: 'job' is 2 members, expected one of c1, c2$"):
        rolled("missed", of=group, misses="job")
    with pytest.raises(BadInput, match=r"^order: 'c2' appears twice$"):
        rolled("upgrade", of=group, order=("job", "c2"))


def test_lists_that_have_nothing_in_common_do_where_each_restart_has():
    chosen = {"starts": {"c0": OLD, "c[12]": ("range", "roundrobin")}, "to": ("roundrobin",)}
    made = rolled("upgrade", Rule.DYNAMIC, **chosen)
    assert [step.assignor for step in made.steps] == ["range", "range", *["roundrobin"] * 5]
    assert not any(step.refused for step in made.steps)
    made = rolled("upgrade", order=("c1", "c0"), **chosen)
    assert [len(lists) for lists in made.rolling_restarts] == [3, 3]
    assert not any(step.refused for step in made.steps)


LISTING = replace(group_of(2), details=(MemberDetails(assignors=STICKY),) * 2)
BOTH, STATIC = (Rule.STATIC, Rule.DYNAMIC), (Rule.STATIC,)


@pytest.mark.parametrize(
    ("group", "rules", "chosen", "begins", "answer"),
    [
        # From the default list of a Java client.
        (THREE, BOTH, {"start": ("range", "cooperative-sticky")}, "range",
         "Safe in 1 rolling restart: 3 members with cooperative-sti.* the cooperative protocol"),
        # From range alone to cooperative-sticky alone the first restart lists both.
        (THREE, BOTH, {"start": OLD, "to": COOPERATIVE_ONLY}, "range",
         "Safe in 2 rolling restarts: 3 members with cooperative-sticky,range, then 3 members "
         "with cooperative-sticky. The group then uses cooperative-sticky under the "
         "cooperative protocol. At no time can two members commit for one partition.$"),
        # A rollout begins with what the members list if the group says so.
        (LISTING, STATIC, {"to": OLD}, "sticky",
         "Safe in 1 rolling restart: 2 members with range[.]"),
        # A member that stays with range stops the rollout before anybody else is turned away.
        (THREE, STATIC, {"stays": ("c1",), "to": COOPERATIVE_ONLY}, "range",
         "It does not work: it stops where c0 restarts with cooperative-"),
        (THREE, STATIC, {"to": NEW}, "range",
         "Safe in .* each member that lists an eager assignor too stays eager"),
        (THREE, (Rule.DYNAMIC,), {"start": STICKY, "to": (*NEW, "sticky")}, "sticky", "Safe in"),
    ],
)  # fmt: skip
def test_the_answer_is_how_many_rolling_restarts_are_safe(group, rules, chosen, begins, answer):
    for rule in rules:
        made = rolled("upgrade", rule, of=group, **chosen)
        assert made.steps[0].assignor == begins
        assert re.match(answer, made.answer)
        refused = [step.refused is not None for step in made.steps]
        stops = made.answer.startswith("It does not work")
        assert refused == [False] * (len(refused) - 1) + [stops]


def test_what_cannot_be_rolled_out_is_refused():
    with pytest.raises(BadInput, match=r"^rollout: 'sideways', expected one of upgr"):
        rolled("sideways")
    with pytest.raises(BadInput, match=r"^rollout: 1 member, expected 2 or more$"):
        rolled("upgrade", of=group_of(1))
    with pytest.raises(BadInput, match=r"^rollout: 'own', expected one of range, "):
        perform(THREE, "s", Rule.DYNAMIC, {"c0": ("own",)}, [])


def test_the_document_has_both_rules():
    found = rollout_document(THREE, roll_out_by_rule(THREE, "missed"))
    assert json.loads(json.dumps(found)) == found
    assert found["format"] == "assay-rollout-result/1"
    assert [rule["rule"] for rule in found["rules"]] == ["static", "dynamic"]
    assert found["rules"][1]["steps"][2]["barred"] == ["c0", "c1"]
