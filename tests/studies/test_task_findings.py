"""What Kafka's assignors of streams tasks break: the examples of the page, again."""

import json
from contextlib import ExitStack
from pathlib import Path

import pytest
from msgspec import convert
from msgspec.structs import replace

from compare.promises.program import camel
from compare.promises.rerun import rerun_in_java
from compare.promises.task_program import (
    TESTED,
    as_task_lines,
    read_task_findings,
    task_program,
)
from groups import BadInput
from groups.documents.assay_streams import StreamsDocument
from heuristics.shipped.task_assignor import HIGH_AVAILABILITY, STICKY, TaskAssignor
from studies.task_findings import (
    HUNTED,
    NEWEST,
    SEED,
    affected,
    hunted,
    limit_of,
)
from studies.task_rebalances import application, events

REASON = next(filter(None, (TaskAssignor(NEWEST, kind).missing() for kind in HUNTED)), None)
CALLED = pytest.mark.skipif(REASON is not None, reason=REASON or "")
FINDINGS = read_task_findings()
ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs/findings/streams-tasks.md"
COUNTS = json.loads(PAGE.with_suffix(".json").read_text("utf-8"))["assignors"]


def shown(kind):
    of_kind = [one for one in FINDINGS if one.assignor == f"kafka-streams/{kind}"]
    return [one for one in of_kind if NEWEST in one.affected]


def summed(kind, promise, *keys, kinds=""):
    """Return sums of counts of the weeks of the newest release, of applications of some kinds."""
    rows = [
        row
        for row in COUNTS[kind]["weeks"][NEWEST]["rows"]
        if row["promise"] == promise and row["kind"].endswith(kinds)
    ]
    return [sum(row[key] for row in rows) for key in keys]


def test_pages_say_of_the_weeks_what_was_counted():
    page, readme = (" ".join(one.read_text().split()) for one in (PAGE, ROOT / "README.md"))
    moves, enough = summed(HIGH_AVAILABILITY, "fewest-moves", "moves", "enough")
    assert f"than even threads take: {moves:,} where {enough:,} are enough" in page
    assert "moves twelve times as many tasks as needed" in readme
    assert round(moves / enough) == 12
    restores, enough = summed(
        HIGH_AVAILABILITY, "fewest-restores", "restores", "enough", kinds="no standby"
    )
    assert f"Without standbys, {restores:,} stateful tasks were restored where {enough:,}" in page
    restores, enough, broken, tested = summed(
        STICKY, "fewest-restores", "restores", "enough", "broken", "tested",
        kinds="stateful, 1 standby",
    )  # fmt: skip
    assert f"{broken / tested:.0%} of the rebalances of a week restored more than needed" in page
    assert f"{restores} restores where {enough} are enough" in page
    broken, tested = summed(STICKY, "fewest-restores", "broken", "tested", kinds="1 standby")
    assert "in more than a third of the rebalances of a simulated week with standbys" in readme
    assert 1 / 3 < broken / tested < 0.4


@pytest.fixture(scope="module")
def limits():
    with ExitStack() as started:
        yield {kind: started.enter_context(limit_of(NEWEST, kind)) for kind in HUNTED}


@CALLED
def test_each_example_of_the_newest_release_breaks_its_promise_again(limits):
    for kind, limit in limits.items():
        assert shown(kind)
        assert [one.id for one in shown(kind) if not affected(one, limit)] == []


@CALLED
def test_the_history_of_an_example_leads_to_its_group(limits):
    """That of the client's sticky does not: it places standbys in another order each time."""
    for kind in (STICKY, HIGH_AVAILABILITY):
        for one in shown(kind):
            group = replace(one.before, members={})
            for event in one.history:
                ((_, before),) = [(e, g) for e, g in events(group, "abc") if e == event]
                (group,) = limits[kind].plans([before])
            assert before == one.before, one.id
            assert group == one.after, one.id


@CALLED
def test_high_availability_moves_tasks_of_which_nothing_has_to(limits):
    """Each process has a task with its state, as even as can be; KIP-441 says: converge."""
    balanced = {"a": {"active": {"state": [1]}}, "b": {"active": {"state": [0]}}}
    told = {
        "format": "assay-streams/1",
        "group": "swapped",
        "standby_replicas": 0,
        "subtopologies": {"state": {"tasks": 2, "stateful": True}},
    }
    groups = [
        convert(
            told | {"members": {m: {"process": m, "tasks": balanced[n]} for m, n in pairs}},
            StreamsDocument,
        )
        for pairs in ((("a", "a"), ("b", "b")), (("a", "b"), ("b", "a")))
    ]
    assert len({repr(one) for one in limits[HIGH_AVAILABILITY].plans(groups)}) == 1


@CALLED
def test_a_hunt_of_two_tasks_counts_every_rebalance(limits, monkeypatch):
    monkeypatch.setattr("studies.task_findings.SHAPES", ((2, 0, 0, 2),))
    found = hunted(limits[STICKY])
    assert found["broken"]["valid"][0] == 0
    assert found["broken"]["processes-even"][0] > 0
    assert found["smallest"]["processes-even"].history == [
        "2 threads of a joins",
        "1 thread of b joins",
    ]


@CALLED
@pytest.mark.clients
def test_the_programs_fail_on_the_newest_release(tmp_path):
    made = [task_program(one) for one in shown(STICKY) if one.promise in TESTED]
    made = [*{program.file: program for program in made}.values()]
    assert {one.file for one in made} == {f"Sticky{camel(name)}Test.java" for name in TESTED}
    came = rerun_in_java(made, f"kafka-broker/uniform@{NEWEST}", tmp_path)
    assert all(one.reproduced for one in came), [one.output for one in came]
    assert all("AssertionFailedError" in one.output for one in came)


def test_what_has_no_program_is_refused():
    untested = next(one for one in FINDINGS if one.promise == "repeatable")
    with pytest.raises(BadInput, match=r"^no program for the promise repeatable, only for th"):
        task_program(untested)
    of_client = replace(untested, assignor="kafka-streams/high-availability")
    with pytest.raises(BadInput, match=r"^no program for kafka-streams/high-availability, only"):
        task_program(of_client)


def test_a_finding_is_read_as_it_was_written_and_a_broken_line_is_named(tmp_path):
    file = tmp_path / "findings.jsonl"
    file.write_text(as_task_lines(FINDINGS), "utf-8")
    assert read_task_findings(file) == FINDINGS
    file.write_text(as_task_lines(FINDINGS[:1]) + '{"id": 1}\n', "utf-8")
    with pytest.raises(BadInput, match=r"findings\.jsonl:2: id: 1, expected a non-empty string"):
        read_task_findings(file)
    with pytest.raises(BadInput, match=r"none\.jsonl: cannot be read: No such file"):
        read_task_findings(tmp_path / "none.jsonl")


def test_a_week_is_the_same_for_its_seed_and_pods_come_back_with_new_members():
    week = application(SEED, 3)
    assert week == application(SEED, 3)
    assert week != application(SEED, 4)
    last = {}
    back = 0
    for stage in week.stages:
        if stage.event == "a pod comes back":
            new = {m: p for m, p in stage.members.items() if m not in last}
            assert len({*new.values()}) == 1
            assert not {*new.values()} & {*last.values()}
            back += 1
        last = stage.members
    assert back > 5
