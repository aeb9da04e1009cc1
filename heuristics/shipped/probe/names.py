"""Names: what the topics of a group are called on the wire, and back."""

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
