import json

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
