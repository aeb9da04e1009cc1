"""Rollout: a group whose members differ in their assignors, act by act and round by round.

Who holds what, who follows which protocol, and who may commit.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from enum import StrEnum
from itertools import chain
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from groups import BadInput, Claims, Failed, Group, Refused
from groups.group import NOBODY, valid_owner
from heuristics import WRITTEN, kip54_sticky
from heuristics.protocol import (
    AS_WRITTEN,
    Choice,
    Protocol,
    choose,
    loses_partitions,
    static_protocol,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from heuristics import Plan

MOST_ROUNDS = 50
Partitions = frozenset[int]
NONE: Partitions = frozenset()
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
    UNGUARDED: dynamic, but without onPartitionsLost and the ban on commits: nobody's rule, here
    to show what they are for.
    """

    DYNAMIC = "dynamic"
    STATIC = "static"
    UNGUARDED = "unguarded"


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
class Step:
    """What one act led to, over all the rebalances until the group is quiet.

    Attributes
    ----------
    act : what happened
    assignor : chosen in the last rebalance
    protocol : what the members follow from then on: "eager", "cooperative", or "mixed", which
        only the static rule knows
    rounds : rebalances
    revoked : partitions that members gave up in an orderly way, cleaned up and committed
    lost : partitions that members held when they learnt that they no longer own them
    moved : partitions that end with another member than before, though that one is still there
    ownerless : partition-rounds without an owner, as in :class:`~heuristics.assignor.Plan`
    stopped : partition-rounds in which a partition was given up before the group joined, and so
        stood still whoever got it: the stop of the world under the eager protocol
    barred : members that must not commit after some round, until they have joined again: those
        that lost what they held on to, and those that missed a rebalance
    contested : partitions for which two members could commit; the proposal is safe where none
    refused : why the group, or the member, could not go on; None where it could
    """

    act: str
    assignor: str
    protocol: str
    rounds: int = 0
    revoked: int = 0
    lost: int = 0
    moved: int = 0
    ownerless: int = 0
    stopped: int = 0
    barred: tuple[str, ...] = ()
    contested: tuple[str, ...] = ()
    refused: str | None = None

    def to_dict(self) -> dict[str, Any]:
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
    steps: tuple[Step, ...]

    @property
    def is_safe(self) -> bool:
        """Whether at no time two members could commit for one partition."""
        return not any(step.contested for step in self.steps)

    @property
    def total(self) -> dict[str, Any]:
        """Sums over the steps after the start, and the protocol at the end."""
        steps = self.steps[1:]
        numbers = ("rounds", "revoked", "lost", "moved", "ownerless", "stopped")
        return {
            "restarts": sum(" joins" in step.act for step in steps),
            **{name: sum(getattr(step, name) for step in steps) for name in numbers},
            "barred": sum(len(step.barred) for step in steps),
            "contested": sum(len(step.contested) for step in steps),
            "refused": sum(step.refused is not None for step in steps),
            "ends": self.steps[-1].protocol,
        }

    def to_dict(self) -> dict[str, Any]:
        """Return the rollout of an ``assay-rollout-result/1`` document."""
        steps = [step.to_dict() for step in self.steps]
        return {"rule": str(self.rule), "steps": steps, "total": self.total}


@dataclass
class _Member:
    """A member as it sees itself."""

    assignors: tuple[str, ...]
    protocol: Protocol
    holds: Partitions = NONE
    remembers: Partitions = NONE
    may_commit: bool = True
    away: bool = False
    fenced: bool = False


def perform(
    group: Group,
    name: str,
    rule: Rule,
    first: Mapping[str, Sequence[str]],
    acts: Sequence[Act],
) -> Rollout:
    """Start the members with their lists of assignors, then perform the acts one by one.

    A member that an act names and the group does not know reads all its topics. After every act
    the group rebalances until nobody has to join again.

    What the texts leave open was read like this. A member that follows the eager protocol has
    given up what it held before it joins, so it owns nothing that cooperative-sticky could keep;
    sticky carries a memory of its own. A member comes to a rebalance with the protocol of the one
    before. Whoever missed a rebalance is fenced by its old generation: it cannot commit, and
    loses what it holds when it joins again. A cooperative round is one of KIP-429: what another
    member still owns is kept out of the new owner's list.

    Source: KIP-726, "Proposed Changes"; KIP-429.

    Raises
    ------
    Failed
        Where the group does not come to rest within 50 rounds.
    """
    world = _World(group, rule)
    for member, assignors in first.items():
        world.start(member, tuple(assignors))
    steps = [world.rebalance("start")]
    for act in acts:
        refused = world.perform(act)
        steps.append(refused or world.rebalance(str(act)))
    return Rollout(name, rule, tuple(steps))


