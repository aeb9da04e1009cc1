"""Times the optimum with hosts and that of the same group without, in turn: pods of 4 members."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from benchmarks.printed import heading, row
from compare.samples.families import Family
from groups.columns.places import MemberDetails
from optimal import Status
from optimal.solve import solve
from studies.in_turn import in_turn, solving

THREADS = 4
PLAIN = "balance > stickiness"
ASKED = (
    "balance > host_balance > stickiness",
    "host_balance > balance > stickiness",
    "host_balance > load_squares > stickiness",
)
POINTS = [
    Family(members, partitions // members, max(2, members // 10), subscriptions, "join-one")
    for members, partitions in ((10, 60), (100, 1000), (1000, 10_000))
    for subscriptions in ("equal", "random")
]


def hosts(seed: int) -> None:
    """Print a row per group: milliseconds without hosts, and the factor with each objective."""
    heading("group", "ms", *(f"{one} (*: feasible only)" for one in ASKED))
    for point in POINTS:
        group = point.group(seed)
        pods = (MemberDetails(host=f"h{m // THREADS}") for m in range(point.members))
        group = replace(group, details=tuple(pods))
        cells = []
        for objective in ASKED:
            found = solve(group, objective)
            both = (partial(solving, group, one) for one in (PLAIN, objective))
            sides = in_turn(*both, patience=20)
            known = "" if found.status is Status.OPTIMAL else "*"
            cells.append(f"{sides.times:.1f}{known}")
        row(point.name, f"{1000 * sides.medians[0]:.2f}", *cells)
