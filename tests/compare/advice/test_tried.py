"""Assignors that are tried: what each makes of the group, and of every join and leave after."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from assay import Assignment, Group, TimeLimit, advise, assign, read_groups
from compare.advice.advice import Advice
from compare.advice.words import depends, gains_nothing, in_short, not_advised, to_do, what_to_do
from compare.judged import judge
from compare.remedy import remedy, steps_to_deploy
from compare.scores import score_assignors
from groups.tiers import parse_objective
from heuristics.catalogue import WRITTEN, usual_assignors
from tests.assay.calling import assay, good, write
from tests.assay.calling import document_of as document_in
from tests.compare.advice.made import applied, copied, document_of, least_load, topics_read
from tests.heuristics.assignors.mine import divide, twice, while_all_are_there
from tests.optimal.small_groups import document

STREAMS = Path(__file__).parents[3] / "docs" / "how-to" / "streams-shop.json"
STICKY, COOPERATIVE = "kafka-java/sticky@4.4.0", "kafka-java/cooperative-sticky@4.4.0"
UNIFORM, OPTIMAL = "kafka-broker/uniform@4.4.0", "java-optimal/optimal@4.4.0"
NAMES = ("range", "roundrobin", "kip-429-cooperative", "kip-54-sticky")
# range gives c0 the first of three partitions of each topic, and c1 and c2 one each.
TOPICS = ("t0", "t1", "t2")
RANGE = document(
    dict.fromkeys(TOPICS, 4),
    {
        f"c{m}": {"subscription": [*TOPICS], "owned": {topic: numbers for topic in TOPICS}}
        for m, numbers in enumerate(([0, 1], [2], [3]))
    },
)


def a_topic_each(document: dict) -> dict:
    """The group whose members hold a whole topic each, so that loads are even."""
    made = copied(document)
    for said, topic in zip(made["members"].values(), TOPICS, strict=True):
        said["owned"] = {topic: [0, 1, 2, 3]}
    return made


def assigned_by_the_broker(document: dict) -> dict:
    """The group with members that have an epoch, as those of KIP-848."""
    made = copied(document)
    for said in made["members"].values():
        said["epoch"] = 3
    return made


def handed_out(document: dict, name: str) -> Assignment:
    return assign(Group.from_dict(document), name)


def after(document: dict, held: Assignment) -> list[dict]:
    """Return the snapshots after one member has joined, and after a leave of 3 or more."""
    held_by = held.to_dict()
    settled = copied(document)
    for member, said in settled["members"].items():
        said |= {"owned": held_by[member], "generation": 7}
    joined = copied(settled)
    joined["members"]["new-1"] = {"subscription": topics_read(document)}
    made = [joined]
    for member in document["members"] if len(document["members"]) > 2 else ():
        left = copied(settled)
        del left["members"][member]
        made.append(left)
    return made


@pytest.fixture(scope="module")
def small(limit) -> list[tuple[dict, Advice]]:
    """Return small groups, and the advice on each with four assignors tried."""
    documents = filter(topics_read, map(document_of, range(15)))
    return [(one, advise(Group.from_dict(one), assignors=NAMES, limit=limit)) for one in documents]


def test_what_assignors_do_is_what_they_do_when_called_one_by_one(small):
    seen = 0
    for one, found in small:
        assert [tried.assignor for tried in found.assignors] == [*NAMES]
        for tried in found.assignors:
            made = handed_out(one, tried.assignor)
            if not made.is_valid:
                assert tried.peak is None
                continue
            peak = int(made.loads.max())
            assert (tried.peak, tried.least) == (peak, peak == least_load(one))
            assert tried.moves == len(made.moved)
            stages = after(one, made)
            results = [handed_out(stage, tried.assignor) for stage in stages]
            kept = [
                result.is_valid and int(result.loads.max()) == least_load(stage)
                for result, stage in zip(results, stages, strict=True)
            ]
            assert (tried.kept, tried.tried) == (sum(kept), len(kept))
            seen += 1
    assert seen > 35


@pytest.fixture(scope="module")
def found(limit) -> Advice:
    """Advice on the group of range, with the usual assignors tried."""
    return advise(Group.from_dict(RANGE), limit=limit)


def test_the_assignor_that_keeps_the_least_is_advised_and_takes_a_restart(found):
    (change,) = [one for one in found.changes if one.kind == "assignor"]
    assert (found.now, change.assignor, change.after.value) == (6, COOPERATIVE, 4)
    assert (change.restarts, change.before.proof, change.after.proof) == (3, *["as it is"] * 2)
    assert change.assignment.loads.tolist() == [4, 4, 4]


def test_no_assignor_is_advised_where_none_lowers_the_peak_or_none_is_asked_about(limit):
    even = a_topic_each(RANGE)
    found = advise(Group.from_dict(even), limit=limit)
    (said,) = [one for one in found.no_gain if one.kind == "assignor"]
    assert said.because == "The best of 5 tried, sticky 4.4.0, leaves the busiest member with 4."
    assert said.proved
    assert advise(Group.from_dict(even), assignors=()).assignors == ()


def test_an_assignor_without_a_valid_plan_now_or_after_a_leave_is_not_advised_and_why(limit):
    assignors = [divide, twice, while_all_are_there]
    found = advise(Group.from_dict(RANGE), assignors=assignors, limit=limit)
    broken, double, later = found.assignors
    assert (broken.status, broken.peak) == ("failed", None)
    assert "ZeroDivisionError" in broken.reason
    assert (double.peak, double.reason[:9]) == (None, "not valid")
    assert (later.peak, later.least) == (4, True)
    assert "ZeroDivisionError" in later.reason
    assert later.reason.endswith(" after c0 has left")
    assert not [one for one in found.changes if one.kind == "assignor"]


@pytest.fixture(scope="module")
def never_returns() -> dict:
    path = Path(__file__).parents[3] / "docs/findings/never-returns.json"
    return json.loads(path.read_text("utf-8"))


@pytest.fixture(scope="module")
def hung(never_returns) -> Advice:
    """Advice on a group for which Kafka's cooperative-sticky never returns."""
    with TimeLimit(1) as limit:
        group = Group.from_dict(listing(never_returns, *[["cooperative-sticky"]] * 5))
        names = (COOPERATIVE, "kip-429-cooperative", UNIFORM)
        return advise(group, assignors=names, limit=limit)


