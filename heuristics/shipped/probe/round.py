"""Round: a group that is put before a client, and what becomes of it."""

from __future__ import annotations

import threading
from collections import defaultdict
from dataclasses import dataclass, field
from time import monotonic, perf_counter
from typing import TYPE_CHECKING, TypedDict

from groups import Failed, Refused
from heuristics.assignor import TimedOut, Unavailable
from heuristics.shipped.client import joining
from heuristics.shipped.probe import wire
from heuristics.shipped.probe.names import OWN_TOPIC, SPARE_TOPICS, Names, Told
from heuristics.shipped.probe.wire import Software, types, user_data_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from groups import Group
    from heuristics.shipped.probe.wire import Held, UserData


class Late(TimedOut):
    """The client leads, and its assignor took longer than it may."""


class Absent(Unavailable):
    """No client joined within the time there is."""


class Unread(Refused):
    """No member of the group reads what the client reads, and it chose that itself."""


class OwnTopicsOnly(Refused):
    """The client deals out the topics that it reads itself, whatever the members read."""


class Manner(TypedDict, total=False):
    """How a group is put before a client: the attributes of a Round that can be chosen.

    Attributes
    ----------
    leader, cooperative, user_data, awaits_metadata : as of :class:`Round`
    """

    leader: int
    cooperative: bool | None
    user_data: UserData | None
    awaits_metadata: bool


class Stopwatch:
    """The time of a client alone: it stands still while the coordinator owes it an answer."""

    def __init__(self, *, running: bool = False) -> None:
        self.started = running
        self._owed: list[object] = []
        # Read by another thread: replaced as a whole.
        self._state: tuple[float, float | None] = (0.0, perf_counter() if running else None)
        self._paused = 0.0

    @property
    def seconds(self) -> float:
        """Seconds until now."""
        total, since = self._state
        return total if since is None else total + perf_counter() - since

    def pause(self, who: object, at: float) -> None:
        """Stand still since a connection asked for something, at a time of ``perf_counter()``."""
        self._owed.append(who)
        total, since = self._state
        if since is not None:
            self._paused = at
            self._state = (total + at - since, None)

    def go_on(self, who: object) -> None:
        """Run again, if nothing else is owed: a connection has been answered."""
        if who in self._owed:
            self._owed.remove(who)
        self._run()

    def forget(self, who: object) -> None:
        """Owe a connection nothing any more: it has closed."""
        self._owed = [owed for owed in self._owed if owed is not who]
        self._run()

    def _run(self) -> None:
        total, since = self._state
        if self.started and since is None and not self._owed:
            self._state = (total, perf_counter())

    def stop(self, at: float) -> float:
        """Return the seconds until a time; what the client did not wait for took none of them."""
        total, since = self._state
        self._state = (total + at - (self._paused if since is None else since), None)
        self.started = False
        return self._state[0]


