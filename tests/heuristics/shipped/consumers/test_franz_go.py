import re
import shutil
from itertools import islice

import numpy as np
import pytest

from benchmarks.franz_go import Balancer, beside_balancer
from benchmarks.instances import columns
from compare.samples.drawn import drawn
from groups import BadInput, Group, values
from heuristics import assign, assignor_named
from heuristics.shipped.consumers import go_driver
from heuristics.shipped.consumers.consumer import FRANZ_GO, FRANZ_GO_DRIVER
from tests.heuristics.shipped.consumers import leading

VERSION = "1.22.2"
MISSING = FRANZ_GO.missing("sticky", VERSION)
STICKY = ("sticky", "cooperative-sticky")
TIERS = ("balance", "stickiness")

needs_the_program = pytest.mark.skipif(MISSING is not None, reason=str(MISSING))


def planned(limit, group, name):
    return leading.planned(limit, group, f"franz-go/{name}@{VERSION}")


@needs_the_program
@pytest.mark.parametrize("name", ["range", "roundrobin"])
def test_range_and_round_robin_do_as_documented(limit, name):
    for group in islice(drawn(71), 60):
        made = planned(limit, group, name).assignment
        assert made.to_dict() == assign(group, name).to_dict()


def has_no_rivals(group):
    claimed = list(zip(group.claims.topic.tolist(), group.claims.partition.tolist(), strict=True))
    return len(claimed) == len(set(claimed))


@needs_the_program
@pytest.mark.parametrize("name", STICKY)
def test_sticky_of_1_22_2_is_optimal_in_balance_and_moves_without_rival_claims(limit, name):
    groups = list(islice(filter(has_no_rivals, drawn(72)), 150))
    for group, best in zip(groups, leading.optimum(groups), strict=True):
        made = planned(limit, group, name).assignment
        assert made.is_valid
        assert values(made, TIERS) == best


@needs_the_program
def test_who_must_revoke_does_so_in_a_round_of_its_own(limit, group_of):
    group = group_of({"t": 4}, {"a": ["t"], "b": ["t"]}, {"a": {"t": [0, 1, 2, 3]}}, 1)
    made = planned(limit, group, "cooperative-sticky")
    assert (made.rounds, made.revoked, made.ownerless) == (2, 2, 2)
    assert made.assignment.loads.tolist() == [2, 2]
    made = planned(limit, group, "sticky")
    assert (made.rounds, made.revoked, made.ownerless) == (1, 0, 0)
    assert made.assignment.loads.tolist() == [2, 2]


@needs_the_program
@pytest.mark.parametrize("name", STICKY)
@pytest.mark.parametrize(("generations", "keeps"), [((1, 2), "b"), ((2, 1), "a")])
def test_of_two_claims_the_newer_stands(limit, group_of, name, generations, keeps):
    claim = {"t": [0]}
    newer = dict(zip("ab", generations, strict=True))
    group = group_of({"t": 2}, {"a": ["t"], "b": ["t"]}, {"a": claim, "b": claim}, newer)
    assert planned(limit, group, name).assignment.to_dict()[keeps] == claim


@needs_the_program
@pytest.mark.parametrize("name", STICKY)
def test_sticky_of_1_22_2_gives_a_partition_back_to_who_owned_it_in_an_older_generation(
    limit, group_of, name
):
    owned = {"a": {"t": [0]}, "b": {"t": [0, 1]}}
    group = group_of({"t": 3}, {"a": ["t"], "b": ["t"]}, owned, {"a": 0, "b": 1})
    made = planned(limit, group, name).assignment
    assert made.to_dict() == {"a": {"t": [0, 2]}, "b": {"t": [1]}}
    assert (values(made, TIERS), leading.optimum([group])) == ((1, 1), [(1, 0)])


@needs_the_program
@pytest.mark.parametrize(("name", "loads"), [("range", [1, 2]), ("roundrobin", [1, 2])])
def test_static_members_come_first(limit, name, loads):
    members = {"a": {"subscription": ["t"]}, "b": {"subscription": ["t"], "instance_id": "i"}}
    topics = {"t": {"partitions": 3}}
    group = Group.from_dict(
        {"format": "assay-group/1", "group": "g", "topics": topics, "members": members}
    )
    assert planned(limit, group, name).assignment.loads.tolist() == loads


@needs_the_program
@pytest.mark.parametrize("name", ["range", *STICKY])
def test_topics_that_do_not_exist_are_passed_over(limit, group_of, name):
    owned = {"a": {"t": [0, 5], "gone": [0]}}
    group = group_of({"t": 2, "none": 0}, {"a": ["t", "gone", "none"], "b": ["t"]}, owned, 1)
    made = planned(limit, group, name).assignment
    assert made.to_dict() == {"a": {"t": [0]}, "b": {"t": [1]}}


