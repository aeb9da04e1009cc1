"""Topics: their partitions, leaders and the racks of replicas, as brokers tell them."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from groups.documents.assay_group import pairs
from live.capture import messages

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from live.capture.cluster import Cluster
    from live.capture.membership import Described, Member


NO_LEADER = -1
# Unknown, or with a name that no topic can have.
_NOT_THERE = (3, 17)
_TOPIC = re.compile(r"[A-Za-z0-9._-]{1,249}")


@dataclass(frozen=True)
class Topics:
    """The topics that were asked for and are there, and the brokers that are up.

    Attributes
    ----------
    partitions : of each topic that is there, by number from 0
    withheld : error codes of topics that may be there, of which nothing is told
    racks : of each broker that is up, None where it has none
    every_name : whether all topics of the cluster were asked for
    """

    partitions: Mapping[str, tuple[messages.Partition, ...]] = field(default_factory=dict)
    withheld: Mapping[str, int] = field(default_factory=dict)
    racks: Mapping[int, str | None] = field(default_factory=dict)
    every_name: bool = False
    _matched: dict[str, tuple[str, ...] | None] = field(
        default_factory=dict, compare=False, repr=False
    )

    def matching(self, pattern: str) -> tuple[str, ...] | None:
        """Return the topics that are there and match a pattern, None where that is not sure."""
        if not self.every_name:
            return None
        if pattern not in self._matched:
            self._matched[pattern] = matching(pattern, sorted(self.partitions))
        return self._matched[pattern]

    def replica_racks(self, topic: str) -> list[list[str]] | None:
        """Return the racks of each partition's replicas, None where a broker's is not known."""
        found = []
        for partition in self.partitions[topic]:
            racks = [self.racks.get(node) for node in partition.replica_nodes]
            if not racks or not all(racks):
                return None
            found.append(sorted({rack for rack in racks if rack}))
        return found


def topics_of(cluster: Cluster, groups: Iterable[Described], committed: Iterable[str]) -> Topics:
    """Ask for the topics that groups read, hold, are to hold or have committed offsets of.

    All topics of the cluster are asked for where a member reads those that match a pattern.

    Raises
    ------
    Unanswered
        Where no broker answers.
    """
    members = [member for group in groups for member in group.members]
    names = {topic for member in members for topic in (*(member.subscription or ()), *member.held)}
    names |= {topic for member in members for topic in member.target or ()}
    names |= set(committed)
    legal = {name for name in names if _TOPIC.fullmatch(name)}
    if not any(member.regex for member in members):
        return read(cluster.ask_any(messages.topics(sorted(legal)), messages.Metadata))
    known = cluster.ask_any(messages.topics(None), messages.Metadata)
    # Among all topics, one that may not be described is passed over without a word.
    missing = legal - {topic.name for topic in known.topics}
    if missing:
        more = cluster.ask_any(messages.topics(sorted(missing)), messages.Metadata)
        known = messages.Metadata(known.brokers, [*known.topics, *more.topics])
    return read(known, every_name=True)


def read(answer: messages.Metadata, *, every_name: bool = False) -> Topics:
    """Return what an answer tells; a topic that is not there, or has no name, is left out."""
    partitions = {}
    for topic in answer.topics:
        listed = sorted(topic.partitions, key=lambda one: one.partition_index)
        numbers = [one.partition_index for one in listed]
        if topic.name and listed and numbers == list(range(len(listed))):
            partitions[topic.name] = tuple(listed)
    return Topics(
        partitions=partitions,
        withheld={
            topic.name: topic.error_code
            for topic in answer.topics
            if topic.name and topic.name not in partitions and topic.error_code not in _NOT_THERE
        },
        racks={broker.node_id: broker.rack or None for broker in answer.brokers},
        every_name=every_name,
    )


def names_in(group: Described, topics: Topics) -> set[str]:
    """Return the topics that members read, hold or are to hold, whether they are there or not."""
    return {
        name
        for member in group.members
        for name in (*(read_by(member, topics) or ()), *member.held, *(member.target or ()))
    }


def read_by(member: Member, topics: Topics) -> list[str] | None:
    """Return the topics that a member reads, None where that is not known."""
    if member.subscription is None or member.regex is None:
        return None if member.subscription is None else list(member.subscription)
    matched = topics.matching(member.regex)
    if matched is None:
        return None
    read = {*member.subscription, *matched}
    # The broker matches patterns in its own time: where it has given out what does not match
    # here, who reads what is not known.
    given = {name for name in member.target or () if name in topics.partitions}
    return sorted(read) if given <= read else None


def with_nobody(group: Described, topics: Topics) -> list[tuple[str, int]]:
    """Return the partitions that a member of a classic group reads, and that nobody holds.

    A cooperative assignor takes a partition from a member in one rebalance and gives it to
    another in the next, and the group is stable in between. A KIP-848 group tells itself who is
    on the way to a target.
    """
    if group.epochs is not None:
        return []
    read = {name for member in group.members for name in read_by(member, topics) or ()}
    held = {key for member in group.members for key in pairs(member.held)}
    there = sorted(read & topics.partitions.keys())
    keys = [(name, one.partition_index) for name in there for one in topics.partitions[name]]
    return [key for key in keys if key not in held]


# The broker matches the pattern of a KIP-848 subscription against whole names of topics, by RE2/J,
# and does not tell what it matched. Python's patterns mean the same as long as they keep to what
# is common to both; of any other the answer is not known.
# Topic names are letters, digits, dot, underscore and dash.
_ONE = r"(?:[A-Za-z0-9_.-]|\\[._dw-]|\[\^?(?:\\[._dw-]|[A-Za-z0-9_.](?:-[A-Za-z0-9_.])?)+-?\])"
_PIECE = rf"(?:[\^$]|{_ONE}[*+?]?)"


def _nested(inner: str) -> str:
    return rf"(?:{inner}|\((?:\?:)?{inner}*(?:\|{inner}*)*\)\??)"


# librdkafka puts each of its patterns in brackets.
_PART = _nested(_nested(_nested(_PIECE)))
_SURE = re.compile(rf"{_PART}*(?:\|{_PART}*)*")
_BRANCH = re.compile(r"\\.|\[[^\]]*\]|([*+])|([?|])(?<!\(\?)")
_LONGEST = 300
_LONGEST_NAME = 249
_MOST_WAYS = 20_000_000


def matching(pattern: str, names: Sequence[str]) -> tuple[str, ...] | None:
    r"""Return the names that a pattern matches whole, None where Python's answer is not sure.

    Sure are literals, the dot, ``[a-z]``, ``\d`` and ``\w``, ``*``, ``+`` and ``?`` behind one of
    these, and choices in brackets, as long as there are few of them: RE2 reads them the same
    way, and Python, which tries one way after the other, is done soon.

    Examples
    --------
    >>> matching("orders[.].*|audit", ["audit", "orders", "orders.eu"])
    ('audit', 'orders.eu')
    >>> matching(r"\p{L}+", ["orders"]) is None
    True
    """
    if len(pattern) > _LONGEST or not _SURE.fullmatch(pattern):
        return None
    branches = _BRANCH.findall(pattern)
    repeats = sum(bool(repeat) for repeat, _ in branches)
    if 2 ** sum(bool(two) for _, two in branches) * _LONGEST_NAME**repeats > _MOST_WAYS:
        return None
    try:
        found = re.compile(pattern, re.ASCII)
    except re.error:
        return None
    return tuple(name for name in names if found.fullmatch(name))
