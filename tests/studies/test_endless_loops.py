import json
from itertools import pairwise
from pathlib import Path

import pytest

from compare.promises.findings import read_findings
from compare.promises.trial import in_process
from compare.reasons.chains import why_unseen
from groups import Assignment, BadInput, Group
from heuristics.written.sticky_that_ends import from_its_holder, from_where_it_started
from studies import endless_loops
from studies.loops import java, librdkafka, python, rounds, sarama
from studies.loops.beside import counted
from studies.loops.librdkafka import Moved
from studies.loops.page import story, why_of
from studies.loops.turn import RECORDED, Turn, cycle_of, turns_of
from studies.page import read

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs/findings/why.md"
MADE = json.loads(PAGE.with_suffix(".json").read_text())
BESIDE = read(PAGE.with_suffix(".csv"))
FINDINGS = {finding.id: finding for finding in read_findings(ROOT / "corpus/findings.jsonl")}
ENDLESS = [name for name, finding in FINDINGS.items() if finding.promise == "terminates"]
JOIN = Group.read(ROOT / "docs/findings/never-returns.json")
OURS = turns_of(JOIN, from_where_it_started)


def joined(topics, subscriptions, owned):
    members = {m: {"subscription": s, "owned": owned.get(m, {})} for m, s in subscriptions.items()}
    document = {"format": "assay-group/1", "group": "g", "topics": topics, "members": members}
    return Group.from_dict(document)


def turn(number, *, leaves="a", to="b"):
    return Turn("t-0", leaves, to, "t-0", leaves, {"a": number, "b": 0})


def test_a_cycle_is_the_shortest_that_comes_back_ten_times():
    there, back, first = turn(1), turn(0, leaves="b", to="a"), turn(9)
    assert cycle_of([first, *[there, back] * 10]) == (1, [there, back])
    assert cycle_of([first, *[there, back] * 9]) is None
    assert cycle_of([first, *[there] * 10]) == (1, [there])
    assert cycle_of([turn(number) for number in range(100)]) is None
    assert cycle_of([]) is None


@pytest.mark.exhaustive
def test_kafkas_own_class_goes_through_the_turns_of_our_algorithm_with_its_rule():
    assert java.recorded("kafka-java/sticky@4.4.0", JOIN) == OURS


def test_aiokafkas_own_class_goes_through_the_turns_of_our_algorithm_with_its_rule():
    assert python.recorded("aiokafka/sticky", JOIN) == OURS


def test_the_turns_of_a_client_that_ends_are_all_there_are():
    group = Group.from_dict(
        {
            "format": "assay-group/1",
            "group": "g",
            "topics": {"t": 4, "u": 1},
            "members": {
                "a": {"subscription": ["t", "u"], "owned": {"t": [0, 1, 2, 3], "u": [0]}},
                "b": {"subscription": ["t"]},
            },
        }
    )
    ours = turns_of(group, from_where_it_started)
    assert 0 < len(ours) < RECORDED
    assert python.recorded("aiokafka/sticky", group) == ours
    assert cycle_of(ours) is None


def test_what_is_put_into_a_copy_of_sarama_needs_the_version_that_is_recorded(tmp_path):
    with pytest.raises(BadInput, match=r"sarama 1\.0\.0: the driver's go\.mod requires another"):
        sarama.recorded("sarama/sticky@1.0.0", JOIN)


def test_a_cycle_is_told_with_who_should_give_and_who_loses_instead():
    before, cycle = cycle_of(OURS)
    first, *turns, last = story(OURS, before, len(cycle))
    assert first == f"{before} turns come first."
    at = next(at for at, one in enumerate(cycle) if one.leaves != one.holder)
    wrong = cycle[at]
    assert turns[at].startswith(
        f"{wrong.holder} has {wrong.loads[wrong.holder]} partitions and should give"
    )
    assert turns[at].endswith(f"and {wrong.holder} still {wrong.loads[wrong.holder]}.")
    assert len(turns) == len(cycle)
    assert last.endswith("everything is as it was, and so on for good.")


@pytest.mark.parametrize("name", ENDLESS)
def test_each_finding_that_does_not_end_has_the_cycle_of_our_algorithm_with_the_clients_rule(name):
    entry, group = MADE[name], FINDINGS[name].group
    before, cycle = cycle_of(turns_of(group, from_where_it_started))
    assert entry["same_as_our_algorithm_with_that_rule"] is True
    assert entry["cycle"] == [one.to_dict() for one in cycle]
    assert entry["turns_before"] == before
    assert any(one["should_leave"]["from"] != one["moved"]["from"] for one in entry["cycle"])
    assert len(turns_of(group, from_its_holder)) < RECORDED


def test_each_missed_balance_has_its_chain():
    missed = {n: f for n, f in FINDINGS.items() if f.promise == "optimal-balance" and f.record}
    assert missed
    for name, finding in missed.items():
        plan = Assignment.from_dict(finding.group, finding.record.plan)
        assert MADE[name]["chain"] == why_unseen(plan)


