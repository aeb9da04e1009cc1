"""Topics: partitions, leaders, racks of replicas, and the topics that members read."""

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
# UNKNOWN_TOPIC_OR_PARTITION and INVALID_TOPIC_EXCEPTION.
_NOT_THERE = (3, 17)
_TOPIC = re.compile(r"[A-Za-z0-9._-]{1,249}")


@dataclass(frozen=True)
class Topics:
    """The existing topics among those asked for, and the brokers that are up.

    Attributes
    ----------
    partitions : partitions of each existing topic, by number from 0
    withheld : error codes of topics that may exist, but are not described
    racks : rack of each broker that is up; None if it has none
    """

    partitions: Mapping[str, tuple[messages.Partition, ...]] = field(default_factory=dict)
    withheld: Mapping[str, int] = field(default_factory=dict)
    racks: Mapping[int, str | None] = field(default_factory=dict)
    _matched: dict[str, tuple[str, ...] | None] = field(
        default_factory=dict, compare=False, repr=False
    )

    def matching(self, pattern: str) -> tuple[str, ...] | None:
        """Return the existing topics that match a pattern; None if that is not sure."""
        if pattern not in self._matched:
            self._matched[pattern] = matching(pattern, sorted(self.partitions))
        return self._matched[pattern]

    def replica_racks(self, topic: str) -> list[list[str]] | None:
        """Return the racks of each partition's replicas; None if a broker's is not known."""
        found = []
        for partition in self.partitions[topic]:
            racks = [self.racks.get(node) for node in partition.replica_nodes]
            if not racks or not all(racks):
                return None
            found.append(sorted({rack for rack in racks if rack}))
        return found


def topics_of(cluster: Cluster, groups: Iterable[Described], committed: Iterable[str]) -> Topics:
    """Ask for the topics that groups read, hold, have as target or have committed offsets of.

    If a member subscribes by a pattern, all topics of the cluster are asked for.

    Raises
    ------
    Unanswered
        If no broker answers.
    """
    members = [member for group in groups for member in group.members]
    names = {topic for member in members for topic in (*(member.subscription or ()), *member.held)}
    names |= {topic for member in members for topic in member.target or ()}
    names |= set(committed)
    legal = {name for name in names if _TOPIC.fullmatch(name)}
    if not any(member.regex for member in members):
        return read(cluster.ask_any(messages.topics(sorted(legal)), messages.Metadata))
    known = cluster.ask_any(messages.topics(None), messages.Metadata)
    # A request for all topics silently leaves out those that may not be described.
    missing = legal - {topic.name for topic in known.topics}
    if missing:
        more = cluster.ask_any(messages.topics(sorted(missing)), messages.Metadata)
        known = messages.Metadata(known.brokers, [*known.topics, *more.topics])
    return read(known)


def read(answer: messages.Metadata) -> Topics:
    """Return the topics of an answer; those that do not exist or have no name are left out."""
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
    )


def names_in(group: Described, topics: Topics) -> set[str]:
    """Return the topics that members read, hold or have as target, existing or not."""
    return {
        name
        for member in group.members
        for name in (*(read_by(member, topics) or ()), *member.held, *(member.target or ()))
    }


def read_by(member: Member, topics: Topics) -> list[str] | None:
    """Return the topics that a member reads; None if that is not known."""
    if member.subscription is None or member.regex is None:
        return None if member.subscription is None else list(member.subscription)
    matched = topics.matching(member.regex)
    if matched is None:
        return None
    read = {*member.subscription, *matched}
    # The broker may have matched the pattern at another time: if the target has a topic that does
    # not match here, it is not known what the member reads.
    given = {name for name in member.target or () if name in topics.partitions}
    return sorted(read) if given <= read else None


def with_nobody(group: Described, topics: Topics) -> list[tuple[str, int]]:
    """Return the partitions of a classic group that a member reads, but nobody holds.

    With a cooperative assignor these may be on the way: it takes a partition from a member in one
    rebalance and gives it to another in the next, and the group is stable in between. Members of a
    KIP-848 group have a target instead, so for them the list is empty.
    """
    if group.epochs is not None:
        return []
    read = {name for member in group.members for name in read_by(member, topics) or ()}
    held = {key for member in group.members for key in pairs(member.held)}
    existing = sorted(read & topics.partitions.keys())
    keys = [(name, one.partition_index) for name in existing for one in topics.partitions[name]]
    return [key for key in keys if key not in held]


# The broker matches the pattern of a KIP-848 subscription against whole names of topics, by RE2/J,
# and does not tell what it matched. _SURE accepts patterns that mean the same in Python; for all
# others, it is not known what they match.
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
    r"""Return the names that a pattern matches as a whole; None if Python's answer is not sure.

    It is sure for literals, the dot, ``[a-z]``, ``\d`` and ``\w``, these followed by ``*``, ``+``
    or ``?``, and alternatives in brackets: RE2 reads them the same way. There may be only few
    repetitions and alternatives, because Python matches by backtracking.

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
