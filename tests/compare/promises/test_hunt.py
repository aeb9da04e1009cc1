"""Hunting: the smallest group on which a promise breaks, and the way there."""

import json
import re
from copy import deepcopy
from dataclasses import replace
from itertools import islice
from pathlib import Path

import pytest

from assay.commands.promises import print_finding
from compare.promises import hunt as hunting
from compare.promises.description import sizes
from compare.promises.findings import Finding
from compare.promises.hunt import Hunt, how_found, how_it_went, hunt, hunt_findings, not_reproduced
from compare.promises.promise import PROMISES, Judgement
from compare.promises.shrink import Quarry, shrink, without_a_part, without_a_share, without_a_tie
from compare.promises.trial import Runner, Trial, in_process, optima, runner_of
from compare.samples.drawn import drawn
from groups import BadInput, Group
from heuristics import WRITTEN, Assignor, catalogue
from heuristics.assignor import Outcome
from heuristics.time_limit import TimeLimit
from tests.assay.calling import assay
from tests.compare.conftest import holding
from tests.heuristics.assignors import misbehaving
from tests.optimal.small_groups import document

FINDINGS = Path(__file__).parents[3] / "corpus" / "findings.jsonl"
DOCUMENT = document(
    {"t": {"partitions": 3, "lag": [1, 2, 3], "racks": [["x"], ["y"], ["z"]]}, "u": 1},
    {
        "a": {"subscription": ["t", "u"], "owned": {"t": [0, 2], "u": [0]}},
        "b": {"subscription": ["t"], "owned": {"t": [1]}},
    },
)


def removals(whole) -> list[dict]:
    return [*without_a_part(whole), *without_a_tie(whole)]


def breaks(assignor, promise, group) -> bool:
    trial = Trial(in_process(assignor), group, optima([group])[0])
    return PROMISES[promise].judge(trial).holds is False


def test_what_is_not_among_the_small_groups_is_looked_for_by_seed():
    asked = {"groups": 500, "seed": 2, "exhaustive": False}
    found = hunt("kip-615-constrained", PROMISES["valid"], **asked)
    group = found.quarry.group
    assert found.tried == 500
    assert (len(group.members), group.n_partitions, len(group.claims.member)) == (2, 1, 2)
    again = hunt("kip-615-constrained", PROMISES["valid"], **asked)
    assert again.quarry.group.to_dict() == group.to_dict()
    kept = hunt("roundrobin", "valid", **asked)
    assert (kept.quarry, kept.broken, kept.tried, kept.tested) == (None, 0, 500, 500)


@pytest.mark.parametrize(
    ("assignor", "promise", "asked", "message"),
    [
        ("kafka-java/range", "valid", {}, r"^assignor: kafka-java/.* run it under a time limit$"),
        ("range", "fast", {}, r"^promise: 'fast'"),
        ("range", "valid", {"groups": -1}, "^groups: -1, expected a whole number of 0 or more$"),
        ("range", "valid", {"seed": -1}, "^seed: -1, expected a whole number of 0 or more$"),
        ("tests.heuristics.assignors.misbehaving:nothing", "answers", {}, "there is no 'nothing'"),
    ],
)
def test_what_cannot_be_hunted_is_refused(assignor, promise, asked, message):
    with pytest.raises(BadInput, match=message):
        hunt(assignor, promise, **asked)


@pytest.mark.parametrize(
    ("assignor", "promises", "message"),
    [
        ("kip-54-*", None, r"'kip-54-\*' means 2, expected one"),
        ("range", ["no-revert"], "no-revert is one of kip-54-st"),
    ],
)
def test_a_hunt_is_for_one_assignor_and_what_applies_to_it(limit, assignor, promises, message):
    hunts = hunt_findings(assignor, promises, limit, seed=1, groups=1, seconds=1, say=print)
    with pytest.raises(BadInput, match=message):
        next(hunts)


def test_a_hunt_stops_when_its_time_is_up():
    found = hunt("roundrobin", "valid", seconds=0.2)
    assert not found.in_time
    assert found.tried < 10625


