"""The fleet: what each step from snapshots to solutions costs per group, in one process.

The steps take turns, so that other work on the machine affects all of them alike.
"""

from __future__ import annotations

import json
from functools import partial
from statistics import median
from time import perf_counter, process_time
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from benchmarks.clients import OF_FRANZ_GO
from benchmarks.instances import SEED
from benchmarks.printed import heading, row, say
from compare.fleet_scores import optimum_columns, score_columns, score_fleet_current
from compare.samples.families import Family
from groups import Group
from groups.fleet import Fleet
from groups.table.batch import each_of
from groups.table.key import canonical, keys_of
from groups.table.parquet import read_rows
from groups.table.rows import batch_of, decode
from heuristics.shipped.consumers.library import FRANZ_GO
from optimal import solve, solve_many
from optimal.solve import solve_fleet
from studies.in_turn import in_turn, timed

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from groups.documents.assay_group import JsonObject

RUNS = 7
GROUPS = 1000
BALANCERS = 20
MIXED = (
    ((Family(1, 1, 1), 5000),),
    ((Family(10, 6, 6, "equal", "join-one"), 3000),),
    ((Family(100, 10, 20, "random", "join-one"), 100),),
    ((Family(10, 6, 6, "random", "join-one"), 1000), (Family(1000, 10, 50, "random"), 1)),
)


def each_in_turn(steps: Mapping[str, Callable[[], object]]) -> dict[str, tuple[float, float]]:
    """Return the median seconds of each step by the clock, and of the processor.

    One warm-up turn is not counted.
    """
    clock, processor = (
        in_turn(*(partial(timed, step, one) for step in steps.values()), warm=1, runs=RUNS).medians
        for one in (perf_counter, process_time)
    )
    return dict(zip(steps, zip(clock, processor, strict=True), strict=True))


def groups_after_a_join(count: int) -> list[Group]:
    """Return groups of 10 members x 60 partitions with owners, after a member has joined."""
    rng = np.random.default_rng(SEED)
    drawn = [int(rng.integers(2**31)) for _ in range(count)]
    return [Family(10, 6, 6, "random", "join-one").group(seed) for seed in drawn]


def steps(documents: list[JsonObject]) -> dict[str, Callable[[], object]]:
    """Return the steps to time on these snapshots, by name."""
    texts = [json.dumps(document) for document in documents]
    groups = [Group.from_dict(document) for document in documents]
    rows = batch_of(groups)
    sink = pa.BufferOutputStream()
    pq.write_table(pa.Table.from_batches([rows]), sink)
    file = sink.getvalue().to_pybytes()
    fleet = Fleet.of(groups)
    solved = solve_fleet(fleet)
    scored = score_fleet_current(solved)
    return {
        "document to `Group`": lambda: [*map(Group.from_dict, documents)],
        "JSON to `Group`": lambda: [*map(Group.from_json, texts)],
        "JSON to rows": lambda: list(decode(texts)),
        "`Group` to rows": lambda: batch_of(groups),
        "rows to `Group`": lambda: [*each_of(rows)],
        "Parquet to rows": lambda: [*read_rows(file)],
        "rows others wrote, made canonical": lambda: canonical(rows),
        "keys of rows": lambda: keys_of(rows),
        "groups to a fleet": lambda: Fleet.of(groups),
        "rows to a fleet": lambda: Fleet.from_arrow(rows),
        "`solve_fleet`, checked": lambda: solve_fleet(fleet),
        "`solve_many`, checked": lambda: solve_many(groups),
        "`current` scored by columns": lambda: score_fleet_current(solved),
        "`optima` and `scores` as Arrow": lambda: (optimum_columns(solved), score_columns(scored)),
        "Parquet to checked solutions": partial(_solved, file),
    }


def one_by_one(documents: list[JsonObject]) -> dict[str, Callable[[], object]]:
    """Return the steps to time on snapshots that are solved one by one, by name."""
    texts = [json.dumps(document) for document in documents]
    groups = [Group.from_dict(document) for document in documents]
    return {
        "one by one: `solve` of a `Group`": lambda: [*map(solve, groups)],
        "one by one: JSON to a checked solution": lambda: [
            solve(Group.from_json(text)) for text in texts
        ],
    }


def beside_franz_go(groups: list[Group]) -> tuple[float, float, float]:
    """Return median microseconds per group: `solve_fleet`, rows to solutions, and franz-go.

    They take turns. The last is the time inside franz-go's sticky balancer, without a proof, on
    some of the groups.
    """
    rows = batch_of(groups)

    def balanced() -> float:
        plans = [FRANZ_GO.one_round(group, "sticky", OF_FRANZ_GO) for group in groups[:BALANCERS]]
        return len(groups) * median(plan.seconds or 0.0 for plan in plans)

    sides = in_turn(
        lambda: timed(partial(solve_fleet, Fleet.from_arrow(rows)[0])),
        partial(timed, lambda: solve_fleet(Fleet.from_arrow(rows)[0])),
        balanced,
        warm=1,
        runs=RUNS,
    )
    solved, made, rival = (1e6 * seconds / len(groups) for seconds in sides.medians)
    return solved, made, rival


def _solved(file: bytes) -> None:
    for rows in read_rows(file):
        fleet, _ = Fleet.from_arrow(rows)
        solve_fleet(fleet)


def fleet() -> None:
    """Print a row for each step: microseconds a group, and how many groups a second that is."""
    plain = groups_after_a_join(GROUPS)
    documents = [group.to_dict() for group in plain]
    heading("10 x 60, owners", "clock (us)", "processor (us)", "groups a second")
    some = documents[: GROUPS // 10]
    for steps_of, count in ((steps(documents), GROUPS), (one_by_one(some), len(some))):
        for name, figures in each_in_turn(steps_of).items():
            clock, processor = (1e6 * seconds / count for seconds in figures)
            row(name, f"{clock:.1f}", f"{processor:.1f}", f"{1e6 / clock:,.0f}")
    solved, made, rival = beside_franz_go(plain)
    say(
        f"\nrows to solutions {made:.1f} us a group, `solve_fleet` of that {solved:.1f}; "
        f"franz-go's sticky balancer {rival:.1f}, unproved: {made / rival:.2f} times"
    )
    for kinds in MIXED:
        groups = [family.group(seed) for family, count in kinds for seed in range(count)]
        ((clock, processor),) = each_in_turn({"": partial(solve_fleet, Fleet.of(groups))}).values()
        what = " and ".join(
            f"{count:,} of {family.members} x {family.members * family.per_member}"
            for family, count in kinds
        )
        say(
            f"`solve_fleet`, {what}: {len(groups) / clock:,.0f} groups a second, "
            f"{1e6 * processor / len(groups):.1f} us of the processor each"
        )
