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
        """Whether `one_round` ends by itself when the assignor took its seconds.

        So does a client that has to join: that takes time which is not the assignor's.
        """

    @property
    def one_round(self) -> Callable[..., Plan]:
        """What calls an assignor once, on a group, by its name and version.

        A cooperative assignor withholds what members must first revoke. A client that keeps time
        takes `seconds`, for all rounds, and how many are `spent`.

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


def with_version(name: str) -> tuple[str, str | None]:
    """Return what stands before the @ of a name, and the version after it; None without an @.

    Raises
    ------
    BadInput
        Where what follows the @ is no version.
    """
    before, at, version = name.partition("@")
    if not at:
        return before, None
    if not _VERSION.fullmatch(version) or ".." in version:
        raise BadInput(f"assignor: {name!r} has no version after the @, as in 4.4.0")
    return before, version


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


def _plan(
    client: Client, name: str, version: str, group: Group, *, seconds: float = math.inf
) -> Plan:
    """Return the one plan of an eager assignor, the last one of a cooperative assignor.

    That one is asked again until nobody must revoke.
    """
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
    """One member, as it joins.

    Attributes
    ----------
    member_id : its id
    instance_id, rack : None where it has none
    subscription : topic names, those that do not exist last
    owned : partition numbers that it claims by topic, raw: of any topic, ascending
    generation : of its claims, -1 where it has none
    """

    member_id: str
    instance_id: str | None
    rack: str | None
    subscription: tuple[str, ...]
    owned: dict[str, list[int]]
    generation: int


def joining(group: Group) -> list[Joining]:
    """Return the members of a group in its order, each as it joins."""
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
    """Return the rack of each member, None where it has none."""
    if group.racks is None:
        return [None] * len(group.members)
    names = group.racks.names
    return [None if rack < 0 else names[rack] for rack in group.racks.member.tolist()]
