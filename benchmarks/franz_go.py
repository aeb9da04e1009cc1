"""franz-go: its balancer and the exact solver in turn, in memory to in memory.

Its members are parsed, and the solver's group is built, outside the clock. Both sides get the same
runs before the clock counts, the same runs and the same statistic.
"""

from __future__ import annotations

import sys
from argparse import ArgumentParser
from functools import partial
from typing import TYPE_CHECKING

from benchmarks.instances import INSTANCES
from groups import values
from heuristics.shipped.consumers.library import FRANZ_GO
from optimal import solve
from studies.in_turn import RUNS, WARM, Sides, in_turn, reading_alike, solving

if TYPE_CHECKING:
    from groups import Assignment, Group
    from heuristics.assignor import Plan

VERSION = "1.22.2"
TIERS = ("balance", "stickiness")


def beside_balancer(
    group: Group, name: str, *, warm: int = WARM, runs: int = RUNS
) -> tuple[Sides, Assignment]:
    """Return the seconds of `optimal.solve` and of a balancer, and the balancer's last plan.

    The balancer's are those of ``BalanceOrError`` alone: members are parsed and the garbage of
    earlier runs is collected before. The plan of a cooperative one is its first round.
    """
    plans: list[Plan] = []

    def balancing() -> float:
        plans[:] = [FRANZ_GO.one_round(group, name, VERSION)]
        return plans[0].seconds or 0.0

    came = in_turn(partial(solving, group), balancing, warm=warm, runs=runs)
    return came, plans[0].assignment


def main() -> None:
    """Print a row for each of the instances whose names are given, all if none is.

    Seconds are least and median; "times" is how many times longer franz-go takes, of each.
    """
    parser = ArgumentParser(description="time franz-go's balancers and the exact solver in turn")
    parser.add_argument("instance", nargs="*", help="a name in benchmarks/instances.py")
    asked = parser.parse_args().instance
    unknown = [name for name in asked if name not in INSTANCES]
    if unknown:
        parser.error(f"no instance {unknown[0]!r}; there are: {'; '.join(INSTANCES)}")
    _say("| group | balancer | exact (s) | franz-go (s) | times | warm-up + runs of each | "
         "who reads alike, outside the clock (s) | balance, moves | optimum |")  # fmt: skip
    _say("|---|---|---|---|---|---|---|---|---|")
    for instance in asked or INSTANCES:
        group = INSTANCES[instance][1]()
        optimum = ", ".join(str(term.value) for term in solve(group).terms)
        alike = reading_alike(group)
        for name in ("sticky", "cooperative-sticky"):
            came, made = beside_balancer(group, name)
            ours, theirs = zip(came.least, came.medians, strict=True)
            # The cooperative one withholds what must be revoked first.
            found = ", ".join(map(str, values(made, TIERS))) if made.is_valid else "first round"
            _say(
                f"| {instance} | {name} | {ours[0]:.4f}, {ours[1]:.4f} "
                f"| {theirs[0]:.4f}, {theirs[1]:.4f} "
                f"| {theirs[0] / ours[0]:.1f}, {came.times:.1f} | {came.protocol} "
                f"| {alike:.4f} | {found} | {optimum} |"
            )


def _say(line: str) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
