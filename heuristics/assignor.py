"""Assignor and Plan: who distributes the partitions, and what comes out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from collections.abc import Callable

    from groups import Assignment, Group


@dataclass(frozen=True)
class Plan:
    """What an assignor makes of a group.

    Attributes
    ----------
    assignment : the final assignment, as it is: it need not be valid
    rounds : rebalances until nothing changes any more, at least 1
    revoked : partitions taken from a member that still owned them, over all rounds
    ownerless : partition-rounds without an owner: each partition that somebody reads counts once
        for each round that leaves it with nobody
    seconds : time inside the assignor, over all rounds, where it was measured closer than around
        the whole call; None where it was not
    """

    assignment: Assignment
    rounds: int = 1
    revoked: int = 0
    ownerless: int = 0
    seconds: float | None = None


def nothing_missing() -> str | None:
    """Return None: what is part of this package is always there."""
    return None


def nothing_to_prepare() -> None:
    """Do nothing: what is part of this package needs no start."""


@dataclass(frozen=True)
class Assignor:
    """One way to distribute the partitions of a group.

    Attributes
    ----------
    name : as users write it
    kind : "written": from a KIP alone; "shipped": the code that people run; "own": a function of
        the user's; "probed": a client that joined a probe, asked from this process
    source : one line that says where it comes from
    version : number of the KIP, or release of the code; None where there is none
    function : makes the plan of a group whose subscriptions are known; raises Refused where the
        assignor does not cover the group
    missing : says why it cannot be called here; None where it can
    prepare : starts what it needs
    keeps_time : whether `function` takes the time limit as `seconds`, and keeps it by itself:
        the time of the whole call is not the assignor's
    """

    name: str
    kind: Literal["written", "shipped", "own", "probed"]
    source: str
    version: str | None
    function: Callable[..., Plan]
    missing: Callable[[], str | None] = nothing_missing
    prepare: Callable[[], None] = nothing_to_prepare
    keeps_time: bool = False

    def __call__(self, group: Group) -> Plan:
        """Return what it makes of a group, so that it can stand where a function does."""
        made: Plan = self.function(group)
        return made
