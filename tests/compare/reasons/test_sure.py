import json
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import assay
from compare.reasons.explanation import explain
from compare.reasons.sure import solve as solve_sure
from groups import Assignment, BadInput, values
from groups.errors import InvalidAssignment, ProofError
from groups.files import read_groups
from optimal import Status, solve
from tests.assay.calling import assay as command
from tests.compare.test_verdict import hidden, in_good_order
from tests.optimal.small_groups import group_of

TIERS = ("balance", "stickiness")
CAPTURE = str(Path(__file__).parents[3] / "corpus/captures/3.9.2/all-describe.txt")


@pytest.mark.exhaustive
def test_an_explanation_without_subscriptions_is_of_the_true_optimum():
    rng = np.random.default_rng(3)
    explained, better, refused = 0, 0, []
    for number, truth in enumerate(in_good_order(400)):
        if not truth.members or not (truth.owner >= 0).any():
            continue
        shown = hidden(truth, rng.random(len(truth.members)) < (number % 3 + 1) / 3)
        try:
            found = solve_sure(shown, TIERS)
        except BadInput as error:
            refused.append(str(error))
            continue
        if found.status is Status.FEASIBLE:
            # Surely better than the present owners; the optimum depends on unknown subscriptions.
            now = values(Assignment.current(shown), TIERS)
            assert tuple(term.value for term in found.terms) < now
            assert explain(found) is None
            better += 1
            continue
        explained += 1
        assert found.terms == solve(truth).terms
        assert explain(found).moves.total == found.terms[1].value
    assert min(explained, len(refused)) > 30
    assert better
    assert all("group.with_equal_subscriptions() takes them" in said for said in refused)


def test_a_group_of_which_nobody_holds_anything_needs_its_subscriptions():
    group = group_of({"t": 2}, {"c0": [], "c1": []})
    unknown = hidden(group, np.ones(2, bool))
    with pytest.raises(
        BadInput, match=r"^g: what is best depends on who reads what; group\.with_equal"
    ):
        solve_sure(unknown, TIERS)


def test_python_solves_and_checks_what_the_command_does():
    for group in read_groups(CAPTURE):
        run = command("solve", CAPTURE, "--group", group.name, "--format", "json")
        if run.returncode:
            question = re.escape(run.stderr.removeprefix("assay: ").partition("; ")[0])
            with pytest.raises(BadInput, match=f"^{question}"):
                assay.solve(group)
            continue
        solution = assay.solve(group)
        there, here = json.loads(run.stdout), json.loads(json.dumps(solution.to_dict()))
        assert there | {"seconds": None} == here | {"seconds": None}
        assert assay.check(group, solution) == ()


def test_a_check_is_about_members_and_topics_whatever_the_group_is_called():
    group = group_of({"t": 4}, {"a": ["t"], "b": ["t"]})
    solution = assay.solve(group)
    assert assay.check(replace(group, name="renamed"), solution) == ()
    for other in (replace(group, members=("a", "c")), replace(group, topics=("u",))):
        with pytest.raises(InvalidAssignment, match=r"^group: other members, topics or partition"):
            assay.check(other, solution)


def test_an_answer_without_a_certificate_is_counted_again_as_the_command_does():
    group = group_of({"t": 4}, {"c0": ["t"], "c1": ["t"]}, {"c0": {"t": [0, 1, 2]}})
    found = solve(group, TIERS, method="brute")
    assert assay.check(group, found) == ()
    worse = Assignment(group, np.array([0, 0, 0, 1], np.int32))
    forged = found.to_dict() | {
        "terms": [{"name": n, "value": v, "bound": v} for n, v in zip(TIERS, (2, 0), strict=True)],
        "assignment": worse.to_dict(),
    }
    with pytest.raises(ProofError, match="the bound 2 is wrong: an assignment has 0"):
        assay.check(group, assay.Solution.from_dict(group, forged))


def test_every_function_knows_the_subscriptions_that_can_be_in_one_way_alone():
    owned = {f"c{i}": {"t": [i, i + 2]} for i in range(2)}
    group = group_of({"t": 4}, dict.fromkeys(owned), owned)
    solution = assay.solve(group)
    assert (solution.status, solution.group.subscription_known.all()) == (Status.OPTIMAL, True)
    assert assay.frontier(group, "balance", "stickiness")[0].at == (0, 0)
    assert assay.size(group, members=[2]).rows[0].most_load == 2
    assert assay.score_assignors(group, solution, ["range"])[0].terms[0].excess == 0
    assert assay.solve_many([group])[0].terms == solution.terms
    assert assay.assign(group, "range").loads.tolist() == [2, 2]
