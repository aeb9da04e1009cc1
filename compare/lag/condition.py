"""Condition: on what a lag rests where nobody said where consumers without a commit start."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from groups.wording import counted, few

if TYPE_CHECKING:
    from collections.abc import Sequence

    from groups.group import Group


def rests_on_latest(group: Group) -> int:
    """Return for how many partitions ``latest`` was assumed, 0 where that decides no lag.

    They have no commit, somebody reads them, and nobody said what ``auto.offset.reset`` is; of one
    of them at least another answer would make the lag another one.
    """
    offsets, reset = group.offsets, group.auto_offset_reset
    if offsets is None or reset is not None:
        return 0
    without = np.repeat(offsets.given & (group.readers > 0), group.partitions)
    without &= offsets.committed < 0
    decides = (offsets.lag(latest=False)[without] != 0).any()
    return int(without.sum()) if decides else 0


def if_latest(group: Group) -> str:
    """Return the condition under which a group's lag is what is said of it, nothing if without.

    It stands in the middle or at the end of a sentence.
    """
    return _if_latest(rests_on_latest(group))


def which_if_latest(groups: Sequence[Group]) -> str:
    """Return which groups' lag rests on that condition; empty if none does."""
    found = [(group.name, count) for group in groups if (count := rests_on_latest(group))]
    if not found:
        return ""
    whose = few(list(dict.fromkeys(name for name, _ in found)))
    return f"lag of {whose} is as shown {_if_latest(sum(count for _, count in found))}"


def _if_latest(count: int) -> str:
    if not count:
        return ""
    return (
        "if consumers start at the end (auto.offset.reset=latest, assumed for "
        f"{counted(count, 'partition')} without a commit)"
    )