def test_from_a_shrunk_group_nothing_can_be_removed():
    name, promise = "kip-54-sticky", "optimal-moves"
    group = next(g for g in drawn(4) if breaks(name, promise, g))
    found = shrink(Quarry(group, {}), PROMISES[promise], in_process(name))
    assert found.size < Quarry(group, {}).size
    assert breaks(name, promise, found.group)
    for smaller in removals(found.group.to_dict()):
        assert not breaks(name, promise, Group.from_dict(smaller))


def test_shrinking_takes_a_member_with_its_share_where_the_average_matters():
    """From 3, 3, 3, 3, 0 to 3, 3, 3, 0: a member less with as many partitions as it owns."""
    name = "kip-615-constrained"
    owned = {f"m{i}": [*range(i * 3, i * 3 + 3)] for i in range(4)}
    group = Group.from_dict(holding(12, {**owned, "m4": []}))
    assert breaks(name, "balanced", group)
    found = shrink(Quarry(group, {}), PROMISES["balanced"], in_process(name))
    assert (len(found.group.members), found.group.n_partitions) == (4, 9)


def test_a_shrunk_group_keeps_a_member():
    """Nobody asks an assignor about a group without members."""
    fails = Runner("mine:deal", lambda _: Outcome("failed", None, "no reader", 0.0))
    found = shrink(Quarry(Group.from_dict(DOCUMENT), {}), PROMISES["answers"], fails)
    assert len(found.group.members) == 1
    assert not found.group.topics


def test_a_late_answer_is_not_called_endless(capsys):
    """An assignor that takes longer than the limit for a call may still end."""
    group = Group.from_dict(DOCUMENT)
    print_finding(Finding.of("mine:deal", "terminates", group, {"status": "timed-out"}), 2.5)
    said = capsys.readouterr().out
    assert said.startswith("mine:deal breaks terminates: no answer within 2.5 s\nterminates: it ")


def test_every_removal_is_a_good_group_and_smaller():
    for whole in (DOCUMENT, *(g.to_dict() for g in islice(drawn(5), 20))):
        kept = deepcopy(whole)
        size = Quarry(Group.from_dict(whole), {}).size
        smaller = [*removals(whole), *without_a_share(whole)]
        assert all(Quarry(Group.from_dict(d), {}).size < size for d in smaller)
        assert whole == kept


def test_removals_take_each_member_topic_partition_subscription_and_claim_once():
    group = Group.from_dict(DOCUMENT)
    expected = len(group.members) + len(group.topics) + group.n_partitions
    expected += len(group.subscription_pairs[0]) + len(group.claims.member)
    assert len(removals(group.to_dict())) == expected


def test_racks_are_taken_one_by_one_but_for_the_last_of_a_partition():
    """Every partition that is there has a replica somewhere."""
    topics = {"t": {"partitions": 2, "racks": [["r0", "r1"], ["r1"]]}}
    member = {"subscription": ["t"], "owned": {}}
    racked = document(topics, {"a": member | {"rack": "r0"}, "b": member})
    said = [
        (d["topics"]["t"]["racks"], d["members"]["a"].get("rack")) for d in without_a_tie(racked)
    ]
    assert said[-3:] == [
        ([["r0", "r1"], ["r1"]], None),
        ([["r1"], ["r1"]], "r0"),
        ([["r0"], ["r1"]], "r0"),
    ]
    sizes = [Quarry(Group.from_dict(d), {}).size for d in (racked, *without_a_tie(racked))]
    assert all(size < sizes[0] for size in sizes[1:])


def test_where_a_partition_goes_those_after_it_take_the_number_before():
    fewer = [d for d in removals(DOCUMENT) if d["topics"].get("t", {}) != DOCUMENT["topics"]["t"]
             and "t" in d["topics"]]  # fmt: skip
    first = fewer[0]
    assert first["topics"]["t"] == {"partitions": 2, "lag": [2, 3], "racks": [["y"], ["z"]]}
    assert first["members"]["a"]["owned"] == {"t": [1], "u": [0]}
    assert first["members"]["b"]["owned"] == {"t": [0]}


