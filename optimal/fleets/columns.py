"""Columns: the answers to a fleet while they are put together."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from groups.arrays import NOBODY, UNKNOWN, frozen
from optimal.fleets.fleet_solution import FleetSolution
from optimal.proof import ProofKind
from optimal.solution import Status, Stopped

if TYPE_CHECKING:
    from collections.abc import Mapping

    from groups.arrays import Bools
    from groups.errors import AssayError
    from groups.fleet import Fleet
    from groups.tiers import Objective
    from optimal.solution import Solution

WORD = "<U16"
BLANK = {
    "status": str(Status.UNKNOWN),
    "stopped": str(Stopped.TIME_LIMIT),
    "method": "flow",
    "proof": str(ProofKind.NONE),
    "value": UNKNOWN,
    "bound": UNKNOWN,
    "scale": 1,
    "seconds": 0.0,
    "check_seconds": 0.0,
    "owner": NOBODY,
    "loads": 0,
    "level": 0,
    "price": 0,
}
OF_MEMBERS = ("loads", "level", "price")


class Columns:
    """What is known of each group so far: at first nothing.

    Parameters
    ----------
    priced : how many tiers the prices are about
    """

    def __init__(self, fleet: Fleet, objective: Objective, priced: int) -> None:
        groups, tiers = len(fleet), len(objective)
        widths = {"value": (tiers,), "bound": (tiers,), "scale": (priced,)}
        lengths = dict.fromkeys(OF_MEMBERS, len(fleet.group.members))
        lengths["owner"] = fleet.group.n_partitions
        self._fleet, self._objective = fleet, objective
        self._columns = {
            name: np.full(
                (lengths.get(name, groups), *widths.get(name, ())),
                value,
                WORD if isinstance(value, str) else type(value),
            )
            for name, value in BLANK.items()
        }
        self._columns["owner"] = self._columns["owner"].astype(np.int32)
        self._errors: dict[int, AssayError] = {}
        self._separate: dict[int, Solution] = {}

    def put(self, chosen: Bools, part: FleetSolution) -> None:
        """Put the answers to some of the groups, (groups,) bool, where they belong."""
        starts = self._fleet.member_start, self._fleet.partition_start
        member, partition = (np.repeat(chosen, np.diff(start)) for start in starts)
        for name, column in self._columns.items():
            there = member if name in OF_MEMBERS else chosen
            if name == "owner":
                number = np.append(np.flatnonzero(member), NOBODY)
                column[partition] = number[part.owner]
            else:
                column[there] = getattr(part, name)
        index = np.flatnonzero(chosen).tolist()
        self._errors |= {index[at]: error for at, error in part.errors.items()}

    def put_one(self, index: int, solution: Solution) -> None:
        """Put the answer to one group, found by itself."""
        columns, found = self._columns, solution.assignment
        for name in ("status", "stopped", "method", "seconds"):
            columns[name][index] = getattr(solution, name)
        columns["proof"][index] = str(solution.proof.kind)
        self._separate[index] = solution
        if found is None:
            return
        for at, term in enumerate(solution.terms):
            columns["value"][index, at] = term.value
            columns["bound"][index, at] = UNKNOWN if term.bound is None else term.bound
        members, fleet = self._fleet.members(index), self._fleet
        columns["owner"][fleet.partitions(index)] = fleet.owner_through(index, found.owner)
        columns["loads"][members] = found.loads
        for name in ("level", "price"):
            column = getattr(solution.proof, name)
            if column is not None:
                columns[name][members] = column

    def fail(self, errors: Mapping[int, AssayError]) -> None:
        """Say why groups have no answer, by their indices."""
        self._errors |= errors

    def done(self) -> FleetSolution:
        """Return the answers; a group that failed has none."""
        failed = list(self._errors)
        for name, start in (
            *((name, self._fleet.member_start) for name in OF_MEMBERS),
            ("owner", self._fleet.partition_start),
        ):
            chosen = np.zeros(len(self._fleet), bool)
            chosen[failed] = True
            self._columns[name][np.repeat(chosen, np.diff(start))] = BLANK[name]
        for name in self._columns.keys() - {*OF_MEMBERS, "owner"}:
            self._columns[name][failed] = BLANK[name]
        return FleetSolution(
            fleet=self._fleet,
            objective=self._objective,
            errors=self._errors,
            separate=self._separate,
            **{name: frozen(column) for name, column in self._columns.items()},
        )
