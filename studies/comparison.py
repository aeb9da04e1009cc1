"""Comparison: how often an assignor as shipped does what the same as written does."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from studies.measured import Measured


@dataclass
class Comparison:
    """How often an assignor as shipped agrees with one as written, on groups of one kind.

    Attributes
    ----------
    groups : compared: those that the one as written does not refuse
    written_invalid : groups for which it makes no valid assignment
    invalid, failed, timed_out : groups for which the shipped one makes none
    valid : groups for which both do; the rest is about these
    same_loads, same_each : loads the same, sorted and member by member
    better, worse : the shipped one has a lower, or higher, balance score
    same_moves, fewer, more : of those with the same balance score, by partitions moved
    """

    groups: int = 0
    written_invalid: int = 0
    invalid: int = 0
    failed: int = 0
    timed_out: int = 0
    valid: int = 0
    same_loads: int = 0
    same_each: int = 0
    better: int = 0
    worse: int = 0
    same_moves: int = 0
    fewer: int = 0
    more: int = 0

    def add(self, written: Measured, shipped: Measured) -> None:
        """Count one group."""
        if written.status == "refused":
            return
        self.groups += 1
        self.written_invalid += written.status != "valid"
        self.invalid += shipped.status == "invalid"
        self.failed += shipped.status in ("failed", "refused")
        self.timed_out += shipped.status == "timed-out"
        if written.status != "valid" or shipped.status != "valid":
            return
        self.valid += 1
        self.same_loads += sorted(written.loads) == sorted(shipped.loads)
        self.same_each += written.loads == shipped.loads
        self.better += shipped.balance < written.balance
        self.worse += shipped.balance > written.balance
        if shipped.balance == written.balance:
            self.same_moves += shipped.moves == written.moves
            self.fewer += shipped.moves < written.moves
            self.more += shipped.moves > written.moves
