"""Client: software that people run, and the assignors in it that can be called."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Protocol

from groups import Group
from heuristics.assignor import Assignor
from heuristics.protocol import to_quiescence

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

    from heuristics.assignor import Plan

COOPERATIVE = "cooperative-sticky"


class Client(Protocol):
    """A client library, or Kafka's broker, in whatever versions can be had.

    Every client can be pickled: it is called in another process.
    """

    @property
    def name(self) -> str:
        """As users write it, "kafka-java"."""

    @property
    def source(self) -> str:
        """One line that says what is called, and how."""

    @property
    def assignors(self) -> Collection[str]:
        """The names of its assignors, as members list them."""

    @property
    def repeatable(self) -> bool:
        """Whether it makes the same of a group each time; Go goes through maps at random."""

    def versions(self) -> tuple[str, ...]:
        """Return the versions to list, newest first; others may be asked for."""

    @property
    def keeps_time(self) -> bool:
        """Whether `plan` takes `seconds`, and ends by itself when the assignor took as many.

        So does a client that has to join: that takes time which is not the assignor's.
        """

    @property
    def plan(self) -> Callable[..., Plan]:
        """What makes a plan of a group, an assignor and a version: that of the software.

        Raises
        ------
        Refused
            Where it does not cover the group.
        Failed
            Where it breaks down.
        """

    def missing(self, assignor: str, version: str) -> str | None:
        """Return why an assignor of a version cannot be called here; None where it can.

        Loads nothing. The line ends with the command that changes this.
        """

    def fetch(self, version: str) -> None:
        """Bring what a version needs to this machine.

        Raises
        ------
        BadInput
            Where that cannot be done.
        """


def assignor_of(client: Client, name: str, version: str) -> Assignor:
    """Return one of the assignors of a client, as one that can be scored."""
    return Assignor(
        f"{client.name}/{name}@{version}",
        "shipped",
        client.source,
        version,
        partial(_plan, client, name, version),
        partial(client.missing, name, version),
        partial(_prepare, client, name, version),
        client.keeps_time,
    )


def in_rounds(group: Group, assignor: str, once: Callable[[Group], Plan]) -> Plan:
    """Return the one plan of an eager assignor, the last one of a cooperative assignor.

    A cooperative assignor is asked again until nobody must revoke. Those that ship withhold by
    themselves what must be revoked first.

    Parameters
    ----------
    once : makes one plan

    Raises
    ------
    Refused, Failed
        As `once` does; Failed also where the rounds would go on for ever.
    """
    if assignor == COOPERATIVE:
        return to_quiescence(group, once, withhold=False)
    return once(group)


def tiny() -> Group:
    """Return a group that starts whatever an assignor needs, and runs it warm."""
    return Group.from_arrays(
        group="tiny",
        topics=["t"],
        partitions=[3],
        members=["a", "b"],
        subscription_indptr=[0, 1, 2],
        subscription_topics=[0, 0],
        owner=[0, 0, -1],
    )


def _plan(client: Client, name: str, version: str, group: Group, **limit: float) -> Plan:
    return client.plan(group, name, version, **limit)


def _prepare(client: Client, name: str, version: str) -> None:
    client.plan(tiny(), name, version)
