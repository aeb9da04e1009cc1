"""Consumer: a client whose consumer, as it ships, leads a group through the probe."""

from __future__ import annotations

import importlib.util
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Protocol

from groups import Assignment
from groups.extras import command_for
from heuristics.assignor import Plan
from heuristics.shipped.client import COOPERATIVE, in_rounds

if TYPE_CHECKING:
    from collections.abc import Mapping

    from groups import Group
    from heuristics.shipped.probe.claims import UserData
    from heuristics.shipped.probe.round import Metadata

INSTALL = command_for("clients")


class Driver(Protocol):
    """A program that joins a group with a client's consumer and polls for ever."""

    def versions(self) -> tuple[str, ...]:
        """Return the versions of the client to list, newest first."""

    def command(self, version: str) -> tuple[str, ...]:
        """Return what starts it; bootstrap.servers, group id and assignor are added to it."""

    def missing(self, assignor: str, version: str) -> str | None:
        """Return why it cannot be run, with the command that changes this; None if it can."""

    def fetch(self, version: str) -> None:
        """Bring, build or install what it needs.

        Raises
        ------
        BadInput
            Where that cannot be done.
        """


@dataclass(frozen=True)
class Consumer:
    """A :class:`~heuristics.shipped.client.Client` that is called through the probe.

    Attributes
    ----------
    name, source : as users read them
    assignors : by the names that members list, what travels in the user data of members that hold
        something
    driver : the program that runs the client's consumer
    metadata : what is known of the client, as of a :class:`~heuristics.shipped.probe.round.Round`
    repeatable : as of a client
    """

    keeps_time: ClassVar[bool] = True
    name: str
    source: str
    assignors: Mapping[str, UserData]
    driver: Driver
    metadata: Metadata = "awaited"
    repeatable: bool = True

    def versions(self) -> tuple[str, ...]:
        """Return the versions to list, newest first."""
        return self.driver.versions()

    def plan(
        self, group: Group, assignor: str, version: str, *, seconds: float = math.inf
    ) -> Plan:
        """Return the plan that a consumer makes as the leader of the group.

        A cooperative assignor is asked again until nobody must revoke; its last plan counts.

        Parameters
        ----------
        seconds : for the assignor, over all rounds; joining has a limit of its own

        Raises
        ------
        Failed
            Where the consumer makes no plan, or dies; Late where its time is up.
        Unavailable
            Where it does not join.
        """
        if not group.members:
            return Plan(Assignment.from_holdings(group, []))
        # The probe brings asyncio and a protocol: nobody else waits for them.
        from heuristics.shipped.consumers.driver_process import driver_process

        process = driver_process(self.driver.command(version), assignor)
        spent = 0.0

        def once(current: Group) -> Plan:
            nonlocal spent
            held, took = process.plan(
                current,
                assignor,
                seconds=seconds,
                spent=spent,
                cooperative=assignor == COOPERATIVE,
                user_data=self.assignors[assignor],
                metadata=self.metadata,
            )
            spent += took
            return Plan(Assignment.from_holdings(current, held), seconds=took)

        return in_rounds(group, assignor, once)

    def missing(self, assignor: str, version: str) -> str | None:
        """Return why an assignor of a version cannot be called here; None where it can."""
        return self.driver.missing(assignor, version) or missing_probe()

    def fetch(self, version: str) -> None:
        """Bring, build or install what a version needs.

        Raises
        ------
        BadInput
            Where that cannot be done.
        """
        self.driver.fetch(version)


def missing_probe() -> str | None:
    """Return why nothing can be probed here: the wire is encoded by kafka-python."""
    if importlib.util.find_spec("kafka") is None:
        return f"kafka-python is not installed: {INSTALL}"
    return None
