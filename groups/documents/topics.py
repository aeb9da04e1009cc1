"""What a snapshot says of its topics: counts, lags or offsets, weights, replica racks."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from itertools import chain
from typing import TYPE_CHECKING, NamedTuple, TypeVar

import numpy as np

from groups.arrays import NOBODY, UNKNOWN, check_total, frozen
from groups.columns.offsets import Offsets
from groups.columns.racks import Racks
from groups.documents import fields
from groups.errors import BadInput
from groups.wording import counted

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from groups.arrays import Int64

T = TypeVar("T")
_KEYS = {"partitions", "lag", "weight", "racks", "offsets"}
_OFFSETS = ("beginning", "end", "committed")


class Topic(NamedTuple):
    """What a snapshot says of a topic; each list has one entry a partition, -1 where null."""

    partitions: int
    lag: list[int] | None = None
    weight: list[int] | None = None
    racks: list[tuple[str, ...]] | None = None
    offsets: list[tuple[int, int, int]] | None = None


def read_topic(value: object, place: str) -> Topic:
    """Read a topic: its partition count, or an object.

    Raises
    ------
    BadInput
        Where a rule of the format is broken; the message names the place.
    """
    if type(value) is int:
        return Topic(_count(value, place))
    if not isinstance(value, Mapping):
        fields.refuse(place, f"{fields.shown(value)}, expected a partition count or an object")
    found = fields.mapping(value, place, allowed=_KEYS, required=("partitions",))
    count = _count(found["partitions"], f"{place}.partitions")
    if "lag" in found and "offsets" in found:
        fields.refuse(place, "both lag and offsets, expected one of them")

    def listed(key: str, read: Callable[[object, str], list[T]]) -> list[T] | None:
        if key not in found:
            return None
        values = fields.listed(found[key], f"{place}.{key}")
        if len(values) != count:
            name = place.removeprefix("topics.")
            fields.refuse(
                f"{place}.{key}",
                f"{counted(len(values), 'value')}, but {name} has {counted(count, 'partition')}",
            )
        return read(values, f"{place}.{key}")

    return Topic(
        count,
        listed("lag", partial(fields.integers, nullable=True)),
        listed("weight", fields.integers),
        listed("racks", partial(_each, fields.strings)),
        listed("offsets", partial(_each, _offset)),
    )


def _each(read: Callable[[object, str], T], values: object, place: str) -> list[T]:
    return [read(v, f"{place}[{i}]") for i, v in enumerate(fields.listed(values, place))]


def _count(value: object, place: str) -> int:
    count = fields.integer(value, place)
    try:
        return check_total([count])
    except BadInput:
        fields.refuse(place, f"{count} partitions, more than are supported")


def _integer_or_unknown(value: object, place: str) -> int:
    return UNKNOWN if value is None else fields.integer(value, place)


def _offset(value: object, place: str) -> tuple[int, int, int]:
    found = fields.mapping(value, place, allowed=set(_OFFSETS))
    beginning, end, committed = (
        _integer_or_unknown(found.get(key), f"{place}.{key}") for key in _OFFSETS
    )
    return beginning, end, committed


def weights_of(topics: Sequence[Topic]) -> Int64 | None:
    """(all partitions,) int64: the weights, -1 where none is given; None without any."""
    return _per_partition(topics, [topic.weight for topic in topics])


def offsets_of(topics: Sequence[Topic]) -> Offsets | None:
    """Return the offsets of the topics that have some, or None."""
    given = np.array([topic.offsets is not None for topic in topics], bool)
    if not given.any():
        return None
    nothing = (UNKNOWN, UNKNOWN, UNKNOWN)
    rows = [row for topic in topics for row in topic.offsets or [nothing] * topic.partitions]
    beginning, end, committed = np.array(rows, np.int64).reshape(-1, 3).T.copy()
    return Offsets(beginning, end, committed, frozen(given))


def lag_of(topics: Sequence[Topic], offsets: Offsets | None, reset: str | None) -> Int64 | None:
    """(all partitions,) int64: the lags, given or from offsets, -1 unknown; None: none anywhere.

    Parameters
    ----------
    reset : the group's ``auto_offset_reset``
    """
    lag = _per_partition(topics, [topic.lag for topic in topics])
    if offsets is None:
        return lag
    return offsets.lag_beside(lag, reset, np.array([t.partitions for t in topics], np.int64))


def racks_of(topics: Sequence[Topic], members: Sequence[str | None]) -> Racks | None:
    """Return where replicas and members stand, None where nothing is known of either.

    Parameters
    ----------
    members : (members,) the rack of each, None without one
    """
    replicas: list[frozenset[str] | None] = []
    for topic in topics:
        replicas += map(frozenset, topic.racks) if topic.racks else [None] * topic.partitions
    distinct = sorted({r for r in replicas if r is not None}, key=sorted)
    if not distinct and all(rack is None for rack in members):
        return None
    named = {rack for racks in distinct for rack in racks} | {r for r in members if r}
    names = tuple(sorted(named))
    index = {rack: i for i, rack in enumerate(names)}
    place = {racks: i for i, racks in enumerate(distinct)}
    return Racks(
        names=names,
        member=np.array([index[r] if r else NOBODY for r in members], np.int32),
        replicas=np.array([UNKNOWN if r is None else place[r] for r in replicas], np.int32),
        holds=np.array(
            [i * len(names) + index[r] for i, racks in enumerate(distinct) for r in sorted(racks)],
            np.int64,
        ),
    )


def _per_partition(topics: Sequence[Topic], columns: Sequence[list[int] | None]) -> Int64 | None:
    if all(column is None for column in columns):
        return None
    pairs = zip(topics, columns, strict=True)
    listed = (
        [UNKNOWN] * topic.partitions if column is None else column for topic, column in pairs
    )
    return np.array(list(chain.from_iterable(listed)), np.int64)