def test_an_assignor_that_hangs_breaks_its_promise_to_end_and_the_hunt_goes_on(monkeypatch):
    hangs = Assignor("hangs", "shipped", "a test", None, misbehaving.loop)
    written = {**WRITTEN, "hangs": hangs}
    monkeypatch.setattr(catalogue, "WRITTEN", written)
    with TimeLimit(0.3) as limit:
        found = hunt(runner_of("hangs", limit), "terminates", seconds=1.5)
    assert found.quarry.measured["status"] == "timed-out"
    assert not found.in_time


def test_the_seconds_of_a_hunt_are_those_of_all_promises_together():
    found, said = found_in("kip-54-sticky", None, seconds=2, groups=10)
    broken = [finding.promise for finding in found]
    asked = [name for name, promise in PROMISES.items() if promise.asked_of("kip-54-sticky")]
    told = [line for line in said if line.startswith("kip-54-sticky")]
    assert [re.match(r"\S+(?: breaks|:) (\S+) ", t)[1] for t in told] == asked
    assert [name for name, t in zip(asked, told, strict=True) if " breaks " in t] == broken
    assert re.fullmatch(
        rf"{len(asked)} promises hunted in \d s \(limit 2 s\), {len(broken)} broken; "
        r"\d+ not to the end: more seconds may find more, or smaller groups",
        said[-1],
    )


def test_a_hunt_says_every_few_seconds_how_far_it_is(monkeypatch):
    monkeypatch.setattr(hunting, "SAID_EVERY_SECONDS", 0.0)
    said: list[str] = []
    found = hunt("kip-54-fairest", "balanced", groups=50, exhaustive=False, say=said.append)
    assert found.quarry is not None
    assert said
    tried = [re.fullmatch(r"balanced: ([\d,]+) groups? tried, \d+ break it", s)[1] for s in said]
    counts = [int(count.replace(",", "")) for count in tried]
    assert counts == sorted(counts)
    assert counts[-1] <= found.tried


KNOWN = replace(
    Finding.of("kafka-python/sticky@2.3.2", "valid", Group.from_dict(DOCUMENT), {}),
    affected=("2.2.6", "2.3.2"),
    unaffected=("3.0.12",),
)
TRIED = "valid not broken on 40 groups tried: "


@pytest.mark.parametrize(
    ("assignor", "came", "said"),
    [
        # What is known is named even where nothing was found.
        ("kafka-python/sticky@2.2.6", {"drawn": 20}, f"{TRIED}all 20 small and 20 drawn; known to "
         f"break on another group: kafka-python-sticky-valid, {sizes(KNOWN.group)}"),
        ("kafka-python/sticky@3.0.12", {"drawn": 20}, f"{TRIED}all 20 small and 20 drawn; known "
         "of other versions: kafka-python-sticky-valid (2.2.6, 2.3.2)"),
        ("kafka-python/sticky@2.0.2", {"drawn": 20}, f"{TRIED}all 20 small and 20 drawn; known "
         "of kafka-python/sticky@2.3.2: kafka-python-sticky-valid"),
        ("kafka-python/range@2.3.2", {"drawn": 20}, f"{TRIED}all 20 small and 20 drawn"),
        ("aiokafka/sticky@2.3.2", {"drawn": 20}, f"{TRIED}all 20 small and 20 drawn"),
        # Whether the drawn groups were reached.
        ("range", {"drawn": 5}, f"{TRIED}all 35 small and 5 of 20 drawn, as the time was up"),
        ("range", {}, f"{TRIED}all 40 small and none drawn, as the time was up"),
        ("range", {"all_small": False},
         f"{TRIED}40 small, not all of them, and none drawn, as the time was up"),
        ("range", {"all_small": False, "broken": 2}, "breaks valid on 2 of 40 groups tried: "
         "40 small, not all of them, and none drawn, as half of its time was up"),
        ("range", {"drawn": 20, "broken": 2},
         "breaks valid on 2 of 40 groups tried: all 20 small and 20 drawn"),
    ],
)  # fmt: skip
def test_a_hunt_says_which_groups_were_tried_and_what_is_known(assignor, came, said):
    quarry = Quarry(Group.from_dict(DOCUMENT), {}) if "broken" in came else None
    hunted = Hunt(quarry, 40, 40, **{"broken": 0, "in_time": True, **came})
    told = how_it_went(assignor, "valid", hunted, 20, [KNOWN])
    assert told == f"{assignor}{' ' if quarry else ': '}{said}"


