import importlib
import textwrap
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from groups import BadInput
from heuristics import plan
from heuristics.time_limit import TimeLimit
from tests.optimal.small_groups import group_of
from tests.processes import gone, in_python


@pytest.fixture
def misbehaving(monkeypatch):
    monkeypatch.syspath_prepend(Path(__file__).parent / "assignors")
    return importlib.import_module("misbehaving")


def test_a_partition_given_out_twice_survives_the_way_back(limit):
    owned = {"a": {"t": [0, 1]}, "b": {"t": [0, 2]}}
    group = group_of({"t": 4}, {"a": ["t"], "b": ["t"]}, owned, generation=3)
    outcome = limit.plan(group, "kip-615-constrained")
    assert outcome.plan.assignment.strays == ((1, "t", 0),)


def test_many_groups_have_the_plans_that_each_has_by_itself():
    groups = [
        group_of({"t": n, "u": 2}, {"a": ["t", "u"], "b": ["t"]}, {"a": {"t": [0]}}, generation=3)
        for n in range(1, 30)
    ]
    with TimeLimit(30) as limit:
        for name in ("kip-54-sticky", "range", "kip-429-cooperative"):
            outcomes = limit.plan_many(groups, name)
            assert [outcome.status for outcome in outcomes] == ["planned"] * len(groups)
            for group, outcome in zip(groups, outcomes, strict=True):
                made, alone = outcome.plan, plan(group, name)
                assert made.assignment.group is group
                np.testing.assert_array_equal(made.assignment.owner, alone.assignment.owner)
                assert (made.rounds, made.revoked) == (alone.rounds, alone.revoked)
        refused = limit.plan_many(groups, "kip-615-constrained")
        assert {outcome.status for outcome in refused} == {"refused"}
        assert limit.plan_many([], "range") == []


def test_of_many_groups_one_that_does_harm_has_its_own_outcome_and_the_others_theirs(group, here):
    names = ["a", "loop", "b", "crash", "stumble", "c", "eat", "leave", "d"]
    groups = [replace(group, name=name) for name in names]
    with TimeLimit(1.5, memory_bytes=200_000_000) as limit:
        limit.warm_up(["misbehaving:as_named"])
        outcomes = limit.plan_many(groups, "misbehaving:as_named")
    assert [(outcome.status, outcome.reason) for outcome in outcomes] == [
        ("planned", None),
        ("timed-out", "no answer within 1.5 s"),
        ("planned", None),
        ("failed", "the child process died: exit code -11 (SIGSEGV)"),
        ("failed", "KeyError: 't0' (misbehaving.py:34)"),
        ("planned", None),
        ("failed", "it used more than 200 MB"),
        ("failed", "the child process died: exit code 7"),
        ("planned", None),
    ]
    assert outcomes[1].seconds == 1.5
    pids = [outcome.plan.rounds for outcome in outcomes if outcome.plan is not None]
    assert len(set(pids)) == 4
    gone(*pids)


def test_bad_input_is_not_an_outcome(group, limit):
    with pytest.raises(BadInput, match="'rnage'; nearest: range"):
        limit.plan(group, "rnage")
    document = group_of({"t": 1}, {"a": []}).to_dict()
    document["members"]["a"]["subscription"] = None
    with pytest.raises(BadInput, match=r"members\.a\.subscription: unknown"):
        limit.plan_many([group, type(group).from_dict(document)], "range")


def test_the_child_loads_neither_the_main_module_nor_anything_heavy(group, misbehaving):
    with TimeLimit(30) as limit:
        assert limit.call(misbehaving.count_imports, group).plan.revoked == 0


def test_a_script_needs_no_guard_around_its_main_part(tmp_path):
    script = tmp_path / "script.py"
    script.write_text(
        textwrap.dedent("""\
            from groups import Group
            from heuristics.time_limit import TimeLimit

            members = {"m": {"subscription": ["t"]}}
            document = {"format": "assay-group/1", "group": "g", "topics": {"t": 1}}
            group = Group.from_dict(document | {"members": members})
            with TimeLimit(30) as limit:
                print(limit.plan(group, "range").status, __file__ != "")
        """)
    )
    run = in_python(script)
    assert (run.stdout, run.stderr) == ("planned True\n", "")


def test_processes_start_side_by_side_and_a_call_waits_for_its_own(group, here):
    with TimeLimit(30) as limit:
        names = ["range", "misbehaving:tell_pid", "roundrobin"]
        limit.warm_up(names)
        outcomes = [limit.plan(group, name) for name in names]
    assert [outcome.status for outcome in outcomes] == ["planned"] * 3
    gone(outcomes[1].plan.rounds)


def test_what_cannot_be_started_ahead_is_said_by_its_call(group, here):
    with TimeLimit(30) as limit:
        limit.warm_up(["misbehaving:nothing_of_the_sort", "gone:deal"])
        outcome = limit.plan(group, "misbehaving:nothing_of_the_sort")
        assert outcome.status == "failed"
        assert "it does not start: there is no 'nothing_of_the_sort' in" in outcome.reason
        assert limit.plan(group, "gone:deal").status == "unavailable"
    with TimeLimit(30) as limit, pytest.raises(BadInput, match="'rnage'"):
        limit.warm_up(["rnage"])
