"""Topics of a plain snapshot of which more is known than how many partitions they have."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from msgspec import UNSET, UnsetType

from groups.arrays import UNKNOWN
from groups.plain.typed import Unusual

if TYPE_CHECKING:
    from collections.abc import Sequence

    from groups.plain.typed import TypedTopic

Log = tuple[list[int], list[int], list[int]]


def logs_of(topics: Sequence[TypedTopic]) -> list[Log | None] | None:
    """Return (beginning, end, committed) of each topic's partitions, -1 where null.

    None of a topic without offsets; None where no topic has some.

    Raises
    ------
    Unusual
        Where a topic has too many or too few, or lag besides.
    """
    logs: list[Log | None] = []
    for topic in topics:
        if isinstance(topic.offsets, UnsetType):
            logs.append(None)
            continue
        if len(topic.offsets) != topic.partitions or topic.lag is not UNSET:
            raise Unusual
        logs.append(
            (
                [_known(one.beginning) for one in topic.offsets],
                [_known(one.end) for one in topic.offsets],
                [_known(one.committed) for one in topic.offsets],
            )
        )
    return logs if any(log is not None for log in logs) else None


def lags_of(
    topics: Sequence[TypedTopic], logs: Sequence[Log | None] | None, reset: str | None
) -> list[int] | None:
    """Return the lag of all partitions, -1 unknown; None where nothing is said of any.

    Raises
    ------
    Unusual
        Where a topic has too many or too few.
    """
    found: list[int] = []
    given = logs is not None
    for topic, log in zip(topics, logs or [None] * len(topics), strict=True):
        if log is not None:
            found += map(partial(_behind, reset in (None, "latest")), *log)
        elif isinstance(topic.lag, UnsetType):
            found += [UNKNOWN] * topic.partitions
        elif len(topic.lag) != topic.partitions:
            raise Unusual
        else:
            found += map(_known, topic.lag)
            given = True
    return found if given else None


def weights_of(topics: Sequence[TypedTopic]) -> list[int] | None:
    """Return the weight of all partitions, -1 unknown; None where nothing is said of any.

    Raises
    ------
    Unusual
        Where a topic has too many or too few.
    """
    found: list[int] = []
    given = False
    for topic in topics:
        if isinstance(topic.weight, UnsetType):
            found += [UNKNOWN] * topic.partitions
        elif len(topic.weight) != topic.partitions:
            raise Unusual
        else:
            found += topic.weight
            given = True
    return found if given else None


def _behind(is_latest: bool, beginning: int, end: int, committed: int) -> int:
    """Return what :meth:`groups.columns.offsets.Offsets.lag` says of a partition."""
    if committed < 0 and is_latest:
        return 0
    since = beginning if committed < 0 else committed
    return max(end - since, 0) if end >= 0 and since >= 0 else UNKNOWN


def _known(value: int | UnsetType | None) -> int:
    return value if type(value) is int else UNKNOWN