@needs_the_program
def test_partition_counts_are_those_of_this_group_and_not_of_the_last(limit, group_of):
    for count in (5, 2, 9):
        group = group_of({"t": count}, {"a": ["t"]})
        assert planned(limit, group, "range").assignment.to_dict() == {
            "a": {"t": list(range(count))}
        }


@needs_the_program
@pytest.mark.parametrize("name", ["range", "roundrobin", *STICKY])
def test_groups_follow_each_other_whose_racks_are_others(limit, group_of, name):
    for racks in (["r0"], ["r1"], ["r1", "r2"], ["r2"], ["r0", "r1", "r2"], ["r2", "r0"]) * 3:
        replicas = {"partitions": len(racks), "racks": [[rack] for rack in racks]}
        group = group_of({"t": replicas}, {"a": ["t"]})
        assert planned(limit, group, name).assignment.loads.tolist() == [len(racks)]


@needs_the_program
@pytest.mark.parametrize("name", STICKY)
def test_the_balancer_timed_in_memory_is_the_one_that_the_probe_reads(name):
    group = next(g for g in drawn(73) if len(g.members) == 8 and not (g.owner >= 0).any())
    came, made = beside_balancer(group, name, warm=1, runs=2)
    assert (came.warm, len(came.ours), len(came.theirs)) == (1, 2, 2)
    assert 0 < min(came.theirs) <= max(came.theirs) < leading.SECONDS
    assert made.is_valid
    assert [values(made, TIERS)] == leading.optimum([group])
    assert made.group is group


@needs_the_program
def test_claims_reach_the_balancer_timed_in_memory(group_of):
    group = group_of({"t": 4}, {"a": ["t"], "b": ["t"]}, {"a": {"t": [1, 3]}}, 7)
    with Balancer(group, "sticky") as balancer:
        balancer.seconds()
        assert balancer.assignment().to_dict() == {"a": {"t": [1, 3]}, "b": {"t": [0, 2]}}
    with Balancer(group, "odd") as balancer, pytest.raises(BadInput, match=r"exit code 1$"):
        balancer.seconds()


@needs_the_program
def test_past_65536_members_1_22_2_lets_one_idle_and_gives_another_twice_as_much():
    members = 65_537
    group = columns(np.array([members]), np.arange(members + 1), np.zeros(members, np.int64))
    with Balancer(group, "sticky") as balancer:
        balancer.seconds()
        made = balancer.assignment()
    assert made.is_valid
    assert np.bincount(made.loads).tolist() == [1, members - 2, 1]


@needs_the_program
def test_the_program_is_built_anew_in_another_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("KAFKA_ASSAY_CACHE", str(tmp_path))
    assert FRANZ_GO.missing("sticky", VERSION) == f"not built: assay fetch franz-go@{VERSION}"
    FRANZ_GO.fetch(VERSION)
    assert FRANZ_GO.missing("sticky", VERSION) is None
    program = go_driver.built(FRANZ_GO_DRIVER.folder, VERSION)
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == [program]


def test_without_a_go_toolchain_the_reason_says_what_to_install(tmp_path, monkeypatch):
    monkeypatch.setenv("KAFKA_ASSAY_CACHE", str(tmp_path))
    monkeypatch.setenv("PATH", str(tmp_path))
    reason = "no Go toolchain on the PATH: install Go 1.26 or later"
    assert assignor_named("franz-go/sticky@1.20.0").missing() == (
        f"{reason}, then: assay fetch franz-go@1.20.0"
    )
    with pytest.raises(BadInput, match=f"^{reason}$"):
        FRANZ_GO.fetch("1.20.0")


@pytest.mark.skipif(shutil.which("go") is None, reason="no Go toolchain: install Go 1.26")
def test_a_version_that_cannot_be_had_is_one_line_and_leaves_nothing(tmp_path, monkeypatch):
    monkeypatch.setenv("KAFKA_ASSAY_CACHE", str(tmp_path))
    monkeypatch.setenv("GOPROXY", "off")
    with pytest.raises(BadInput, match=re.escape("go get: github.com/twmb/franz-go@v0.0.1: ")):
        FRANZ_GO.fetch("0.0.1")
    assert not [path for path in tmp_path.rglob("*") if path.is_file()]


def test_another_program_text_is_another_program(tmp_path, monkeypatch):
    before = go_driver.built("franz_go", VERSION)
    shutil.copytree(go_driver.DRIVERS, tmp_path / "drivers")
    monkeypatch.setattr(go_driver, "DRIVERS", tmp_path / "drivers")
    assert go_driver.built("franz_go", VERSION) == before
    with (tmp_path / "drivers" / "franz_go" / "main.go").open("a") as source:
        source.write("// more\n")
    assert go_driver.built("franz_go", VERSION) != before
    assert go_driver.built("franz_go", "1.0.0").parent.name.startswith("1.0.0-")