def test_rounds_that_come_back_are_told_with_what_each_gives_and_takes():
    finding = FINDINGS["kafka-java-cooperative-sticky-settles"]
    seen = rounds.rounds_of(finding.assignor, finding.group)
    before, circle = rounds.circle_of(seen)
    meant = java.withheld(finding.assignor, finding.group)
    assert [{*one} for one in meant] == [{*one.taken()} for one in seen]
    told = rounds.story(circle, before, meant)
    assert told == MADE[finding.id]["case"]
    assert told[-1] == f"Round {len(seen) + 1} is round {before + 1} again, and so on for good."
    for one, then in pairwise([*circle, circle[0]]):
        assert one.given == then.owned
        assert one.taken()


def test_without_racks_the_same_group_settles():
    finding = FINDINGS["kafka-java-cooperative-sticky-settles"]
    bare = endless_loops.without_racks(finding.group)
    assert "rack" not in json.dumps(bare.to_dict())
    seen = rounds.rounds_of(finding.assignor, bare)
    assert rounds.circle_of(seen) is None
    assert seen[-1].taken() == {}


@pytest.mark.exhaustive
def test_where_the_load_alone_decides_who_gets_what_is_free_the_rounds_settle():
    told = {f.id for f in FINDINGS.values() if f.promise == "settles"}
    assert told
    for name in told:
        assert endless_loops.settled(FINDINGS[name].group) == MADE[name]["change"]


def test_librdkafkas_assertion_is_told_by_the_one_partition_whose_note_is_old():
    there, back, other = Moved("t-0", "a", "b"), Moved("t-0", "b", "a"), Moved("t-1", "a", "b")
    told = librdkafka.story([there, other, back], "f", "x == y")
    assert told == [
        "After 3 moves the library asserts `x == y` in f and ends the process.",
        "Of all partitions that moved, t-0 alone is not where it was noted to have gone: it went "
        "from a to b and came back to a.",
    ]
    assert librdkafka.story([there, other], "f", "x == y") is None


def test_what_librdkafka_has_logged_is_one_member_after_the_other_for_each_partition():
    entry = MADE["librdkafka-cooperative-sticky-answers"]
    holder = {}
    for one in entry["moves"]:
        assert holder.setdefault(one["partition"], one["leaves"]) == one["leaves"]
        holder[one["partition"]] = one["to"]
    assert any(first["partition"] == last["partition"] and first["leaves"] == last["to"]
               for first in entry["moves"] for last in entry["moves"])  # fmt: skip
    group = FINDINGS["librdkafka-cooperative-sticky-answers"].group
    assert holder.keys() <= {f"{t}-{n}" for t, of in group.to_dict()["topics"].items()
                             for n in range(of)}  # fmt: skip


def test_nothing_is_told_of_findings_that_are_not_there():
    assert MADE.keys() <= FINDINGS.keys()


@pytest.mark.parametrize("name", FINDINGS)
def test_a_finding_holds_what_the_study_tells_of_it_and_nothing_else(name):
    assert FINDINGS[name].why == (why_of(MADE[name]) if name in MADE else ())


def test_whatever_never_ends_never_settles_or_misses_the_best_balance_is_told_why():
    promises = ("terminates", "settles", "optimal-balance")
    asked = {name for name, found in FINDINGS.items() if found.promise in promises}
    assert asked
    assert asked <= MADE.keys()
    for name in asked:
        assert FINDINGS[name].why


def test_the_whole_text_of_an_entry_is_in_what_is_told_of_its_finding():
    entry = {"rule": "A rule.", "case": ["One turn.", "Another."], "chain": None}
    assert why_of(entry) == ("A rule.", "One turn.", "Another.")
    missed = {"rule": None, "chain": "t-0 from a to b: a 2, b 0 become a 1, b 1. And so on."}
    assert why_of(missed) == (
        "The best balance takes t-0 from a to b: a 2, b 0 become a 1, b 1. And so on.",
    )


def test_beside_kafkas_class_no_balance_is_worse_and_nothing_moves_more():
    assert sum(int(one["groups"]) for one in BESIDE) == 8000
    for one in BESIDE:
        assert int(one["worse_balance"]) == 0
        assert int(one["our_moves"]) <= int(one["their_moves"])


def test_what_is_counted_beside_another_assignor_is_of_equal_balance():
    groups = [
        joined({"t": 2}, {"a": ["t"], "b": ["t"]}, {"a": {"t": [0, 1]}}),
        joined({"t": 2, "u": 2}, {"a": ["t", "u"], "b": ["t"]}, {"a": {"t": [0, 1]}}),
    ]
    found = counted(groups, in_process("kip-54-fairest"))
    assert (found["are equal"]["groups"], found["differ"]["groups"]) == (1, 1)
    assert found["are equal"]["better_balance"] == found["differ"]["better_balance"] == 1
    same = counted(groups, in_process("sticky-that-ends"))["are equal"]
    assert (same["their_moves"], same["our_moves"], same["more_moves"]) == (1, 1, 0)
