"""Round: a group that is offered to a client, and the client's plan of it."""

from __future__ import annotations

import threading
from collections import defaultdict
from dataclasses import dataclass, field
from time import monotonic, perf_counter
from typing import TYPE_CHECKING

from groups import Failed, Refused
from heuristics.assignor import TimedOut, Unavailable
from heuristics.shipped.client import joining
from heuristics.shipped.probe import wire
from heuristics.shipped.probe.names import OWN_TOPIC, SPARE_TOPICS, Names, Told
from heuristics.shipped.probe.wire import Software, types, user_data_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from groups import Group
    from heuristics.shipped.probe.wire import Held


class Late(TimedOut):
    """The client leads, and its assignor exceeded its time limit."""


class Absent(Unavailable):
    """No client joined in time."""


class Unread(Refused):
    """The client reads topics of its own choice, and no member of the group reads just these."""


class OwnTopicsOnly(Refused):
    """The client assigns only the topics that it reads itself, whatever the members read."""


class Stopwatch:
    """Measures a client's own time: it stops while the coordinator owes the client an answer."""

    def __init__(self, *, running: bool = False) -> None:
        self.started = running
        self._owed: list[object] = []
        # (total seconds, start of the running period); one tuple, as another thread reads it.
        self._state: tuple[float, float | None] = (0.0, perf_counter() if running else None)
        self._paused = 0.0

    @property
    def seconds(self) -> float:
        """Seconds until now."""
        total, since = self._state
        return total if since is None else total + perf_counter() - since

    def pause(self, who: object, at: float) -> None:
        """Stop because a connection asked for something, at `at` of ``perf_counter()``."""
        self._owed.append(who)
        total, since = self._state
        if since is not None:
            self._paused = at
            self._state = (total + at - since, None)

    def go_on(self, who: object) -> None:
        """Record that a connection was answered; run again if no other answer is owed."""
        if who in self._owed:
            self._owed.remove(who)
        self._run()

    def forget(self, who: object) -> None:
        """Drop a closed connection, which is owed nothing any more."""
        self._owed = [owed for owed in self._owed if owed is not who]
        self._run()

    def _run(self) -> None:
        total, since = self._state
        if self.started and since is None and not self._owed:
            self._state = (total, perf_counter())

    def stop(self, at: float) -> float:
        """Stop for good, and return the seconds until `at`.

        If an answer is still owed, the client did not wait for it, so the time since it asked
        counts.
        """
        total, since = self._state
        self._state = (total + at - (self._paused if since is None else since), None)
        self.started = False
        return self._state[0]


