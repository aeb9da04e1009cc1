"""Play: runs a course on brokers of its own, and records what happens."""

from __future__ import annotations

import time
from contextlib import ExitStack
from dataclasses import dataclass, field
from threading import Thread
from typing import TYPE_CHECKING, NamedTuple

from broker import Broker
from studies.on_a_cluster.course import DEFAULTS
from studies.on_a_cluster.stage import Stage

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from broker import Progress, Read
    from studies.on_a_cluster.course import Course

    Partition = tuple[str, int]

LOOK_SECONDS = 0.5
# A poll takes 0.1 s, with kafka-python 1 s; on a busy machine the first one, which joins the
# group, may take some seconds.
HANGS_SECONDS = 8.0
UNREAD_SECONDS = 5.0


class Look(NamedTuple):
    """The state of the group and its consumers at one moment.

    Attributes
    ----------
    at : seconds since the start of the last member
    state : the group's state at the broker
    members : client ids of the group's members at the broker
    behind : number of written but unread records, of all partitions
    progress : by consumer
    """

    at: float
    state: str
    members: frozenset[str]
    behind: int
    progress: Mapping[str, Progress]


@dataclass
class Hang:
    """A poll that does not return.

    Attributes
    ----------
    member : the member
    began, left, restarted : seconds since the start of the last member: begin of the poll, the
        member's removal from the group, its kill and new start
    polls : number of polls that had returned before
    busy_share : share of the time since then in which its busiest thread ran or waited for a
        processor
    watched : length of the poll in seconds at the end of the course; None if it was not running
    ended : whether the consumer ended when it was asked to, at the end of the course
    """

    member: str
    began: float
    polls: int
    left: float | None = None
    restarted: float | None = None
    busy_share: float = 0.0
    watched: float | None = None
    ended: bool | None = None


@dataclass
class Played:
    """The record of a course.

    Attributes
    ----------
    course : the course
    looks : looks since the start of the last member
    reads : (member, read) since then
    hangs : in order of time
    died : time at which each dead consumer was found dead, in seconds as in `Look.at`
    during, after : output of the console tool in the first hang, and at the end
    unread : partitions that nobody reads at the end, with the seconds since the last read
    written : time of writing of each record, as in `Flow`
    before : number of records of each partition written before the start of the last member
    said : lines on what happened
    """

    course: Course
    looks: list[Look] = field(default_factory=list)
    reads: list[tuple[str, Read]] = field(default_factory=list)
    hangs: list[Hang] = field(default_factory=list)
    died: dict[str, float] = field(default_factory=dict)
    during: dict[str, list[str]] = field(default_factory=dict)
    after: dict[str, list[str]] = field(default_factory=dict)
    unread: dict[Partition, float] = field(default_factory=dict)
    written: dict[Partition, list[float]] = field(default_factory=dict)
    before: dict[Partition, int] = field(default_factory=dict)
    said: list[str] = field(default_factory=list)


def play(course: Course, say: Callable[[str], object]) -> Played:
    """Play a course, and return its record."""
    brokers: list[Broker] = []
    with ExitStack() as running, ExitStack() as consumers:
        for rack in course.joining.racks or [""]:
            properties = DEFAULTS["broker"] | ({"broker.rack": rack} if rack else {})
            started = Broker.start(properties=properties, beside=brokers[-1] if brokers else None)
            brokers.append(running.enter_context(started))
        return _Watch(Stage(course, brokers[0], consumers), say).result()


