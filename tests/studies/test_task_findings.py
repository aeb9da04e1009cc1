"""What the broker's assignor of streams tasks breaks: the examples of the page, again."""

import json

import pytest
from msgspec import convert
from msgspec.structs import replace

from compare.promises.rerun import rerun_in_java
from compare.promises.task_program import TESTED, task_program
from groups import BadInput
from groups.documents.assay_streams import StreamsDocument
from heuristics.shipped.task_assignor import TaskAssignor, TaskLimit
from studies.task_findings import HUNTED, SEED, WRITTEN, affected, hunted, programs
from studies.task_hunt import events
from studies.task_week import application

NEWEST = TaskAssignor(HUNTED[-1])
CALLED = pytest.mark.skipif(NEWEST.missing() is not None, reason=NEWEST.missing() or "")
MADE = json.loads(WRITTEN.read_text("utf-8"))
SHOWN = {n: one for n, one in MADE["examples"].items() if HUNTED[-1] in one["affected"]}


@pytest.fixture(scope="module")
def limit():
    with TaskLimit(NEWEST) as started:
        yield started


@CALLED
def test_each_example_of_the_newest_release_breaks_its_promise_again(limit):
    assert SHOWN
    assert [name for name, one in SHOWN.items() if not affected(one, name, limit)] == []


@CALLED
def test_the_history_of_an_example_leads_to_its_group(limit):
    for name, one in SHOWN.items():
        end = convert(one["before"], StreamsDocument)
        group = replace(end, members={})
        for event in one["history"]:
            ((_, before),) = [(e, g) for e, g in events(group, "abc") if e == event]
            (group,) = limit.plans([before])
        assert before == end, name
        assert group == convert(one["after"], StreamsDocument), name


@CALLED
def test_a_hunt_of_two_tasks_counts_every_rebalance(limit, monkeypatch):
    monkeypatch.setattr("studies.task_findings.SHAPES", ((2, 0, 0, 2),))
    found = hunted(limit)
    assert found["broken"]["valid"][0] == 0
    assert found["broken"]["processes-even"][0] > 0
    assert found["smallest"]["processes-even"]["history"] == [
        "2 threads of a joins",
        "1 thread of b joins",
    ]


@CALLED
@pytest.mark.clients
def test_the_programs_fail_on_the_newest_release(tmp_path):
    made = programs(MADE)
    assert {program.file for program in made} >= {"StickyThreadsEvenTest.java"}
    came = rerun_in_java(made, f"kafka-broker/uniform@{HUNTED[-1]}", tmp_path)
    assert all(one.reproduced for one in came), [one.said for one in came]
    assert all("AssertionFailedError" in one.said for one in came)


def test_a_promise_without_a_program_is_refused():
    group = convert(next(iter(MADE["examples"].values()))["before"], StreamsDocument)
    with pytest.raises(BadInput, match=r"^no program for the promise valid, only for threads-ev"):
        task_program("valid", group, version="4.4.0", text="", history=[], measured={})
    assert "valid" not in TESTED


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
