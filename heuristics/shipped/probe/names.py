"""Names: what the topics of a group are called on the wire, and back."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

# A topic that is always there, for clients that join only with a topic that exists.
OWN_TOPIC = "assay-probe"
# As Kafka's own; some clients refuse a longer name before they send it.
MOST_CHARACTERS = 249
_DIGITS = 15


@dataclass(frozen=True)
class Names:
    """Topic names on the wire, in the same order as the names of the group.

    Attributes
    ----------
    sent : by the name in the group, the name on the wire
    back : the other way round
    """

    sent: Mapping[str, str]
    back: Mapping[str, str]

    @property
    def is_kept(self) -> bool:
        """Whether the names on the wire are those of the group."""
        return self.sent == self.back

    @staticmethod
    def kept(topics: Iterable[str]) -> Names:
        """Return names that are those of the group."""
        same = {topic: topic for topic in topics}
        return Names(same, same)

    @staticmethod
    def unique(topics: Iterable[str], number: int) -> Names:
        """Return names that no other number gives: a client cannot have kept anything of them.

        All get the same prefix, which leaves their order as it is. Where that would make one
        longer than Kafka's 249 characters, each is its place in the order instead.

        Examples
        --------
        >>> Names.unique(["t0", "t1"], 7).sent["t1"]
        '000000000000007.t1'
        """
        prefix = f"{number:0{_DIGITS}d}."
        names = sorted(set(topics))
        if any(len(prefix) + len(name) > MOST_CHARACTERS for name in names):
            width = len(str(len(names)))
            sent = {name: f"{prefix}{place:0{width}d}" for place, name in enumerate(names)}
        else:
            sent = {name: prefix + name for name in names}
        return Names(sent, {wired: name for name, wired in sent.items()})
