"""What a snapshot says of its topics: counts, lags or offsets, weights, replica racks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from msgspec import UNSET, UnsetType

from groups.arrays import UNKNOWN
from groups.documents.assay_group import Topic, without_repeats
from groups.documents.fields import refuse
from groups.wording import counted

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


_LISTS = ("lag", "weight", "racks", "offsets")


def topics_of(given: Mapping[str, int | Topic], names: Sequence[str]) -> list[Topic]:
    """Return what a document says of the topics of these names, in their order.

    Raises
    ------
    BadInput
        Where a list is not as long as its topic has partitions, offsets stand beside lag, or a
        partition has a rack twice.
    """
    return [
        Topic(topic) if isinstance(topic, int) else _checked(topic, name)
        for name, topic in ((name, given[name]) for name in names)
    ]


def _checked(topic: Topic, name: str) -> Topic:
    place = f"topics.{name}"
    if topic.lag is not UNSET and topic.offsets is not UNSET:
        refuse(place, "both lag and offsets, expected one of them")
    for key in _LISTS:
        values = getattr(topic, key)
        if values is not UNSET and len(values) != topic.partitions:
            found, has = counted(len(values), "value"), counted(topic.partitions, "partition")
            refuse(f"{place}.{key}", f"{found}, but {name} has {has}")
    if not isinstance(topic.racks, UnsetType):
        for at, racks in enumerate(topic.racks):
            without_repeats(racks, f"{place}.racks[{at}]")
    return topic


def logs_of(topics: Sequence[Topic]) -> list[int]:
    """(3 for each of all partitions,) where its log begins and ends, and what is committed."""
    found: list[int] = []
    for topic in topics:
        if isinstance(topic.offsets, UnsetType):
            found += (UNKNOWN,) * (3 * topic.partitions)
        else:
            found += [
                value if type(value) is int else UNKNOWN
                for log in topic.offsets
                for value in (log.beginning, log.end, log.committed)
            ]
    return found


def per_partition(topics: Sequence[Topic], key: Literal["lag", "weight"]) -> list[int]:
    """(all partitions,) what is said of each under a key, -1 where nothing."""
    found: list[int] = []
    for topic in topics:
        column = topic.lag if key == "lag" else topic.weight
        if isinstance(column, UnsetType):
            found += [UNKNOWN] * topic.partitions
        else:
            found += [UNKNOWN if value is None else value for value in column]
    return found


def replicas_of(topics: Sequence[Topic]) -> list[Sequence[str] | None]:
    """(all partitions,) the racks of the replicas of each, None where nothing is known."""
    found: list[Sequence[str] | None] = []
    for topic in topics:
        if isinstance(topic.racks, UnsetType):
            found += [None] * topic.partitions
        else:
            found += topic.racks
    return found
