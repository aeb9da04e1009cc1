"""Clients in Go and JavaScript, each called in memory by a program of its own."""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
from itertools import islice
from pathlib import Path

import numpy as np
import pytest

from benchmarks.clients import beside_balancer
from benchmarks.instances import columns
from compare.promises.findings import SHIPPED, read_findings
from compare.samples.drawn import drawn
from groups import BadInput, Failed, values
from heuristics import assign, assignor_named
from heuristics.shipped.consumers import go_driver
from heuristics.shipped.consumers.library import FRANZ_GO, KAFKAJS, SARAMA
from heuristics.time_limit import TimeLimit
from optimal import solve_many
from tests.optimal.small_groups import group_of
from tests.processes import below, gone, until

SECONDS = 120
TIERS = ("balance", "stickiness")
STICKY = ("sticky", "cooperative-sticky")


def param(library, *rest):
    version = library.versions()[0]
    reason = library.missing(library.assignors[0], version)
    skip = pytest.mark.skipif(reason is not None, reason=str(reason))
    return pytest.param(f"{library.name}/{{}}@{version}", *rest, marks=skip)


in_go = pytest.mark.parametrize("client", [param(FRANZ_GO), param(SARAMA)])
in_franz_go = pytest.mark.parametrize("client", [param(FRANZ_GO)])
in_sarama = pytest.mark.parametrize("client", [param(SARAMA)])
in_kafkajs = pytest.mark.parametrize("client", [param(KAFKAJS)])
if_sticky = pytest.mark.parametrize("name", STICKY)


@pytest.fixture
def planned(planned, client):
    return lambda group, name: planned(group, client.format(name))


def optimum(groups):
    return [tuple(term.value for term in solution.terms) for solution in solve_many(groups)]


def reads_the_same(group):
    return bool((group.readers == len(group.members)).all())


def has_no_rivals(group):
    claimed = list(zip(group.claims.topic.tolist(), group.claims.partition.tolist(), strict=True))
    return len(claimed) == len(set(claimed))


@pytest.mark.parametrize(
    ("client", "name", "ours", "exactly"),
    [
        param(FRANZ_GO, "range", "range", True),
        param(FRANZ_GO, "roundrobin", "roundrobin", True),
        param(SARAMA, "range", "range", False),
        param(SARAMA, "roundrobin", "roundrobin", False),
        param(KAFKAJS, "RoundRobinAssigner", "roundrobin", True),
    ],
)
def test_those_that_deal_out_do_as_documented(planned, name, ours, exactly):
    # KafkaJS assumes equal subscriptions; sarama's assignors have the same loads.
    groups = drawn(71) if ours == name else filter(reads_the_same, drawn(71))
    for group in islice(groups, 60):
        made, documented = planned(group, name).assignment, assign(group, ours)
        assert made.is_valid
        assert made.loads.tolist() == documented.loads.tolist()
        assert not exactly or made.to_dict() == documented.to_dict()


@in_franz_go
@if_sticky
def test_sticky_of_1_22_2_is_optimal_in_balance_and_moves_without_rival_claims(planned, name):
    groups = list(islice(filter(has_no_rivals, drawn(72)), 150))
    for group, best in zip(groups, optimum(groups), strict=True):
        made = planned(group, name).assignment
        assert made.is_valid
        assert values(made, TIERS) == best


@in_sarama
@if_sticky
def test_sticky_of_sarama_is_valid_and_best_where_everybody_reads_the_same(planned, name):
    groups = list(islice(drawn(93), 100))
    for group, best in zip(groups, optimum(groups), strict=True):
        made = planned(group, name).assignment
        assert made.is_valid
        assert made.balanced()
        assert values(made, TIERS)[0] == best[0] or not reads_the_same(group)


@in_franz_go
@if_sticky
def test_sticky_of_1_22_2_gives_a_partition_back_to_who_owned_it_in_an_older_generation(
    planned, name
):
    owned = {"a": {"t": [0]}, "b": {"t": [0, 1]}}
    group = group_of({"t": 3}, {"a": ["t"], "b": ["t"]}, owned, generation={"a": 0, "b": 1})
    made = planned(group, name).assignment
    assert made.to_dict() == {"a": {"t": [0, 2]}, "b": {"t": [1]}}
    assert (values(made, TIERS), optimum([group])) == ((1, 1), [(1, 0)])


