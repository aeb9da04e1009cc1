"""Lead: whichever client joins next leads a group, and says what it makes of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from groups import Assignment, Failed, Refused
from heuristics.assignor import Plan
from heuristics.protocol import to_quiescence
from heuristics.shipped.probe.claims import Software
from heuristics.shipped.probe.probe import Another
from heuristics.shipped.probe.round import Absent

if TYPE_CHECKING:
    from groups import Group
    from heuristics.shipped.probe.probe import Probe
    from heuristics.shipped.probe.round import Round


def lead(
    probe: Probe,
    group: Group,
    protocol: str | None,
    *,
    timeout: float,
    join: float | None = None,
    only: Software | None = None,
) -> tuple[str, Plan | Failed | Refused | Absent]:
    """Return the name of the client that joins next, and its plan or why it has none.

    The name is what it calls itself and its assignor, as in ``rdkafka/range``. Its assignor's name
    says whether it is cooperative. If so, its rounds go on until nobody must revoke.

    Parameters
    ----------
    protocol : the assignor's name on the wire; None for the one the client prefers
    timeout : seconds for the plan, over all its rounds
    join : seconds for each time that it joins, as of :meth:`~heuristics.shipped.probe.Probe.wait`
    only : which client is asked; None: any

    Raises
    ------
    Absent
        Where no client joins; Another where it is another one than the one that is asked.
    """
    try:
        first = probe.offer(group, protocol)
    except Refused as refusal:
        return f"client/{protocol or ''}", refusal
    spent = 0.0
    try:
        try:
            probe.wait(first, timeout, join=join)
        finally:
            came = first.software
            if only is not None and came != Software() and came.is_other_than(only):
                raise Another(f"another client joined in its place: {_label(first)}")
        first.result()
    except (Failed, Refused) as failure:
        return _label(first), failure

    def over(current: Group) -> Plan:
        nonlocal spent
        if current is group:
            held, seconds = first.result()
        else:
            round_ = probe.offer(current, first.chosen)
            probe.wait(round_, timeout, join=join, spent=spent)
            if round_.software.is_other_than(first.software):
                raise Refused("another client joined between its rounds")
            held, seconds = round_.result()
        spent += seconds
        return Plan(Assignment.from_holdings(current, held), seconds=seconds)

    try:
        plan = (
            to_quiescence(group, over, withhold=False) if first.is_cooperative() else over(group)
        )
    except (Failed, Refused, Absent) as failure:
        return _label(first), failure
    return _label(first), plan


def _label(round_: Round) -> str:
    return f"{round_.client_id or 'client'}/{round_.chosen or round_.protocol}"
