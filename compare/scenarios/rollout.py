"""Rollout: what operators and accidents do to a group, act by act, and what each act led to."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Literal

_SAID = {
    "leave": "leaves",
    "join": "joins",
    "miss": "misses a rebalance",
    "return": "returns",
}


class Rule(StrEnum):
    """How a member knows its protocol.

    DYNAMIC: KIP-726. It follows from the assignor that was chosen last; a member that held on and
    sees an eager one chosen loses all it holds and must not commit until it has joined again.
    STATIC: the old rule. It is fixed at start-up, the highest common to all assignors listed.
    UNGUARDED: dynamic, but without onPartitionsLost and the ban on commits. UNFENCED: dynamic, but
    the broker takes commits of an old generation. Both are nobody's rule, here to show what these
    measures are for.
    """

    DYNAMIC = "dynamic"
    STATIC = "static"
    UNGUARDED = "unguarded"
    UNFENCED = "unfenced"


@dataclass(frozen=True)
class Act:
    """One thing that an operator does, or that befalls a member.

    `kind` is "leave" (a clean stop), "join" (a start, with this list of assignors),
    "miss" (the group rebalances without the member, which goes on as if nothing had been) or
    "return" (it notices and joins again).
    """

    kind: Literal["leave", "join", "miss", "return"]
    member: str
    assignors: tuple[str, ...] = ()

    def __str__(self) -> str:
        listed = f" with {', '.join(self.assignors)}" if self.assignors else ""
        return f"{self.member} {_SAID[self.kind]}{listed}"


@dataclass(frozen=True)
class RolloutStep:
    """What one act led to, over all the rebalances until the group is quiet.

    Attributes
    ----------
    act : what happened
    assignor : chosen in the last rebalance
    protocol : what the members follow from then on: "eager", "cooperative", or "mixed", which
        only the static rule knows
    rounds : rebalances
    revoked : partitions that members gave up in an orderly way, cleaned up and committed, once a
        round: under the eager protocol all that they hold, and all that one holds that leaves
    lost : partitions that members held when they learnt that they no longer own them
    moves : partitions that end with another member than before, though that one is still there
    ownerless : partition-rounds without an owner: each partition that a member reads which is
        there counts once for each round that leaves it with nobody
    stopped : partition-rounds in which a partition was given up before the group joined, and so
        stood still whoever got it: the stop of the world under the eager protocol, and what
        a member held that leaves
    barred : members that must not commit after some round, until they have joined again: those
        that lost what they held on to, and those that are away
    contested : partitions for which two members could commit, be they there or away; the proposal
        is safe where none
    refused : why the coordinator turned the member away; None where it did not
    """

    act: str
    assignor: str
    protocol: str
    rounds: int = 0
    revoked: int = 0
    lost: int = 0
    moves: int = 0
    ownerless: int = 0
    stopped: int = 0
    barred: tuple[str, ...] = ()
    contested: tuple[str, ...] = ()
    refused: str | None = None

    def to_dict(self) -> dict[str, object]:
        """Return the step of an ``assay-rollout-result/1`` document."""
        return {
            **vars(self),
            "barred": list(self.barred),
            "contested": list(self.contested),
        }


@dataclass(frozen=True)
class Rollout:
    """A rollout under one rule, act by act."""

    name: str
    rule: Rule
    steps: tuple[RolloutStep, ...]

    @property
    def is_safe(self) -> bool:
        """Whether at no time two members could commit for one partition."""
        return not any(step.contested for step in self.steps)

    @property
    def total(self) -> dict[str, object]:
        """Sums over the steps after the start, and the protocol at the end."""
        steps = self.steps[1:]
        numbers = ("rounds", "revoked", "lost", "moves", "ownerless", "stopped")
        return {
            "restarts": self._restarts,
            **{name: sum(getattr(step, name) for step in steps) for name in numbers},
            "barred": sum(len(step.barred) for step in steps),
            "contested": sum(len(step.contested) for step in steps),
            "refused": sum(step.refused is not None for step in steps),
            "ends": self.steps[-1].protocol,
        }

    @property
    def _restarts(self) -> int:
        # Who joins without having left before is new.
        left: set[str] = set()
        restarts = 0
        for step in self.steps:
            member, joins, _ = step.act.partition(" joins with ")
            restarts += bool(joins) and member in left
            left.add(step.act.removesuffix(" leaves"))
        return restarts

    def to_dict(self) -> dict[str, object]:
        """Return the rollout of an ``assay-rollout-result/1`` document."""
        steps = [step.to_dict() for step in self.steps]
        return {"rule": str(self.rule), "steps": steps, "total": self.total}