def test_an_assignor_that_never_returns_on_the_group_is_named_and_not_advised(hung, never_returns):
    (change,) = [one for one in hung.changes if one.kind == "assignor"]
    assert change.assignor == UNIFORM
    assert hung.assignors[0].status == "timed-out"
    unlisted = replace(hung.judged, group=Group.from_dict(never_returns))
    assert not_advised(replace(hung, judged=unlisted)) == [
        "Not advised: cooperative-sticky 4.4.0: no answer within 1 s on this group."
    ]
    # If the group uses this assignor now.
    assert not_advised(hung) == [
        "cooperative-sticky assigns this group now, and cooperative-sticky 4.4.0 does not come to "
        "a valid plan: no answer within 1 s on this group."
    ]


def test_the_rule_as_written_of_what_assigns_now_is_not_advised(never_returns, limit):
    group = Group.from_dict(listing(never_returns, *[["cooperative-sticky"]] * 5))
    found = advise(group, assignors=["kip-429-cooperative"], limit=limit)
    assert found.assignors[0].peak == found.best.value
    (said,) = [one for one in found.no_gain if one.kind == "assignor"]
    assert said.because == "No assignor tried can be advised."


def test_a_rule_as_written_is_advised_after_all_that_can_be_deployed_and_said_to_be_one(limit):
    both = advise(Group.from_dict(RANGE), assignors=["kip-54-sticky", STICKY], limit=limit)
    assert [one.assignor for one in both.changes if one.kind == "assignor"] == [STICKY]
    alone = advise(Group.from_dict(RANGE), assignors=["kip-54-sticky"], limit=limit)
    (change,) = [one for one in alone.changes if one.kind == "assignor"]
    assert change.assignor == "kip-54-sticky"
    assert depends(change, alone)[-1].startswith(
        "kip-54-sticky is a rule as written and no class. Kafka's sticky comes near, "
    )