@dataclass(eq=False)
class Round:
    """A group that is offered to a client, and the client's plan of it.

    Attributes
    ----------
    group : the group
    protocol : the assignor's name on the wire; None: the one that the client prefers
    leader : index of the member that the client plays
    awaits_metadata : whether the client is known to wait for metadata before it assigns; if not,
        its plans have to show whether they were made with it
    chosen, software : the assignor's name and the client's software, once it joined
    held : the plan; None before it arrives, and if there is none
    error : why there is no plan
    plans : number of plans that the client sent; all but the last may have been made without
        metadata
    seconds : from sending the last JoinGroup response to receiving the SyncGroup request, less the
        coordinator's own time for Metadata requests in between. It covers decoding the members,
        the assignor, encoding the plan and the way over loopback
    watch : measures these seconds while the client leads
    since : start of the present wait for a client, by ``monotonic()``
    over : set when the plan has arrived, or will not come
    reads : topics of its own choice that the client reads, as text; "" if there are none
    number : number of the round, which is part of the topics' names
    names : names of the topics on the wire
    told : by client id, which metadata of the topics the client got
    """

    group: Group
    protocol: str | None = None
    leader: int = 0
    awaits_metadata: bool = False
    chosen: str = ""
    software: Software = field(default_factory=Software)
    held: list[Held] | None = None
    error: Failed | Refused | None = None
    plans: int = 0
    seconds: float = 0.0
    watch: Stopwatch = field(default_factory=Stopwatch)
    since: float = field(default_factory=monotonic)
    over: threading.Event = field(default_factory=threading.Event)
    reads: str = ""
    number: int = 0

    def __post_init__(self) -> None:
        """Use the group's names of topics, until they get others."""
        self.index = {name: i for i, name in enumerate(self.group.members)}
        self.set_names(Names.kept(self._topics))

    @property
    def _topics(self) -> tuple[str, ...]:
        return (*self.group.topics, *self.group.absent_topics)

    def set_number(self, number: int) -> None:
        """Number the round, and give its topics names that no other round has."""
        self.number = number
        self.set_names(Names.unique(self._topics, number))

    def set_names(self, names: Names) -> None:
        """Give the topics names on the wire."""
        self.names = names
        self.topics = {names.sent[name]: i for i, name in enumerate(self.group.topics)}
        read = {
            wired: int(self.group.partitions[i])
            for wired, i in self.topics.items()
            if self.group.readers[i] and self.group.partitions[i]
        }
        self.told: dict[str, Told] = defaultdict(
            lambda: Told(read, unique=names.are_new, awaited=self.awaits_metadata)
        )

    def wait_for_client(self) -> None:
        """Start waiting for a client that joins, or for the JoinGroup response to be sent."""
        self.watch, self.since = Stopwatch(), monotonic()

    def lead(self) -> None:
        """Start waiting for the plan of the client."""
        self.watch = Stopwatch(running=True)

    @property
    def led(self) -> bool:
        """Whether a client leads now."""
        return self.watch.started

    def late(self, seconds: float, join: float, *, spent: float = 0.0) -> Late | Absent | None:
        """Return an error if the time is up, else None.

        Parameters
        ----------
        seconds : limit of the client's own time, from the JoinGroup response to its plan
        join : limit of its time to join, also to join again
        spent : seconds of its own time in earlier rounds for the same plan
        """
        if spent + self.watch.seconds > seconds:
            return Late(f"no answer within {seconds:g} s", seconds)
        if not self.led and monotonic() - self.since > join:
            who = "the client did not join again" if self.chosen else "no client joined"
            return Absent(f"{who} within {join:g} s")
        return None

    def topic(self, name: str) -> int | None:
        """Return the index of the topic with a name, on the wire or in the group, or None."""
        return self.topics.get(self.names.sent.get(name, name))

    def stand_for(self, own: bytes) -> None:
        """Choose the member that the client plays, and the names of topics, by what it reads.

        If it reads the probe's own topic, it plays `leader`. If it reads spare topics, it does
        too, and that member's topics are named after spare ones. If it reads topics of the group,
        it plays the first member that reads just these, and topics keep their names.

        Parameters
        ----------
        own : the client's own subscription

        Raises
        ------
        Unread
            If no member reads just these, or the member reads more topics than the client.
        """
        reads = set(wire.topics_read(own))
        if not reads or OWN_TOPIC in reads:
            return
        rows = [set(said.subscription) for said in joining(self.group)]
        if reads <= set(SPARE_TOPICS):
            mine = rows[self.leader]
            if len(mine) > len(reads):
                raise Unread(f"{self.me} reads {len(mine)} topics, the client {len(reads)}")
            names = Names.among(self._topics, mine, reads, self.number)
        else:
            self.reads = _listed(reads)
            if reads not in rows:
                raise Unread(f"no member reads just what the client does: {self.reads}")
            self.leader = rows.index(reads)
            names = Names.kept(self._topics)
        # If the client joins again, the names are the same, and so is the metadata that it got.
        if names != self.names:
            self.set_names(names)

    @property
    def client_id(self) -> str:
        """The client's id, once it joined."""
        return self.software.client_id

    @property
    def me(self) -> str:
        """The member that the client plays."""
        return self.group.members[self.leader]

    def is_cooperative(self) -> bool:
        """Return whether members send owned partitions, by the assignor's name."""
        return "cooperative" in self.chosen

    def members(self, own: bytes) -> list[object]:
        """Return the members as listed in the JoinGroup response.

        Parameters
        ----------
        own : the client's own subscription, whose version is used for all members

        Raises
        ------
        Refused
            If a member holds partitions, and the user data format of the client is not known.
        """
        members = joining(self.group)
        kind = user_data_of(self.software, self.chosen, members)
        cooperative, version = self.is_cooperative(), wire.version_like(own)
        return [
            types().JoinGroupResponse.JoinGroupResponseMember(
                member_id=said.member_id,
                group_instance_id=said.instance_id,
                metadata=wire.encode_subscription(
                    said,
                    cooperative=cooperative,
                    kind=kind,
                    names=self.names.sent,
                    version=version,
                ),
            )
            for said in members
        ]

    def with_group_names(self, text: str) -> str:
        """Return a message of the client with the group's names of topics."""
        for wired, name in self.names.back.items():
            text = text.replace(wired, name)
        return text

    def take(self, planned: Iterable[Held]) -> bool:
        """Accept a plan with names of the wire, if it was surely made with the metadata.

        Returns
        -------
        bool
            False if it may have been made before the client had the metadata.

        Raises
        ------
        OwnTopicsOnly
            If it assigns the probe's own topic, which no member reads.
        """
        self.plans += 1
        numbers: dict[str, list[int]] = {}
        held = []
        for member, topic, number in planned:
            numbers.setdefault(topic, []).append(number)
            held.append((member, self.names.back.get(topic, topic), number))
        if OWN_TOPIC in numbers and OWN_TOPIC not in self.topics:
            raise OwnTopicsOnly(
                "the client deals out what it reads itself: it has to read "
                f"{SPARE_TOPICS[0]} to {SPARE_TOPICS[-1]}, instead of {OWN_TOPIC}"
            )
        if not self.told[self.client_id].is_made_on_it(numbers):
            return False
        self.held = held
        return True

    def result(self) -> tuple[list[Held], float]:
        """Return the plan as (member index, topic, partition number), and the seconds it took.

        Raises
        ------
        Failed
            If the client made none.
        Refused
            If the group could not be offered to the client, or its plan could not be used.
        """
        if self.error is not None:
            raise self.error
        if self.held is None:
            raise Failed("no plan yet")
        return self.held, self.seconds


def _listed(topics: Iterable[str]) -> str:
    return ", ".join(sorted(topics))[:100]
