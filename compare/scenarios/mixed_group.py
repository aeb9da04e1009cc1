"""Mixed group: members that list different assignors, round by round.

Who holds what, who follows which protocol, and who may commit.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from itertools import chain
from typing import TYPE_CHECKING

import numpy as np

from compare.scenarios.rollout import Act, Rollout, RolloutStep, Rule
from groups import BadInput, Failed, Group, Refused
from heuristics import WRITTEN
from heuristics.protocol import (
    AS_WRITTEN,
    Choice,
    Protocol,
    choose,
    loses_partitions,
    static_protocol,
)
from heuristics.written import kip54_sticky

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from heuristics import Plan

MOST_ROUNDS = 50
Partitions = frozenset[int]
NONE: Partitions = frozenset()


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

    Where the KIPs leave something open, the model takes it as follows. A member that follows the
    eager protocol gives up what it holds before it joins; it then owns nothing that
    cooperative-sticky could keep, while sticky remembers its last assignment by itself. A member
    joins a rebalance with the protocol that the rebalance before has given it. A member that
    missed a rebalance is fenced by its old generation: it cannot commit, and when it joins again
    it loses what it holds. A cooperative round is one of KIP-429: what another member still owns
    is kept out of the new owner's list.

    Source: KIP-726, "Proposed Changes"; KIP-429.

    Raises
    ------
    Failed
        Where the group does not come to rest within 50 rounds.
    """
    mixed = MixedGroup(group, rule)
    for member, assignors in first.items():
        mixed.start(member, tuple(assignors))
    steps = [mixed.rebalance("start")]
    for act in acts:
        refused = mixed.perform(act)
        steps.append(refused or mixed.rebalance(str(act)))
    return Rollout(name, rule, tuple(steps))


class MixedGroup:
    """The group and its coordinator between two acts."""

    def __init__(self, group: Group, rule: Rule) -> None:
        self.group = group
        self.rule = rule
        self.members: dict[str, _Member] = {}
        self.read = frozenset(np.flatnonzero(group.readers[group.topic] > 0).tolist())
        self.given_back: Partitions = NONE

    def start(self, name: str, assignors: tuple[str, ...]) -> None:
        """Let a member start, or start again, with nothing."""
        static = static_protocol(assignors)
        protocol = static if self.rule is Rule.STATIC else Protocol.EAGER
        self.members[name] = _Member(assignors, protocol)

    def perform(self, act: Act) -> RolloutStep | None:
        """Do what an act says; return the step where the coordinator turns a member away."""
        if act.kind == "leave":
            self.given_back = self.members.pop(act.member).holds
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
                return RolloutStep(str(act), now, self._protocol(), refused=str(refusal))
            self.start(act.member, act.assignors)
        return None

    def rebalance(self, act: str) -> RolloutStep:
        """Let the members join, round by round, until nobody has to join again."""
        before = {m: one.holds for m, one in self._present() if not one.fenced}
        barred = {m for m, one in self.members.items() if not one.may_commit}
        contested: set[str] = set()
        step, again = RolloutStep(act, "", ""), True
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

    def _round(self, step: RolloutStep) -> tuple[RolloutStep, list[Partitions], bool]:
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
        given_up, lost = self.given_back, 0
        self.given_back = NONE
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
    return built.with_claims(*np.array(pairs, np.int64).reshape(-1, 2).T)
