"""Stage: the consumers of a course on a broker, with records flowing to what they read.

A look at it says what is to be seen of the group and its consumers at one moment.
"""

from __future__ import annotations

import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from threading import Event, Thread
from typing import TYPE_CHECKING

from broker import Consumer, ConsumerDied, settle

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from contextlib import ExitStack
    from typing import Any, Self

    from broker import Broker, Progress
    from studies.on_a_cluster.course import Course

    Partition = tuple[str, int]

ANSWER_SECONDS = 10.0
# As the console tool writes them.
STATES = {
    "PREPARING_REBALANCING": "PreparingRebalance",
    "COMPLETING_REBALANCING": "CompletingRebalance",
    "STABLE": "Stable",
    "EMPTY": "Empty",
    "ASSIGNING": "Assigning",
    "RECONCILING": "Reconciling",
    # librdkafka has no words for those of a KIP-848 group.
    "UNKNOWN": "Assigning or Reconciling",
}


@dataclass(frozen=True)
class Look:
    """What was seen at one moment.

    Attributes
    ----------
    at : seconds after the last member was started
    state : of the group, as the broker says
    members : of the group, by client id
    behind : records that are written and not read, of all partitions
    progress : of each consumer
    """

    at: float
    state: str
    members: frozenset[str]
    behind: int
    progress: Mapping[str, Progress]


class Watcher:
    """What the broker says of one group, asked over one connection.

    Parameters
    ----------
    bootstrap : address of the broker
    group : which group
    """

    def __init__(self, bootstrap: str, group: str) -> None:
        from confluent_kafka.admin import AdminClient

        self._admin = AdminClient({"bootstrap.servers": bootstrap, "log_level": 0})
        self._group = group

    def says(self) -> tuple[str, frozenset[str]]:
        """Return the state of the group, and the client ids of its members."""
        asked = self._admin.describe_consumer_groups([self._group])
        told = asked[self._group].result(ANSWER_SECONDS)
        members = frozenset(str(each.client_id) for each in told.members)
        return STATES.get(told.state.name, told.state.name), members


def busy_seconds(pid: int) -> dict[str, float]:
    """Return of each thread of a process the seconds in which it ran or waited for a processor.

    On a machine with other work a thread that computes without end gets less than one processor,
    and waits for the rest. Empty where the system does not tell.
    """
    found = {}
    for task in Path(f"/proc/{pid}/task").glob("*/schedstat"):
        with suppress(OSError):
            ran, waited, _ = task.read_text().split()
            found[task.parent.name] = (int(ran) + int(waited)) / 1e9
    return found


FLUSH_SECONDS = 10.0


