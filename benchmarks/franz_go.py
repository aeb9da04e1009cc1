"""franz-go: its balancer and the exact solver in turn, in memory to in memory."""

from __future__ import annotations

import json
import subprocess
import sys
from statistics import median
from time import perf_counter
from typing import TYPE_CHECKING, Any

from benchmarks.__main__ import fresh
from benchmarks.instances import INSTANCES
from groups import Assignment, BadInput, values
from heuristics.shipped.consumers import go_build
from heuristics.shipped.consumers.franz_go import DRIVER
from heuristics.shipped.joining import joining
from optimal import solve

if TYPE_CHECKING:
    from groups import Group

VERSION = "1.22.2"
RUNS = 5
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
        reason = DRIVER.missing(name, version)
        if reason is not None:
            raise BadInput(reason)
        self.group = group
        self._process = subprocess.Popen(
            [go_build.built(DRIVER.folder, version), "bench", name],
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
        self._process.stdin.write(json.dumps(order) + "\n")
        self._process.stdin.flush()

    def _answer(self) -> Any:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            raise BadInput(f"franz-go ended with exit code {self._process.wait()}")
        return json.loads(line)


def in_turn(
    group: Group, name: str, runs: int = RUNS
) -> tuple[list[float], list[float], Assignment]:
    """Return the seconds of `optimal.solve` and of a balancer, run in turn, and its last plan.

    One run of each before is not counted.
    """
    ours, theirs = [], []
    with Balancer(group, name) as balancer:
        for _ in range(runs + 1):
            given = fresh(group)
            start = perf_counter()
            solve(given)
            ours.append(perf_counter() - start)
            theirs.append(balancer.seconds())
        return ours[1:], theirs[1:], balancer.assignment()


def main() -> None:
    """Print a row for each of the instances whose names are given, all if none is.

    Seconds are least and median; "times" is how many times longer franz-go takes, of each.
    """
    _say("| group | balancer | exact (s) | franz-go (s) | times | balance, moves | optimum |")
    _say("|---|---|---|---|---|---|---|")
    for instance in sys.argv[1:] or INSTANCES:
        group = INSTANCES[instance][1]()
        optimum = ", ".join(str(term.value) for term in solve(group).terms)
        for name in ("sticky", "cooperative-sticky"):
            exact, rival, made = in_turn(group, name)
            least = min(exact), min(rival)
            middle = median(exact), median(rival)
            # The cooperative one withholds what must be revoked first.
            found = ", ".join(map(str, values(made, TIERS))) if made.is_valid else "first round"
            _say(
                f"| {instance} | {name} | {least[0]:.4f}, {middle[0]:.4f} "
                f"| {least[1]:.4f}, {middle[1]:.4f} "
                f"| {least[1] / least[0]:.1f}, {middle[1] / middle[0]:.1f} | {found} | {optimum} |"
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
