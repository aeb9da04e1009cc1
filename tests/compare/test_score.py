from dataclasses import replace
from random import Random

import pytest

from compare.limits import beyond
from compare.scores import (
    Score,
    ScoreTerm,
    score,
    score_assignors,
    score_current,
    score_many,
)
from compare.what_if import what_if
from groups import Assignment, BadInput, Group, SolverContradiction
from groups.assignment import Violation
from groups.columns.places import MemberDetails
from heuristics import assign
from heuristics.time_limit import TimeLimit
from optimal import solve
from optimal.solution import Status, Stopped, Term
from tests.optimal.random_groups import random_group
from tests.optimal.small_groups import document


def group_of(topics, members, name="g") -> Group:
    return Group.from_dict(document(topics, members, group=name))


def reads(*topics, **owned) -> dict:
    return {"subscription": list(topics), "owned": owned}


@pytest.fixture
def lopsided() -> Group:
    """c0 owns all five and could give up two of t1: the optimum is balance 1, stickiness 2."""
    return group_of(
        {"t0": 2, "t1": 3}, {"c0": reads("t0", "t1", t0=[0, 1], t1=[0, 1, 2]), "c1": reads("t1")}
    )


@pytest.fixture
def even() -> Group:
    """Two members that read alike and hold two partitions each: already optimal."""
    return group_of({"t": 4}, {"c0": reads("t", t=[0, 1]), "c1": reads("t", t=[2, 3])})


def placed(group: Group, **held) -> Assignment:
    return Assignment.from_dict(group, held)


def excesses(row: Score) -> tuple:
    return tuple(term.excess for term in row.terms)


def not_proved(group: Group, *terms: Term):
    """Return the solution of a solver that ran out of time, with these values and bounds."""
    return replace(
        solve(group, [term.name for term in terms]),
        status=Status.FEASIBLE,
        stopped=Stopped.TIME_LIMIT,
        terms=terms,
    )


def test_the_optimum_has_no_excess(lopsided):
    solution = solve(lopsided)
    row = score(lopsided, solution.assignment, solution, assignor="optimum")
    assert row.terms == (ScoreTerm("balance", 1, 0), ScoreTerm("stickiness", 2, 0))
    assert (row.assignor, row.status, row.valid, row.violations) == ("optimum", "scored", True, ())
    assert row.is_optimal
    assert row.loads == (3, 2)


def test_excess_is_told_up_to_the_first_tier_that_differs(lopsided, even):
    two = group_of({"t": 2, "u": 2}, {"a": reads("t", "u"), "b": reads("t", "u")})
    three = "balance > topic_balance > stickiness"
    for assignment, objective, found in (
        (Assignment.current(lopsided), "kip-54", [(5, 4), (0, None)]),
        # A later tier is compared among equals.
        (placed(even, c0={"t": [2, 3]}, c1={"t": [0, 1]}), "kip-54", [(0, 0), (4, 4)]),
        # A tier in the middle that differs silences only what follows.
        (placed(two, a={"t": [0, 1]}, b={"u": [0, 1]}), three, [(0, 0), (8, 4), (0, None)]),
    ):
        solution = solve(assignment.group, objective)
        row = score(assignment.group, assignment, solution)
        assert row.terms == tuple(
            ScoreTerm(name, *of) for name, of in zip(solution.objective, found, strict=True)
        )
        assert not row.is_optimal


def test_an_assignment_that_is_not_valid_has_values_but_no_excess(lopsided):
    row = score(lopsided, placed(lopsided, c0={"t0": [0, 1]}), solve(lopsided))
    assert row.terms == (ScoreTerm("balance", 2, None), ScoreTerm("stickiness", 0, None))
    assert (row.valid, row.balanced) == (False, None)
    assert [str(v) for v in row.violations] == [
        f"t1-{number} with nobody: unassigned" for number in range(3)
    ]


