"""sarama: the Go client, leading a group through the probe."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from heuristics.shipped.client import Client, tiny
from heuristics.shipped.consumers import go_build
from heuristics.shipped.consumers.probed import missing_probe, probe_plan

if TYPE_CHECKING:
    from groups import Group
    from heuristics.assignor import Plan
    from heuristics.shipped.probe.wire import UserData

DRIVER = "sarama"
MODULE = "github.com/IBM/sarama"
COMMAND = "assay fetch sarama@{}"
COOPERATIVE = "cooperative-sticky"
# The first release with a cooperative strategy.
FIRST_COOPERATIVE = (1, 60, 1)
_USER_DATA: dict[str, UserData] = {"sticky": "assignment", COOPERATIVE: "generation"}


def versions() -> tuple[str, ...]:
    """Return the newest release."""
    return ("1.61.1",)


def plan(group: Group, name: str, version: str) -> Plan:
    """Make the plan that a sarama consumer makes as the leader of the group.

    Source: ``NewBalanceStrategyRange``, ``RoundRobin``, ``Sticky`` and ``CooperativeSticky``.
    """
    return probe_plan(
        group,
        command=_command(version),
        assignor=name,
        protocol=name,
        cooperative=name == COOPERATIVE,
        user_data=_user_data(name),
    )


def missing(name: str, version: str) -> str | None:
    """Say that the program is not built, or cannot be, or that the version is too old."""
    if name == COOPERATIVE and not _is_cooperative(version):
        first = ".".join(map(str, FIRST_COOPERATIVE))
        newest = COMMAND.format(versions()[0])
        return f"sarama before {first} has no {COOPERATIVE}: {newest}"
    return go_build.missing(DRIVER, version, COMMAND.format(version)) or missing_probe()


def prepare(name: str, version: str) -> None:
    """Start a consumer."""
    plan(tiny(), name, version)


def fetch(version: str) -> None:
    """Build the program.

    Raises
    ------
    BadInput
        Where there is no Go toolchain, or no such version.
    """
    go_build.build(DRIVER, MODULE, version, () if _is_cooperative(version) else ("eager",))


def _is_cooperative(version: str) -> bool:
    return tuple(map(int, re.findall(r"\d+", version)[:3])) >= FIRST_COOPERATIVE


def _command(version: str) -> tuple[str, ...]:
    return (str(go_build.built(DRIVER, version)), "join")


def _user_data(name: str) -> UserData:
    return _USER_DATA.get(name, "none")


CLIENT = Client(
    "sarama",
    "sarama's balance strategies, by the probe",
    ("range", "roundrobin", "sticky", COOPERATIVE),
    versions,
    plan,
    missing,
    prepare,
    fetch,
    repeatable=False,
)
