"""Racks: the racks of members and of partitions' replicas, or hosts and copies of state."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from groups.arrays import (
    NOBODY,
    UNKNOWN,
    column,
    constructor_call,
    contains,
    frozen,
    names,
    numbers,
)
from groups.errors import BadInput

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt

    from groups.arrays import Bools, I, Int32, Int64, Ints


@dataclass(frozen=True, eq=False)
class Racks:
    """The racks of members and of partitions' replicas.

    Attributes
    ----------
    names : the rack names, without repeats
    member : (members,) int32, index into `names`, -1 without a rack
    replicas : (all partitions,) int32, the partition's set of replica racks, -1 if unknown
    holds : (entries,) int64 ascending, ``set * len(names) + rack`` for each rack of each
        distinct set of replica racks
    """

    names: tuple[str, ...]
    member: Int32
    replicas: Int32
    holds: Int64

    def __post_init__(self) -> None:
        """Check the columns and replace them by immutable ones.

        Raises
        ------
        BadInput
            If a column has the wrong type, order or values; the message names the place.
        """
        known = names(self.names, "racks.names")
        here = (len(known), "racks")
        member = column(self.member, "racks.member", np.int32, least=NOBODY, below=here)
        replicas = column(self.replicas, "racks.replicas", np.int32, least=UNKNOWN)
        holds = column(self.holds, "racks.holds", np.int64)
        if (holds[1:] <= holds[:-1]).any():
            raise BadInput("racks.holds: not ascending without repeats")
        sets = int(replicas.max(initial=UNKNOWN)) + 1
        if len(holds) and holds[-1] >= sets * len(known):
            raise BadInput(f"racks.holds: {holds[-1]}, but there are {sets} sets of replicas")
        vars(self).update(names=known, member=member, replicas=replicas, holds=holds)

    __reduce__ = constructor_call

    @staticmethod
    def named(
        members: Sequence[str | None], replicas: Sequence[Sequence[str] | None]
    ) -> Racks | None:
        """Return the racks of members and replicas by names; None if no rack is known at all.

        Parameters
        ----------
        members : (members,) the rack of each, None without one
        replicas : (all partitions,) the racks of the replicas of each, None if not known
        """
        known = any(members) or any(racks is not None for racks in replicas)
        return Racks.of(members, replicas) if known else None

    @staticmethod
    def of(members: Sequence[str | None], replicas: Sequence[Sequence[str] | None]) -> Racks:
        """Return the racks of members and replicas by names, even if no rack is known."""
        sets = [None if racks is None else frozenset(racks) for racks in replicas]
        distinct = sorted({racks for racks in sets if racks is not None}, key=sorted)
        found = {rack for racks in distinct for rack in racks} | {rack for rack in members if rack}
        index = {rack: number for number, rack in enumerate(sorted(found))}
        place = {racks: number for number, racks in enumerate(distinct)}
        return Racks(
            names=tuple(index),
            member=np.array([index[rack] if rack else NOBODY for rack in members], np.int32),
            replicas=np.array([UNKNOWN if one is None else place[one] for one in sets], np.int32),
            holds=np.array(
                [
                    number * len(index) + index[rack]
                    for racks, number in place.items()
                    for rack in sorted(racks)
                ],
                np.int64,
            ),
        )

    def misses(self, member: Ints, partition: Ints) -> Bools:
        """Return for each pair whether the member's rack holds no replica of the partition.

        It is true for a member without a rack, but false for a partition of unknown replicas.
        """
        return self.lack(self.replicas[partition], self.member[member])

    def lack(self, replicas: Ints, rack: Ints) -> Bools:
        """Return for each pair of a set of replica racks and a rack whether the rack is not in it.

        It is true for no rack (-1), but false for no set (-1).
        """
        asked = np.asarray(replicas, np.int64) * len(self.names) + rack
        there = contains(self.holds, asked) & (rack >= 0)
        return np.asarray((np.asarray(replicas) >= 0) & ~there, bool)

    def of_set(self, replicas: int) -> list[str]:
        """Return the names of the racks of a replica set."""
        width = len(self.names)
        start, end = np.searchsorted(self.holds, (replicas * width, (replicas + 1) * width))
        return [self.names[rack] for rack in self.holds[start:end] - replicas * width]


def joined_racks(each: Sequence[Racks | None], members: Int64, partitions: Int64) -> Racks | None:
    """Concatenate the racks of groups; racks and replica sets get new numbers.

    Parameters
    ----------
    each : the racks of each group, None if nothing is known
    members, partitions : (groups,) int64, how many each group has
    """
    if all(own is None for own in each):
        return None
    width = sum(len(own.names) for own in each if own is not None)
    member, replicas, holds = [], [], []
    racks = sets = 0
    for own, here, there in zip(each, members.tolist(), partitions.tolist(), strict=True):
        if own is None:
            member.append(np.full(here, NOBODY, np.int64))
            replicas.append(np.full(there, UNKNOWN, np.int64))
            continue
        names = len(own.names)
        member.append(np.where(own.member < 0, NOBODY, own.member + np.int64(racks)))
        replicas.append(np.where(own.replicas < 0, UNKNOWN, own.replicas + np.int64(sets)))
        if names:
            held, rack = np.divmod(own.holds, names)
            holds.append((held + sets) * width + rack + racks)
        racks, sets = racks + names, sets + int(own.replicas.max(initial=-1)) + 1
    return Racks(
        names=numbers(width),
        member=_concatenate(member, np.int32),
        replicas=_concatenate(replicas, np.int32),
        holds=_concatenate(holds, np.int64),
    )


def _concatenate(columns: Sequence[Ints], kind: type[I]) -> npt.NDArray[I]:
    whole = np.concatenate(columns) if columns else np.empty(0, kind)
    return frozen(whole.astype(kind))
