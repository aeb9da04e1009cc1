"""A client's consumer leads groups: what its tests have in common."""

from optimal import solve_many

SECONDS = 120


def planned(limit, group, assignor):
    outcome = limit.plan(group, assignor)
    assert (outcome.status, outcome.reason) == ("planned", None)
    assert 0 < outcome.seconds < SECONDS
    return outcome.plan


def optimum(groups):
    return [tuple(term.value for term in solution.terms) for solution in solve_many(groups)]


def reads_the_same(group):
    return bool((group.readers == len(group.members)).all())
