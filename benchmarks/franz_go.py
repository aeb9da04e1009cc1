"""franz-go: its balancer and the exact solver in turn, in memory to in memory.

Its members are parsed, and the solver's group is built, outside the clock. Both sides get the same
runs before the clock counts, the same runs and the same statistic.
"""

from __future__ import annotations

import json
import subprocess
import sys
from argparse import ArgumentParser
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any

from benchmarks.instances import INSTANCES
from groups import Assignment, BadInput, values
from heuristics.shipped.client import joining
from heuristics.shipped.consumers import go_driver
from heuristics.shipped.consumers.consumer import FRANZ_GO_DRIVER
from optimal import solve
from studies.in_turn import RUNS, WARM, Sides, in_turn, reading_alike, solving

if TYPE_CHECKING:
    from groups import Group

VERSION = "1.22.2"
TIERS = ("balance", "stickiness")


class Balancer:
    """One of franz-go's balancers with one group, in a process of its own.

    Use it as a context manager.

    Parameters
    ----------
    name : "range", "roundrobin", "sticky" or "cooperative-sticky"

    Raises
    ------
    BadInput
        Where the program is not built.
    """

    def __init__(self, group: Group, name: str, version: str = VERSION) -> None:
        reason = FRANZ_GO_DRIVER.missing(name, version)
        if reason is not None:
            raise BadInput(reason)
        self.group = group
        self._process = subprocess.Popen(
            [go_driver.built(FRANZ_GO_DRIVER.folder, version), "bench", name],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        self._say(_document(group))

    def __enter__(self) -> Balancer:
        return self

    def __exit__(self, *_: object) -> None:
        self._process.kill()
        self._process.communicate()

    def seconds(self) -> float:
        """Run it once and return the seconds of ``BalanceOrError`` alone.

        Members are parsed and the garbage of earlier runs is collected before; the plan is not
        encoded.
        """
        self._say("run")
        return float(self._answer())

    def assignment(self) -> Assignment:
        """Return what the last run gave: of a cooperative balancer, its first round."""
        self._say("plan")
        return Assignment.from_dict(self.group, self._answer())

    def _say(self, order: object) -> None:
        assert self._process.stdin is not None
        # Of one that has ended, the answer says how.
        with suppress(BrokenPipeError):
            self._process.stdin.write(json.dumps(order) + "\n")
            self._process.stdin.flush()

    def _answer(self) -> Any:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            raise BadInput(f"franz-go ended with exit code {self._process.wait()}")
        return json.loads(line)


def beside_balancer(
    group: Group, name: str, *, warm: int = WARM, runs: int = RUNS
) -> tuple[Sides, Assignment]:
    """Return the seconds of `optimal.solve` and of a balancer, and the balancer's last plan."""
    with Balancer(group, name) as balancer:
        came = in_turn(partial(solving, group), balancer.seconds, warm=warm, runs=runs)
        return came, balancer.assignment()


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


def _document(group: Group) -> dict[str, object]:
    return {
        "Topics": dict(zip(group.topics, group.partitions.tolist(), strict=True)),
        "Members": [
            {
                "ID": said.member_id,
                "Topics": said.subscription,
                "Owned": said.owned,
                "Generation": max(said.generation, 0),
            }
            for said in joining(group)
        ],
    }


def _say(line: str) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