@in_sarama
@pytest.mark.parametrize("name", ["range", "sticky"])
def test_in_sarama_one_member_that_reads_a_topic_that_does_not_exist_leaves_all_without_a_plan(
    planned, limit, client, name
):
    group = group_of({"t": 2}, {"a": ["t"], "b": ["t", "gone"]})
    outcome = limit.plan(group, client.format(name))
    assert (outcome.status, outcome.reason) == (
        "failed",
        "gone: kafka server: Request was for a topic or partition that does not exist on this "
        "broker",
    )
    assert planned(group_of({"t": 2, "none": 0}, {"a": ["t", "none"]}), name)


@in_kafkajs
def test_kafkajs_deals_out_the_leaders_topics_to_everybody_and_no_others(planned, limit, client):
    wrong, name = 0, "RoundRobinAssigner"
    for group in islice(drawn(82), 50):
        made = planned(group, name).assignment
        of_leader = group.subscribes(np.zeros_like(group.topic), group.topic)
        turns = (of_leader.cumsum() - 1) % len(group.members)
        assert made.owner.tolist() == np.where(of_leader, turns, -1).tolist()
        wrong += not made.is_valid
    assert wrong == 23
    outcome = limit.plan(group_of({"t": 2}, {"a": ["t", "gone"], "b": ["t"]}), client.format(name))
    assert (outcome.status, outcome.reason) == (
        "failed",
        "KafkaJSProtocolError: This server does not host this topic-partition",
    )
    made = planned(group_of({"t": 2}, {"a": ["t"], "b": ["t", "gone"]}), name).assignment
    assert made.to_dict() == {"a": {"t": [0]}, "b": {"t": [1]}}


ASKS = """
import json, sys
from groups import Group
from heuristics.shipped.consumers.library import SARAMA
SARAMA.one_round(Group.from_dict(json.loads(sys.argv[1])), "sticky", SARAMA.versions()[0])
"""


@in_sarama
def test_a_plan_that_never_comes_costs_its_own_time_and_ends_with_who_asks(client):
    loop = next(f for f in read_findings(SHIPPED) if f.id == "sarama-sticky-terminates")
    document = json.dumps(loop.group.to_dict())
    with subprocess.Popen([sys.executable, "-c", ASKS, document]) as asking:
        until(lambda: below(asking.pid))
        started = below(asking.pid)
        asking.kill()
    gone(*started)
    group = group_of({"t": 2}, {"a": ["t"]})
    with TimeLimit(1) as limit:
        outcomes = limit.plan_many([group, loop.group, group], loop.assignor)
    assert [one.status for one in outcomes] == ["planned", "timed-out", "planned"]


@in_go
def test_a_program_in_go_blocks_in_no_read_while_garbage_is_collected(client):
    # Go 1.26 waits for ever for a thread that entered a system call at that moment.
    name, version = client.split("/{}@")
    program = {one.name: one for one in (FRANZ_GO, SARAMA)}[name].command(version)
    pipe = subprocess.PIPE
    with subprocess.Popen(program, stdin=pipe, stdout=pipe) as running:
        stdin = Path(f"/proc/{running.pid}/fdinfo/0")
        until(lambda: int(re.findall(r"flags:\s*(\d+)", stdin.read_text())[0], 8) & os.O_NONBLOCK)
        assert running.communicate(timeout=SECONDS) == (b"", None)


@in_go
def test_a_program_that_is_killed_is_said_to_have_died_and_is_started_again(client):
    group, plan = group_of({"t": 2}, {"a": ["t"]}), assignor_named(client.format("range")).function
    before = set(below(os.getpid()))
    plan(group)
    for pid in set(below(os.getpid())) - before:
        os.kill(pid, signal.SIGKILL)
        gone(pid)
        with pytest.raises(Failed, match=r"^the client died: exit code -9 \(SIGKILL\)$"):
            plan(group)
    assert plan(group).assignment.is_valid


