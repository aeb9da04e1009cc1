"""Groups on the way to what the broker wants them to have, and what any part of a text shows."""

import json

import pytest

from assay import Group, check, fleet, judge, read_groups, solve
from compare.sentences import sentence
from groups.table.parquet import write_groups
from tests.groups.importers.imported import KIP_848, OFFSETS

UNDER_WAY = KIP_848 + (
    "orders m-1 /127.0.0.1 app-1 0 3 - 3 t0:1,2,3\n"
    "orders m-0 /127.0.0.1 app-0 6 2 t0:0,1,2,3;t1:0,1 3 t0:0;t1:0,1\n"
)
STATE = (
    "GROUP COORDINATOR (ID) ASSIGNMENT-STRATEGY STATE GROUP-EPOCH TARGET-ASSIGNMENT-EPOCH"
    " #MEMBERS\norders 127.0.0.1:9092 (1) uniform {} 3 3 2\n\n"
)
NOTE = (
    "a rebalance is under way: 3 partitions are still to be handed over; judged as it will be then"
)


def groups_in(*texts: str):
    return read_groups("-", standard_input="\n".join(texts).encode())


def test_a_group_is_judged_by_where_its_rebalance_ends(tmp_path):
    group = groups_in(UNDER_WAY)["orders"]
    # The snapshot has both the owned and the target partitions.
    assert [len(one) for one in group.to_dict()["members"]["m-0"]["owned"].values()] == [4, 2]
    reached = group.with_target()
    (judged,) = judge(group)
    assert (judged.verdict.says, judged.verdict.sure) == ("as good as can be", True)
    assert judged.now.loads.tolist() == [3, 3]
    # What is held now is said of the group as it is, as of a capture of a running cluster.
    held_now = "owned: what members hold now, 2 of 2 on the way to their target"
    assert held_now in group.assumed
    assert held_now not in reached.assumed
    assert NOTE in reached.assumed
    assert sentence(judged).startswith(f"orders: {NOTE}. As good as can be in balance > moves. ")
    assert reached.with_target() is reached
    # Every function uses the target; a group with claims set by hand has no target.
    for solution in (solve(group), solve(reached)):
        assert (solution.terms[1].value, check(group, solution)) == (0, ())
    assert NOTE in judged.group.assumed
    by_hand = group.with_claims([0], [0])
    assert by_hand.with_target() is by_hand
    # A run judges the same, from JSON and from Parquet.
    (tmp_path / "g.json").write_text(json.dumps(group.to_dict()))
    write_groups([group], str(tmp_path / "g.parquet"))
    for name in ("g.json", "g.parquet"):
        found = fleet.tables(tmp_path / name, ["current"], processes=1)
        (row,) = found.optima.to_pylist()
        assert row["verdict"]["says"] == "as good as can be", name
        assert NOTE in row["assumed"], name


def test_a_state_between_two_assignments_refuses_no_group_that_shows_where_it_ends():
    """While the broker assigns, targets are old: partitions of a member that left had no owner."""
    assert groups_in(STATE.format("Reconciling"), UNDER_WAY)["orders"].members == ("m-0", "m-1")
    listed = "GROUP TYPE STATE\norders Consumer Assigning\n\n"
    for assigning in (STATE.format("Assigning"), listed):
        found = groups_in(assigning, UNDER_WAY)
        assert len(found) == 0
        assert "group 'orders' is rebalancing" in found.failures[-1].reason
    one_without = UNDER_WAY.replace("- 3 t0:1,2,3", "- - -")
    assert one_without != UNDER_WAY
    (failure,) = groups_in(STATE.format("Reconciling"), one_without).failures
    assert "group 'orders' is rebalancing" in failure.reason


@pytest.mark.parametrize("target", ["- -", "3 t0:0;t1:0"])
def test_a_group_without_targets_or_at_them_is_as_it_is(target):
    (group,) = groups_in(f"{KIP_848}orders m-0 /h app-0 2 3 t0:0;t1:0 {target}\n")
    assert group.with_target() is group


def test_a_target_of_topics_that_nobody_holds_yet_is_read_and_counted():
    text = f"{KIP_848}orders m-0 /h app-0 1 2 t0:0 3 t0:0;t9:4\norders m-1 /h app-1 0 3 - 3 t9:0\n"
    (group,) = groups_in(text)
    assert dict(zip(group.topics, group.partitions.tolist(), strict=True)) == {"t0": 1, "t9": 5}
    reached = group.with_target()
    assert [reached.members[m] for m in reached.claims.member] == ["m-0", "m-0", "m-1"]


def test_a_partition_beyond_its_topic_is_no_target():
    document = groups_in(UNDER_WAY)["orders"].to_dict()
    document["members"]["m-1"]["target"]["t0"] = [1, 2, 3, 40]
    group = Group.from_dict(document)
    assert group.with_target().n_partitions == 6


def test_a_topic_has_as_many_partitions_as_any_group_shows():
    found = groups_in(
        f"{OFFSETS}a t0 0 5 9 4 a-1 /h a\na t1 0 5 9 4 a-1 /h a\n",
        f"{OFFSETS}b t1 3 7 7 0 b-1 /h b\n",
        f"{KIP_848}c m /h c 1 3 t0:0 3 t0:0,6\n",
    )
    sizes = {g.name: dict(zip(g.topics, g.partitions.tolist(), strict=True)) for g in found}
    assert sizes == {"a": {"t0": 7, "t1": 4}, "b": {"t1": 4}, "c": {"t0": 7}}