def test_without_kafkas_classes_the_rules_are_tried_by_advice_score_and_page(
    tmp_path, monkeypatch
):
    in_clients, in_broker = Group.from_dict(RANGE), Group.from_dict(assigned_by_the_broker(RANGE))
    every = usual_assignors([in_clients])
    assert every == ["range", "roundrobin", STICKY, COOPERATIVE, UNIFORM]
    assert usual_assignors([in_broker]) == [UNIFORM, "kafka-broker/range@4.4.0"]
    assert usual_assignors([in_broker, in_clients]) == [*every, "kafka-broker/range@4.4.0"]
    (streams,) = read_groups(STREAMS)
    assert usual_assignors([streams]) == usual_assignors([]) == []
    monkeypatch.setenv("KAFKA_ASSAY_CACHE", str(tmp_path))
    usual = ["range", "roundrobin", "kip-429-cooperative", "kip-54-sticky"]
    assert usual_assignors([in_clients]) == usual_assignors([in_broker, in_clients]) == usual
    assert usual_assignors([in_broker]) == []
    write(tmp_path, {"group.json": RANGE})
    said = {
        command: document_in(good(assay(command, "group.json", "--format", "json", cwd=tmp_path)))
        for command in ("score", "advise")
    }
    assert [row["assignor"] for row in said["score"]["scores"]] == ["current", *usual]
    write(tmp_path, {"late.json": assigned_by_the_broker(RANGE)})
    not_here = (
        "an assignor, at a rebalance. Kafka's own assignors are not here, and were not tried"
    )
    assert (
        f"{not_here}: assay fetch kafka-broker."
        in assay("score", "late.json", cwd=tmp_path).stdout
    )
    assert [row["assignor"] for row in said["advise"]["assignors"]] == usual
    good(assay("report", "group.json", cwd=tmp_path))
    page = (tmp_path / "report.html").read_text()
    assert [name for name in WRITTEN if f">{name}<" in page] == [
        name for name in WRITTEN if name in usual
    ]


@pytest.mark.parametrize(
    ("name", "now", "often", "said"),
    [
        (COOPERATIVE, ["range"], 2, "two rolling restarts of 3 members: in the first list "
         "cooperative-sticky before range, in the second cooperative-sticky alone."),
        (COOPERATIVE, None, 2, "If all list it already, as Kafka's Java consumer does by default, "
         "the second restart is enough."),
        (STICKY, None, 2, "kafka-consumer-groups --describe --state shows. From range, roundrobin "
         "or sticky that is enough; from any other, restart them again with sticky alone."),
        (COOPERATIVE, ["range", "cooperative-sticky"], 1, "with cooperative-sticky alone."),
        (STICKY, ["range"], 1, "a restart of 3 members, one by one, with sticky listed before "
         "range."),
        (STICKY, ["cooperative-sticky"], 2, "list sticky before cooperative-sticky, in the second "
         "sticky alone."),
        (UNIFORM, ["range"], 1, "with group.protocol=consumer, one by one: broker 4.0 or later "
         "and a client that speaks KIP-848."),
        (STICKY, ["uniform"], 1, "with group.protocol=classic."),
        (STICKY, ["sticky"], 0, "It assigns already: takes a rebalance, such as by a "),
    ],
)  # fmt: skip
def test_an_assignor_takes_the_restarts_that_the_kips_name(name, now, often, said, limit):
    group = Group.from_dict(listing(RANGE, *([] if now is None else [now] * 3)))
    # The assignor that the group uses now is preferred.
    names = [name] if often else [COOPERATIVE, name, UNIFORM]
    found = advise(group, assignors=names, limit=limit)
    (change,) = [one for one in found.changes if one.kind == "assignor"]
    assert (change.assignor, change.rolling_restarts) == (name, often)
    assert change.restarts == (3 if often else 1)
    assert (" assign again (now: sticky): " in what_to_do(change, found)) == (often == 0)
    assert said in " ".join(steps_to_deploy(change))


def test_with_more_members_those_assignors_are_named_that_leave_more_on_one(small):
    reached = 0
    for one, found in small:
        for change in [each for each in found.changes if each.kind == "members"]:
            made = applied(one, change)
            peaks = [(name, handed_out(made, name)) for name in NAMES]
            more = tuple(
                (name, int(then.loads.max()))
                for name, then in peaks
                if then.is_valid and then.loads.max() > change.after.value
            )
            assert change.not_reached == more
            said = " ".join(depends(change, found))
            assert ("Not every assignor gets there" in said) == bool(more)
            assert all(f"with {name} " in said for name, _ in more)
            reached += not more
            if more:
                missed = change.to_dict()["not_reached"]
    assert reached
    assert set(missed[0]) == {"assignor", "peak"}


