"""Leader: any client that joins the probe, scored as the leader of a group."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from compare.score import Score
from compare.scoring import score
from groups import Failed, Refused
from heuristics.shipped.probe import Late
from heuristics.shipped.probe.lead import lead

if TYPE_CHECKING:
    from groups import Group
    from heuristics.shipped.probe import Probe
    from optimal.solution import Solution


def score_client(
    probe: Probe, group: Group, solution: Solution, protocol: str | None, *, timeout: float
) -> Score:
    """Score the assignment that the next client to join makes; a failure is a row, too.

    Parameters
    ----------
    protocol : the assignor's name on the wire; None for the one the client prefers
    timeout : seconds for each round

    Raises
    ------
    Absent
        Where no client joins.
    """
    name, made = lead(probe, group, protocol, timeout=timeout)
    if isinstance(made, Refused):
        return Score(name, "refused", str(made))
    if isinstance(made, Failed):
        late = isinstance(made, Late)
        seconds = timeout if late else 0.0
        return Score(name, "timed-out" if late else "failed", str(made), seconds=seconds)
    row = score(group, made.assignment, solution, assignor=name)
    return replace(row, rounds=made.rounds, revoked=made.revoked, seconds=made.seconds or 0.0)
