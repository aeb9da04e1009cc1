"""The optimum with hosts beside that of the same group without, in turn: pods of four members."""

from __future__ import annotations

import sys
from argparse import ArgumentParser
from dataclasses import replace
from functools import partial

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


def main() -> None:
    """Print a row a group: milliseconds without hosts, and how many times that with them."""
    parser = ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=1)
    asked = parser.parse_args()
    sys.stdout.write(f"{'group':34}{'ms':>8}" + "".join(f"  {one}" for one in ASKED) + "\n")
    for point in POINTS:
        group = point.group(seed=asked.seed)
        hosts = (MemberDetails(host=f"h{m // THREADS}") for m in range(point.members))
        group = replace(group, details=tuple(hosts))
        cells = []
        for objective in ASKED:
            found = solve(group, objective)
            both = (partial(solving, group, one) for one in (PLAIN, objective))
            sides = in_turn(*both, patience=20)
            known = "" if found.status is Status.OPTIMAL else "*"
            cells.append(f"{sides.times:.1f}{known}".rjust(len(objective)))
        plain = 1000 * sides.medians[0]
        sys.stdout.write(f"{point.name:34}{plain:8.2f}  {'  '.join(cells)}\n")
    sys.stdout.write("*: feasible only\n")


if __name__ == "__main__":
    main()
