from itertools import islice

import numpy as np
import pytest

from compare.samples.drawn import drawn
from compare.samples.enumerated import fresh
from groups import Assignment, Group, InvalidAssignment, values
from heuristics import assign
from optimal.solve import solve_many
from studies.loops.chains import Chain, Link, chains, why_unseen


def group_of(topics, subscriptions):
    members = {member: {"subscription": reads} for member, reads in subscriptions.items()}
    document = {"format": "assay-group/1", "group": "g", "topics": topics, "members": members}
    return Group.from_dict(document)


TWO = group_of({"t": 1, "u": 2}, {"a": ["u"], "b": ["t", "u"], "c": ["t"]})
LONG = group_of(
    {"t": 2, "u": 1, "v": 1}, {"a": ["t"], "b": ["t", "u"], "c": ["u", "v"], "d": ["v"]}
)


def test_a_chain_of_two_is_found_where_no_single_move_helps():
    made = Assignment.from_dict(TWO, {"a": {"u": [0, 1]}, "b": {"t": [0]}, "c": {}})
    links = (Link("u", 0, "a", "b"), Link("t", 0, "b", "c"))
    assert chains(made) == (Chain(links, (2, 1, 0), (1, 1, 1)),)
    assert why_unseen(made) == (
        "u-0 from a to b and t-0 from b to c: a 2, b 1, c 0 become a 1, b 1, c 1. "
        "No single move improves the balance."
    )


def test_a_chain_may_go_through_any_number_of_members_and_be_a_single_move():
    made = Assignment.from_dict(LONG, {"a": {"t": [0, 1]}, "b": {"u": [0]}, "c": {"v": [0]}})
    (chain,) = chains(made)
    assert [(one.leaves, one.to) for one in chain.links] == [("a", "b"), ("b", "c"), ("c", "d")]
    assert chain.after == (1, 1, 1, 1)
    single = Assignment.from_dict(TWO, {"a": {}, "b": {"t": [0], "u": [0, 1]}, "c": {}})
    assert why_unseen(single).endswith(". A single move improves the balance.")
    assert len(chains(single)) == 2


def test_what_a_member_owns_stays_with_it_where_something_else_will_do():
    document = TWO.to_dict()
    document["members"]["a"]["owned"] = {"u": [0]}
    made = Assignment.from_dict(
        Group.from_dict(document), {"a": {"u": [0, 1]}, "b": {"t": [0]}, "c": {}}
    )
    assert chains(made)[0].links[0] == Link("u", 1, "a", "b")


def test_the_best_balance_has_no_chain_and_what_is_not_valid_is_refused():
    made = Assignment.from_dict(TWO, {"a": {"u": [0]}, "b": {"u": [1]}, "c": {"t": [0]}})
    assert (chains(made), why_unseen(made)) == ((), None)
    with pytest.raises(InvalidAssignment, match="u-1 with nobody"):
        chains(Assignment.from_dict(TWO, {"a": {"u": [0]}, "b": {"t": [0]}, "c": {}}))


def ends_at_the_optimum(groups, assignor):
    missed = 0
    for group, optimum in zip(groups, solve_many(groups, "kip-54"), strict=True):
        made = assign(group, assignor)
        found = chains(made)
        loads = made.loads.tolist()
        for chain in found:
            assert list(chain.loads) == loads
            loads = list(chain.after)
            narrowed = np.flatnonzero(np.array(chain.after) - np.array(chain.loads))
            assert len(narrowed) == 2
        assert sorted(loads) == sorted(optimum.assignment.loads.tolist())
        best = values(made, ("balance",))[0] == optimum.terms[0].value
        assert (found == ()) == best
        missed += not best
    return missed


@pytest.mark.exhaustive
def test_the_chains_lead_to_the_proved_optimum_on_small_and_on_drawn_groups():
    small = [one.group() for one in islice(fresh(3, 3, 5), 0, None, 2)]
    assert ends_at_the_optimum(small, "kip-54-sticky") > 0
    assert ends_at_the_optimum([*islice(drawn(3), 200)], "kip-54-sticky") > 0


def test_after_a_rule_for_single_moves_the_first_chain_has_two_links_or_more():
    for group in islice(drawn(4), 200):
        found = chains(assign(group, "sticky-that-ends"))
        assert not found or len(found[0].links) > 1