@dataclass(eq=False)
class Round:
    """A group that is put before the client, and what became of it.

    Attributes
    ----------
    group : the group
    protocol : the assignor's name on the wire; None for the one the client prefers
    leader : index of the member that the client stands for
    cooperative : whether members send owned partitions; None for what the chosen assignor's name
        says
    user_data : the kind of the members' user data; None for that of the client
    awaits_metadata : whether the client is known to wait for what it asks for before it assigns;
        if not, its plans have to show whether they were made on it
    chosen, software : the assignor's name and what the client says that it is, once it joined
    held : the plan; None until it is there, and where there is none
    error : why there is none
    plans : how many plans the client sent; all but the last may have been made without metadata
    seconds : from the last JoinGroup response, sent, to the SyncGroup request, received, less what
        the coordinator itself took to answer requests for metadata in between: decoding the
        members, the assignor, encoding the plan and the way over loopback
    watch : measures these seconds while the client leads
    since : when a client was last waited for, by ``monotonic()``
    over : set when the plan is there, or will not come
    reads : topics of its own choice that the client reads, as people are told; "" where none
    number : of the round, which is in the topics' names
    names : what the topics are called on the wire
    told : by client id, what it was told of the topics
    """

    group: Group
    protocol: str | None = None
    leader: int = 0
    cooperative: bool | None = None
    user_data: UserData | None = None
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
        """Call the topics as the group does, until they get names of their own."""
        self.index = {name: i for i, name in enumerate(self.group.members)}
        self.call(Names.kept(self._topics))

    @property
    def _topics(self) -> tuple[str, ...]:
        return (*self.group.topics, *self.group.absent_topics)

    def call_anew(self, number: int) -> None:
        """Give the topics names that no round of another number gives them."""
        self.number = number
        self.call(Names.unique(self._topics, number))

    def call(self, names: Names) -> None:
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
        """Wait from now on for a client that joins, or that takes what makes it leader."""
        self.watch, self.since = Stopwatch(), monotonic()

    def lead(self) -> None:
        """Wait from now on for the plan of a client."""
        self.watch = Stopwatch(running=True)

    @property
    def led(self) -> bool:
        """Whether a client leads now."""
        return self.watch.started

    def late(self, seconds: float, join: float, *, spent: float = 0.0) -> Late | Absent | None:
        """Return that its time is up; None while it is not.

        Parameters
        ----------
        seconds : that the client itself may take, from the JoinGroup response to its plan
        join : that it may take to join, also to be asked again
        spent : what it took in earlier rounds for the same plan
        """
        if spent + self.watch.seconds > seconds:
            return Late(f"no answer within {seconds:g} s", seconds)
        if not self.led and monotonic() - self.since > join:
            who = "the client did not join again" if self.chosen else "no client joined"
            return Absent(f"{who} within {join:g} s")
        return None

    def topic(self, name: str) -> int | None:
        """Return which topic has a name, on the wire or in the group; None if none has."""
        return self.topics.get(self.names.sent.get(name, name))

    def stand_for(self, own: bytes) -> None:
        """Take the client as the member whose topics it reads, and call them as it does.

        A client that reads the probe's own topic stands for the member it is told to. So does one
        that reads spare topics, among which it finds those of that member. One that reads topics
        of the group stands for the first member that reads just these, under their names.

        Parameters
        ----------
        own : the client's own subscription

        Raises
        ------
        Unread
            If no member reads that.
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
        # Asked again, it keeps what it was told.
        if names != self.names:
            self.call(names)

    @property
    def client_id(self) -> str:
        """What the client calls itself, once it joined."""
        return self.software.client_id

    @property
    def me(self) -> str:
        """The member that the client stands for."""
        return self.group.members[self.leader]

    def is_cooperative(self) -> bool:
        """Return whether owned partitions travel: as asked, or as the assignor's name says."""
        return "cooperative" in self.chosen if self.cooperative is None else self.cooperative

    def members(self, own: bytes) -> list[object]:
        """Return the members, as the JoinGroup response lists them.

        Parameters
        ----------
        own : the client's own subscription, whose version is that of all members

        Raises
        ------
        Refused
            If a member holds something, and it is not known how the client's members tell that.
        """
        members = joining(self.group)
        kind = self.user_data or user_data_of(self.software, self.chosen, members)
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

    def in_own_words(self, text: str) -> str:
        """Return what the client says with the topics' names of the group."""
        for wired, name in self.names.back.items():
            text = text.replace(wired, name)
        return text

    def take(self, planned: Iterable[Held]) -> bool:
        """Take a plan as it is on the wire, if it is known to be made on the metadata.

        Returns
        -------
        bool
            False if it may have been made before the client had the metadata.

        Raises
        ------
        OwnTopicsOnly
            If it hands out the topic that the client reads, and no member.
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
            If it stands for no member of the group.
        """
        if self.error is not None:
            raise self.error
        if self.held is None:
            raise Failed("no plan yet")
        return self.held, self.seconds


def _listed(topics: Iterable[str]) -> str:
    return ", ".join(sorted(topics))[:100]
