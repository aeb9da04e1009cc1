"""Small groups with random lags and objectives, and solutions compared with enumeration."""

from __future__ import annotations

import random
from dataclasses import replace

import numpy as np

from groups import BadInput, Group, values
from optimal import ProofKind, Solution, Status, check, solve
from optimal.loads.load_problem import LoadProblem
from tests.optimal.random_groups import mixed_magnitudes, random_group

EARLIER = (
    (),
    ("balance",),
    ("topic_balance",),
    ("stickiness",),
    ("moved_weight",),
    ("racks", "stickiness"),
    ("balance", "stickiness"),
    ("stickiness", "balance"),
    ("balance", "moved_weight"),
    ("balance", "racks", "stickiness"),
    ("racks", "balance", "moved_weight"),
)

LAST = (
    ("peak_lag",),
    ("peak_weight",),
    ("peak_time",),
    ("peak_lag", "lag_balance"),
    ("peak_lag", "lag_spread"),
    ("peak_weight", "weight_balance"),
    ("peak_weight", "weight_spread"),
    ("lag_spread",),
    ("weight_balance",),
)

WITHOUT_MOVES = [earlier for earlier in EARLIER if "stickiness" not in earlier]
WITHIN = (
    *((*earlier, *last) for earlier in EARLIER for last in LAST),
    *((*earlier, "peak_lag", "stickiness") for earlier in WITHOUT_MOVES),
    *((*earlier, "peak_time", "stickiness") for earlier in WITHOUT_MOVES),
    *((*earlier, "stickiness") for earlier in WITHOUT_MOVES),
)


def peaks_case(seed: int, number: int) -> tuple[Group, list[tuple[str, ...]]]:
    """Return a small group, and one objective that the method ``exchange`` serves."""
    group, objective = case(random.Random(f"peaks {seed} {number}"))
    return group, [objective]


def case(rng: random.Random) -> tuple[Group, tuple[str, ...]]:
    """Return a small group with random lags, and an objective of `EARLIER` and `LAST` tiers."""
    group = random_group(rng, members=rng.randint(1, 4), partitions=rng.randint(1, 8))
    kind = rng.choice(("as they are", "magnitudes", "hot", "zero", "ties"))
    if kind == "magnitudes":
        group = mixed_magnitudes(rng, group, below=2**24)
    elif group.n_partitions and kind != "as they are":
        column = np.full(group.n_partitions, {"hot": 1, "zero": 0, "ties": 7}[kind], np.int64)
        column[rng.randrange(len(column))] = {"hot": 1000, "zero": 0, "ties": 14}[kind]
        group = replace(group, lag_records=column, weight=column[::-1].copy())
    earlier, last = rng.choice(EARLIER), rng.choice(LAST)
    if "stickiness" not in earlier and last[0].startswith("peak") and rng.random() < 0.2:
        last = (last[0], "stickiness", *last[1:])
    return group, (*earlier, *last)


def case_within(rng: random.Random) -> tuple[Group, tuple[str, ...], dict[str, int]]:
    """Return a small group, an objective, and one to three budgets near what it can reach."""
    group, _ = case(rng)
    objective = rng.choice(WITHIN)
    peaks = [tier for tier in objective if tier.startswith("peak")]
    peak = (peaks or [rng.choice(("peak_lag", "peak_time"))])[0]
    most = {}
    for tier in rng.sample(
        ["stickiness", "load_spread", "idle_members", peak], rng.choice((1, 1, 2, 3))
    ):
        least = solve(group, (tier,), method="brute").terms[0].value
        free = solve(group, objective, method="brute").assignment
        reached = values(free, (tier,))[0]
        most[tier] = rng.choice((least, rng.randint(least, max(least, reached)), least + 1))
    return group, objective, most


def meet_within(rng: random.Random) -> Solution | None:
    """Solve a group within budgets, and compare with ``brute``; None if nothing keeps to them."""
    group, objective, at_most = case_within(rng)
    what = (objective, at_most, group.to_dict())
    method = "exchange" if LoadProblem.of(objective, at_most) else "auto"

    def solved(method: str) -> Solution | None:
        try:
            return solve(group, objective, method=method, at_most=at_most)
        except BadInput as error:
            if "the least that is possible" in str(error):
                return None
            raise

    truth, found = solved("brute"), solved(method)
    if truth is None or found is None:
        assert truth is found, what
        return None
    assert found.status is Status.OPTIMAL, what
    assert found.terms == truth.terms, what
    reached = values(found.assignment, (*objective, *at_most))
    assert reached[: len(objective)] == tuple(term.bound for term in found.terms), what
    assert all(reached[at] <= most for at, most in enumerate(at_most.values(), len(objective)))
    reread = Solution.from_dict(group, found.to_dict())
    assert (check(group, reread) == ()) == (found.proof.kind is ProofKind.CERTIFICATE), what
    return found