def listing(document: dict, *lists: list) -> dict:
    """Return the snapshot with a list of assignors for each member."""
    made = copied(document)
    for said, assignors in zip(made["members"].values(), lists, strict=False):
        said["assignors"] = assignors
    return made


def test_advice_on_assignors_says_which_one_assigns_now(limit):
    several = listing(RANGE, ["range"], ["cooperative-sticky", "range"], ["range"])
    found = advise(Group.from_dict(several), limit=limit)
    (change,) = [one for one in found.changes if one.kind == "assignor"]
    assert what_to_do(change, found).startswith("Let sticky 4.4.0 assign (now: range): ")
    in_a_few_words = in_short(replace(found, changes=(change,)))
    assert in_a_few_words == "Let sticky 4.4.0 assign (now: range)"
    assert found.to_dict()["assigned_by"] == "range"
    none = gains_nothing(advise(Group.from_dict(a_topic_each(several)), limit=limit))
    assert any(line.startswith("another assignor (now: range): the best of ") for line in none)


def test_moves_and_the_assignor_that_makes_them_are_one_thing_to_do(found):
    moves, assignor = (
        next(one for one in found.changes if one.kind == kind)
        for kind in ("rebalance", "assignor")
    )
    assert (assignor.after.value, assignor.moves) == (moves.after.value, moves.moves)
    assert to_do(found) == [one for one in found.changes if one is not assignor]
    assert what_to_do(moves, found) == what_to_do(assignor, found)
    said = depends(moves, found)
    assert said[0].startswith("Tried on this group: it gets there by as few moves as the optimum")
    assert (
        "The moves are those of the last rebalance; each restart on the way may move more." in said
    )
    assert said[-1] == "Its moves may differ from those of the optimum, which are:"
    # An assignor that moves more is listed as another change.
    more = replace(assignor, assignment=assign(Group.from_dict(RANGE), "roundrobin"))
    assert more.moves > moves.moves
    apart = replace(found, changes=(moves, more))
    assert to_do(apart) == [moves, more]
    assert what_to_do(moves, apart).startswith(f"Let an assignor move {moves.moves} partitions: ")


def test_where_the_broker_assigns_an_assignor_of_the_broker_comes_first(limit):
    consumer = assigned_by_the_broker(RANGE)
    for group, first in (
        (Group.from_dict(RANGE), "cooperative-sticky 4.4.0"),
        (Group.from_dict(consumer), "the broker's uniform 4.4.0"),
    ):
        found = advise(group, limit=limit)
        (change,) = [one for one in found.changes if one.kind == "assignor"]
        assert what_to_do(change, found).startswith(f"Let {first} assign")
        (one,) = judge([group], assume_equal=True)
        rows = score_assignors(one.lowest.group, one.lowest, usual_assignors([group]), limit)
        verdict = replace(one.verdict, says="improvable")
        said = remedy(replace(one, verdict=verdict), rows, None)
        assert f"Who makes the moves: let {first} assign" in said


def test_where_the_broker_assigns_its_range_is_tried_and_takes_no_other_protocol(limit):
    """Advice named the consumers' range, and a way back to the classic protocol."""
    held = {"a": {"t": [0, 1, 2, 4, 5], "u": [0, 1, 2]}, "b": {"t": [3], "u": [3, 4, 5]}}
    one = {"subscription": ["t", "u"], "epoch": 3, "assignors": ["uniform"]}
    members = {member: one | {"owned": owned} for member, owned in held.items()}
    group = Group.from_dict(document({"t": 6, "u": 6}, members))
    tried = [trial.assignor.partition("@")[0] for trial in advise(group, limit=limit).assignors]
    assert tried == ["kafka-broker/uniform", "kafka-broker/range"]
    found = advise(group, assignors=["kafka-broker/range"], limit=limit)
    (change,) = [one for one in found.changes if one.kind == "assignor"]
    assert what_to_do(change, found).startswith("Let the broker's range assign (now: ")
    assert steps_to_deploy(change)[0].startswith(
        "Takes a restart of 2 members with group.remote.assignor=range, one by one"
    )


