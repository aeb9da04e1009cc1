"""Mixed group: a simulation, round by round, of members that list different assignors.

It tracks what each member holds, which protocol it follows, and whether it may commit.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from itertools import chain
from typing import TYPE_CHECKING

import numpy as np

from compare.scenarios.course import NOW, START, held_now
from compare.scenarios.rollout import Act, Rollout, RolloutStep, Rule
from groups import BadInput, Failed, Group, Refused
from groups.columns.places import MemberDetails
from groups.errors import require_one_of
from heuristics import WRITTEN
from heuristics.protocol import (
    AS_WRITTEN,
    Choice,
    Protocol,
    choose,
    loses_partitions,
    static_protocol,
)
from heuristics.written import kip54

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from groups import Assignment

Partitions = frozenset[int]
NONE: Partitions = frozenset()


@dataclass
class Holder:
    """A member's own view of its state.

    Attributes
    ----------
    assignors : its list
    holds, remembers : partitions that it reads; its last assignment, which sticky remembers
    may_commit : whether it would commit
    away : whether it misses rebalances without noticing
    fenced : whether it has missed one, so that it loses what it holds when it joins
    """

    assignors: tuple[str, ...]
    protocol: Protocol
    holds: Partitions = NONE
    remembers: Partitions = NONE
    may_commit: bool = True
    away: bool = False
    fenced: bool = False


def assign_round(
    group: Group, choice: Choice, present: Mapping[str, Holder]
) -> tuple[dict[str, Partitions], int]:
    """Return what each member gets in one round, and how many partitions nobody gets.

    Only partitions that a present member reads count.

    Raises
    ------
    BadInput
        If there is no written form of the chosen assignor.
    """
    names = sorted(present)
    cooperative = choice.protocol is Protocol.COOPERATIVE
    held = {m: present[m].holds for m in names}
    known = {m: present[m].remembers for m in names} if choice.assignor == "sticky" else held
    now = _as_group(group, names, known)
    if not cooperative:
        require_one_of("rollout", choice.assignor, AS_WRITTEN)
    written = kip54.sticky if cooperative else WRITTEN[AS_WRITTEN[choice.assignor]].function
    member, partition = written(now).assignment.holdings
    given = {m: frozenset(partition[member == i].tolist()) for i, m in enumerate(names)}
    if cooperative:
        owners = {p: m for m, mine in held.items() for p in mine}
        given = {m: frozenset(p for p in given[m] if owners.get(p, m) == m) for m in names}
    read = np.flatnonzero(now.readers[now.topic] > 0).tolist()
    return given, len(set(read) - set(chain.from_iterable(given.values())))


def _as_group(group: Group, names: Sequence[str], held: Mapping[str, Partitions]) -> Group:
    """Return the group of the present members, with what they own."""
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
    known = dict(zip(group.members, group.details, strict=False))
    ids = [known.get(m, MemberDetails()).instance_id for m in names]
    built = replace(built, details=tuple(MemberDetails(instance_id=one) for one in ids))
    pairs = [(i, p) for i, m in enumerate(names) for p in sorted(held[m])]
    return built.with_claims(*np.array(pairs, np.int64).reshape(-1, 2).T)


MOST_ROUNDS = 50


def perform(
    group: Group,
    name: str,
    rule: Rule,
    first: Mapping[str, Sequence[str]],
    acts: Sequence[Act],
) -> Rollout:
    """Start members with their lists of assignors, then perform the acts one by one.

    The members begin with what they hold now. If that is nothing or not valid, or `first` does not
    have the group's members, all start with nothing. A member in an act that the group does not
    have reads all topics. After every act the group rebalances until no member has to join again.
    A member that joins or returns without an assignor that all support is turned away, and is no
    longer a member.

    The KIPs leave these points open, which the model decides. A member of the eager protocol gives
    up what it holds before it joins, so cooperative-sticky has nothing to keep for it, while
    sticky itself remembers its last assignment. A member joins a rebalance with the protocol from
    the rebalance before. The broker fences a member that missed a rebalance: it refuses commits
    of an old generation, which KIP-726 relies on where it says that two members may believe to be
    owners. When that member joins again, it loses what it holds. A cooperative member that holds
    nothing loses nothing when an eager assignor is chosen, so it need not join again. In a
    cooperative round (KIP-429), a partition that another member still owns is withheld from its
    new owner. Members sort by instance id if they have one, as range sorts them. Restarts of
    static members without a rebalance (KIP-345) are left out.

    Source: KIP-726, "Proposed Changes"; KIP-429.

    Raises
    ------
    BadInput
        If the first lists have no assignor in common, or an act does not fit its member, which is
        unknown, a member already, away, or not away; or if it would leave no member present.
    Failed
        If the group does not come to rest within 50 rounds.
    """
    try:
        choose(first)
    except Refused as refusal:
        raise BadInput(f"first: {refusal}") from None
    mixed = MixedGroup(group, rule)
    for member, assignors in first.items():
        mixed.start(member, tuple(assignors))
    now = held_now(group) if {*first} == {*group.members} else None
    steps = [mixed.rebalance(START) if now is None else mixed.begin(now)]
    for i, act in enumerate(acts):
        mixed.require_possible(act, f"acts[{i}]")
        refused = mixed.perform(act)
        steps.append(refused or mixed.rebalance(str(act)))
    return Rollout(name, rule, tuple(acts), tuple(steps))


class MixedGroup:
    """The group and its coordinator between two acts."""

    def __init__(self, group: Group, rule: Rule) -> None:
        self.group = group
        self.rule = rule
        self.members: dict[str, Holder] = {}
        self.given_back: Partitions = NONE
        self.deserted: Partitions = NONE

    def start(self, name: str, assignors: tuple[str, ...]) -> None:
        """Start or restart a member, which holds nothing then."""
        static = static_protocol(assignors)
        protocol = static if self.rule is Rule.STATIC else Protocol.EAGER
        self.members[name] = Holder(assignors, protocol)

    def begin(self, now: Assignment) -> RolloutStep:
        """Give members their current assignment, without a rebalance."""
        choice = choose({m: one.assignors for m, one in self._present()})
        member, partition = now.holdings
        for i, name in enumerate(self.group.members):
            one = self.members[name]
            one.holds = one.remembers = frozenset(partition[member == i].tolist())
            if self.rule is not Rule.STATIC:
                one.protocol = choice.protocol
        return RolloutStep(NOW, choice.assignor, self._protocol())

    def require_possible(self, act: Act, place: str) -> None:
        """Require that an act fits the state of its member.

        Raises
        ------
        BadInput
            If the member is unknown, a member already, away or not away, or the last one present.
        """
        one = self.members.get(act.member)
        if act.kind == "join":
            if one is not None:
                raise BadInput(f"{place}: {act.member!r} is a member already")
            return
        if one is None:
            raise BadInput(f"{place}: {act.member!r} is not a member at that time")
        if one.away != (act.kind == "return"):
            raise BadInput(f"{place}: {act.member!r} is {'' if one.away else 'not '}away")
        if not one.away and len(dict(self._present())) == 1:
            raise BadInput(f"{place}: {act.member!r} is the last one, nobody would be left")

    def perform(self, act: Act) -> RolloutStep | None:
        """Perform an act; return a step only if the coordinator turns the member away."""
        if act.kind == "leave":
            self.given_back = self.deserted = self.members.pop(act.member).holds
            return None
        if act.kind == "miss":
            self.members[act.member].away = True
            self.deserted = self.members[act.member].holds
            self.members[act.member].may_commit = self.rule is Rule.UNFENCED
            return None
        lists = {m: one.assignors for m, one in self._present()}
        known = self.members.get(act.member)
        joining = act.assignors if known is None else known.assignors
        try:
            choose({**lists, act.member: joining})
        except Refused as refusal:
            lost = 0 if known is None else len(self.members.pop(act.member).holds)
            return RolloutStep(
                str(act),
                choose(lists).assignor,
                self._protocol(),
                lost=lost,
                barred=self._barred(),
                refused=str(refusal),
            )
        if known is None:
            self.start(act.member, joining)
        else:
            known.away, known.fenced = False, True
        return None

    def rebalance(self, act: str) -> RolloutStep:
        """Rebalance, round by round, until no member has to join again."""
        before = {m: one.holds for m, one in self._present() if not one.fenced}
        deserted, self.deserted = self.deserted, NONE
        barred: set[str] = set()
        contested: set[str] = set()
        step, must_rejoin = RolloutStep(act, "", ""), True
        while must_rejoin:
            if step.rounds == MOST_ROUNDS:
                raise Failed(f"{act}: not at rest after {MOST_ROUNDS} rounds")
            step, commits, must_rejoin = self._round(step)
            barred |= set(self._barred())
            could = Counter(chain.from_iterable(commits))
            contested |= {self._label(p) for p, times in could.items() if times > 1}
        held = {m: one.holds for m, one in self._present()}
        owner = {p: m for m, mine in held.items() for p in mine}
        moves = sum(owner.get(p, m) != m for m, mine in before.items() for p in mine)
        return replace(
            step,
            moves=moves,
            change_hands=moves + len(deserted & set(owner)),
            protocol=self._protocol(),
            barred=tuple(sorted(barred)),
            contested=tuple(sorted(contested)),
        )

    def _round(self, step: RolloutStep) -> tuple[RolloutStep, list[Partitions], bool]:
        """Let all present members join once.

        Return the sums so far, the partitions for which each member could commit after the
        assignment, and whether a member has to join again.
        """
        present = dict(self._present())
        given_up, lost = self._give_up(present)
        choice = choose({m: one.assignors for m, one in present.items()})
        given, unowned = assign_round(self.group, choice, present)
        revoked, must_rejoin = sum(map(len, given_up)), False
        commits = [one.holds for one in self.members.values() if one.away and one.may_commit]
        for name, one in present.items():
            held, one.holds = one.holds, given[name]
            one.remembers = one.holds
            sees_eager = bool(held) and loses_partitions(one.protocol, choice.protocol)
            one.may_commit = not (sees_eager and self.rule in (Rule.DYNAMIC, Rule.UNFENCED))
            if one.may_commit:
                commits.append(held | one.holds)
                revoked += len(held - one.holds)
            else:
                lost += len(held)
            must_rejoin = must_rejoin or sees_eager or bool(held - one.holds)
            if self.rule is not Rule.STATIC:
                one.protocol = choice.protocol
        sums = replace(
            step,
            assignor=choice.assignor,
            rounds=step.rounds + 1,
            revoked=step.revoked + revoked,
            lost=step.lost + lost,
            ownerless=step.ownerless + unowned,
            stopped=step.stopped + len(frozenset(chain.from_iterable(given_up))),
        )
        return sums, commits, must_rejoin

    def _give_up(self, present: Mapping[str, Holder]) -> tuple[list[Partitions], int]:
        """Take away what members may not hold while they join.

        Return the partitions given up in an orderly way, and the number of lost ones.
        """
        given_up, lost = [self.given_back], 0
        self.given_back = NONE
        for one in present.values():
            if one.fenced:
                lost += len(one.holds)
            elif one.protocol is Protocol.EAGER:
                given_up.append(one.holds)
            else:
                continue
            one.holds, one.fenced = NONE, False
        return given_up, lost

    def _present(self) -> Iterator[tuple[str, Holder]]:
        return ((m, one) for m, one in sorted(self.members.items()) if not one.away)

    def _barred(self) -> tuple[str, ...]:
        return tuple(sorted(m for m, one in self.members.items() if not one.may_commit))

    def _label(self, partition: int) -> str:
        topic = self.group.topics[self.group.topic[partition]]
        return f"{topic}-{self.group.number[partition]}"

    def _protocol(self) -> str:
        found = {one.protocol for _, one in self._present()}
        return str(found.pop()) if len(found) == 1 else "mixed"
