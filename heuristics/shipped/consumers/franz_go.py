"""franz-go: the Go client, leading a group through the probe."""

from __future__ import annotations

from typing import TYPE_CHECKING

from heuristics.shipped.client import Client, tiny
from heuristics.shipped.consumers import go_build
from heuristics.shipped.consumers.probed import missing_probe, probe_plan

if TYPE_CHECKING:
    from groups import Group
    from heuristics.assignor import Plan
    from heuristics.shipped.probe.wire import UserData

DRIVER = "franz_go"
MODULE = "github.com/twmb/franz-go"
COMMAND = "assay fetch franz-go@{}"
COOPERATIVE = "cooperative-sticky"


def versions() -> tuple[str, ...]:
    """Return the newest release, and the last before balance, racks and moves became exact."""
    return ("1.22.2", "1.21.7")


def plan(group: Group, name: str, version: str) -> Plan:
    """Make the plan that a franz-go consumer makes as the leader of the group.

    From 1.22 on racks count for it only with an option that is off unless asked for, as it is
    here; before that, the rack of a partition's leader counts.

    Source: ``kgo.RangeBalancer``, ``RoundRobinBalancer``, ``StickyBalancer`` and
    ``CooperativeStickyBalancer``.
    """
    return probe_plan(
        group,
        command=_command(version),
        assignor=name,
        protocol=name,
        cooperative=name == COOPERATIVE,
        user_data=_user_data(name),
        rename=True,
    )


def missing(name: str, version: str) -> str | None:
    """Say that the program is not built, or cannot be."""
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
    go_build.build(DRIVER, MODULE, version)


def _command(version: str) -> tuple[str, ...]:
    return (str(go_build.built(DRIVER, version)), "join")


def _user_data(name: str) -> UserData:
    return "assignment" if name in ("sticky", COOPERATIVE) else "none"


CLIENT = Client(
    "franz-go",
    "franz-go's balancers, by the probe",
    ("range", "roundrobin", "sticky", COOPERATIVE),
    versions,
    plan,
    missing,
    prepare,
    fetch,
    repeatable=False,
)
