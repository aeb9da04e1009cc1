"""Exchanges within budgets on many small groups, each held to exhaustion.

Run with ``python -m tests.optimal.loads.sweep_within --seed 2 --groups 2000``.
"""

from __future__ import annotations

import argparse
import random
import sys
from collections import Counter
from time import perf_counter

from groups import BadInput, Group, values
from optimal import ProofKind, Solution, Status, check, solve
from optimal.answer import NothingWithin
from optimal.brute import brute
from optimal.loads.load_problem import LoadProblem
from tests.optimal.loads.sweep import EARLIER, LAST, case

OBJECTIVES = (
    *((*earlier, *last) for earlier in EARLIER for last in LAST),
    *((*earlier, "peak_lag", "stickiness") for earlier in EARLIER if "stickiness" not in earlier),
    *((*earlier, "peak_time", "stickiness") for earlier in EARLIER if "stickiness" not in earlier),
    *((*earlier, "stickiness") for earlier in EARLIER if "stickiness" not in earlier),
)


def asked(rng: random.Random) -> tuple[Group, tuple[str, ...], dict[str, int]]:
    """A small group, an objective, and one to three budgets around what can be had."""
    group, _ = case(rng)
    objective = rng.choice(OBJECTIVES)
    tiers = ["stickiness", "load_spread", "idle_members"]
    peaks = [tier for tier in objective if tier.startswith("peak")]
    peak = (peaks or [rng.choice(("peak_lag", "peak_time"))])[0]
    most = {}
    for tier in rng.sample([*tiers, peak], rng.choice((1, 1, 2, 3))):
        least = solve(group, (tier,), method="brute").terms[0].value
        free = solve(group, objective, method="brute").assignment
        reached = values(free, (tier,))[0]
        most[tier] = rng.choice((least, rng.randint(least, max(least, reached)), least + 1))
    return group, objective, most


def meet(seed: int, number: int) -> str:
    """Solve one group within budgets; AssertionError where exhaustion says otherwise."""
    rng = random.Random(f"within budgets {seed} {number}")
    group, objective, at_most = asked(rng)
    what = (seed, number, objective, at_most, group.to_dict())
    method = "auto" if LoadProblem.of(objective, at_most) is None else "exchange"
    try:
        best = list(brute(group, objective, at_most=at_most).bounds)
    except NothingWithin:
        try:
            solve(group, objective, method=method, at_most=at_most)
        except BadInput:
            return "nothing"
        raise AssertionError(what) from None
    found = solve(group, objective, method=method, at_most=at_most)
    assert found.status is Status.OPTIMAL, what
    assert [term.value for term in found.terms] == best, what
    assert [term.bound for term in found.terms] == best, what
    kept = values(found.assignment, tuple(at_most))
    assert all(value <= most for value, most in zip(kept, at_most.values(), strict=True)), what
    again = Solution.from_dict(group, found.to_dict())
    assert (check(group, again) == ()) == (found.proof.kind is ProofKind.CERTIFICATE), what
    return f"{found.method} {found.proof.kind}"


def main() -> int:
    """Sweep and print how the groups were answered; an AssertionError ends it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--groups", type=int, default=2000)
    given = parser.parse_args()
    start = perf_counter()
    kinds = Counter(meet(given.seed, number) for number in range(given.groups))
    counts = ", ".join(f"{kind} {count}" for kind, count in kinds.most_common())
    seconds = perf_counter() - start
    sys.stdout.write(f"seed {given.seed}: {given.groups} groups, {counts}, {seconds:.0f} s\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