def test_a_tier_of_the_name_of_a_fact_keeps_its_value_in_rows_where_the_fact_is_unknown():
    lag = {"t": {"partitions": 2, "lag": [5, 3]}}
    group = group_of(lag, {"c0": reads("t", t=[0]), "c1": reads("t")})
    row = score_current(group, solve(group, "balance > peak_lag"))
    assert (row.valid, row.peak_lag) == (False, None)
    (told,) = row.to_rows()
    assert (told["peak_lag"], told["peak_lag_excess"]) == (5, None)


def test_excess_is_an_interval_where_the_optimum_is_not_proved(lopsided, even):
    now, best, level = (
        Assignment.current(lopsided),
        solve(lopsided).assignment,
        Assignment.current(even),
    )
    worse = placed(even, c0={"t": [0, 1, 2]}, c1={"t": [3]})
    after_proved = Term("balance", 0, 0), Term("stickiness", 2, 0)
    for assignment, terms, found in (
        (now, (Term("balance", 3, 1), Term("stickiness", 1, None)), ((2, 4), None)),
        # After a proved tier, an open one is compared among equals.
        (level, after_proved, (0, (-2, 0))),
        (worse, after_proved, (2, None)),
        # An assignment may be better than an incumbent, but not than the bound.
        (best, (Term("balance", 5, 1), Term("stickiness", 0, None)), ((-4, 0), None)),
    ):
        answer = not_proved(assignment.group, *terms)
        assert excesses(score(assignment.group, assignment, answer)) == found


def test_without_any_solution_there_is_no_excess(lopsided):
    answer = replace(solve(lopsided), status=Status.UNKNOWN, terms=(), assignment=None)
    row = score_current(lopsided, answer)
    assert row.terms == (ScoreTerm("balance", 5, None), ScoreTerm("stickiness", 0, None))
    assert not row.is_optimal


def test_a_valid_assignment_below_the_bound_is_a_contradiction(lopsided):
    best = solve(lopsided)
    wrong = replace(best, terms=(Term("balance", 3, 3), Term("stickiness", 1, 1)))
    with pytest.raises(
        SolverContradiction, match=r"^g: balance is 1, below the bound 3 that flow claims$"
    ):
        score(lopsided, best.assignment, wrong)
    wrong = replace(best, terms=(Term("balance", 1, 1), Term("stickiness", 4, 3)))
    with pytest.raises(SolverContradiction, match=r"^g: stickiness is 2, below the bound 3 "):
        score(lopsided, best.assignment, wrong)


def test_an_assignment_or_a_solution_of_another_group_or_another_time_is_refused(lopsided, even):
    other, later = replace(even, name="other"), lopsided.with_claims([], [])
    own, best = Assignment.current(lopsided), solve(lopsided)
    for assignment, solution, message in (
        (Assignment.current(other), best, r"^assignment: it is for group 'other', not for 'g'$"),
        (own, solve(other), r"^solution: it is for group 'other', not for 'g'$"),
        (Assignment.current(later), best, r"^assignment: it is for another state of group 'g': "),
        (own, solve(later), r"^solution: it is for another state of group 'g': "),
    ):
        with pytest.raises(BadInput, match=message):
            score(lopsided, assignment, solution)
    wider = what_if(lopsided, reads={"c1": ["t0"]})
    details = tuple(MemberDetails(host=host) for host in "AB")
    for asked in (wider, replace(lopsided, details=details)):
        for call in (
            lambda asked: score(asked, Assignment.current(asked), best),
            lambda asked: score(asked, own, solve(asked)),
            lambda asked: score_assignors(asked, best, ["roundrobin"]),
        ):
            with pytest.raises(BadInput, match=r"another state .*, subscriptions, .*hosts or"):
                call(asked)
    read_by_c0 = {"c0": {"subscription": ["t0", "t1"], "owned": {"t0": [0, 1], "t1": [0, 1, 2]}}}
    unknown = group_of({"t0": 2, "t1": 3}, read_by_c0 | {"c1": {"subscription": None}})
    assert score(unknown, own, best).terms == score(lopsided, own, best).terms


