"""Library: a client whose assignors are called in memory, by a small program in its language.

The program builds what each member of the client would send, and does what the client's leader
does with it.
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
    source : as users read it
    assignors : the names that members list
    driver : builds or installs the program that calls them
    repeatable : as in `Client`
    """

    keeps_time: ClassVar[bool] = False
    source: str
    assignors: tuple[str, ...]
    driver: Driver
    repeatable: bool = True

    @property
    def name(self) -> str:
        """As users write it."""
        return self.driver.client

    @property
    def language(self) -> str:
        """``go`` or ``node``."""
        return self.driver.language

    def versions(self) -> tuple[str, ...]:
        """Return the versions to list, newest first."""
        return self.driver.versions()

    def one_round(self, group: Group, assignor: str, version: str) -> Plan:
        """Call the assignor once, as the client's leader does.

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
        """Build or install what a version needs.

        Raises
        ------
        BadInput
            If that cannot be done.
        """
        self.driver.fetch(version)


_RUNNING: dict[tuple[str, ...], Program] = {}


def _answer(command: tuple[str, ...], asked: object) -> Any:
    """Return the answer of a program that answers each line of JSON with a line of JSON.

    The program is kept for later calls, and started again if it has died.

    Raises
    ------
    Failed
        If the answer is an error, or the program dies.
    """
    program = _RUNNING.get(command) or _RUNNING.setdefault(command, Program(command))
    try:
        # If the program has died, the empty answer below is reported with its reason.
        with suppress(BrokenPipeError):
            program.asked.write(json.dumps(asked).encode() + b"\n")
            program.asked.flush()
        line = program.told.readline()
    except BaseException:
        # After Ctrl-C, a late answer would be taken for that of the next call.
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
    """Return a group as the programs read it: its topics, and what each member sends."""
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


# Since 1.22, where balance, racks and moves became exact, franz-go uses racks only with an option
# that is off by default, as it is here; before that, it uses the rack of a partition's leader.
# Source: ``kgo.RangeBalancer``, ``RoundRobinBalancer``, ``StickyBalancer`` and
# ``CooperativeStickyBalancer``, called as ``balanceGroup`` does.
FRANZ_GO = Library(
    source="franz-go's balancers, called in memory",
    assignors=("range", "roundrobin", "sticky", "cooperative-sticky"),
    driver=GoDriver("franz-go", "github.com/twmb/franz-go", ("1.22.2", "1.21.7")),
    repeatable=False,
)

# Source: ``NewBalanceStrategyRange``, ``RoundRobin``, ``Sticky`` and ``CooperativeSticky``, called
# as ``consumerGroup.balance`` does.
SARAMA = Library(
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

# The leader in KafkaJS is the first member. It assigns the topics that it reads itself to all
# members, and no others, as it takes all subscriptions to be equal.
# Source: ``PartitionAssigners.roundRobin``, called as ``ConsumerGroup`` does when it syncs.
KAFKAJS = Library(
    source="KafkaJS's assigner, called in memory",
    assignors=("RoundRobinAssigner",),
    driver=NodeDriver("kafkajs", ("2.2.4",)),
)


def go_driver_of(client: str) -> GoDriver:
    """Return the driver of a client in Go."""
    return {one.name: one.driver for one in (FRANZ_GO, SARAMA)}[client]
