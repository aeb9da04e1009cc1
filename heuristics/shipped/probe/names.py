"""Names: names of a group's topics on the wire, and which of their metadata a client got."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping


# A topic that always exists, for clients that join only with a topic that exists.
OWN_TOPIC = "assay-probe"
# Topics for clients that assign only the topics that they read themselves. In each round, topics
# of the group are given these names; the other spare topics have no partitions.
SPARE_TOPICS = tuple(f"{OWN_TOPIC}-{place:02d}" for place in range(1, 33))
# Kafka's own limits on names, which some clients check before they send a name.
MOST_CHARACTERS = 249
_NAME = re.compile("[a-zA-Z0-9._-]+")
_DIGITS = 15


@dataclass(frozen=True)
class Names:
    """Topic names on the wire, in the same order as the names of the group.

    Attributes
    ----------
    sent : name on the wire, by name in the group
    are_new : whether a client cannot know any of the names on the wire from an earlier round
    """

    sent: Mapping[str, str]
    are_new: bool = False

    @cached_property
    def back(self) -> Mapping[str, str]:
        """Name in the group, by name on the wire."""
        return {wired: name for name, wired in self.sent.items()}

    @staticmethod
    def kept(topics: Iterable[str]) -> Names:
        """Return the names of the group unchanged."""
        return Names({topic: topic for topic in topics})

    @staticmethod
    def unique(topics: Iterable[str], number: int) -> Names:
        """Return names that differ for each number, so that no client has cached metadata of them.

        All get the same prefix, which keeps their order. If that makes a name longer than Kafka's
        249 characters, or a name has characters that Kafka does not allow, each name is replaced
        by its place in the order.

        Examples
        --------
        >>> Names.unique(["t0", "t1"], 7).sent["t1"]
        '000000000000007.t1'
        """
        prefix = f"{number:0{_DIGITS}d}."
        names = sorted(set(topics))
        most = MOST_CHARACTERS - len(prefix)
        if any(len(name) > most or not _NAME.fullmatch(name) for name in names):
            width = len(str(len(names)))
            sent = {name: f"{prefix}{place:0{width}d}" for place, name in enumerate(names)}
        else:
            sent = {name: prefix + name for name in names}
        return Names(sent, are_new=True)

    @staticmethod
    def among(
        topics: Iterable[str], read: Collection[str], spare: Iterable[str], number: int
    ) -> Names:
        """Return names for a client that assigns only the topics that it reads.

        The topics that its member reads are named after the spare topics that the client reads.
        The other topics get other names. The order is kept.

        Parameters
        ----------
        read : topics that the member reads, no more than there are spare ones
        spare : topics that the client reads, each of `SPARE_TOPICS`
        number : as in :meth:`unique`

        Examples
        --------
        >>> list(Names.among(["t0", "t1", "t2"], {"t1"}, SPARE_TOPICS, 7).back)
        ['assay-probe-00.000000000000007.0', 'assay-probe-01', 'assay-probe-01.000000000000007.2']
        """
        names, free = sorted(set(topics)), iter(sorted(spare))
        width = len(str(len(names)))
        sent, last = {}, f"{OWN_TOPIC}-00"
        for place, name in enumerate(names):
            if name in read:
                sent[name] = last = next(free)
            else:
                sent[name] = f"{last}.{number:0{_DIGITS}d}.{place:0{width}d}"
        return Names(sent)


class Told:
    """The metadata of a round's topics that one client got, by names on the wire.

    A client may plan before it has the metadata of the topics: it asks for it and goes on at once.
    On a cluster it would plan again when the metadata arrives. So a plan without any partition of
    a topic counts only if the client is known to have had that topic's metadata: it got it before
    it was made leader, or it waited for the answer, which is delayed to see whether it waits. If a
    client always plans too soon, none of its plans counts.

    Parameters
    ----------
    counts : number of partitions of each topic that somebody reads
    unique : whether no other round has topics of these names, so that a client that assigns a
        partition of one must have got its metadata in this round
    awaited : whether the client is known to wait for metadata before it plans

    Attributes
    ----------
    own_only : whether it is known to assign only the topics that it reads itself
    """

    def __init__(self, counts: Mapping[str, int], *, unique: bool, awaited: bool = False) -> None:
        self._counts = counts
        self._unique = unique
        self._awaited = awaited
        self._plans = 0
        self.own_only = False
        self._ever: set[str] = set()
        self._known: set[str] = set()
        self._last: set[str] = set()
        self._asked: set[str] = set()
        self._answered: set[str] = set()

    def lead(self, *, own_only: bool = False) -> None:
        """Record that the client becomes leader.

        Parameters
        ----------
        own_only : whether it is known to assign only the topics that it reads itself
        """
        self.own_only = own_only
        self._known = set(self._last)
        self._asked, self._answered = set(), set()

    def ask(self, topics: Iterable[str]) -> bool:
        """Record that the client asks for topics; return whether to delay the answer."""
        asked = self._counts.keys() & set(topics)
        self._ever |= asked
        self._asked |= asked
        return bool(asked) and self._plans > 0

    def answer(self, topics: Iterable[str]) -> None:
        """Record that the client got these topics, which replace those that it got before."""
        self._last = self._counts.keys() & set(topics)
        self._answered |= self._last

    def is_made_on_it(self, planned: Mapping[str, Collection[int]]) -> bool:
        """Return whether a plan was surely made with the metadata of the group's topics.

        Parameters
        ----------
        planned : by topic, the partition numbers that it assigns
        """
        self._plans += 1
        unsure = [
            topic for topic in self._counts if not self._shows(topic, planned.get(topic, ()))
        ]
        others = len(unsure) < len(self._counts)
        had = [topic for topic in unsure if self._had(topic)]
        left = set(unsure).difference(had)
        # A client that assigns only what it reads itself never asks for other topics.
        never_asked = others and not left & self._ever
        if left and never_asked and self._plans > 1:
            self.own_only = True
        return not left or (never_asked and self.own_only)

    def knows(self) -> bool:
        """Return whether the client got all metadata that it asked for as leader."""
        return bool(self._asked) and self._asked <= self._answered

    def _shows(self, topic: str, numbers: Collection[int]) -> bool:
        """Return whether a topic's planned partitions show that the client had its metadata."""
        if self._unique:
            return len(numbers) > 0
        return set(numbers) == set(range(self._counts[topic]))

    def _had(self, topic: str) -> bool:
        if topic in self._known:
            return True
        waited = self._awaited or self._plans > 1
        return waited and topic in self._asked and topic in self._answered
