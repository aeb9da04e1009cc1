"""Question: what would decide a verdict that depends on who reads what."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from groups import Assignment, Group, values
from groups.unknown import reading_least
from optimal import solve_many

if TYPE_CHECKING:
    from collections.abc import Sequence

    from groups.tiers import Objective
    from optimal.solution import Solution

MOST_ASKED = 12


@dataclass(frozen=True, eq=False)
class Open:
    """A group whose verdict is open.

    Attributes
    ----------
    now : what the members hold, in the group in which each reads just that
    lowest : the solution where whoever is unknown reads all that is in demand
    """

    group: Group
    now: Assignment
    lowest: Solution


def questions(asked: Sequence[Open], tiers: Objective, time_limit: float | None) -> list[str]:
    """Return for each group what would make it improvable for sure, if the answer is yes.

    First one subscription that lets a partition move to a member with two fewer; where that does
    not decide, as few as can be found of those that the lowest optimum uses.
    """
    steps = [_widest_step(one) for one in asked]
    groups = [
        reading_least(one.group, [] if step is None else [step])
        for one, step in zip(asked, steps, strict=True)
    ]
    found = []
    for one, step, solution in zip(
        asked, steps, solve_many(groups, tiers, time_limit=time_limit), strict=True
    ):
        now = values(one.now, tiers)
        decides = step is not None and _less(solution, now)
        pairs = [step] if decides else _fewest(one, now, tiers, time_limit)
        found.append(_question(one.group, [pair for pair in pairs if pair is not None]))
    return found


def _less(solution: Solution, found: tuple[int, ...]) -> bool:
    return bool(solution.terms) and tuple(term.value for term in solution.terms) < found


def _widest_step(asked: Open) -> tuple[int, int] | None:
    """(member, topic) not known to be read, where a partition could step down furthest."""
    group, loads = asked.group, asked.now.loads
    claims, topics = asked.now.holdings, group.topics_in_demand
    greatest = np.zeros(len(group.topics), np.int64)
    np.maximum.at(greatest, group.topic[claims[1]], loads[claims[0]])
    unknown = np.flatnonzero(~group.subscription_known)
    step = greatest[topics] - loads[unknown][:, None]
    held = asked.now.group.subscribes(
        np.repeat(unknown, len(topics)), np.tile(topics, len(unknown))
    )
    step[held.reshape(step.shape)] = 0
    if not step.size or step.max() < 2:
        return None
    member, topic = np.unravel_index(int(step.argmax()), step.shape)
    return int(unknown[member]), int(topics[topic])


def _fewest(
    asked: Open, found: tuple[int, ...], tiers: Objective, time_limit: float | None
) -> list[tuple[int, int]]:
    """Subscriptions that the lowest optimum uses and nobody has shown, less those not needed."""
    if asked.lowest.assignment is None:
        return []
    group, owner = asked.group, asked.lowest.assignment.owner
    held = np.flatnonzero(owner >= 0)
    member, topic = owner[held].astype(np.int64), group.topic[held].astype(np.int64)
    new = ~asked.now.group.subscribes(member, topic)
    used = np.unique(member[new] * len(group.topics) + topic[new]).tolist()
    pairs = [divmod(pair, len(group.topics)) for pair in used]
    if len(pairs) > MOST_ASKED:
        return []
    for pair in tuple(pairs):
        rest = [other for other in pairs if other != pair]
        (solution,) = solve_many([reading_least(group, rest)], tiers, time_limit=time_limit)
        if _less(solution, found):
            pairs = rest
    return pairs


def _question(group: Group, pairs: Sequence[tuple[int, int]]) -> str:
    if not pairs:
        return "which topics do the members read?"
    first, *rest = (f"{group.members[m]} read {group.topics[t]}" for m, t in pairs)
    return f"does {first}{''.join(f', and {other}' for other in rest)}?"
