"""Client: software that people run, and the assignors in it that can be called."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Protocol

from groups import BadInput, Group
from heuristics.assignor import Assignor
from heuristics.protocol import to_quiescence

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

    from heuristics.assignor import Plan


COOPERATIVE = "cooperative-sticky"
_VERSION = re.compile(r"[0-9][0-9A-Za-z.+-]{0,99}")


class Client(Protocol):
    """A client library, or Kafka's broker, in all versions that are available.

    Every client can be pickled, because it is called in another process.
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
        """Whether it makes the same assignment each time; Go iterates maps in random order."""

    @property
    def language(self) -> str:
        """What its assignors run on: ``java``, ``python``, ``go`` or ``node``."""

    def versions(self) -> tuple[str, ...]:
        """Return the versions to list, newest first; others may be asked for."""

    @property
    def keeps_time(self) -> bool:
        """Whether `one_round` takes the assignor's time limit and keeps it itself.

        A client that has to join does, because joining is not the assignor's time.
        """

    @property
    def one_round(self) -> Callable[..., Plan]:
        """The function that calls an assignor once: (group, assignor name, version) to plan.

        A cooperative assignor withholds what members must first revoke. A client that keeps time
        also takes `seconds`, for all rounds, and how many of them are `spent`.

        Raises
        ------
        Refused
            If it does not cover the group.
        Failed
            If it breaks down.
        """

    def missing(self, assignor: str, version: str) -> str | None:
        """Return why an assignor of a version cannot be called here; None if it can.

        Loads nothing. The text ends with the command that helps.
        """

    def fetch(self, version: str) -> None:
        """Download or build what a version needs.

        Raises
        ------
        BadInput
            If that cannot be done.
        """


def assignor_of(client: Client, name: str, version: str) -> Assignor:
    """Return an assignor of a client as an `Assignor`."""
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


def with_version(name: str) -> tuple[str, str | None]:
    """Return the part of a name before the @, and the version after it; None without an @.

    Raises
    ------
    BadInput
        If what follows the @ is no version.
    """
    before, at, version = name.partition("@")
    if not at:
        return before, None
    if not _VERSION.fullmatch(version) or ".." in version:
        raise BadInput(f"assignor: {name!r} has no version after the @, as in 4.4.0")
    return before, version


def tiny() -> Group:
    """Return a small group for a first call, which starts and warms up an assignor."""
    return Group.from_arrays(
        group="tiny",
        topics=["t"],
        partitions=[3],
        members=["a", "b"],
        subscription_indptr=[0, 1, 2],
        subscription_topics=[0, 0],
        owner=[0, 0, -1],
    )


def _plan(
    client: Client, name: str, version: str, group: Group, *, seconds: float = math.inf
) -> Plan:
    """Return an eager assignor's plan; a cooperative one is called until nobody must revoke."""
    spent = 0.0

    def once(current: Group) -> Plan:
        nonlocal spent
        limit = {"seconds": seconds, "spent": spent} if client.keeps_time else {}
        made = client.one_round(current, name, version, **limit)
        spent += made.seconds or 0.0
        return made

    return to_quiescence(group, once, withhold=False) if name == COOPERATIVE else once(group)


def _prepare(client: Client, name: str, version: str) -> None:
    _plan(client, name, version, tiny())


@dataclass(frozen=True)
class Joining:
    """What a member sends when it joins.

    Attributes
    ----------
    member_id : its id
    instance_id, rack : None if it has none
    subscription : topic names, those that do not exist last
    owned : by topic, the partition numbers that it claims, ascending; also of topics that it does
        not read or that do not exist
    generation : of its claims, -1 if it has none
    """

    member_id: str
    instance_id: str | None
    rack: str | None
    subscription: tuple[str, ...]
    owned: dict[str, list[int]]
    generation: int


def joining(group: Group) -> list[Joining]:
    """Return what each member of a group sends when it joins, in the order of members."""
    names = group.topics + group.absent_topics
    members = range(len(group.members))
    rows = [[group.topics[t] for t in group.subscription(m).tolist()] for m in members]
    for member, absent in group.absent_subscriptions:
        rows[member].append(group.absent_topics[absent])
    owned: list[dict[str, list[int]]] = [{} for _ in group.members]
    claims = group.claims
    columns = (claims.member.tolist(), claims.topic.tolist(), claims.partition.tolist())
    for m, t, number in zip(*columns, strict=True):
        owned[m].setdefault(names[t], []).append(number)
    racks = _racks_of_members(group)
    details = group.details or [None] * len(group.members)
    return [
        Joining(
            name,
            None if said is None else said.instance_id,
            racks[m],
            tuple(rows[m]),
            owned[m],
            int(group.generation[m]),
        )
        for m, (name, said) in enumerate(zip(group.members, details, strict=True))
    ]


def _racks_of_members(group: Group) -> list[str | None]:
    """Return the rack of each member, None if it has none."""
    if group.racks is None:
        return [None] * len(group.members)
    names = group.racks.names
    return [None if rack < 0 else names[rack] for rack in group.racks.member.tolist()]
