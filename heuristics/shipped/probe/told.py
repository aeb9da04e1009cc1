"""Told: what a client was told of a round's topics, and whether its plan was made on that."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping


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
