"""Rounds: an assignor's result reached cooperatively, one rebalance after the other."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from groups import Assignment, Failed
from heuristics.assignor import Plan

if TYPE_CHECKING:
    from collections.abc import Callable

    from groups import Group
    from groups.arrays import Int64


FOR_EVER = "the rounds would go on for ever"


def to_quiescence(group: Group, over: Callable[[Group], Plan], *, withhold: bool) -> Plan:
    """Rebalance with an assignor until nobody must revoke.

    A round: the assignor makes its assignment. A partition that would go to a member that does
    not own it, while another owns it and would lose it, is taken out of the new owner's list.
    Members keep what they own and is assigned to them and revoke the rest; if anybody revoked,
    all join again with what they now own and the next generation, and a new round begins.

    Whoever claims a partition still owns it, whatever its generation and even if it stopped
    subscribing: these are the raw claims, on partitions that exist. The assignor sees them as any
    other group.

    Source: KIP-429, as KIP-615 sums it up: partitions that are transferring ownership stay out of
    the assignment until they have been safely revoked, and a followup rebalance assigns them.

    Parameters
    ----------
    over : the assignor whose result is reached cooperatively
    withhold : whether to take transferring partitions out; False where the assignor has done so

    Returns
    -------
    Plan
        Its assignment is that of the last round, set against the owners before the first;
        `rounds` counts the last one too; `seconds` are those of all rounds, where it tells them.

    Raises
    ------
    Failed
        Where what the members own comes back after a round: it would go on for ever.
    Refused
        Where the assignor does not cover the group.
    """
    width = group.n_partitions
    read = group.readers[group.topic] > 0
    owned = _owned(group)
    seen: dict[bytes, int] = {}
    current, rounds, revoked, ownerless = group, 0, 0, 0
    seconds: list[float | None] = []
    while True:
        rounds += 1
        made = over(current)
        seconds.append(made.seconds)
        member, partition = made.assignment.holdings
        target = np.unique(member.astype(np.int64) * width + partition)
        lost = np.setdiff1d(owned, target, assume_unique=True)
        if withhold:
            held_back = np.isin(target % width, lost % width) & ~np.isin(target, owned)
            target = target[~held_back]
        owned = target
        revoked += len(lost)
        ownerless += int(read.sum() - np.isin(np.flatnonzero(read), owned % width).sum())
        if not len(lost):
            total = None if None in seconds else sum(s for s in seconds if s is not None)
            # Nothing was held back in this round: its assignment is final, as it is.
            final = Assignment(group, made.assignment.owner, made.assignment.strays)
            return Plan(final, rounds, revoked, ownerless, total)
        if owned.tobytes() in seen:
            raise Failed(
                f"round {rounds} ends with what the members owned after round "
                f"{seen[owned.tobytes()]}: {FOR_EVER}"
            )
        seen[owned.tobytes()] = rounds
        holder, held = np.divmod(owned, width)
        current = current.with_claims(holder, held, generation=current.next_generation)


def _owned(group: Group) -> Int64:
    """(owned,) int64: member x partitions + partition for each claim on what exists."""
    member, partition = Assignment.current(group).holdings
    return np.unique(member.astype(np.int64) * group.n_partitions + partition)
