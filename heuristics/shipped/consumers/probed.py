"""Probed: plans of real clients, read off the wire: what their adapters have in common."""

from __future__ import annotations

import importlib.util
import itertools
from functools import partial
from typing import TYPE_CHECKING

from groups import Assignment, Failed, Group
from heuristics.assignor import Plan
from heuristics.rounds import to_quiescence
from heuristics.shipped.consumers.driver import driver
from heuristics.shipped.probe.probe import Late

if TYPE_CHECKING:
    from collections.abc import Sequence

    from heuristics.shipped.probe.coordinator import Round
    from heuristics.shipped.probe.probe import Probe
    from heuristics.shipped.probe.wire import UserData

INSTALL = "pip install 'kafka-assay[clients]'"
_ROUNDS = itertools.count(1)


def missing_probe() -> str | None:
    """Say why nothing can be probed here: the wire is encoded by kafka-python."""
    if importlib.util.find_spec("kafka") is None:
        return f"kafka-python is not installed: {INSTALL}"
    return None


def probe_plan(
    group: Group,
    *,
    command: Sequence[str],
    assignor: str,
    protocol: str,
    cooperative: bool,
    user_data: UserData = "none",
    rename: bool = False,
    fresh: bool = False,
) -> Plan:
    """Return what a real client makes of a group.

    Parameters
    ----------
    command : starts the client, with bootstrap.servers, group id and `assignor` added to it
    assignor : what the client program calls it
    protocol : its name on the wire
    cooperative : whether owned partitions travel in the subscriptions, and its rounds go on until
        nobody must revoke; such a client withholds what must be revoked first itself
    user_data : what travels in the user data of members that hold something
    rename : put another prefix before the topic names in each round; their order stays. For
        clients that keep metadata by name
    fresh : start the client anew for each round

    Raises
    ------
    Failed
        Where the client makes no plan, or dies.
    """
    if not group.members:
        return Plan(Assignment.from_holdings(group, []))
    once = partial(
        _once,
        command=tuple(command),
        assignor=assignor,
        protocol=protocol,
        cooperative=cooperative,
        user_data=user_data,
        rename=rename,
        fresh=fresh,
    )
    return to_quiescence(group, once, withhold=False) if cooperative else once(group)


def lead(
    probe: Probe, group: Group, protocol: str | None, *, timeout: float
) -> tuple[str, Plan | Failed]:
    """Return the name of the client that joins next, and its plan or why it has none.

    Named by what it calls itself and its assignor, as in ``rdkafka/range``. Whether it is
    cooperative its assignor's name says; then its rounds go on until nobody must revoke.

    Parameters
    ----------
    protocol : the assignor's name on the wire; None for the one the client prefers
    timeout : seconds for each round

    Raises
    ------
    Late
        Where no client joins.
    """
    first = probe.offer(group, protocol)
    try:
        probe.wait(first, timeout)
        first.result()
    except Failed as failure:
        if isinstance(failure, Late) and not first.chosen:
            raise
        return _label(first), failure

    def over(current: Group) -> Plan:
        if current is group:
            held, seconds = first.result()
        else:
            held, seconds = probe.plan(current, first.chosen, timeout=timeout)
        return Plan(Assignment.from_holdings(current, held), seconds=seconds)

    try:
        plan = (
            to_quiescence(group, over, withhold=False) if first.is_cooperative() else over(group)
        )
    except Failed as failure:
        return _label(first), failure
    return _label(first), plan


def _label(round_: Round) -> str:
    return f"{round_.client_id or 'client'}/{round_.chosen or round_.protocol}"


def _once(
    group: Group,
    *,
    command: tuple[str, ...],
    assignor: str,
    protocol: str,
    cooperative: bool,
    user_data: UserData,
    rename: bool,
    fresh: bool,
) -> Plan:
    client = driver(command, assignor)
    prefix = f"{next(_ROUNDS):010d}." if rename else ""
    held, seconds = client.plan(
        group, protocol, prefix=prefix, cooperative=cooperative, user_data=user_data
    )
    if fresh:
        client.close()
    return Plan(Assignment.from_holdings(group, held), seconds=seconds)
