"""Elastic groups: twelve published rules beside the optimum, on published random streams.

``python -m studies elastic`` writes ``docs/findings/elastic.csv``.
"""

from __future__ import annotations

import sys
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from itertools import product
from random import Random
from statistics import mean
from typing import TYPE_CHECKING

from compare.samples.streams import CAPACITY, speeds
from heuristics.any_fit import RULES, any_fit
from optimal import Status
from optimal.elastic import Elastic, pack
from studies.page import FOLDER, table, write

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from optimal.elastic import Packing
    from studies.page import Cell

SEED = 1
PARTITIONS = (32, 200)
# The greatest changes of speeds per step, in percent of the capacity.
DELTAS = (0, 5, 10, 15, 20, 25)
# Number of steps of a stream; for every 25th, the least moved speed is computed.
STEPS, EVERY = 500, 25
SECONDS = 60.0
FEWEST, AS_MANY = "fewest, least moved", "least moved, MWF's members"


@dataclass
class Series:
    """The results of one rule or policy on a stream, a value for each step.

    Attributes
    ----------
    members : number of members that hold something
    moved : speed that moved
    asked : (moved, least moved, whether that is proved) of every 25th step of a rule
    proved : number of steps whose optimum is proved; of a policy
    """

    members: list[int] = field(default_factory=list)
    moved: list[int] = field(default_factory=list)
    asked: list[tuple[int, int, bool]] = field(default_factory=list)
    proved: int = 0


def played(partitions: int, delta: int, steps: int) -> list[dict[str, Cell]]:
    """Play a stream with every rule and both policies; return their records."""
    stream = list(speeds(partitions, delta, steps, SEED))
    every = {name: _by_rule(name, stream) for name in RULES}
    every[FEWEST] = _by_optimum(stream, [None] * steps)
    every[AS_MANY] = _by_optimum(stream, every["MWF"].members)
    return [
        {"partitions": partitions, "delta": delta, "name": name, **_figures(one, every[FEWEST])}
        for name, one in every.items()
    ]


def _by_rule(name: str, stream: Sequence[tuple[int, ...]]) -> Series:
    """Play a rule; each step starts from its assignment of the step before."""
    series, rng, owner = Series(), Random(SEED), [-1] * len(stream[0])
    for i, now in enumerate(stream):
        elastic = Elastic(now, CAPACITY, tuple(owner))
        order = rng.sample(range(len(now)), len(now))
        owner = any_fit(RULES[name], now, CAPACITY, elastic.owner, order)
        series.members.append(len(set(owner)))
        series.moved.append(elastic.moved(owner))
        if i and i % EVERY == 0:
            least = pack(elastic, at_most=series.members[-1], time_limit=SECONDS)
            value = min(least.moved, series.moved[-1])
            proved = value == least.terms[-1].bound
            series.asked.append((series.moved[-1], value, proved))
    return series


def _by_optimum(stream: Sequence[tuple[int, ...]], most: Sequence[int | None]) -> Series:
    """Play a policy: the optimum of each step, starting from that of the step before."""
    series, owner = Series(), (-1,) * len(stream[0])
    for now, at_most in zip(stream, most, strict=True):
        found: Packing = pack(Elastic(now, CAPACITY, owner), at_most=at_most, time_limit=SECONDS)
        owner = found.owner
        series.members.append(found.members)
        series.moved.append(found.moved)
        series.proved += found.status is Status.OPTIMAL
    return series


def _figures(one: Series, fewest: Series) -> dict[str, Cell]:
    asked = one.asked
    more = [mine - best for mine, best in zip(one.members, fewest.members, strict=True)]
    steps = len(one.members)
    return {
        "steps": steps,
        "members": round(mean(one.members), 3),
        "members_over_fewest": round(mean(more), 3),
        "relative_over_fewest": round(
            mean(m / best for m, best in zip(more, fewest.members, strict=True)), 4
        ),
        "r_score": round(mean(one.moved) / CAPACITY, 3),
        "asked": len(asked),
        "r_score_asked": round(mean(a for a, _, _ in asked) / CAPACITY, 3) if asked else None,
        "least_r_score": round(mean(b for _, b, _ in asked) / CAPACITY, 3) if asked else None,
        "proved": round(
            sum(c for *_, c in asked) / len(asked) if asked else one.proved / steps, 4
        ),
    }


def tables_of(records: Sequence[Mapping[str, str]]) -> str:
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
