"""The exchange search on many small groups, each held to exhaustion and to CP-SAT.

Run with ``python -m tests.optimal.loads.sweep --seed 2 --groups 2000``.
"""

from __future__ import annotations

import argparse
import random
import sys
from collections import Counter
from dataclasses import replace
from time import perf_counter

import numpy as np

from groups import Group, values
from optimal import ProofKind, Solution, Status, check, solve
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


def case(rng: random.Random) -> tuple[Group, tuple[str, ...]]:
    """A small group of any lags and an objective with a peak, last or before the last."""
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


def meet(seed: int, number: int) -> Solution:
    """Solve one group by exchange; AssertionError where exhaustion or CP-SAT says otherwise."""
    rng = random.Random(f"exchange {seed} {number}")
    group, objective = case(rng)
    what = (seed, number, objective, group.to_dict())
    truth = solve(group, objective, method="brute")
    best = [term.value for term in truth.terms]
    found = solve(group, objective, method="exchange")
    assert found.status is Status.OPTIMAL, what
    assert [term.value for term in found.terms] == best, what
    assert [term.bound for term in found.terms] == best, what
    assert tuple(best) == values(found.assignment, objective), what
    if rng.random() < 0.2:
        other = solve(group, objective, method="cp-sat")
        assert [term.value for term in other.terms] == best, what
    again = Solution.from_dict(group, found.to_dict())
    left = check(group, again)
    assert (left == ()) == (found.proof.kind is ProofKind.CERTIFICATE), what
    return found


def main() -> int:
    """Sweep and print how the groups were proved; an AssertionError ends it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--groups", type=int, default=2000)
    asked = parser.parse_args()
    start = perf_counter()
    kinds = Counter(meet(asked.seed, number).proof.kind for number in range(asked.groups))
    counts = ", ".join(f"{kind} {count}" for kind, count in kinds.most_common())
    seconds = perf_counter() - start
    sys.stdout.write(f"seed {asked.seed}: {asked.groups} groups, {counts}, {seconds:.0f} s\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