class _World:
    """The group and its coordinator between acts."""

    def __init__(self, group: Group, rule: Rule) -> None:
        self.group = group
        self.rule = rule
        self.members: dict[str, _Member] = {}
        self.read = frozenset(np.flatnonzero(group.readers[group.topic] > 0).tolist())
        self.closed: Partitions = NONE

    def start(self, name: str, assignors: tuple[str, ...]) -> None:
        static = static_protocol(assignors)
        protocol = static if self.rule is Rule.STATIC else Protocol.EAGER
        self.members[name] = _Member(assignors, protocol)

    def perform(self, act: Act) -> Step | None:
        """Do what an act says; return the step where the coordinator turns a member away."""
        if act.kind == "leave":
            self.closed = self.members.pop(act.member).holds
        elif act.kind == "miss":
            self.members[act.member].away = True
            self.members[act.member].may_commit = False
        elif act.kind == "return":
            self.members[act.member].away = False
            self.members[act.member].fenced = True
        else:
            lists = {m: one.assignors for m, one in self._present()}
            try:
                choose({**lists, act.member: act.assignors})
            except Refused as refusal:
                now = choose(lists).assignor
                return Step(str(act), now, self._protocol(), refused=str(refusal))
            self.start(act.member, act.assignors)
        return None

    def rebalance(self, act: str) -> Step:
        """Let the members join, round by round, until nobody has to join again."""
        before = {m: one.holds for m, one in self._present() if not one.fenced}
        barred = {m for m, one in self.members.items() if not one.may_commit}
        contested: set[str] = set()
        step, again = Step(act, "", ""), True
        while again:
            if step.rounds == MOST_ROUNDS:
                raise Failed(f"{act}: not at rest after {MOST_ROUNDS} rounds")
            step, commits, again = self._round(step)
            barred |= {m for m, one in self._present() if not one.may_commit}
            could = Counter(chain.from_iterable(commits))
            contested |= {self._label(p) for p, times in could.items() if times > 1}
        moved = sum(len(held & self.read - self.members[m].holds) for m, held in before.items())
        return replace(
            step,
            moved=moved,
            protocol=self._protocol(),
            barred=tuple(sorted(barred)),
            contested=tuple(sorted(contested)),
        )

    def _round(self, step: Step) -> tuple[Step, list[Partitions], bool]:
        """Let everybody join once.

        Returns the sums so far, what each member could commit for once the assignment is out, and
        whether somebody has to join again.
        """
        present = dict(self._present())
        given_up, lost = self._give_up(present)
        choice = choose({m: one.assignors for m, one in present.items()})
        given = self._assign(choice, present)
        revoked, commits, again = len(given_up), [], False
        for name, one in present.items():
            held, one.holds = one.holds, given[name]
            one.remembers = one.holds
            sees_eager = loses_partitions(one.protocol, choice.protocol)
            one.may_commit = not (sees_eager and self.rule is Rule.DYNAMIC)
            if one.may_commit:
                commits.append(held | one.holds)
                revoked += len(held - one.holds)
            else:
                lost += len(held)
            again = again or sees_eager or bool(held - one.holds)
            if self.rule is not Rule.STATIC:
                one.protocol = choice.protocol
        owned = frozenset(chain.from_iterable(given.values()))
        sums = replace(
            step,
            assignor=choice.assignor,
            rounds=step.rounds + 1,
            revoked=step.revoked + revoked,
            lost=step.lost + lost,
            ownerless=step.ownerless + len(self.read - owned),
            stopped=step.stopped + len(given_up & self.read),
        )
        return sums, commits, again

    def _give_up(self, present: Mapping[str, _Member]) -> tuple[Partitions, int]:
        """Let go of what members may not hold while they join: (in an orderly way, lost)."""
        given_up, lost = self.closed, 0
        self.closed = NONE
        for one in present.values():
            if one.fenced:
                lost += len(one.holds)
            elif one.protocol is Protocol.EAGER:
                given_up |= one.holds
            else:
                continue
            one.holds, one.fenced = NONE, False
        return given_up, lost

    def _assign(self, choice: Choice, present: Mapping[str, _Member]) -> dict[str, Partitions]:
        """Return what each member gets in one round."""
        names = sorted(present)
        cooperative = choice.protocol is Protocol.COOPERATIVE
        held = {m: present[m].holds for m in names}
        known = {m: present[m].remembers for m in names} if choice.assignor == "sticky" else held
        group = _as_group(self.group, names, known)
        written = kip54_sticky.plan if cooperative else _written(choice.assignor)
        member, partition = written(group).assignment.holdings
        given = {m: frozenset(partition[member == i].tolist()) for i, m in enumerate(names)}
        if not cooperative:
            return given
        owners = {p: m for m, mine in held.items() for p in mine}
        return {m: frozenset(p for p in given[m] if owners.get(p, m) == m) for m in names}

    def _present(self) -> Iterator[tuple[str, _Member]]:
        return ((m, one) for m, one in sorted(self.members.items()) if not one.away)

    def _label(self, partition: int) -> str:
        topic = self.group.topics[self.group.topic[partition]]
        return f"{topic}-{self.group.number[partition]}"

    def _protocol(self) -> str:
        found = {one.protocol for _, one in self._present()}
        return str(found.pop()) if len(found) == 1 else "mixed"


def _written(assignor: str) -> Callable[[Group], Plan]:
    if assignor not in AS_WRITTEN:
        raise BadInput(f"rollout: assignor {assignor!r}, expected one of {', '.join(AS_WRITTEN)}")
    return WRITTEN[AS_WRITTEN[assignor]].function


def _as_group(group: Group, names: Sequence[str], held: Mapping[str, Partitions]) -> Group:
    """Return the group of those members that are present, with what they own."""
    every = list(range(len(group.topics)))
    index = {member: i for i, member in enumerate(group.members)}
    rows = [group.subscription(index[m]).tolist() if m in index else every for m in names]
    built = Group.from_arrays(
        group=group.name,
        topics=group.topics,
        partitions=group.partitions,
        members=names,
        subscription_indptr=np.cumsum([0, *map(len, rows)]),
        subscription_topics=np.array([t for row in rows for t in row], np.int64),
    )
    pairs = [(i, p) for i, m in enumerate(names) for p in sorted(held[m])]
    member, partition = np.array(pairs, np.int64).reshape(-1, 2).T
    claims = Claims(
        member.astype(np.int32), group.topic[partition], group.number[partition].copy()
    )
    what, who = valid_owner(claims, built.partitions, built.generation, built.first)
    owner = np.full(built.n_partitions, NOBODY, np.int32)
    keeps = built.subscribes(who, built.topic[what])
    owner[what[keeps]] = who[keeps]
    return replace(built, owner=owner, raw_claims=claims)
