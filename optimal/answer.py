"""Answer: what a method claims before the checker confirms it, and the limits of each method."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from groups.errors import BadInput
from groups.tiers import TIERS
from optimal.proof import Proof, ProofKind
from optimal.solution import Stopped

if TYPE_CHECKING:
    from collections.abc import Sequence

    from groups.arrays import Int32
    from groups.group import Group
    from groups.tiers import Objective


class NothingWithin(Exception):
    """No assignment keeps to all budgets; `solve` turns it into a `BadInput` that says which."""


@dataclass(frozen=True, eq=False)
class Answer:
    """A method's claim: an assignment and bounds.

    Attributes
    ----------
    owner : (all partitions,) int32, -1 where nobody reads; None if nothing was found in time
    bounds : for each tier of the objective a lower bound, given the earlier tiers at their
        optimum; None if an earlier tier is open or nothing is known
    stopped : why the method stopped
    proof : what the bounds rest on
    method : what ran, if the method chose between several algorithms
    """

    owner: Int32 | None
    bounds: tuple[int | None, ...]
    stopped: Stopped = Stopped.PROOF
    proof: Proof = Proof(ProofKind.NONE)  # noqa: RUF009 - frozen, so sharing one is safe
    method: str | None = None


# A method serves a tier only if its greatest value is below the limit. Brute force adds up in 64
# bits. CP-SAT compares value and bound as floats: beyond 2^53 it takes two values that differ by 1
# for equal. CBC computes in floats throughout; near 2^26 it is off by 1.
LIMITS = {"brute": 2**62, "exchange": 2**56, "cp-sat": 2**53, "ilp": 2**24}
# CP-SAT refuses a sum if its variables' bounds add up to more than 64 bits.
SUMMED = 2**62


def require_costs_within(group: Group, objective: Objective, method: str) -> None:
    """Raise BadInput if a tier may reach a value that a method cannot compute exactly."""
    if (refused := too_great(group, objective, method)) is not None:
        raise BadInput(refused)


def too_great(group: Group, objective: Sequence[str], method: str) -> str | None:
    """Return the message for a tier whose values may leave a method's limit; None if all fit."""
    for tier in objective:
        greatest, limit = TIERS[tier].greatest(group), LIMITS[method]
        if method == "cp-sat" and tier.endswith("balance"):
            limit = min(limit, SUMMED // max(1, len(group.members)))
        if greatest >= limit:
            return (
                f"{_greatest_of(group, tier)} lets {tier} reach {greatest}, but method {method} "
                f"needs it below {limit}"
            )
    return None


def _greatest_of(group: Group, tier: str) -> str:
    """Return the largest number in the group that a tier's value comes from, with its place."""
    needs = TIERS[tier].needs
    column = group.lag_records if needs == "lag" else group.weight
    if needs not in ("lag", "weight") or column is None:
        read = np.where(group.readers > 0, group.partitions, -1)
        topic = int(np.argmax(read))
        return f"topics.{group.topics[topic]}.partitions: {read[topic]}"
    read = np.where(group.readers[group.topic] > 0, column, -1)
    at = int(np.argmax(read))
    topic = group.topic[at]
    return f"topics.{group.topics[topic]}.{needs}[{group.number[at]}]: {read[at]}"


SEED = 1