def test_a_hunt_says_so_where_a_smaller_group_is_known_than_it_found():
    more = Group.from_dict(DOCUMENT | {"topics": {"t": 40}})
    less = Group.from_dict(DOCUMENT | {"topics": {"t": 1}, "members": {"a": {"subscription": []}}})
    found = {
        group: how_it_went(
            "kafka-python/sticky@2.3.2",
            "valid",
            Hunt(Quarry(group, {}), 40, 40, 2, True),
            20,
            [replace(KNOWN, group=smallest)],
        )
        for group, smallest in ((more, less), (less, more))
    }
    assert found[more].endswith(
        "; a smaller one is known: kafka-python-sticky-valid, 1 member, 1 topic, 1 partition"
    )
    assert found[less].endswith("; known already: kafka-python-sticky-valid")


@pytest.mark.exhaustive
def test_the_command_prints_a_finding_as_json():
    run = assay("hunt", "range", "--promise", "balanced", "--format", "json")
    found = json.loads(run.stdout)
    assert (found["format"], found["id"]) == ("assay-finding/1", "range-balanced")
    # The plan, a better plan, and the command that finds it again.
    assert found["plan"] == {"m0": {"t0": [0], "t1": [0]}, "m1": {}}
    loads = [sum(map(len, held.values())) for held in found["better"].values()]
    assert loads == [1, 1]
    assert found["command"] == "assay hunt range --promise balanced --seed 1 --groups 2000"
    assert set(found["environment"]) == {"kafka-assay", "python"}
    assert found["found"]["how"] == (
        "10,625 groups tried: all 10,625 small, and none drawn, as small ones break it; the "
        "smallest that break the promise were shrunk, and the smallest result kept"
    )
    # It is no bug of range.
    assert found["promised"] is False
    assert "again" not in found


@pytest.mark.exhaustive
def test_an_assignor_is_hunted_for_what_it_promises_and_for_what_is_asked_by_name():
    asked = ("hunt", "range", "--seconds", "1", "--groups", "1")
    run = assay(*asked)
    assert (run.returncode, run.stdout) == (0, "")
    *hunted, omitted, last = run.stderr.splitlines()
    assert [re.match(r"range: (\S+) not broken", line)[1] for line in hunted] == [
        "terminates", "answers", "valid", "idempotent",
    ]  # fmt: skip
    assert omitted == (
        "not hunted: balanced, optimal-balance, optimal-moves, which range does not promise; "
        "name one to hunt it"
    )
    assert last.startswith("4 promises hunted in ")
    run = assay("hunt", "range", "--promise", "balanced", "--seconds", "3")
    assert run.returncode == 1
    assert run.stdout.startswith("range breaks balanced, not promised: loads of 2, 0\n")
    assert "; range does not promise it; known already: range-balanced\n" in run.stderr


def found_in(name, promises, *, seconds, call_seconds=None, groups=1_000_000):
    """Return the findings of a hunt of some seconds on an assignor, and its lines of progress."""
    said: list[str] = []
    with TimeLimit(5.0) as limit:
        runner_of(name, limit)(Group.from_dict(DOCUMENT))
        found = hunt_findings(
            name, promises, limit, seed=1, groups=groups, seconds=seconds, say=said.append,
            call_seconds=call_seconds,
        )  # fmt: skip
        return list(found), said


