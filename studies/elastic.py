"""Elastic groups: twelve published rules beside the optimum, on published random streams.

``python -m studies elastic`` writes ``docs/findings/elastic.csv``.
"""

from __future__ import annotations

import sys
from concurrent.futures import ProcessPoolExecutor
from itertools import product
from random import Random
from statistics import mean
from typing import TYPE_CHECKING, TypeAlias

from compare.samples.streams import CAPACITY, speeds
from heuristics.any_fit import RULES, any_fit
from optimal import Status
from optimal.elastic import Elastic, pack
from studies.page import FOLDER, table, write

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from studies.page import Cell

SEED = 1
PARTITIONS = (32, 200)
# The greatest changes of speeds per step, in percent of the capacity.
DELTAS = (0, 5, 10, 15, 20, 25)
# Number of steps of a stream; for every 25th, the least moved speed is computed.
STEPS, EVERY = 500, 25
SECONDS = 60.0
FEWEST, AS_MANY = "fewest, least moved", "least moved, MWF's members"


# What a rule or policy does in each step: members that hold something, speed that moved, and in
# the steps that were asked, the least speed and whether that is proved.
Step: TypeAlias = "tuple[int, int, int | None, bool | None]"


def played(partitions: int, delta: int, steps: int) -> list[dict[str, Cell]]:
    """Play a stream with every rule and both policies; return their records."""
    stream = list(speeds(partitions, delta, steps, SEED))
    every = {name: _by_rule(name, stream) for name in RULES}
    every[FEWEST] = _by_optimum(stream, [None] * steps)
    every[AS_MANY] = _by_optimum(stream, [members for members, *_ in every["MWF"]])
    return [
        {"partitions": partitions, "delta": delta, "name": name, **_figures(one, every[FEWEST])}
        for name, one in every.items()
    ]


def _by_rule(name: str, stream: Sequence[tuple[int, ...]]) -> list[Step]:
    """Play a rule; each step starts from its assignment of the step before."""
    found: list[Step] = []
    rng, owner = Random(SEED), [-1] * len(stream[0])
    for i, now in enumerate(stream):
        elastic = Elastic(now, CAPACITY, tuple(owner))
        order = rng.sample(range(len(now)), len(now))
        owner = any_fit(RULES[name], now, CAPACITY, elastic.owner, order)
        members, moved = len(set(owner)), elastic.moved(owner)
        least, proved = None, None
        if i and i % EVERY == 0:
            best = pack(elastic, at_most=members, time_limit=SECONDS)
            least = min(best.moved, moved)
            proved = least == best.terms[-1].bound
        found.append((members, moved, least, proved))
    return found


def _by_optimum(stream: Sequence[tuple[int, ...]], most: Sequence[int | None]) -> list[Step]:
    """Play a policy: the optimum of each step, starting from that of the step before."""
    found: list[Step] = []
    owner = (-1,) * len(stream[0])
    for now, at_most in zip(stream, most, strict=True):
        best = pack(Elastic(now, CAPACITY, owner), at_most=at_most, time_limit=SECONDS)
        owner = best.owner
        found.append((best.members, best.moved, None, best.status is Status.OPTIMAL))
    return found


def _figures(steps: Sequence[Step], fewest: Sequence[Step]) -> dict[str, Cell]:
    asked = [(moved, least) for _, moved, least, _ in steps if least is not None]
    both = [(mine[0], best[0]) for mine, best in zip(steps, fewest, strict=True)]
    of_asked = [round(mean(each) / CAPACITY, 3) for each in zip(*asked, strict=True)]
    own, least = of_asked or (None, None)
    proved = [proved for *_, proved in steps if proved is not None]
    return {
        "steps": len(steps),
        "members": round(mean(mine for mine, _ in both), 3),
        "members_over_fewest": round(mean(mine - best for mine, best in both), 3),
        "relative_over_fewest": round(mean((mine - best) / best for mine, best in both), 4),
        "r_score": round(mean(moved for _, moved, _, _ in steps) / CAPACITY, 3),
        "asked": len(asked),
        "r_score_asked": own,
        "least_r_score": least,
        "proved": round(sum(proved) / len(proved), 4) if proved else 0.0,
    }


def page_of(records: Sequence[Mapping[str, str]]) -> str:
    """Return a table for each number of partitions, a column for each delta above 0."""
    tables = []
    for partitions in dict.fromkeys(record["partitions"] for record in records):
        mine = [r for r in records if r["partitions"] == partitions and r["delta"] != "0"]
        deltas = list(dict.fromkeys(record["delta"] for record in mine))
        rows = [
            [name, *(_cell(record) for record in mine if record["name"] == name)]
            for name in dict.fromkeys(record["name"] for record in mine)
        ]
        head = ["", *(f"delta {delta}%" for delta in deltas)]
        steps = f"{partitions} partitions, {mine[0]['steps']} steps"
        tables.append(f"### {steps}\n\n{table(head, rows)}")
    asked = sum(map(_asked, records))
    proved = sum(_asked(record) * float(record["proved"]) for record in records)
    return "\n\n".join([*tables, f"Proved: {proved:,.0f} of the {asked:,} optima asked for."])


def _asked(record: Mapping[str, str]) -> int:
    return int(record["asked"]) or int(record["steps"])


def _cell(record: Mapping[str, str]) -> str:
    over, score = 100 * float(record["relative_over_fewest"]), float(record["r_score"])
    needless = ""
    if record["least_r_score"]:
        own, least = float(record["r_score_asked"]), float(record["least_r_score"])
        needless = f" / {100 * (1 - least / own) if own else 0:.0f}%"
    return f"{over:.1f}% / {score:.2f}{needless}"


def run(many: int) -> None:
    """Play all streams, of so many steps, two at a time."""
    found: list[dict[str, Cell]] = []
    with ProcessPoolExecutor(2) as pool:
        for made in pool.map(played, *zip(*product(PARTITIONS, DELTAS, [many]), strict=True)):
            found += made
            write(FOLDER / "elastic.csv", found)
            last = f"{found[-1]['partitions']} partitions, delta {found[-1]['delta']}%"
            sys.stderr.write(f"{last}\n")
