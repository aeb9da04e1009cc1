"""Consumers of one group on a real broker, and what each change of the group cost."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

from broker import Consumer, settle
from groups import Assignment, Group
from groups.tiers import values
from live.capture import capture
from live.connection import Connection
from optimal import solve
from tests.optimal.small_groups import document

if TYPE_CHECKING:
    from contextlib import ExitStack

    Held = dict[str, list[int]]

STILL = 0.6


class Members:
    """Consumers of one group, and the partitions that they held when last settled.

    topics : number of partitions of each
    assignors : that of each kind of consumer, where another one is not asked for
    alike : further arguments of `Consumer.start` that are the same for all
    """

    def __init__(
        self, running: ExitStack, bootstrap: str, group: str, topics, assignors=None, **alike
    ) -> None:
        self._running, self._bootstrap, self._group = running, bootstrap, group
        self._assignors, self._alike = assignors or {}, alike
        self.partitions: dict[str, int] = topics
        self.alive: dict[str, Consumer] = {}
        self.reads: dict[str, list[str]] = {}
        self.held: dict[str, Held] = {}

    def start(self, client_id: str, kind: str, topics=None, **more) -> None:
        self.reads[client_id] = [*(topics or self.partitions)]
        made = Consumer.start(
            *(kind, self._bootstrap, self._group, self.reads[client_id]),
            client_id=client_id,
            **{"assignor": self._assignors.get(kind)} | self._alike | more,
        )
        self.alive[client_id] = self._running.enter_context(made)

    def stop(self, client_id: str) -> None:
        self.alive.pop(client_id).stop()

    def kill(self, client_id: str) -> None:
        self.alive.pop(client_id).kill()

    def settled(self) -> tuple[list[int], list[int]]:
        """Wait; return balance and moves since the last call, and the least possible values."""
        before = self._settle()
        members = {
            member: {"subscription": self.reads[member], "owned": before.get(member, {})}
            for member in self.alive
        }
        return self._change(Group.from_dict(document(self.partitions, members)))

    def captured(self, objective: str = "balance > stickiness"):
        """Wait; return what a capture says: assignors, and the values as `settled` does."""
        before = self._settle()
        (captured,) = capture(Connection(self._bootstrap), [self._group]).documents
        said = {told["client_id"]: told for told in captured.document["members"].values()}
        members = {
            member: {"subscription": told["subscription"], "owned": before.get(member, {})}
            | ({"rack": told["rack"]} if "rack" in told else {})
            for member, told in said.items()
        }
        group = Group.from_dict({**captured.document, "members": members})
        assignors = {name for told in said.values() for name in told["assignors"]}
        return assignors, *self._change(group, objective)

    def _settle(self) -> dict[str, Held]:
        """Wait; return what each member held before."""
        read = {topic for member in self.alive for topic in self.reads[member]}
        counts = {topic: n for topic, n in self.partitions.items() if topic in read}
        each = settle([*self.alive.values()], counts, STILL)
        before, self.held = self.held, dict(zip(self.alive, each, strict=True))
        return before

    def _change(self, group: Group, objective: str = "balance > stickiness"):
        assignment = Assignment.from_dict(group, self.held)
        assignment.require_valid()
        best = solve(group, objective)
        return [*values(assignment, best.objective)], [term.value for term in best.terms]

    def require_best(self) -> None:
        """Wait; balance and moves must be the least possible."""
        found, best = self.settled()
        assert found == best

    def waits(self) -> dict[tuple[str, int], float]:
        """Return the longest time that a record of each partition waited until it was read."""
        found: defaultdict[tuple[str, int], float] = defaultdict(float)
        for one in self.alive.values():
            for read in one.progress().reads:
                partition = (read.topic, read.partition)
                found[partition] = max(found[partition], read.waited_seconds)
        return found

    def logs(self) -> str:
        return "".join(one.log() for one in self.alive.values())
