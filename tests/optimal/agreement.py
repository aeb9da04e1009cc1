"""Agreement: seeded groups solved by every method, and what they say held against each other.

Run with ``make agree``, or ``python -m tests.optimal.agreement --seed 2 --groups 500``; with
``--magnitudes`` on groups whose lags and weights are of several magnitudes, with ``--pairs`` for
every order of one tier of lag and one other, with ``--peaks`` for objectives of ``exchange``, with
``--places`` for tiers of hosts, racks and
state, with ``--streams`` on streams groups.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
from collections import Counter
from collections.abc import Callable, Mapping
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from hashlib import blake2b
from itertools import permutations
from multiprocessing import get_context
from pathlib import Path
from time import perf_counter

from groups import PRESETS, TIERS, BadInput, Group, SolverContradiction
from groups.tiers import is_flow, is_laminar
from optimal import Solution, Status, solve
from optimal.answer import LIMITS
from optimal.solve import METHODS
from tests.optimal.random_groups import (
    case,
    mixed_magnitudes,
    of_state,
    random_group,
    random_streams,
)

Objective = tuple[str, ...]
Solver = Callable[..., Solution]
SOLVERS: Mapping[str, Solver] = {
    method: partial(solve, method=method) for method in METHODS if method != "auto"
}
EVERY_FLOW = [tier for tier in TIERS if TIERS[tier].is_flow]
FLOW = [tier for tier in EVERY_FLOW if not is_laminar((tier,))]
LAMINAR = [tier for tier in EVERY_FLOW if is_laminar((tier,))]
HARD = [tier for tier in TIERS if not TIERS[tier].is_flow]
LOADS = [tier for tier in HARD if TIERS[tier].needs is not None]
Cases = Callable[[int, int], tuple[Group, list[tuple[str, ...]]]]
LAG = [tier for tier in HARD if TIERS[tier].needs == "lag"]
PAIRS = [
    pair
    for lag in LAG
    for other in TIERS
    if TIERS[other].needs in (None, "racks") or other == "moved_weight"
    for pair in ((other, lag), (lag, other))
]
STAPLES = [*PRESETS.values(), *permutations(FLOW, 2)]
SECONDS = 5.0


def agree(
    group: Group,
    objective: Objective,
    *,
    methods: Mapping[str, Solver] = SOLVERS,
    time_limit: float | None = None,
) -> tuple[list[Solution], list[str]]:
    """Solve a group by all methods that serve the objective; return solutions and contradictions.

    Two solutions contradict each other if the values of one are lexicographically below the bounds
    of the other. So two optimal solutions must have equal values, and a solution that the time
    limit left open must still have true bounds. A method may also contradict the checker, or
    itself.
    """
    found: dict[str, Solution] = {}
    odds = []
    for name, method in methods.items():
        try:
            found[name] = method(group, objective, time_limit=time_limit)
        except BadInput:
            continue
        except SolverContradiction as error:
            odds.append(f"{name}: {error}")
    for (one, answer), (other, rival) in permutations(found.items(), 2):
        values, bounds = [term.value for term in answer.terms], known(rival)
        if values and values[: len(bounds)] < bounds:
            odds.append(f"{one} found {values}, but {other} proves no less than {bounds}")
    return [*found.values()], odds


def known(solution: Solution) -> list[int]:
    """Return the bounds of the tiers before the first tier without a bound."""
    bounds: list[int] = []
    for term in solution.terms:
        if term.bound is None:
            break
        bounds.append(term.bound)
    return bounds


def objectives(rng: random.Random, number: int) -> list[tuple[str, ...]]:
    """Return one of `STAPLES` in turn, and for one group in four a random one of 1 to 3 tiers."""
    found = [STAPLES[number % len(STAPLES)]]
    if rng.random() < 0.25:
        tiers = FLOW if rng.random() < 0.5 else list(TIERS)
        found.append(tuple(rng.sample(tiers, rng.randint(1, 3))))
    return found


def size(rng: random.Random, asked: list[tuple[str, ...]]) -> tuple[int, int]:
    """Return the greatest numbers of members and partitions for a group and its objectives.

    A third are 8 x 24, a third any size up to that, and a third so small that all assignments can
    be enumerated. The linear formulations take minutes at 8 x 24 for a tier that is not served by
    flows: so 5 x 12 is the limit if it comes after another tier, which leaves fewer choices, and
    4 x 8 if it comes first or there are several.
    """
    members, partitions = rng.choice(
        ((8, 24), (rng.randint(2, 8), rng.randint(4, 24)), (rng.randint(2, 4), rng.randint(4, 8)))
    )
    for tiers in asked:
        if tiers[0] in HARD or sum(tier in HARD for tier in tiers) > 1:
            members, partitions = min(members, 4), min(partitions, 8)
        elif any(tier in HARD for tier in tiers):
            members, partitions = min(members, 5), min(partitions, 12)
    return members, partitions


def any_case(seed: int, number: int) -> tuple[Group, list[tuple[str, ...]]]:
    """Return the group with this number, and the objectives to solve it for."""
    rng = random.Random(f"{seed} {number}")
    asked = objectives(rng, number)
    members, partitions = size(rng, asked)
    return random_group(rng, members=members, partitions=partitions), asked


def magnitudes_case(seed: int, number: int) -> tuple[Group, list[tuple[str, ...]]]:
    """Return a small group of mixed magnitudes, and one objective with a load tier."""
    rng = random.Random(f"magnitudes {seed} {number}")
    group = random_group(rng, members=rng.randint(2, 4), partitions=rng.randint(2, 7))
    load = rng.choice(LOADS)
    others = rng.sample([tier for tier in TIERS if tier != load], rng.randint(0, 2))
    asked = rng.sample([load, *others], 1 + len(others))
    return mixed_magnitudes(rng, group, below=LIMITS["ilp"]), [tuple(asked)]


def pairs_case(seed: int, number: int) -> tuple[Group, list[tuple[str, ...]]]:
    """Return a small group, and one of `PAIRS` in turn: a lag tier and another, each way round."""
    rng = random.Random(f"pairs {seed} {number}")
    group = random_group(rng, members=rng.randint(2, 4), partitions=rng.randint(2, 7))
    return group, [PAIRS[number % len(PAIRS)]]


def peaks_case(seed: int, number: int) -> tuple[Group, list[tuple[str, ...]]]:
    """Return a small group, and one objective that the method ``exchange`` serves."""
    group, objective = case(random.Random(f"peaks {seed} {number}"))
    return group, [objective]


def places_case(seed: int, number: int) -> tuple[Group, list[tuple[str, ...]]]:
    """Return a small group, and one objective of flow tiers, some of hosts, racks or state."""
    rng = random.Random(f"places {seed} {number}")
    group = random_group(rng, members=rng.randint(2, 5), partitions=rng.randint(2, 8))
    while True:
        asked = rng.sample(LAMINAR, rng.randint(1, 2))
        others = [tier for tier in EVERY_FLOW if tier not in asked]
        asked += rng.sample(others, rng.randint(0, 3))
        if is_flow(tiers := tuple(rng.sample(asked, len(asked)))):
            return group, [tiers]


def streams_case(seed: int, number: int) -> tuple[Group, list[tuple[str, ...]]]:
    """Return a small streams group, and kip-1071; for one in two another objective about state."""
    rng = random.Random(f"streams {seed} {number}")
    document = random_streams(rng, members=rng.randint(2, 4), tasks=rng.randint(2, 8))
    asked = [PRESETS["kip-1071"], *([of_state(rng)] if rng.random() < 0.5 else [])]
    return Group.from_dict(document), asked


def meet(
    make: Cases,
    seed: int,
    number: int,
    folder: str,
    *,
    methods: Mapping[str, Solver] = SOLVERS,
    time_limit: float | None = SECONDS,
) -> tuple[list[Solution], list[str]]:
    """Solve one group for each of its objectives; return the solutions and the contradictions.

    A group with contradictions is written to the folder.
    """
    group, asked = make(seed, number)
    said, contradictions = list[Solution](), list[str]()
    for objective in asked:
        solutions, odds = agree(group, objective, methods=methods, time_limit=time_limit)
        said += solutions
        if odds:
            text = json.dumps(group.snapshot(), indent=1)
            path = Path(folder) / f"{blake2b(text.encode(), digest_size=6).hexdigest()}.json"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
            contradictions.append(f"{path}: {' > '.join(objective)}: {'; '.join(odds)}")
    return said, contradictions


def counted(make: Cases, seed: int, folder: str, number: int) -> tuple[Counter[str], list[str]]:
    """Return how many objectives there were, answers by method, and left open; contradictions."""
    said, contradictions = meet(make, seed, number, folder)
    left_open = sum(one.status is not Status.OPTIMAL for one in said)
    asked = len({one.objective for one in said})
    met = Counter(one.method for one in said) | Counter(asked=asked, left_open=left_open)
    return met, contradictions


def main() -> int:
    """Sweep, print all contradictions and a summary; return 1 if there was a contradiction."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--groups", type=int, default=20_000)
    parser.add_argument("--processes", type=int, default=2)
    for make in (magnitudes_case, pairs_case, peaks_case, places_case, streams_case):
        name = make.__name__.removesuffix("_case")
        parser.add_argument(f"--{name}", dest="make", action="store_const", const=make)
    parser.add_argument("--folder", default="out/contradictions")
    asked = parser.parse_args()
    start, met, contradictions = perf_counter(), Counter[str](), list[str]()
    work = partial(counted, asked.make or any_case, asked.seed, asked.folder)
    with ProcessPoolExecutor(asked.processes, mp_context=get_context("spawn")) as pool:
        for counts, odds in pool.map(work, range(asked.groups), chunksize=20):
            met += counts
            contradictions += odds
    objectives, left_open = met.pop("asked", 0), met.pop("left_open", 0)
    answers = ", ".join(f"{name} {count}" for name, count in sorted(met.items()))
    lines = [
        *contradictions,
        f"seed {asked.seed}: {asked.groups} groups, {objectives} objectives; answers: {answers}; "
        f"{left_open} left open, {len(contradictions)} disagreements, "
        f"{perf_counter() - start:.0f} s",
    ]
    sys.stdout.write("\n".join(lines) + "\n")
    return 1 if contradictions else 0


if __name__ == "__main__":
    sys.exit(main())
