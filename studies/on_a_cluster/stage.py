"""Stage: the consumers of a course on a broker, with records flowing to what they read."""

from __future__ import annotations

import time
from contextlib import suppress
from threading import Thread
from typing import TYPE_CHECKING

from broker import Consumer, ConsumerDied, settle
from studies.on_a_cluster.flow import Flow
from studies.on_a_cluster.threads import busy_seconds

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import ExitStack

    from broker import Broker, Progress
    from studies.on_a_cluster.course import Course

    Partition = tuple[str, int]

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

    def join_one_by_one(self, members: list[str], say: Callable[[str], None]) -> dict[str, int]:
        """Start members, each when those before it have settled; return how many each holds."""
        held = []
        for member in members:
            self.start(member)
            while member not in self._up:
                time.sleep(LOOK_SECONDS)
            topics = {t: self.course.topics[t] for m in self.consumers for t in self.reads(m)}
            each = [*self.consumers.values()]
            held = settle(each, topics, SETTLED_SECONDS, SETTLING_SECONDS)
            loads = [sum(map(len, one.values())) for one in held]
            say(f"{member} has joined; partitions of each member: {loads}")
        return {m: sum(map(len, one.values())) for m, one in zip(members, held, strict=True)}

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
