"""Service: an ordinary consumer group and all its rebalances of a week, drawn by seed.

``docs/findings/how-often.md`` says what is drawn, and why.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

Kind = Literal["alike", "new-topic", "roles", "overlapping"]
KINDS: tuple[Kind, ...] = ("alike", "new-topic", "roles", "overlapping")
# The kinds of each four drawn services; their weights in the rates are set elsewhere.
MIXED: tuple[Kind, ...] = ("alike", "new-topic", "roles", "roles")
FEWEST, MOST = 2, 50
# Probabilities of one to six topics.
TOPICS = (0.35, 0.25, 0.15, 0.10, 0.08, 0.07)
PARTITIONS = (3, 4, 6, 8, 10, 12, 16, 20, 24, 30, 32, 36, 40, 48, 50, 60, 64, 80, 96, 100)
SAME_COUNT, STATIC, SURGE, BY_QUARTERS = 0.5, 0.15, 0.5, 0.4
SCALED_DAILY, PATTERN, GROWS = 0.5, 0.1, 0.15
THREE_ROLES, FOUR_ROLES, READS = 0.3, 0.3, 0.5
DAYS, MOST_AT_ONCE, MOST_DEPLOYS = 7, 3, 3
SCALED_BY_HAND, REPLACED = 0.5, 1.0


# The `topics` and `members` of a group at one rebalance, as in its document, without ownership.
Stage: TypeAlias = "dict[str, dict[str, Any]]"


@dataclass(frozen=True)
class Service:
    """A service and its week.

    Attributes
    ----------
    number : its number; together with the seed and `only`, it determines the service
    kind : "alike": all read the same topics all week; "new-topic": alike except for one deployment
        that adds a topic; "roles": every member reads the first topics, some also others;
        "overlapping": roles without a topic that all read
    stages : the group at each rebalance
    """

    number: int
    kind: Kind
    stages: tuple[Stage, ...]


def service(seed: int, number: int, only: Kind | None = None) -> Service:
    """Draw a service: the same for the same seed and number.

    Parameters
    ----------
    only : its kind; None: kinds are mixed
    """
    kind = MIXED[number % len(MIXED)] if only is None else only
    drawn_from = [seed, number] if only is None else [seed, number, 1 + KINDS.index(only)]
    week = _Week(np.random.default_rng(drawn_from), kind)
    week.play()
    return Service(number, kind, tuple(week.stages))


class _Week:
    """The state of a service during its week."""

    def __init__(self, rng: np.random.Generator, kind: Kind) -> None:
        self.rng, self.kind = rng, kind
        self.stages: list[Stage] = []
        # The topics of each role in the deployed version, partition counts, and names of topics.
        self.roles, self.partitions, self.names = self._draw_topics()
        most = min(MOST, max(self.partitions[: len(self.roles[0])]))
        size = int(np.exp(rng.uniform(np.log(FEWEST), np.log(most + 1))))
        size = max(FEWEST, len(self.roles), size)
        self.is_static, self.surges = rng.random() < STATIC, rng.random() < SURGE
        self.by_quarters = rng.random() < BY_QUARTERS
        # (role, member id, topics) of each member, by slot.
        self.slots: dict[int, tuple[int, str, tuple[int, ...]]] = {}
        self.slots_used = 0
        weights = rng.dirichlet(np.full(len(self.roles), 3.0))
        drawn = rng.choice(len(self.roles), size - len(self.roles), p=weights).tolist()
        self._start([*range(len(self.roles)), *drawn])
        self._rebalance()

    def play(self) -> None:
        """Play all events of the week, in an order drawn by seed."""
        rng = self.rng
        deploys = int(rng.integers(1, MOST_DEPLOYS + 1))
        events = ["deploy"] * deploys + ["replace"] * int(rng.poisson(REPLACED))
        events += ["scale"] * (
            2 * DAYS if rng.random() < SCALED_DAILY else int(rng.poisson(SCALED_BY_HAND))
        )
        events += ["grow"] * int(rng.random() < GROWS)
        if self.kind == "alike":
            events += ["pattern"] * int(rng.random() < PATTERN)
        rng.shuffle(events)
        adds = int(rng.integers(deploys)) if self.kind == "new-topic" else -1
        up = True
        for event in events:
            if event == "deploy":
                if adds == 0:
                    self._add_topic()
                adds -= 1
                self._deploy()
            elif event == "replace":
                self._replace()
            elif event == "scale":
                self._scale(up)
                up = not up
            elif event == "grow":
                self._grow()
            else:
                self._add_topic()
                self.slots = {
                    slot: (role, member, self.roles[role])
                    for slot, (role, member, _) in self.slots.items()
                }
                self._rebalance()

    def _draw_topics(self) -> tuple[list[tuple[int, ...]], list[int], list[str]]:
        rng = self.rng
        count = 1 + int(rng.choice(len(TOPICS), p=TOPICS))
        if self.kind in ("roles", "overlapping"):
            count = max(count, 2)
        elif len(TOPICS) == count:
            # A topic may be added later.
            count -= 1
        chosen = rng.choice(PARTITIONS, count).tolist()
        if rng.random() < SAME_COUNT:
            chosen = [chosen[0]] * count
        # The order of names differs from that of indices.
        names = [f"topic-{letter}" for letter in rng.permutation(list("abcdef")).tolist()]
        if self.kind in ("alike", "new-topic"):
            return [tuple(range(count))], chosen, names
        if self.kind == "overlapping":
            return self._overlapping(count), chosen, names
        roles = 3 if rng.random() < THREE_ROLES else 2
        shared = int(rng.integers(1, count))
        reads = [list(range(shared)) for _ in range(roles)]
        for topic in range(shared, count):
            reads[int(rng.integers(roles))].append(topic)
        # A role that reads just the shared topics, if there is one, comes first.
        return sorted(map(tuple, reads), key=len), chosen, names

    def _overlapping(self, count: int) -> list[tuple[int, ...]]:
        """Draw what three or four roles read: no topic is read by all, and each by some."""
        while True:
            roles = 4 if self.rng.random() < FOUR_ROLES else 3
            reads = self.rng.random((roles, count)) < READS
            # Every topic has a role that reads it and one that does not, and every role a topic.
            read = reads.any(axis=0).all() and reads.any(axis=1).all()
            if read and not reads.all(axis=0).any():
                return sorted((tuple(np.flatnonzero(row).tolist()) for row in reads), key=len)

    def _start(self, roles: Sequence[int]) -> None:
        for role in roles:
            self.slots[self.slots_used] = (role, self._id(self.slots_used), self.roles[role])
            self.slots_used += 1

    def _id(self, slot: int) -> str:
        drawn = f"{int(self.rng.integers(2**32)):08x}"
        return f"app-{slot}-{drawn}" if self.is_static else f"app-{drawn}"

    def _rebalance(self) -> None:
        """Append the present group as a stage."""
        members: dict[str, Any] = {}
        for slot, (_, member, reads) in self.slots.items():
            members[member] = {"subscription": sorted(self.names[topic] for topic in reads)}
            if self.is_static:
                members[member]["instance_id"] = f"app-{slot}"
        used = 1 + max(max(reads) for _, _, reads in self.slots.values())
        topics = dict(sorted(zip(self.names[:used], self.partitions, strict=False)))
        self.stages.append({"topics": topics, "members": dict(sorted(members.items()))})

    def _scale(self, up: bool) -> None:
        there = len(self.slots)
        by = int(self.rng.integers(1, MOST_AT_ONCE + 1))
        if up:
            by = min(by, MOST - there)
            roles = [role for role, _, _ in self.slots.values()]
            self._start(self.rng.choice(roles, by).tolist())
        else:
            # At least one member of each role stays.
            free = self._free()
            by = min(by, len(free), there - FEWEST)
            for slot in self.rng.choice(free, by, replace=False).tolist() if by else []:
                del self.slots[slot]
        if by:
            self._rebalance()

    def _free(self) -> list[int]:
        """Return the slots of all but the first member of each role."""
        first = {role: slot for slot, (role, _, _) in reversed(self.slots.items())}
        return [slot for slot, (role, _, _) in self.slots.items() if first[role] != slot]

    def _replace(self) -> None:
        """Replace a dead member; a static one is back within its session, without a rebalance."""
        if not self.is_static:
            self._restart([int(self.rng.choice(list(self.slots)))], surges=False)

    def _deploy(self) -> None:
        """Restart all members, one by one or a quarter of them at a time."""
        slots = list(self.slots)
        width = -(-len(slots) // 4) if self.by_quarters else 1
        for start in range(0, len(slots), width):
            self._restart(slots[start : start + width], self.surges)

    def _restart(self, slots: Sequence[int], surges: bool) -> None:
        """Replace members by new ones of the deployed version.

        A static member comes back within its session, so there is a rebalance only if it reads
        other topics than before.
        """
        old = {slot: self.slots[slot] for slot in slots}
        new = {
            slot: (role, self._id(slot), self.roles[role]) for slot, (role, _, _) in old.items()
        }
        if self.is_static:
            if any(old[slot][2] != new[slot][2] for slot in slots):
                self.slots |= new
                self._rebalance()
            return
        if surges:
            # Old and new members overlap for a while; the old ones get negative slots.
            self.slots |= {-1 - slot: said for slot, said in old.items()} | new
            self._rebalance()
            for slot in slots:
                del self.slots[-1 - slot]
        else:
            for slot in slots:
                del self.slots[slot]
            self._rebalance()
        self.slots = {slot: (self.slots | new)[slot] for slot in sorted(self.slots | new)}
        self._rebalance()

    def _grow(self) -> None:
        """Double the partitions of a topic, up to 100."""
        topic = int(self.rng.integers(len(self.partitions)))
        if self.partitions[topic] < PARTITIONS[-1]:
            self.partitions[topic] = min(2 * self.partitions[topic], PARTITIONS[-1])
            self._rebalance()

    def _add_topic(self) -> None:
        """Make the next deployed version read one more topic."""
        self.roles = [(*reads, len(self.partitions)) for reads in self.roles]
        self.partitions.append(int(self.rng.choice(PARTITIONS)))
