import json

import pytest

from tests.assay.calling import assay, document_of, good, one_line


def test_solve_within_a_budget_says_so_and_what_proves_it(folder):
    run = good(assay("solve", folder / "orders.json", "--at-most", "stickiness=1"))
    lines = run.stdout.splitlines()
    assert lines[0].startswith(
        "group orders: optimal for balance > stickiness with stickiness at most 1 "
        "(proof: certificate, method: flow, "
    )
    assert [line.split() for line in lines[2:5]] == [
        ["balance", "3", "3"],
        ["stickiness", "1", "1"],
        ["member", "now", "best", "partitions"],
    ]
    assert lines[-1] == "moves 1 from c0 to c1"


def test_check_follows_the_certificate_of_a_budget_and_refuses_a_smaller_one(folder):
    path = folder / "orders.json"
    run = good(assay("solve", path, "--at-most", "stickiness=1", "--format", "json"))
    document = document_of(run)
    assert list(document)[:5] == ["format", "group", "objective", "at_most", "status"]
    run = good(assay("check", path, "-", stdin=json.dumps(document)))
    assert "status optimal: the certificate proves it" in run.stdout.splitlines()
    document["at_most"] = {"stickiness": 0}
    line = one_line(assay("check", path, "-", stdin=json.dumps(document)), 1)
    assert line == "-: at_most.stickiness: 0, but the value is 1"


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (
            "stickiness",
            "--at-most stickiness: expected TIER=K, with a whole number K of 0 or more",
        ),
        ("stickiness=-1", "--at-most stickiness=-1: expected TIER=K"),
        ("balance=1.5", "--at-most balance=1.5: expected TIER=K"),
        ("move=1", "--at-most move=1: 'move' is none of balance, topic_balance, stickiness"),
        (
            "2",
            "--at-most 2: expected TIER=K, with TIER one of balance, topic_balance, stick",
        ),
        ("peak=1", "--at-most peak=1: 'peak' is none of balance"),
        ("balance=0", "at_most.balance: 0, but the least that is possible is 1"),
        ("racks=1", "topics.t0.racks: unknown, but tier racks needs it"),
    ],
)
def test_a_budget_that_cannot_be_is_one_line_and_exit_code_2(folder, given, message):
    line = one_line(assay("solve", folder / "orders.json", "--at-most", given), 2)
    assert line.startswith(message)


def test_a_budget_given_twice_is_refused(folder):
    given = ("--at-most", "stickiness=1", "--at-most", "stickiness=2")
    line = one_line(assay("solve", folder / "orders.json", *given), 2)
    assert line == "--at-most stickiness=2: stickiness is given twice"