def test_advice_is_named_only_where_it_is_on_what_can_be_better(limit):
    """Of racks, score named a command that says that nothing can be better."""
    racks = [["a"], ["b"], ["a"], ["b"]]
    members = {
        rack: {"subscription": ["t"], "owned": {"t": held}, "rack": rack}
        for rack, held in {"a": [0, 1], "b": [2, 3]}.items()
    }
    group = Group.from_dict(document({"t": {"partitions": 4, "racks": racks}}, members))
    (judged,) = judge([group], parse_objective("kip-881"))
    rows = score_assignors(group, judged.best, ["roundrobin"], limit)
    assert remedy(judged, rows, None).endswith(
        "let roundrobin assign. It gets there by moving 2 partitions."
    )


# The groups of the findings kafka-broker-uniform-optimal-balance and -optimal-moves.
STUCK = ({"t0": [0]}, {}, {"t1": [0, 1]})
MOVING = ({"t0": [0], "t1": [0, 1, 2]}, {}, {})
IN_CONSUMERS = (
    "The optimum runs as an assignor of consumers in Java and Python: "
    "docs/how-to/run-the-optimal-assignor.md."
)
IN_BROKERS = (
    "The optimum runs as an assignor of brokers: "
    "docs/how-to/run-the-optimal-assignor-on-a-broker.md."
)


@pytest.mark.parametrize(("epoch", "where"), [({}, IN_CONSUMERS), ({"epoch": 3}, IN_BROKERS)])
@pytest.mark.parametrize(
    ("held", "told"),
    [
        (STUCK, "Who makes the moves: not the one assignor tried. "),
        (MOVING, "by moving 3 partitions. assay advise says what it takes to change to it. "),
    ],
)
def test_where_kafkas_assignors_do_not_make_the_moves_one_of_ours_is_named(
    limit, held, told, epoch, where
):
    reads = (["t0", "t1"], ["t0"], ["t1"])
    topics = {"t0": 1, "t1": sum(len(owned.get("t1", ())) for owned in held)}
    members = {f"m{m}": {"subscription": reads[m], "owned": held[m], **epoch} for m in range(3)}
    group = Group.from_dict(document(topics, members))
    (judged,) = judge([group])
    rows = score_assignors(group, judged.best, [UNIFORM, OPTIMAL], limit)
    said = remedy(judged, rows[:1], None)
    assert said.endswith(f"{told}{where}"), said
    assert rows[1].is_optimal
    found = advise(group, assignors=[UNIFORM], limit=limit)
    (change,) = [one for one in found.changes if one.kind == "rebalance"]
    none = f"Who makes the moves: not the one assignor tried by as few moves. {where}"
    assert none in depends(change, found)
    found = advise(group, assignors=[OPTIMAL], limit=limit)
    (moves, let) = found.changes[:2]
    assert not any("not the one" in line for line in depends(moves, found))
    needs = "brokers with our jar (" if epoch else "broker 4.0 or later with our jar ("
    assert f"group.remote.assignor=optimal, one by one: {needs}" in steps_to_deploy(let)[0]


def test_a_group_that_ours_assigns_is_told_to_rebalance_and_no_other_is_advised(limit):
    group = Group.from_dict(listing(RANGE, *[["assay-optimal", "range"]] * len(RANGE["members"])))
    (judged,) = judge([group])
    told = "assay-optimal, which assigns this group, makes them at the next rebalance"
    for assignors in ((), [OPTIMAL], usual_assignors([group])):
        rows = score_assignors(group, judged.best, assignors, limit)
        assert told in remedy(judged, rows, None)
        found = advise(group, assignors=assignors, limit=limit)
        assert {one.kind for one in found.changes}.isdisjoint({"assignor"})
        assert told in depends(found.changes[0], found)[0]


@pytest.mark.parametrize("lists", [[["range"]], [["range"], ["range"], ["roundrobin"]]])
def test_which_assignor_assigns_is_left_open_where_members_do_not_tell_or_agree(lists):
    found = advise(Group.from_dict(listing(RANGE, *lists)), assignors=())
    assert found.assigned_by is None
