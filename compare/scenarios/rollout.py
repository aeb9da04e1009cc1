"""Rollout: what operators and accidents do to a group, act by act, and what each act led to."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Literal

from groups.wording import counted

if TYPE_CHECKING:
    from collections.abc import Mapping

_SAID = {
    "leave": "leaves",
    "join": "joins",
    "miss": "misses a rebalance",
    "return": "returns",
}


# What is counted in each step.
COUNTS = ("rounds", "revoked", "lost", "moves", "change_hands", "ownerless", "stopped")


class Rule(StrEnum):
    """How a member knows its protocol.

    STATIC: what Kafka's Java client does. The protocol is fixed when the member starts: the
    highest common to all assignors listed.
    DYNAMIC: the proposal of KIP-726. It follows from the assignor that was chosen last; a member
    that held on and sees an eager one chosen loses all it holds and must not commit until it has
    joined again.
    UNGUARDED: dynamic, but without onPartitionsLost and the ban on commits. UNFENCED: dynamic, but
    the broker takes commits of an old generation. Both are nobody's rule, here to show what these
    measures are for.
    """

    STATIC = "static"
    DYNAMIC = "dynamic"
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
    change_hands : partitions that end with another member than before, also those of a member
        that left or that missed the rebalance
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
    change_hands: int = 0
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
    """A rollout under one rule: the start, then a step for each act."""

    name: str
    rule: Rule
    acts: tuple[Act, ...]
    steps: tuple[RolloutStep, ...]

    @property
    def is_safe(self) -> bool:
        """Whether at no time two members could commit for one partition."""
        return not any(step.contested for step in self.steps)

    @property
    def total(self) -> dict[str, object]:
        """Sums over the steps but the first, and the protocol at the end."""
        steps = self.steps[1:]
        return {
            "restarts": sum(map(len, self.rolling_restarts)),
            **{name: sum(getattr(step, name) for step in steps) for name in COUNTS},
            "barred": sum(len(step.barred) for step in steps),
            "contested": sum(len(step.contested) for step in steps),
            "refused": sum(step.refused is not None for step in steps),
            "ends": self.steps[-1].protocol,
        }

    @property
    def rolling_restarts(self) -> tuple[Mapping[str, tuple[str, ...]], ...]:
        """The rolling restarts: what each member that restarts in one lists from then on.

        A member that joins without having left before is new and does not count.
        """
        left: set[str] = set()
        joins: list[Act] = []
        for act in self.acts:
            if act.kind == "leave":
                left.add(act.member)
            elif act.kind == "join" and act.member in left:
                joins.append(act)
        ends = {act.member: act.assignors for act in joins}
        found: list[dict[str, tuple[str, ...]]] = []
        was_last = False
        for act in joins:
            is_last = act.assignors == ends[act.member]
            if not found or act.member in found[-1] or is_last != was_last:
                found.append({})
            found[-1][act.member], was_last = act.assignors, is_last
        return tuple(found)

    def to_dict(self) -> dict[str, object]:
        """Return the rollout of an ``assay-rollout-result/1`` document."""
        steps = [step.to_dict() for step in self.steps]
        return {"rule": str(self.rule), "steps": steps, "total": self.total}

    @property
    def answer(self) -> str:
        """Whether the rollout is safe, and how it is done, in a few sentences."""
        if not self.is_safe:
            partitions = {label for step in self.steps for label in step.contested}
            return _NOT_SAFE.format(counted(len(partitions), "partition"))
        restarts = self.rolling_restarts
        away = [act for act, step in zip(self.acts, self.steps[1:], strict=True) if step.refused]
        how = ", then ".join(
            f"{counted(len(lists), 'member')} with "
            + " or ".join(dict.fromkeys(map(",".join, lists.values())))
            for lists in restarts
        )
        said = []
        if away:
            said = [_STOPS if restarts else _TURNED_AWAY]
        elif restarts:
            said = [_SAFE]
        last = self.steps[-1]
        held_back = "cooperative" in last.assignor and last.protocol != "cooperative"
        said += [_ENDS_EAGER if held_back else _ENDS, *([] if away else [_ONE_COMMITS])]
        return " ".join(said).format(
            restarts=counted(len(restarts), "rolling restart"),
            how=how,
            member=away[-1].member if away else "",
            listed=",".join(away[-1].assignors) if away else "",
            assignor=last.assignor,
            protocol=last.protocol,
        )


_NOT_SAFE = "Not safe: two members can commit for {}."
_SAFE = "Safe in {restarts}: {how}."
_TURNED_AWAY = "{member} is turned away with {listed}: not every other member lists one of these."
_STOPS = (
    "It does not work: it stops where {member} restarts with {listed}. Not every other member "
    "lists one of these, and so {member} is turned away."
)
_ENDS = "The group then uses {assignor} under the {protocol} protocol."
_ENDS_EAGER = (
    "The group then uses {assignor}, but each member that lists an eager assignor too stays eager."
)
_ONE_COMMITS = "At no time can two members commit for one partition."