def test_the_row_current_takes_raw_claims_as_they_are():
    group = group_of(
        {"t": 3, "u": 1, "unread": 2},
        {
            "a": {"subscription": ["t"], "owned": {"t": [0, 1], "u": [0]}, "generation": 3},
            "b": {"subscription": ["t", "u"], "owned": {"t": [0, 9]}, "generation": 4},
            "c": {"subscription": ["u"], "owned": {"gone": [0], "t": [0]}, "generation": 4},
        },
    )
    row = score_current(group, solve(group))
    assert row.violations == (
        Violation("no-such-partition", "c", "gone", 0),
        Violation("double", "b", "t", 0),
        Violation("double", "c", "t", 0),
        Violation("unsubscribed", "c", "t", 0),
        Violation("unassigned", None, "t", 2),
        Violation("no-such-partition", "b", "t", 9),
        Violation("unsubscribed", "a", "u", 0),
    )
    assert row.why_not == (
        "not valid: gone-0 with c: no-such-partition, t-0 with b: double, t-0 with c: "
        "unsubscribed, t-2 with nobody: unassigned (and 3 more)"
    )
    assert (row.assignor, row.valid, excesses(row)) == ("current", False, (None, None))
    assert row.terms[1] == ScoreTerm("stickiness", 0, None)
    assert row.loads == (3, 1, 1)


@pytest.mark.parametrize(
    ("topics", "members"), [({}, {}), ({"t": 3}, {}), ({}, {"a": reads()}), ({"t": 0}, {"a": {}})]
)
def test_a_group_with_nothing_to_hand_out_is_optimal_as_it_is(topics, members):
    group = group_of(topics, {m: {"subscription": [], **said} for m, said in members.items()})
    row = score_current(group, solve(group))
    assert (row.valid, excesses(row)) == (True, (0, 0))


def test_what_members_hold_never_moves_whatever_they_claim():
    valid = 0
    for seed in range(150):
        group = random_group(Random(seed), members=4, partitions=8)
        row = score_current(group, solve(group))
        assert (row.terms[1].name, row.terms[1].value) == ("stickiness", 0)
        assert row.valid == (not row.violations)
        valid += row.valid
    assert 10 < valid < 140


def test_no_assignor_is_below_the_optimum_and_no_tier_speaks_after_one_that_differs():
    differing = moving = 0
    for seed in range(60):
        group = random_group(Random(seed), members=5, partitions=10)
        solution = solve(group)
        for name in ("range", "roundrobin", "kip-54-sticky", "kip-54-fairest"):
            row = score(group, assign(group, name), solution)
            assert row.valid
            balance, stickiness = excesses(row)
            assert balance >= 0
            assert (stickiness is None) == (balance > 0)
            assert stickiness is None or stickiness >= 0
            differing += stickiness is None
            moving += bool(stickiness)
    assert differing > 60
    assert moving > 20


def test_a_cooperative_assignor_is_scored_on_its_final_assignment_with_its_rounds(lopsided):
    solution = solve(lopsided)
    with TimeLimit(30) as limit:
        (row,) = score_assignors(lopsided, solution, ["kip-429-cooperative"], limit)
    assert row.is_optimal
    assert (row.rounds, row.revoked) == (2, 2)
    assert row.terms == score(lopsided, solution.assignment, solution).terms


def test_many_groups_have_the_rows_that_each_has_by_itself():
    rng = Random(14)
    groups = [random_group(rng, members=4, partitions=9) for _ in range(20)]
    solutions = [solve(group) for group in groups]
    names = ["kip-54-sticky", "current", "kip-615-constrained", "optimum", "kip-429-cooperative"]
    with TimeLimit(30) as limit:
        many = score_many(groups, solutions, names, limit)
        each = [
            score_assignors(*pair, names, limit) for pair in zip(groups, solutions, strict=True)
        ]
    assert [[replace(row, seconds=0) for row in rows] for rows in many] == [
        [replace(row, seconds=0) for row in rows] for rows in each
    ]
    assert {row.status for rows in many for row in rows} == {"scored", "refused"}


