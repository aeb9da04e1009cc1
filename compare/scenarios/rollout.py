"""Rollout: acts of operators, accidents of members, and what happens in the group after each."""

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


# The counts of each step.
COUNTS = ("rounds", "revoked", "lost", "moves", "change_hands", "ownerless", "stopped")


class Rule(StrEnum):
    """The rule by which a member chooses its protocol.

    STATIC: the rule of Kafka's Java client. The protocol is fixed when the member starts: the
    highest one that all its listed assignors support.
    DYNAMIC: the proposal of KIP-726. The protocol is that of the assignor chosen last. If a member
    has kept its partitions and an eager assignor is chosen, it loses them all, and must not commit
    until it has joined again.
    UNGUARDED: dynamic, but without onPartitionsLost and the ban on commits. UNFENCED: dynamic, but
    the broker accepts commits of an old generation. Nobody uses these two; they show what the
    measures are for.
    """

    STATIC = "static"
    DYNAMIC = "dynamic"
    UNGUARDED = "unguarded"
    UNFENCED = "unfenced"


@dataclass(frozen=True)
class Act:
    """One act of an operator, or one accident of a member.

    `kind` is "leave" (a clean stop), "join" (a start with the list `assignors`), "miss" (the group
    rebalances without the member, which does not notice) or "return" (it notices and joins again).
    """

    kind: Literal["leave", "join", "miss", "return"]
    member: str
    assignors: tuple[str, ...] = ()

    def __str__(self) -> str:
        listed = f" with {', '.join(self.assignors)}" if self.assignors else ""
        return f"{self.member} {_SAID[self.kind]}{listed}"


@dataclass(frozen=True)
class RolloutStep:
    """What happens after one act, over all rebalances until the group is quiet.

    Attributes
    ----------
    act : the act in words
    assignor : the one chosen in the last rebalance
    protocol : the members' protocol from then on: "eager", "cooperative", or "mixed", which only
        the static rule allows
    rounds : rebalances
    change_hands : partitions that end with another member than before, also those of a member
        that left or missed the rebalance
    revoked : partitions that members gave up in an orderly way, cleaned up and committed, counted
        once a round: under the eager protocol all that they hold, and all that a leaving member
        holds
    lost : partitions that members held when they learnt that they no longer own them
    moves : partitions that end with another member though the member before is still present
    ownerless : partition-rounds without an owner: each partition that a present member reads
        counts once for each round in which it has no owner
    stopped : partition-rounds in which a partition was given up before the group joined, and so
        was not read, whoever got it: all partitions under the eager protocol, and those of a
        leaving member
    barred : members that must not commit after some round until they have joined again: those that
        lost their partitions, and those that are away
    contested : partitions for which two members, present or away, could commit; the rule is safe
        if there are none
    refused : why the coordinator turned the member away; None if it did not
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
        """Whether two members could never commit for the same partition."""
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
        """For each rolling restart, the assignors that each restarted member lists after it.

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
        """Sentences on whether the rollout is safe, and how it is done."""
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
