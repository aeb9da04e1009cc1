import logging
import random
import re
import time
from collections import Counter

import pytest

from groups import Assignment, Failed, values
from live.assignor.planned import fallback, optimum, planned
from live.assignor.rebalance import Claim, Joined, Rebalance
from live.kafka_python import OptimalAssignor
from optimal import solve
from tests.growth import calls
from tests.seeds import for_each


def random_rebalance(rng, *, equal=False):
    numbers = {f"t{n}": range(rng.randint(1, 9)) for n in range(rng.randint(1, 4))}
    members = {}
    for n in range(rng.randint(1, 6)):
        topics = [t for t in (*numbers, "gone") if equal or rng.random() < 0.6]
        owned = {
            t: [p for p in range(12) if rng.random() < 0.3] for t in numbers if rng.random() < 0.7
        }
        claim = Claim(owned=owned, generation=rng.randint(3, 5))
        members[f"c{n}"] = Joined(frozenset(topics), claim)
    return Rebalance.of(members, numbers.get)


def raises(rebalance):
    raise ZeroDivisionError("of\nits own")


def hangs(rebalance):
    time.sleep(1)


def leaves_one_out(rebalance):
    plan = optimum(rebalance, time_limit=5)
    next(numbers for topics in plan.values() for numbers in topics.values()).pop()
    return plan


def gives_one_twice(rebalance):
    plan = optimum(rebalance, time_limit=5)
    numbers = next(numbers for topics in plan.values() for numbers in topics.values())
    numbers.append(numbers[0])
    return plan


@pytest.mark.parametrize(
    ("solver", "reason"),
    [
        (raises, r"\(ZeroDivisionError: of its own\)"),
        (hangs, r"\(Failed: no answer within 0\.5 s\)"),
        (leaves_one_out, r"\(InvalidAssignment: 't\d': not every partition is with one member\)"),
        (gives_one_twice, r"\(InvalidAssignment: 't\d': not every partition is with one member\)"),
        (lambda rebalance: None, r"\(AttributeError: .*\)"),
    ],
)
def test_where_the_solver_fails_the_fallback_is_given_and_one_line_says_why(
    caplog, solver, reason
):
    rebalance = random_rebalance(random.Random(3), equal=True)
    plan = planned(rebalance, solver, time_limit=0.5)
    assert plan == fallback(rebalance)
    (line,) = caplog.records
    assert line.levelno == logging.WARNING
    assert line.getMessage().startswith("no optimal assignment, a sticky and balanced one is ")
    assert re.search(reason + "$", line.getMessage())


def test_a_time_limit_that_is_up_at_once_is_a_failure():
    rebalance = random_rebalance(random.Random(4))
    with pytest.raises(Failed, match="no answer within 1e-09 s"):
        optimum(rebalance, time_limit=1e-9)


def test_a_plan_in_time_is_the_optimum_and_nothing_is_logged(caplog):
    rebalance = random_rebalance(random.Random(1))
    plan = planned(rebalance, OptimalAssignor.solver(), time_limit=5)
    best = solve(rebalance.group())
    assert plan == rebalance.plan_of(best.assignment)
    assert caplog.records == []


@for_each(range(150))
def test_the_fallback_is_valid_and_where_all_read_alike_even_by_the_fewest_moves(seed):
    equal = seed % 2 == 0
    rebalance = random_rebalance(random.Random(seed), equal=equal)
    plan, group = fallback(rebalance), rebalance.group()
    rebalance.require_valid(plan)
    if equal:
        best = tuple(term.value for term in solve(group).terms)
        made = Assignment.from_dict(group, plan)
        assert values(made, ("balance", "stickiness")) == best


def large(partitions):
    rng = random.Random(0)
    numbers = {f"t{n:03}": range(partitions) for n in range(100)}
    members = {
        f"c{n:03}": Joined(frozenset(rng.sample(sorted(numbers), 40)), Claim()) for n in range(300)
    }
    return Rebalance.of(members, numbers.get)


def test_the_fallbacks_work_grows_with_the_partitions_of_a_large_group():
    less, more = (calls(fallback, large(partitions)) for partitions in (100, 200))
    assert more < 2.2 * less
    rebalance = large(500)
    plan = fallback(rebalance)
    rebalance.require_valid(plan)
    loads = Counter({m: sum(map(len, topics.values())) for m, topics in plan.items()})
    assert max(loads.values()) - min(loads.values()) <= 3
