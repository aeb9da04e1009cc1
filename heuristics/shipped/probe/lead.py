"""Lead: whichever client joins next leads a group, and says what it makes of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from groups import Assignment, Failed, Refused
from heuristics.assignor import Plan
from heuristics.rounds import to_quiescence
from heuristics.shipped.probe.probe import Late

if TYPE_CHECKING:
    from groups import Group
    from heuristics.shipped.probe.probe import Probe
    from heuristics.shipped.probe.round import Round


def lead(
    probe: Probe, group: Group, protocol: str | None, *, timeout: float
) -> tuple[str, Plan | Failed | Refused]:
    """Return the name of the client that joins next, and its plan or why it has none.

    The name is what it calls itself and its assignor, as in ``rdkafka/range``. Its assignor's name
    says whether it is cooperative. If so, its rounds go on until nobody must revoke.

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
    except (Failed, Refused) as failure:
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
    except (Failed, Refused) as failure:
        return _label(first), failure
    return _label(first), plan


def _label(round_: Round) -> str:
    return f"{round_.client_id or 'client'}/{round_.chosen or round_.protocol}"