@in_franz_go
def test_the_balancer_is_timed_in_turn_with_the_solver(planned):
    group = next(g for g in drawn(73) if len(g.members) == 8 and not (g.owner >= 0).any())
    came, made = beside_balancer(group, "sticky", warm=1, runs=2)
    assert (came.warm, [*map(len, came.seconds)]) == (1, [2, 2])
    assert 0 < min(came.seconds[1]) <= max(came.seconds[1]) < SECONDS
    assert [values(made, TIERS)] == optimum([group])
    assert made.group is group


@in_franz_go
def test_past_65536_members_1_22_2_lets_one_idle_and_gives_another_twice_as_much(planned):
    members = 65_537
    group = columns(np.array([members]), np.arange(members + 1), np.zeros(members, np.int64))
    made = planned(group, "sticky").assignment
    assert made.is_valid
    assert np.bincount(made.loads).tolist() == [1, members - 2, 1]


@pytest.mark.parametrize(
    ("name", "tool", "install", "library"),
    [
        ("franz-go/sticky@1.20.0", "Go toolchain", "Go 1.26", FRANZ_GO),
        ("kafkajs/RoundRobinAssigner@2.2.4", "Node", "Node 14", KAFKAJS),
    ],
)
def test_without_its_tools_the_reason_says_what_to_install(
    empty_cache, monkeypatch, name, tool, install, library
):
    monkeypatch.setenv("PATH", str(empty_cache))
    version = name.partition("@")[2]
    assert assignor_named(name).missing() == (
        f"no {tool} on the PATH: install {install} or later, then: assay fetch "
        f"{library.name}@{version}"
    )
    said = f"^no {tool.replace('Node', 'npm')} on the PATH: install {install} or later$"
    with pytest.raises(BadInput, match=said):
        library.fetch(version)


@in_franz_go
def test_the_program_is_built_anew_in_another_cache(empty_cache, client):
    version = FRANZ_GO.versions()[0]
    assert FRANZ_GO.missing("sticky", version) == f"not built: assay fetch franz-go@{version}"
    FRANZ_GO.fetch(version)
    assert FRANZ_GO.missing("sticky", version) is None
    program = FRANZ_GO.program(version)
    assert [path for path in empty_cache.rglob("*") if path.is_file()] == [program]


@in_kafkajs
def test_without_the_package_the_reason_says_how_to_get_it(empty_cache, client):
    name = client.format("RoundRobinAssigner")
    assert assignor_named(name).missing() == "not installed: assay fetch kafkajs@2.2.4"


@pytest.mark.skipif(shutil.which("go") is None, reason="no Go toolchain: install Go 1.26")
def test_a_version_that_cannot_be_had_is_one_line_and_leaves_nothing(empty_cache, monkeypatch):
    monkeypatch.setenv("GOPROXY", "off")
    with pytest.raises(BadInput, match=re.escape("go get: github.com/twmb/franz-go@v0.0.1: ")):
        FRANZ_GO.fetch("0.0.1")
    assert not [path for path in empty_cache.rglob("*") if path.is_file()]


def test_another_program_text_is_another_program(tmp_path, monkeypatch):
    before = FRANZ_GO.program("1.22.2")
    shutil.copytree(go_driver.DRIVERS, tmp_path / "drivers")
    monkeypatch.setattr(go_driver, "DRIVERS", tmp_path / "drivers")
    for file in ("groups.go", "franz_go/main.go"):
        assert FRANZ_GO.program("1.22.2") == before
        with (tmp_path / "drivers" / file).open("a") as source:
            source.write("// more\n")
        assert FRANZ_GO.program("1.22.2") != before
        before = FRANZ_GO.program("1.22.2")


@pytest.mark.parametrize("version", ["1.46.3", "1.60.0"])
def test_a_version_without_a_cooperative_strategy_says_which_has_one(version):
    assert assignor_named(f"sarama/cooperative-sticky@{version}").missing() == (
        "sarama before 1.60.1 has no cooperative-sticky: assay fetch sarama@1.61.1"
    )
