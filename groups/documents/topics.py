"""What a snapshot says of its topics: counts, lags or offsets, weights, replica racks."""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING

import numpy as np
from msgspec import UNSET, UnsetType

from groups.arrays import UNKNOWN, frozen
from groups.columns.offsets import Offsets, is_latest
from groups.documents.assay_group import Topic, without_repeats
from groups.documents.fields import refuse
from groups.wording import counted

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from groups.arrays import Int64

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


def weights_of(topics: Sequence[Topic]) -> Int64 | None:
    """(all partitions,) int64: the weights, -1 where none is given; None without any."""
    return _per_partition(topics, [topic.weight for topic in topics])


def offsets_of(topics: Sequence[Topic]) -> Offsets | None:
    """Return the offsets of the topics that have some, or None."""
    given = [not isinstance(topic.offsets, UnsetType) for topic in topics]
    if not any(given):
        return None
    beginning, end, committed = (
        np.fromiter(chain.from_iterable(_logged(topic, key) for topic in topics), np.int64)
        for key in ("beginning", "end", "committed")
    )
    return Offsets(beginning, end, committed, np.array(given))


def _logged(topic: Topic, key: str) -> Sequence[int]:
    if isinstance(topic.offsets, UnsetType):
        return (UNKNOWN,) * topic.partitions
    values = [getattr(log, key) for log in topic.offsets]
    return [value if type(value) is int else UNKNOWN for value in values]


def lag_of(topics: Sequence[Topic], offsets: Offsets | None, reset: str | None) -> Int64 | None:
    """(all partitions,) int64: the lags, given or from offsets, -1 unknown; None: none anywhere.

    Parameters
    ----------
    reset : the group's ``auto_offset_reset``
    """
    lag = _per_partition(topics, [topic.lag for topic in topics])
    if offsets is None:
        return lag
    return frozen(
        offsets.lag_beside(
            lag, is_latest(reset), np.array([t.partitions for t in topics], np.int64)
        )
    )


def replicas_of(topics: Sequence[Topic]) -> list[Sequence[str] | None]:
    """(all partitions,) the racks of the replicas of each, None where nothing is known."""
    found: list[Sequence[str] | None] = []
    for topic in topics:
        if isinstance(topic.racks, UnsetType):
            found += [None] * topic.partitions
        else:
            found += topic.racks
    return found


def _per_partition(
    topics: Sequence[Topic], columns: Sequence[Sequence[int | None] | UnsetType]
) -> Int64 | None:
    if all(isinstance(column, UnsetType) for column in columns):
        return None
    found: list[int] = []
    for topic, column in zip(topics, columns, strict=True):
        if isinstance(column, UnsetType):
            found += [UNKNOWN] * topic.partitions
        else:
            found += [UNKNOWN if value is None else value for value in column]
    return frozen(np.array(found, np.int64))
