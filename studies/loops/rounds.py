"""Rounds: the rounds of a cooperative assignor that never settles."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

from groups import Assignment, Failed
from heuristics import assignor_named
from heuristics.protocol import to_quiescence
from heuristics.shipped import client_named

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from groups import Group
    from heuristics.assignor import Plan

    Held = Mapping[str, Mapping[str, list[int]]]

KIND = "cooperative-sticky"


@dataclass(frozen=True)
class Round:
    """One round: the partitions that each member owned when it joined, and those it was given."""

    owned: Held
    given: Held

    def taken(self) -> dict[str, str]:
        """Return the partitions taken from a member and given to nobody yet, with that member."""
        given = {one for one, _ in _each(self.given)}
        return {one: member for one, member in _each(self.owned) if one not in given}

    def added(self) -> dict[str, str]:
        """Return the partitions that nobody owned, with the member that is given them."""
        owned = {one for one, _ in _each(self.owned)}
        return {one: member for one, member in _each(self.given) if one not in owned}


def rounds_of(assignor: str, group: Group) -> list[Round]:
    """Return the rounds of a client's cooperative assignor, until one repeats or it settles."""
    client, _, version = assignor.partition(f"/{KIND}@")
    once = client_named(client).one_round
    found: list[Round] = []

    def over(current: Group) -> Plan:
        made = once(current, KIND, version)
        owned = Assignment.current(current).to_dict()
        found.append(Round(owned, made.assignment.to_dict()))
        return made

    with suppress(Failed):
        to_quiescence(group, over, withhold=False)
    return found


def settled_by(assignor: str, group: Group) -> tuple[list[int], int]:
    """Return the final loads of an assignor as written, used cooperatively, and its rounds.

    Raises
    ------
    Failed
        If its rounds never settle.
    """
    made = to_quiescence(group, assignor_named(assignor).function, withhold=True)
    return made.assignment.loads.tolist(), made.rounds


def circle_of(rounds: Sequence[Round]) -> tuple[int, Sequence[Round]] | None:
    """Return the number of rounds before the cycle, and those of the cycle; None if it settles."""
    for first, one in enumerate(rounds[:-1]):
        if one.given == rounds[-1].given:
            return first + 1, rounds[first + 1 :]
    return None


def story(circle: Sequence[Round], before: int, meant: Sequence[Mapping[str, str]]) -> list[str]:
    """Return a sentence on what happens in each round of a cycle.

    Parameters
    ----------
    meant : for each round of all, the members that withheld partitions are for; empty if unknown
    """
    sentences = []
    for number, one in enumerate(circle, before + 1):
        added = [f"{partition} to {member}" for partition, member in one.added().items()]
        goes = meant[number - 1] if meant else {}
        taken = [
            f"{partition} from {member}{f' for {goes[partition]}' if partition in goes else ''}"
            for partition, member in one.taken().items()
        ]
        sentences.append(
            f"Round {number} gives {' and '.join(added) or 'nothing new'} and takes "
            f"{' and '.join(taken)}."
        )
    held = {member for one in circle for _, member in _each(one.given)}
    empty = [member for member in circle[0].given if member not in held]
    if empty:
        sentences.append(f"{' and '.join(empty)} gets nothing in any of them.")
    again = f"Round {before + len(circle) + 1} is round {before + 1} again, and so on for good."
    return [*sentences, again]


def _each(held: Held) -> list[tuple[str, str]]:
    return [(f"{t}-{n}", m) for m, topics in held.items() for t in topics for n in topics[t]]
