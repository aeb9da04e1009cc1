"""Answer: what a method says it found, before the checker has looked at it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from optimal.proof import Proof, ProofKind
from optimal.solution import Stopped

if TYPE_CHECKING:
    from groups.arrays import Int32


class NothingWithin(Exception):
    """No assignment keeps to all budgets; `solve` turns it into a line for people."""


@dataclass(frozen=True, eq=False)
class Answer:
    """A method's word: an assignment and bounds.

    Attributes
    ----------
    owner : (all partitions,) int32, -1 where nobody reads; None where nothing was found in time
    bounds : per tier of the objective a lower bound given the earlier tiers at their optimum,
        None where an earlier tier is open or nothing is known
    stopped : why the method stopped
    proof : what the bounds rest on
    method : what ran, where the method chose between several ways
    """

    owner: Int32 | None
    bounds: tuple[int | None, ...]
    stopped: Stopped = Stopped.PROOF
    proof: Proof = Proof(ProofKind.NONE)  # noqa: RUF009 - frozen, so sharing one is safe
    method: str | None = None