def test_a_finding_says_what_was_tried_and_how_to_try_it_in_the_seconds_that_it_had():
    asked = ["balanced", "optimal-balance"]
    (first, second), _ = found_in("range", asked, seconds=2.5, call_seconds=2.5)
    assert re.fullmatch(
        r"[\d,]+ groups? tried: [\d,]+ small, not all of them, and none drawn, as half of its "
        r"time was up; the smallest that break the promise were shrunk( until the time was up)?, "
        r"and the smallest result kept",
        first.found.how,
    )
    command = "assay hunt range --promise {} --seed 1 --groups 1000000 --seconds "
    assert first.record.command == f"{command.format(asked[0])}1.25 --time-limit 2.5"
    share = second.record.command.removeprefix(command.format(asked[1]))
    assert 0.1 <= float(share.removesuffix(" --time-limit 2.5")) < 2.5


def test_drawn_groups_are_told_with_their_seed_and_a_shrinking_cut_short_as_such():
    quarry = Quarry(Group.from_dict(DOCUMENT), {})
    came = Hunt(quarry, 40, 40, 2, False, 5, True, shrunk=False)
    assert how_found(came, 20, 7) == (
        "40 groups tried: all 35 small and 5 of 20 drawn, as half of its time was up; the drawn "
        "ones are of seed 7; the smallest that break the promise were shrunk until the time was "
        "up, and the smallest result kept"
    )


def test_what_does_not_happen_again_is_said_by_a_line_and_by_the_finding():
    said: list[str] = []
    name = "tests.heuristics.assignors.misbehaving:stumble_once"
    with TimeLimit(5.0) as limit:
        (made,) = hunt_findings(
            name, ["answers"], limit, seed=1, groups=1, seconds=3, say=said.append
        )
    told = made.to_dict()
    assert told["measured"]["status"] == "failed"
    assert told["plan"] is not None
    assert told["again"] == {"holds": True, "measured": {"status": "planned", "reason": None}}
    assert said[1] == (
        f"called again on the group on which {name} breaks answers: it did not happen again, "
        "status planned"
    )
    assert Finding.from_dict(told).to_dict() == told


def test_what_happens_again_in_another_way_is_said_too():
    finding = Finding.of("range", "balanced", Group.from_dict(DOCUMENT), {"loads": [9, 9]})
    again = finding.recorded(in_process("range"), "assay hunt range").record.again
    assert again == Judgement(False, {"loads": [3, 1]})
    assert not_reproduced(finding, again) == (
        "called again on the group on which range breaks balanced: it happened again, but "
        "measured loads [3, 1]"
    )


def test_the_command_derives_findings_again_and_a_client_that_is_only_slow_changes_nothing(
    tmp_path,
):
    same = FINDINGS.read_text().splitlines()[:3]
    changed = json.dumps(json.loads(same[0]) | {"measured": {"loads": [9]}})
    sleeper = "tests.heuristics.assignors.misbehaving:sleep"
    slow = Finding.of(sleeper, "balanced", Group.from_dict(DOCUMENT), {"loads": [4, 0]})
    late = f"{slow.id}: not tried: no answer within 0.5 s; give it a longer time limit\n"
    for lines, code, said, told in (
        (same, 0, r"(.*: breaks as before\n){3}", "3 findings: 3 as before, 0 changed, 0"),
        ([changed], 1, r'.*: measured \{.*\}, expected \{"loads": \[9\]\}\n',
         "1 finding: 0 as before, 1 changed, 0"),
        ([json.dumps(slow.to_dict())], 0, re.escape(late),
         "1 finding: 0 as before, 0 changed, 1"),
    ):  # fmt: skip
        (tmp_path / "f.jsonl").write_text("\n".join(lines))
        run = assay("hunt", "--rederive", tmp_path / "f.jsonl", "--time-limit", "0.5")
        assert (run.returncode, run.stderr) == (code, f"{told} not tried\n")
        assert re.fullmatch(said, run.stdout)
