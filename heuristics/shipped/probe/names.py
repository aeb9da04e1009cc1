"""Names: what the topics of a group are called on the wire, and what a client was told of them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping


# A topic that is always there, for clients that join only with a topic that exists.
OWN_TOPIC = "assay-probe"
# Topics without partitions, for clients that deal out what they read themselves, whatever the
# others read: in each round the group's first topics go by their names, and have partitions.
SPARE_TOPICS = tuple(f"{OWN_TOPIC}-{place:02d}" for place in range(1, 33))
# As Kafka's own; some clients refuse another name before they send it.
MOST_CHARACTERS = 249
_NAME = re.compile("[a-zA-Z0-9._-]+")
_DIGITS = 15


@dataclass(frozen=True)
class Names:
    """Topic names on the wire, in the same order as the names of the group.

    Attributes
    ----------
    sent : by the name in the group, the name on the wire
    back : the other way round
    are_new : whether a client cannot have known any of those on the wire before
    """

    sent: Mapping[str, str]
    back: Mapping[str, str]
    are_new: bool

    @staticmethod
    def kept(topics: Iterable[str]) -> Names:
        """Return names that are those of the group."""
        same = {topic: topic for topic in topics}
        return Names(same, same, are_new=False)

    @staticmethod
    def unique(topics: Iterable[str], number: int) -> Names:
        """Return names that no other number gives: a client cannot have kept anything of them.

        All get the same prefix, which leaves their order as it is. Where that would make one
        longer than Kafka's 249 characters, or one has others than Kafka allows, each is its place
        in the order instead.

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
        return Names._both_ways(sent, are_new=True)

    @staticmethod
    def among(
        topics: Iterable[str], read: Collection[str], spare: Iterable[str], number: int
    ) -> Names:
        """Return names by which a client that deals out what it reads finds what a member reads.

        The order stays. Topics that the member does not read have names of their own.

        Parameters
        ----------
        read : topics that the member reads, no more than there are spare ones
        spare : topics that the client reads, each of `SPARE_TOPICS`
        number : as of :meth:`unique`

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
        return Names._both_ways(sent, are_new=False)

    @staticmethod
    def _both_ways(sent: Mapping[str, str], *, are_new: bool) -> Names:
        return Names(sent, {wired: name for name, wired in sent.items()}, are_new)


class Told:
    """What one client was told of the topics of a round, by their names on the wire.

    A client may plan before it has metadata of the topics, as one does that asks for it and goes
    on at once. On a cluster it plans again when the metadata comes. So a plan that hands out
    nothing of a topic counts only where the client is known to have had that topic's metadata:
    it was told before it was made leader, or it waited for the answer, which was held back to see
    whether it would. A client that always plans too soon never counts.

    Parameters
    ----------
    counts : partitions of each topic that somebody reads
    unique : whether no other round has topics of these names, so that a client which hands out
        some partition of one has been told of it in this round
    awaited : whether the client is known to wait for what it asks for before it plans

    Attributes
    ----------
    own_only : whether it is known to deal out what it reads itself, and nothing else
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
        """Note that the client is made leader.

        Parameters
        ----------
        own_only : whether it is known to deal out what it reads itself, and nothing else
        """
        self.own_only = own_only
        self._known = set(self._last)
        self._asked, self._answered = set(), set()

    def ask(self, topics: Iterable[str]) -> bool:
        """Note that the client asks for topics; say whether the answer is to be held back."""
        asked = self._counts.keys() & set(topics)
        self._ever |= asked
        self._asked |= asked
        return bool(asked) and self._plans > 0

    def answer(self, topics: Iterable[str]) -> None:
        """Note that the client has been told of topics, and that what it knew may be gone."""
        self._last = self._counts.keys() & set(topics)
        self._answered |= self._last

    def is_made_on_it(self, planned: Mapping[str, Collection[int]]) -> bool:
        """Return whether a plan is known to have been made on the metadata of the group's topics.

        Parameters
        ----------
        planned : the partition numbers that it hands out of each topic
        """
        self._plans += 1
        unsure = [
            topic for topic in self._counts if not self._shows(topic, planned.get(topic, ()))
        ]
        others = len(unsure) < len(self._counts)
        had = [topic for topic in unsure if self._had(topic)]
        left = set(unsure).difference(had)
        # One that deals out what it reads itself never asks for the rest.
        never = others and not left & self._ever
        if left and never and self._plans > 1:
            self.own_only = True
        return not left or (never and self.own_only)

    def knows(self) -> bool:
        """Return whether the client has been told all that it asked for as leader."""
        return bool(self._asked) and self._asked <= self._answered

    def _shows(self, topic: str, numbers: Collection[int]) -> bool:
        """Return whether what is planned of a topic shows that the client had its metadata."""
        if self._unique:
            return len(numbers) > 0
        return set(numbers) == set(range(self._counts[topic]))

    def _had(self, topic: str) -> bool:
        if topic in self._known:
            return True
        waited = self._awaited or self._plans > 1
        return waited and topic in self._asked and topic in self._answered
