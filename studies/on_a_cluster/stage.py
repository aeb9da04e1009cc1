"""Stage: the consumers of a course on a broker, with a producer that writes to their topics."""

from __future__ import annotations

import time
from contextlib import suppress
from pathlib import Path
from threading import Event, Thread
from typing import TYPE_CHECKING

from broker import Consumer, ConsumerDied, settle
from studies.on_a_cluster.course import DEFAULTS

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from contextlib import ExitStack
    from typing import Any, Self

    from broker import Broker, Progress
    from studies.on_a_cluster.course import Course

    Partition = tuple[str, int]

ANSWER_SECONDS = 10.0
# Names of states as the console tool prints them.
STATES = {
    "PREPARING_REBALANCING": "PreparingRebalance",
    "COMPLETING_REBALANCING": "CompletingRebalance",
    "STABLE": "Stable",
    "EMPTY": "Empty",
    "ASSIGNING": "Assigning",
    "RECONCILING": "Reconciling",
    # librdkafka does not know these two states of a KIP-848 group.
    "UNKNOWN": "Assigning or Reconciling",
}
FLUSH_SECONDS = 10.0


class Flow:
    """A producer that writes records to all partitions at a fixed rate.

    Parameters
    ----------
    bootstrap : address of the broker
    topics : number of partitions of each topic
    rate : records per second and partition

    Attributes
    ----------
    rate : records per second and partition
    written : by (topic, partition number), the times of writing in seconds since 1970, by offset
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


GROUP = "orders"
RELEASE = "4.4.0"
RATE = 10.0
LOOK_SECONDS = 0.1
SETTLED_SECONDS = 1.0
SETTLING_SECONDS = 90.0
LONGEST_SECONDS = 900.0
VIEWS = {"state": ("--state",), "members": ("--members",), "partitions": ()}


class Stage:
    """The running consumers and producer of a course.

    Parameters
    ----------
    course : the course
    broker : a running broker without the topics of the course
    running : ends the consumers and the producer

    Attributes
    ----------
    consumers : running consumers, by client id
    flow : the producer
    """

    def __init__(self, course: Course, broker: Broker, running: ExitStack) -> None:
        from confluent_kafka.admin import AdminClient

        self.course, self._broker = course, broker
        self.consumers: dict[str, Consumer] = {}
        self._running = running
        self._up: set[str] = set()
        self._admin = AdminClient({"bootstrap.servers": broker.bootstrap, "log_level": 0})
        joining = course.joining
        for topic, partitions in joining.topics.items():
            placed = joining.placed.get(topic, ())
            nodes = [[joining.racks.index(rack) + 1 for rack in each] for each in placed]
            broker.create_topic(topic, partitions, nodes=nodes)
        self.flow = running.enter_context(Flow(broker.bootstrap, joining.topics, RATE))

    def start(self, member: str) -> None:
        """Start a member."""
        course, rack_of = self.course, self.course.joining.rack_of
        rack = {"client.rack": rack_of[member]} if member in rack_of else {}
        consumer = Consumer.start(
            course.kind,
            self._broker.bootstrap,
            GROUP,
            course.joining.reads[member],
            client_id=member,
            instance_id=member if course.static else None,
            assignor=course.assignor,
            config=DEFAULTS[course.kind] | rack,
            release=RELEASE if course.kind.startswith("java") else None,
            seconds=LONGEST_SECONDS,
        )
        self.consumers[member] = self._running.enter_context(consumer)
        self._up.discard(member)
        # In a thread, because it answers only when its client is loaded.
        Thread(target=self._wait_for, args=[member, consumer], daemon=True).start()

    def _wait_for(self, member: str, consumer: Consumer) -> None:
        with suppress(ConsumerDied):
            consumer.held()
        self._up.add(member)

    def join_one_by_one(self, members: list[str], say: Callable[[str], object]) -> None:
        """Start members one after the other, each after the group has settled."""
        joining = self.course.joining
        for member in members:
            self.start(member)
            while member not in self._up:
                time.sleep(LOOK_SECONDS)
            topics = {t: joining.topics[t] for m in self.consumers for t in joining.reads[m]}
            each = [*self.consumers.values()]
            held = settle(each, topics, SETTLED_SECONDS, SETTLING_SECONDS)
            loads = [sum(map(len, one.values())) for one in held]
            say(f"{member} has joined; partitions of each member: {loads}")

    def group(self) -> tuple[str, frozenset[str]]:
        """Return the group's state at the broker, and the client ids of its members."""
        asked = self._admin.describe_consumer_groups([GROUP])
        described = asked[GROUP].result(ANSWER_SECONDS)
        members = frozenset(str(each.client_id) for each in described.members)
        return STATES.get(described.state.name, described.state.name), members

    def progress(self) -> dict[str, Progress]:
        """Return the progress of each consumer; dead ones are removed from `consumers`."""
        found = {}
        for member in sorted(self._up & self.consumers.keys()):
            try:
                found[member] = self.consumers[member].progress()
            except ConsumerDied:
                del self.consumers[member]
        return found

    def holds(self, member: str) -> frozenset[Partition]:
        """Return the partitions that a consumer holds; empty if it is starting or dead."""
        if member in self._up:
            with suppress(ConsumerDied):
                held = self.consumers[member].assigned()
                return frozenset((topic, n) for topic, numbers in held.items() for n in numbers)
        return frozenset()

    def busy_seconds(self, member: str) -> dict[str, float]:
        """Return the seconds in which each thread of a consumer ran or waited for a processor.

        Waiting is included, because on a busy machine an endless loop gets less than one
        processor. Empty if the system does not tell.
        """
        found = {}
        for task in Path(f"/proc/{self.consumers[member].pid}/task").glob("*/schedstat"):
            with suppress(OSError):
                ran, waited, _ = task.read_text().split()
                found[task.parent.name] = (int(ran) + int(waited)) / 1e9
        return found

    def kill(self, member: str) -> None:
        """Kill a consumer."""
        self.consumers.pop(member).kill()

    def ends_when_asked(self, member: str) -> bool:
        """Ask a consumer to leave its group and end, or kill it; return whether it ended."""
        try:
            self.consumers.pop(member).stop()
        except ConsumerDied:
            return False
        return True

    def console(self) -> dict[str, list[str]]:
        """Return the output of the console tool on the group."""
        asked = ("consumer-groups", "--describe", "--group", GROUP)
        printed = {name: self._broker.tool(*asked, *view).stdout for name, view in VIEWS.items()}
        return {
            name: [line.rstrip() for line in text.splitlines() if line]
            for name, text in printed.items()
        }