class _Watch:
    def __init__(self, stage: Stage, say: Callable[[str], object]) -> None:
        self.stage, self._tell = stage, say
        self.course = stage.course
        self.played = Played(stage.course)
        self._next: dict[Partition, int] = {}
        self._last_read: dict[Partition, float] = {}
        self._held: dict[str, frozenset[Partition]] = {}
        self._used: dict[str, tuple[float, dict[str, float]]] = {}
        self._asking: list[Thread] = []
        self._start = self._quiet_since = 0.0

    def result(self) -> Played:
        *first, last = self.course.joining.reads
        self.stage.join_one_by_one(first, self._say)
        self.stage.progress()
        self._next = {p: len(at) for p, at in self.stage.flow.written.items()}
        self.played.before = dict(self._next)
        self._held = {member: self.stage.holds(member) for member in first}
        self._start = time.monotonic()
        self._last_read = dict.fromkeys(self._next, 0.0)
        self.stage.start(last)
        self._say(f"{last} is started")
        while True:
            look = self._look()
            self._note_holdings(look)
            self._note_hangs(look)
            if self._is_over(look):
                break
            time.sleep(LOOK_SECONDS)
        self._end(look.at)
        return self.played

    def _say(self, line: str) -> None:
        self.played.said.append(line)
        self._tell(line)

    def _now(self) -> float:
        return time.monotonic() - self._start

    def _look(self) -> Look:
        running = {*self.stage.consumers}
        progress = self.stage.progress()
        at = self._now()
        for member in sorted(running - self.stage.consumers.keys()):
            self.played.died[member] = at
            self._say(f"{at:5.1f} s: {member} has died")
        for member, each in progress.items():
            for read in each.reads:
                self.played.reads.append((member, read))
                partition = read.topic, read.partition
                self._next[partition] = max(self._next.get(partition, 0), read.last + 1)
                self._last_read[partition] = max(self._last_read[partition], read.at - self._start)
        written = self.stage.flow.written
        behind = sum(max(0, len(each) - self._next[p]) for p, each in written.items())
        state, members = self.stage.group()
        before = self.played.looks[-1] if self.played.looks else None
        look = Look(at, state, members, behind, progress)
        self.played.looks.append(look)
        if before is None or (before.state, before.members) != (state, members):
            who = " ".join(sorted(members))
            self._say(f"{at:5.1f} s: {state}, members {who}; {behind} records behind")
        return look

    def _note_holdings(self, look: Look) -> None:
        for member in look.progress if self.course.says_who_holds else ():
            held = self.stage.holds(member)
            if held != self._held.get(member, frozenset()):
                names = " ".join(f"{topic}-{n}" for topic, n in sorted(held))
                self._say(f"{look.at:5.1f} s: {member} holds {names or 'nothing'}")
            self._held[member] = held

    def _note_hangs(self, look: Look) -> None:
        for member, each in look.progress.items():
            hang = self._hang_of(member)
            if hang is None and each.polls and each.poll_seconds > HANGS_SECONDS:
                self._note_hang(member, look)
            elif hang is not None and each.polls > hang.polls:
                self.played.hangs.remove(hang)
                self._say(f"{look.at:5.1f} s: the poll of {member} has returned")
            elif hang is not None:
                self._follow(hang, look)

    def _note_hang(self, member: str, look: Look) -> None:
        each = look.progress[member]
        for other in self.played.hangs:
            # Kill an earlier looping consumer, so that only one occupies a processor.
            over = other.left is not None and other.restarted is None
            if over and other.member in self.stage.consumers:
                self.stage.kill(other.member)
        began = look.at - each.poll_seconds
        self.played.hangs.append(Hang(member, began, each.polls))
        self._used[member] = self._now(), self.stage.busy_seconds(member)
        self._say(f"{look.at:5.1f} s: the poll of {member} does not return since {began:.1f} s")
        if not self._asking:
            # In a thread, because the tool is slow.
            self._asking.append(Thread(target=self._ask_console, daemon=True))
            self._asking[0].start()

    def _ask_console(self) -> None:
        self.played.during = self.stage.console()

    def _follow(self, hang: Hang, look: Look) -> None:
        if hang.left is None and hang.member not in look.members:
            hang.left = look.at
        at, busy = self._used[hang.member]
        if look.at > at:
            threads = self.stage.busy_seconds(hang.member)
            most = max((threads[t] - busy[t] for t in threads.keys() & busy), default=0.0)
            hang.busy_share = most / (self._now() - at)
        due = self.course.restart_seconds
        if due is not None and look.at - hang.began > due:
            self.stage.kill(hang.member)
            self.stage.start(hang.member)
            hang.restarted = self._now()
            self._say(f"{hang.restarted:5.1f} s: {hang.member} is killed and started again")

    def _hang_of(self, member: str) -> Hang | None:
        own = [h for h in self.played.hangs if h.member == member and h.restarted is None]
        return own[-1] if own else None

    def _is_over(self, look: Look) -> bool:
        if look.at > self.course.limit_seconds:
            self._say(f"{look.at:5.1f} s: it is ended here")
            return True
        alive = {m for m in self.stage.consumers if self._hang_of(m) is None}
        if look.state != "Stable" or not alive <= look.members:
            self._quiet_since = look.at
        return look.at - self._quiet_since > self.course.quiet_seconds

    def _end(self, at: float) -> None:
        self.played.written = self.stage.flow.written
        since = {partition: at - read for partition, read in sorted(self._last_read.items())}
        self.played.unread = {
            p: seconds for p, seconds in since.items() if seconds > UNREAD_SECONDS
        }
        for thread in self._asking:
            thread.join()
        self.played.after = self.stage.console()
        for hang in self.played.hangs:
            if hang.restarted is None and hang.member in self.stage.consumers:
                hang.watched = at - hang.began
                hang.ended = self.stage.ends_when_asked(hang.member)
