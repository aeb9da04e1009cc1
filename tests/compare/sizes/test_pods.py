"""With how many pods of several threads a group is even."""

import pytest

from compare.sizes.pods import MOST_ROWS, Pods, pods, why_no_pods
from groups import BadInput, Group
from optimal import solve
from tests.assay.calling import assay, document_of, good, one_line, write
from tests.optimal.small_groups import group_of


def orders(partitions, members=2) -> Group:
    return group_of({"t": partitions, "u": 0}, {f"c{m:03}": ["t", "u"] for m in range(members)})


def test_every_row_is_what_the_optimum_of_such_a_group_has():
    for partitions, threads in ((1, 1), (7, 3), (24, 4), (26, 4), (30, 7)):
        for row in pods(orders(partitions), threads).rows:
            names = [f"c{m:03}" for m in range(row.members)]
            hosts = [f"pod{m // threads}" for m in range(row.members)]
            group = group_of({"t": partitions}, {m: ["t"] for m in names}, hosts=hosts)
            for objective in ("balance > host_balance", "host_balance > balance"):
                solution = solve(group, objective)
                assert solution.proof.kind == "certificate"
                loads = solution.assignment.loads
                on_pods = group.places("host").loads(loads)
                assert (row.least_load, row.most_load) == (loads.min(), loads.max())
                assert (row.least_pod, row.most_pod) == (on_pods.min(), on_pods.max())
                assert row.idle == (loads == 0).sum()


def test_of_many_numbers_only_those_are_rows_that_say_something():
    found = pods(orders(1000), 4)
    assert isinstance(found, Pods)
    assert found.enough == 250
    assert len(found.rows) < MOST_ROWS
    assert {*found.even, 1, 251} <= {row.pods for row in found.rows}
    assert found.even == tuple(n for n in range(1, 251) if 1000 % (4 * n) == 0)


def test_what_has_no_answer_in_pods_is_refused():
    differing = group_of({"t": 2, "u": 1}, {"c0": ["t"], "c1": ["t", "u"]})
    for group, threads, why in (
        (differing, 2, "threads: members do not all read the same topics"),
        (orders(0), 2, "threads: nobody reads a partition"),
        (orders(3), 0, "threads: 0, expected a number from 1 to 10,000"),
        (orders(3), 10_001, "threads: 10001, expected"),
    ):
        with pytest.raises(BadInput, match=why):
            pods(group, threads)


def test_the_command_says_which_numbers_of_pods_are_even(tmp_path):
    folder = write(
        tmp_path, {"orders.json": orders(24).to_dict(), "odd.json": orders(7).to_dict()}
    )
    lines = good(assay("size", "orders.json", "--threads", "4", cwd=folder)).stdout.splitlines()
    assert lines[0].startswith(
        "g: 24 partitions, pods of 4 threads. Threads are even with 1, 2, 3 and 6 pods."
    )
    assert ["5", "20", "1-2", "4-5", "0", "no", "no"] in [line.split() for line in lines]
    assert lines[-1].startswith(
        "pods even where threads are not: in the best assignment. No assignor of Kafka's or ours"
    )
    said = good(assay("size", "odd.json", "--threads", "4", cwd=folder)).stdout
    assert "Threads are even with no number of pods: 7 does not divide by 4." in said
    document = document_of(
        assay("size", "orders.json", "--threads", "4", "--format", "json", cwd=folder)
    )
    assert document == pods(orders(24), 4).to_dict() | {
        "rows": document["rows"], "even": [1, 2, 3, 6], "assumed": []
    }  # fmt: skip
    for also in ("--objective", "--like", "--capacity"):
        refused = assay("size", "orders.json", "--threads", "4", also, "9", cwd=folder)
        assert "not with --" in one_line(refused, 2)


def test_a_target_is_answered_in_pods_of_so_many_threads_or_of_as_many_as_hosts_have(tmp_path):
    held = {f"c{m}": {"t": [*range(6 * m, 6 * m + 6)]} for m in range(4)}
    members = {m: ["t"] for m in held}
    group = group_of({"t": 24}, members, held, hosts="aabb")
    ragged = group_of({"t": 24}, members, held, hosts="aaab")
    folder = write(tmp_path, {"orders.json": group.to_dict(), "ragged.json": ragged.to_dict()})
    asked = ("size", "orders.json", "--target", "peak_load=3")
    by_host = good(assay(*asked, "--host-by", "host", cwd=folder)).stdout
    assert by_host == good(assay(*asked, "--threads", "2", cwd=folder)).stdout
    first, *rows = by_host.splitlines()
    assert "8 members are enough for a greatest load of at most 3; with 6 it is 4, " in first
    assert first.endswith("That is 4 pods of 2. With 4 more members, 12 moves are enough.")
    assert ["4", "8", "3", "0", "enough"] in [line.split() for line in rows]
    unlike = one_line(assay("size", "ragged.json", "--host-by", "host", cwd=folder), 2)
    assert unlike == "g: hosts have 1 and 3 members, not equally many; say --threads N"


@pytest.mark.parametrize(
    ("hosts", "why"),
    [
        ("aabb", ""),
        ("aaaa", "all members are on one host"),
        ("abcd", "each host has one member"),
        (None, "not every member's host is known"),
    ],
)
def test_of_what_keeps_hosts_from_being_pods_the_one_that_holds_is_named(hosts, why):
    members = {f"c{m}": ["t"] for m in range(4)}
    more = {} if hosts is None else {"hosts": hosts}
    assert why_no_pods(group_of({"t": 8}, members, {}, **more)) == why
