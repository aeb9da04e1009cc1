"""Leader: any client that joins the probe, scored as the leader of a group."""

from __future__ import annotations

from typing import TYPE_CHECKING

from compare.scores import score_outcome
from groups.errors import AssayError
from heuristics.assignor import attempt
from heuristics.shipped.probe.guest import lead

if TYPE_CHECKING:
    from compare.scores import Score
    from groups import Group
    from heuristics.assignor import Plan
    from heuristics.shipped.probe import Probe
    from optimal.solution import Solution


def score_client(
    probe: Probe, group: Group, solution: Solution, protocol: str | None, *, timeout: float
) -> Score:
    """Score the assignment that the next client to join makes; a failure is a row, too.

    Parameters
    ----------
    protocol : the assignor's name on the wire; None for the one the client prefers
    timeout : seconds for its plan, and as many for each time that it joins

    Raises
    ------
    Absent
        Where no client joins.
    """
    name, made = lead(probe, group, protocol, timeout=timeout)

    def came(_: Group) -> Plan:
        if isinstance(made, AssayError):
            raise made
        return made

    return score_outcome(group, attempt(came, group), solution, name)
