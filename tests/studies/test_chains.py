from itertools import islice

import pytest

from compare.samples.drawn import drawn
from groups import Assignment, InvalidAssignment, values
from heuristics import assign
from optimal.solve import solve_many
from studies.loops.why import why_unseen
from tests.optimal.small_groups import group_of

TWO = group_of({"t": 1, "u": 2}, {"a": ["u"], "b": ["t", "u"], "c": ["t"]})
LONG = group_of(
    {"t": 2, "u": 1, "v": 1}, {"a": ["t"], "b": ["t", "u"], "c": ["u", "v"], "d": ["v"]}
)


def test_a_chain_of_two_is_told_in_its_order_where_no_single_move_helps():
    made = Assignment.from_dict(TWO, {"a": {"u": [0, 1]}, "b": {"t": [0]}, "c": {}})
    assert why_unseen(made) == (
        "u-1 from a to b and t-0 from b to c: a 2, b 1, c 0 become a 1, b 1, c 1. "
        "No single move improves the balance."
    )


def test_a_chain_may_go_through_any_number_of_members_and_be_a_single_move():
    made = Assignment.from_dict(LONG, {"a": {"t": [0, 1]}, "b": {"u": [0]}, "c": {"v": [0]}})
    assert "from a to b, u-0 from b to c and v-0 from c to d: a 2" in why_unseen(made)
    single = Assignment.from_dict(TWO, {"a": {}, "b": {"t": [0], "u": [0, 1]}, "c": {}})
    assert why_unseen(single).endswith(". A single move improves the balance.")


def test_the_best_balance_has_no_chain_and_what_is_not_valid_is_refused():
    made = Assignment.from_dict(TWO, {"a": {"u": [0]}, "b": {"u": [1]}, "c": {"t": [0]}})
    assert why_unseen(made) is None
    with pytest.raises(InvalidAssignment, match="u-1 with nobody"):
        why_unseen(Assignment.from_dict(TWO, {"a": {"u": [0]}, "b": {"t": [0]}, "c": {}}))


def test_after_a_rule_for_single_moves_only_chains_improve_the_balance():
    groups = [*islice(drawn(4), 200)]
    for group, optimum in zip(groups, solve_many(groups, "kip-54"), strict=True):
        made = assign(group, "sticky-that-ends")
        told = why_unseen(made)
        assert (told is None) == (values(made, ("balance",))[0] == optimum.terms[0].value)
        assert told is None or told.endswith("No single move improves the balance.")