def row(*excess, valid=True, names=("balance", "stickiness")) -> Score:
    terms = tuple(ScoreTerm(name, 9, e) for name, e in zip(names, excess, strict=True))
    return Score("range", "scored", valid=valid, terms=terms)


def too_far(rows, limits, optimum=()):
    return [*map(str, beyond(rows, limits, optimum))]


BEST = Term("balance", 5, 5), Term("stickiness", 9, 9)


def test_a_limit_on_a_later_tier_holds_the_earlier_ones_without_a_limit_to_their_optimum():
    (line,) = too_far([row(4, None)], {"stickiness": 0}, BEST)
    assert line == (
        "range: balance exceeds the optimum by 4, more than 0 (a limit on moves sets 0 for "
        "earlier tiers that have none)"
    )
    (sort,) = (one.sort for one in beyond([row(4, None)], {"stickiness": 0}, BEST))
    assert sort == line.replace("by 4, more", "by more")


def test_a_later_tier_is_held_to_its_limit_where_an_earlier_one_may_be_worse():
    """A row 1,499 records above the least lag passed a limit of 400 once balance was let go."""
    limits = {"balance": 4, "stickiness": 2}

    def found(value, bound, balance=5):
        optimum = (Term("balance", 5, balance), Term("stickiness", value, bound))
        return too_far([row(4, None)], limits, optimum)

    assert found(7, 7) == []
    assert found(6, 6) == ["range: stickiness exceeds the optimum by 3, more than 2"]
    may = "range: stickiness may exceed the optimum by more than 2: by"
    assert found(7, 6) == [f"{may} 2 to 3"]
    assert found(7, None) == [f"{may} 2 to ?"]
    # If an earlier tier is not proved optimal, nothing is known about a later tier.
    assert found(6, 6, balance=4) == [f"{may} an unknown amount"]


def test_a_limit_on_a_later_tier_leaves_alone_a_tier_that_has_its_limit_elsewhere():
    rows = [row(1, None)]
    assert not [*beyond(rows, {"stickiness": 0}, BEST, besides=("balance",))]
    assert len(beyond(rows, {"stickiness": 0}, BEST, besides=("racks",))) == 1


@pytest.mark.parametrize(
    ("excess", "limits", "said"),
    [
        ((4, None), {"balance": 4}, None),
        ((4, None), {"balance": 3}, "balance exceeds the optimum by 4, more than 3"),
        ((0, 2), {"balance": 0, "stickiness": 1},
         "stickiness exceeds the optimum by 2, more than 1"),
        # A tier without a limit.
        ((4, None), {}, None),
        ((0, 7), {"balance": 0}, None),
        # Of an interval the far end counts.
        (((1, 4), None), {"balance": 4}, None),
        (((1, 4), None), {"balance": 3},
         "balance may exceed the optimum by more than 3: by 1 to 4"),
        (((1, 4), None), {"balance": 0}, "balance exceeds the optimum by 1 to 4, more than 0"),
        (((1, None), None), {"balance": 1000},
         "balance may exceed the optimum by more than 1000: by 1 to ?"),
    ],
)  # fmt: skip
def test_a_row_is_too_far_only_above_the_limit_of_a_tier(excess, limits, said):
    assert too_far([row(*excess)], limits) == ([] if said is None else [f"range: {said}"])


def test_what_is_not_valid_or_not_scored_is_too_far():
    broken = row(None, None, valid=False)
    refused = Score("kip-169-lag", "refused", "the lag of t-0 is unknown")
    assert too_far([row(0, 0), broken, refused], {"balance": 1000}) == [
        "range: the assignment is not valid",
        "kip-169-lag: the lag of t-0 is unknown",
    ]
