"""Assumed: on what a lag rests where nobody said what is read first without a commit."""

from __future__ import annotations

from typing import TYPE_CHECKING

from groups.columns.offsets import latest_assumed
from groups.wording import counted

if TYPE_CHECKING:
    from groups.group import Group


def if_latest(group: Group) -> str | None:
    """Return the condition under which the lag of a group is what it is taken to be.

    None where ``auto.offset.reset`` is known, or the lag that somebody reads is the same with it.
    """
    count = latest_assumed(group.offsets, group.auto_offset_reset, group.partitions)
    lag, other = group.lag_records, group.with_reset("earliest").lag_records
    if not count or lag is None or other is None:
        return None
    if not ((lag != other) & (group.readers[group.topic] > 0)).any():
        return None
    return (
        "consumers start at the end (auto.offset.reset=latest, assumed for "
        f"{counted(count, 'partition')} without a commit; see --reset)"
    )
