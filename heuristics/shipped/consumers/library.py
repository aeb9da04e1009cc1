"""Library: a client whose assignors are called in memory, by a small program in its language.

The program makes of each member what that member of the client would send, and does what the
client's leader does with it.
"""

from __future__ import annotations

import atexit
import json
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Generic, TypeVar

from groups import Assignment, Failed
from heuristics.assignor import Plan
from heuristics.shipped.client import COOPERATIVE, joining
from heuristics.shipped.consumers.go_driver import GoDriver
from heuristics.shipped.consumers.node_driver import NodeDriver
from heuristics.shipped.consumers.program import DYING_SECONDS, Program

if TYPE_CHECKING:
    from groups import Group


Driver = TypeVar("Driver", GoDriver, NodeDriver)


@dataclass(frozen=True)
class Library(Generic[Driver]):
    """A :class:`~heuristics.shipped.client.Client` in another language, called in memory.

    Attributes
    ----------
    name, source : as users read them
    assignors : the names that members list
    driver : brings the program that calls them
    repeatable : as of a client
    """

    keeps_time: ClassVar[bool] = False
    name: str
    source: str
    assignors: tuple[str, ...]
    driver: Driver
    repeatable: bool = True

    def versions(self) -> tuple[str, ...]:
        """Return the versions to list, newest first."""
        return self.driver.versions()

    def one_round(self, group: Group, assignor: str, version: str) -> Plan:
        """Call what the client's leader calls, once.

        A cooperative assignor withholds what members must first revoke.

        Raises
        ------
        Failed
            If the client makes no plan, or its program dies.
        """
        if not group.members:
            return Plan(Assignment.from_holdings(group, []))
        asked = {"assignor": assignor, **as_joined(group)}
        answer = _answer(self.driver.command(version), asked)
        made = Assignment.from_dict(group, answer["plan"])
        return Plan(made, seconds=float(answer["seconds"]))

    def missing(self, assignor: str, version: str) -> str | None:
        """Return why an assignor of a version cannot be called here; None if it can."""
        return self.driver.missing(assignor, version)

    def fetch(self, version: str) -> None:
        """Bring, build or install what a version needs.

        Raises
        ------
        BadInput
            If that cannot be done.
        """
        self.driver.fetch(version)


_RUNNING: dict[tuple[str, ...], Program] = {}


def _answer(command: tuple[str, ...], asked: object) -> Any:
    """Return the answer of a program that answers each line of JSON with one.

    It is kept for the following calls in this process, and started again when it has died.

    Raises
    ------
    Failed
        If the answer is an error, or the program dies.
    """
    program = _RUNNING.get(command) or _RUNNING.setdefault(command, Program(command))
    try:
        # Of one that has died, its end says how.
        with suppress(BrokenPipeError):
            program.asked.write(json.dumps(asked).encode() + b"\n")
            program.asked.flush()
        line = program.told.readline()
    except BaseException:
        # Ctrl-C here: its answer would be taken for the next one's.
        _RUNNING.pop(command).end()
        raise
    if not line:
        program.dies(DYING_SECONDS)
        raise Failed(_RUNNING.pop(command).end())
    answer = json.loads(line)
    if answer.get("error"):
        raise Failed(answer["error"])
    return answer


@atexit.register
def _end_all() -> None:
    for program in _RUNNING.values():
        program.end()


def as_joined(group: Group) -> dict[str, object]:
    """Return a group as the programs read it: its topics, and each member as it joins."""
    return {
        "topics": dict(zip(group.topics, group.partitions.tolist(), strict=True)),
        "racks": _racks_of_leaders(group),
        "members": [
            {
                "id": said.member_id,
                "instance": said.instance_id,
                "rack": said.rack,
                "topics": said.subscription,
                "owned": said.owned,
                "generation": said.generation,
            }
            for said in joining(group)
        ],
    }


def _racks_of_leaders(group: Group) -> dict[str, list[str]]:
    """Return by topic the rack of each partition's first replica, "" where it has none."""
    racks = group.racks
    if racks is None:
        return {}
    names = [
        next(iter(racks.of_set(one)), "") if one >= 0 else "" for one in racks.replicas.tolist()
    ]
    ends = zip(group.topics, group.first[:-1].tolist(), group.first[1:].tolist(), strict=True)
    return {topic: names[start:end] for topic, start, end in ends}


# From 1.22 on, where balance, racks and moves became exact, racks count for franz-go only with an
# option that is off unless asked for, as it is here; before that, the rack of a partition's leader
# counts. Source: ``kgo.RangeBalancer``, ``RoundRobinBalancer``, ``StickyBalancer`` and
# ``CooperativeStickyBalancer``, called as ``balanceGroup`` does.
FRANZ_GO = Library(
    name="franz-go",
    source="franz-go's balancers, called in memory",
    assignors=("range", "roundrobin", "sticky", "cooperative-sticky"),
    driver=GoDriver("franz-go", "github.com/twmb/franz-go", ("1.22.2", "1.21.7")),
    repeatable=False,
)

# Source: ``NewBalanceStrategyRange``, ``RoundRobin``, ``Sticky`` and ``CooperativeSticky``, called
# as ``consumerGroup.balance`` does.
SARAMA = Library(
    name="sarama",
    source="sarama's balance strategies, called in memory",
    assignors=("range", "roundrobin", "sticky", "cooperative-sticky"),
    driver=GoDriver(
        client="sarama",
        module="github.com/IBM/sarama",
        listed=("1.61.1",),
        since={COOPERATIVE: ("1.60.1", "eager")},
    ),
    repeatable=False,
)

# KafkaJS leads as the first member. The topics that this one reads are dealt out to everybody,
# those that it does not read to nobody: it takes all members to have the same subscription.
# Source: ``PartitionAssigners.roundRobin``, called as ``ConsumerGroup`` does when it syncs.
KAFKAJS = Library(
    name="kafkajs",
    source="KafkaJS's assigner, called in memory",
    assignors=("RoundRobinAssigner",),
    driver=NodeDriver("kafkajs", ("2.2.4",)),
)


def go_driver_of(client: str) -> GoDriver:
    """Return the driver of a client in Go."""
    return {one.name: one.driver for one in (FRANZ_GO, SARAMA)}[client]
