import numpy as np
import pytest

from compare.reasons.explanation import explain
from compare.reasons.sure import sure_optimum
from groups import Assignment, BadInput, values
from optimal import Status, solve
from tests.compare.test_verdict import hidden, in_good_order
from tests.optimal.small_groups import group_of

TIERS = ("balance", "stickiness")


def test_an_explanation_without_subscriptions_is_of_the_true_optimum():
    rng = np.random.default_rng(3)
    explained, better, refused = 0, 0, []
    for number, truth in enumerate(in_good_order(400)):
        if not truth.members or not (truth.owner >= 0).any():
            continue
        shown = hidden(truth, rng.random(len(truth.members)) < (number % 3 + 1) / 3)
        try:
            found = sure_optimum(shown, TIERS)
        except BadInput as error:
            refused.append(str(error))
            continue
        if found.status is Status.FEASIBLE:
            # Better than what is held for sure; how good the best is depends on who reads what.
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
        sure_optimum(unknown, TIERS)