class Flow:
    """A producer that writes one record to each partition, again and again.

    Parameters
    ----------
    bootstrap : address of the broker
    topics : with their partition counts
    rate : records a second to each partition

    Attributes
    ----------
    rate : records a second to each partition
    written : by topic and partition number when each record was written, by its offset, in
        seconds since 1970
    """

    def __init__(self, bootstrap: str, topics: Mapping[str, int], rate: float) -> None:
        from confluent_kafka import Producer

        self.written: dict[tuple[str, int], list[float]] = {
            (topic, n): [] for topic, size in topics.items() for n in range(size)
        }
        self.rate = rate
        self._producer = Producer({"bootstrap.servers": bootstrap, "linger.ms": 1, "log_level": 0})
        self._end = Event()
        self._thread = Thread(target=self._write, daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._end.set()
        self._thread.join()

    def _write(self) -> None:
        due = time.monotonic()
        while not self._end.wait(max(0.0, due - time.monotonic())):
            for topic, partition in self.written:
                self._producer.produce(topic, b"0", partition=partition, on_delivery=self._note)
            self._producer.poll(0)
            due += 1 / self.rate
        self._producer.flush(FLUSH_SECONDS)

    def _note(self, error: object, record: Any) -> None:
        if error is None:
            at = self.written[record.topic(), record.partition()]
            assert record.offset() == len(at)
            at.append(record.timestamp()[1] / 1000)


RELEASE = "4.4.0"
RATE = 10.0
LOOK_SECONDS = 0.1
SETTLED_SECONDS = 1.0
SETTLING_SECONDS = 90.0
LONGEST_SECONDS = 900.0
VIEWS = {"state": ("--state",), "members": ("--members",), "partitions": ()}


class Stage:
    """Where a course is played.

    Parameters
    ----------
    course : what is played
    broker : a running broker without the topics of the course
    running : what ends the consumers

    Attributes
    ----------
    group : id of the group
    consumers : that run, by client id
    flow : the records that are written
    """

    def __init__(self, course: Course, broker: Broker, running: ExitStack) -> None:
        self.course, self.broker = course, broker
        self.group = "orders"
        self.consumers: dict[str, Consumer] = {}
        self._running = running
        self._up: set[str] = set()
        for topic, partitions in course.topics.items():
            nodes = [
                [course.racks.index(rack) + 1 for rack in each]
                for each in course.placed.get(topic, ())
            ]
            broker.create_topic(topic, partitions, nodes=nodes)
        self.flow = running.enter_context(Flow(broker.bootstrap, course.topics, RATE))

    def start(self, member: str) -> None:
        """Start a member."""
        course = self.course
        rack = {"client.rack": course.rack_of[member]} if member in course.rack_of else {}
        consumer = Consumer.start(
            course.kind,
            self.broker.bootstrap,
            self.group,
            course.reads[member],
            client_id=member,
            instance_id=member if course.static else None,
            assignor=course.assignor,
            config={**course.config, **rack},
            release=RELEASE if course.kind.startswith("java") else None,
            seconds=LONGEST_SECONDS,
        )
        self.consumers[member] = self._running.enter_context(consumer)
        self._up.discard(member)
        # It answers when its client is loaded; nobody else is to wait for that.
        Thread(target=self._wait_for, args=[member, consumer], daemon=True).start()

    def _wait_for(self, member: str, consumer: Consumer) -> None:
        with suppress(ConsumerDied):
            consumer.joined()
        self._up.add(member)

    def join_one_by_one(self, members: list[str], say: Callable[[str], None]) -> None:
        """Start members, each when those before it have settled."""
        for member in members:
            self.start(member)
            while member not in self._up:
                time.sleep(LOOK_SECONDS)
            topics = {t: self.course.topics[t] for m in self.consumers for t in self.reads(m)}
            each = [*self.consumers.values()]
            held = settle(each, topics, SETTLED_SECONDS, SETTLING_SECONDS)
            loads = [sum(map(len, one.values())) for one in held]
            say(f"{member} has joined; partitions of each member: {loads}")

    def reads(self, member: str) -> tuple[str, ...]:
        """Return the topics of a member."""
        return self.course.reads[member]

    def progress(self) -> dict[str, Progress]:
        """Return how far each consumer is; one that has died is taken off the list."""
        found = {}
        for member in sorted(self._up & self.consumers.keys()):
            consumer = self.consumers[member]
            with suppress(ConsumerDied):
                found[member] = consumer.progress()
            if member not in found:
                del self.consumers[member]
        return found

    def holds(self, member: str) -> frozenset[Partition]:
        """Return the partitions that a consumer holds; none of one that starts or has died."""
        if member not in self._up:
            return frozenset()
        try:
            held = self.consumers[member].assigned()
        except ConsumerDied:
            return frozenset()
        return frozenset((topic, n) for topic, numbers in held.items() for n in numbers)

    def busy_seconds(self, member: str) -> dict[str, float]:
        """Return how busy the threads of a consumer have been, as `busy_seconds` does."""
        return busy_seconds(self.consumers[member].pid)

    def kill(self, member: str) -> None:
        """Kill a consumer."""
        self.consumers.pop(member).kill()

    def ends_when_asked(self, member: str) -> bool:
        """Ask a consumer to leave its group and end; kill it where it does not in 20 s."""
        try:
            self.consumers.pop(member).stop()
        except ConsumerDied:
            return False
        return True

    def console(self) -> dict[str, list[str]]:
        """Return what the console tool prints of the group."""
        asked = ("consumer-groups", "--describe", "--group", self.group)
        return {
            name: [
                line.rstrip()
                for line in self.broker.tool(*asked, *view).stdout.splitlines()
                if line
            ]
            for name, view in VIEWS.items()
        }
