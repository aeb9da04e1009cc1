"""Library: a client whose assignors are called in memory, by a small program in its language.

The program makes of each member what that member of the client would send, and does what the
client's leader does with it.
"""

from __future__ import annotations

import atexit
import json
import subprocess
from contextlib import suppress
from dataclasses import dataclass
from functools import cache, partial
from typing import TYPE_CHECKING, Any, ClassVar, Generic, TypeVar

from groups import Assignment, Failed
from heuristics.assignor import Plan
from heuristics.shipped.client import COOPERATIVE, in_rounds, joining
from heuristics.shipped.consumers.go_driver import GoDriver
from heuristics.shipped.consumers.last_words import DYING_SECONDS, LastWords, obituary
from heuristics.shipped.consumers.node_driver import NodeDriver

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

    def plan(self, group: Group, assignor: str, version: str) -> Plan:
        """Return the plan that the client's leader makes of the group.

        A cooperative assignor is asked again until nobody must revoke; its last plan counts.

        Raises
        ------
        Failed
            Where the client makes no plan, or its program dies.
        """
        return in_rounds(
            group, assignor, partial(self.one_round, assignor=assignor, version=version)
        )

    def one_round(self, group: Group, assignor: str, version: str) -> Plan:
        """Call the assignor once: a cooperative one withholds what members must first revoke.

        Raises
        ------
        Failed
            As `plan` does.
        """
        if not group.members:
            return Plan(Assignment.from_holdings(group, []))
        program = _program(self.driver.command(version))
        answer = program.answer({"assignor": assignor, **as_joined(group)})
        index = {member: m for m, member in enumerate(group.members)}
        held = [
            (index[member], topic, number)
            for member, topics in answer["plan"].items()
            for topic, numbers in topics.items()
            for number in numbers
        ]
        made = Assignment.from_holdings(group, sorted(held))
        return Plan(made, seconds=float(answer["seconds"]))

    def missing(self, assignor: str, version: str) -> str | None:
        """Return why an assignor of a version cannot be called here; None where it can."""
        return self.driver.missing(assignor, version)

    def fetch(self, version: str) -> None:
        """Bring, build or install what a version needs.

        Raises
        ------
        BadInput
            Where that cannot be done.
        """
        self.driver.fetch(version)


class _Program:
    """A program that answers each line of JSON with one, started again when it has died.

    It ends when nobody holds its standard input any more, so with this process at the latest.
    """

    def __init__(self, command: tuple[str, ...]) -> None:
        self._command = command
        self._process: subprocess.Popen[bytes] | None = None

    def answer(self, asked: object) -> Any:
        """Return the answer to a document.

        Raises
        ------
        Failed
            Where it is an error, or the program dies.
        """
        if self._process is None:
            pipe = subprocess.PIPE
            self._process = subprocess.Popen(self._command, stdin=pipe, stdout=pipe, stderr=pipe)
            self._said = LastWords(self._process)
        process = self._process
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            # Of one that has died, its end says how.
            with suppress(BrokenPipeError):
                process.stdin.write(json.dumps(asked).encode() + b"\n")
                process.stdin.flush()
            line = process.stdout.readline()
        except BaseException:
            # Ctrl-C here: its answer would be taken for the next one's.
            self.close()
            raise
        if not line:
            code, words = self._bury()
            raise Failed(obituary(code, words))
        answer = json.loads(line)
        if answer.get("error"):
            raise Failed(answer["error"])
        return answer

    def close(self) -> None:
        """End the program; the next call starts it again."""
        if self._process is not None:
            self._process.kill()
            self._bury()

    def _bury(self) -> tuple[int, str]:
        process, self._process = self._process, None
        assert process is not None
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            code = process.wait(DYING_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            code = process.wait()
        process.stdout.close()
        with suppress(BrokenPipeError):
            process.stdin.close()
        return code, self._said.close()


@cache
def _program(command: tuple[str, ...]) -> _Program:
    """Return the program of that command, kept for the following calls in this process."""
    program = _Program(command)
    atexit.register(program.close)
    return program


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
