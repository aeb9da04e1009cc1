"""Fleet: many groups side by side in the columns of one group."""

from __future__ import annotations

from dataclasses import dataclass, fields
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from groups.arrays import NOBODY
from groups.columns.lists import Lists, columns_through
from groups.group import Group

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    import pyarrow as pa

    from groups.arrays import Bools, Int32, Int64
    from groups.columns.racks import Racks
    from groups.table.layout import BadRow


_ONE = np.ones(1, bool)
# The columns that a fleet concatenates, and their types.
_COLUMNS = {
    "partitions": np.int64,
    "subscription_indptr": np.int64,
    "subscription_topics": np.int32,
    "subscription_row": np.int32,
    "subscription_known": np.bool_,
    "owner": np.int32,
    "generation": np.int64,
    "lag_records": np.int64,
    "weight": np.int64,
}


@dataclass(frozen=True, eq=False)
class Fleet:
    """Many groups as one group, and where each begins in it.

    No member reads a topic of another group, so that whatever is computed within connected
    components (levels, cheapest flows, the inequalities of a certificate) is computed for each
    group by itself.

    Attributes
    ----------
    group : the groups side by side; its names are numbers
    lists : the columns of the groups with each group's own numbering, by the names of the layout
    racks : of each group, None if it has none; empty if no group has any
    alone : returns one group, by its index
    place : (groups,) int64, the index of each group in the rows or groups that the fleet is of
    other_claims : (groups,) bool, whether members claim anything that they do not validly own
    """

    group: Group
    lists: Mapping[str, Lists]
    racks: Sequence[Racks | None]
    alone: Callable[[int], Group]
    place: Int64
    other_claims: Bools

    def __len__(self) -> int:
        """Count the groups."""
        return len(self.place)

    @property
    def member_start(self) -> Int64:
        """(groups + 1,) int64: where the members of each group begin."""
        return self.lists["members"].start

    @property
    def topic_start(self) -> Int64:
        """(groups + 1,) int64: where the topics of each group begin."""
        return self.lists["topics"].start

    @property
    def partition_start(self) -> Int64:
        """(groups + 1,) int64: where the partitions of each group begin."""
        return self.lists["owner"].start

    @property
    def member_group(self) -> Int64:
        """(members,) int64: the index of each member's group."""
        return np.repeat(np.arange(len(self)), np.diff(self.member_start))

    def members(self, number: int) -> slice:
        """Return the range of the members of a group."""
        return slice(*self.member_start[number : number + 2].tolist())

    def partitions(self, number: int) -> slice:
        """Return the range of the partitions of a group."""
        return slice(*self.partition_start[number : number + 2].tolist())

    def owner_in(self, number: int, owner: Int32) -> Int32:
        """Return the owners of one group, in its own numbering, from those of the fleet."""
        if len(self) == 1:
            return owner
        own = owner[self.partitions(number)]
        return np.where(own < 0, NOBODY, own - np.int32(self.member_start[number]))

    def owner_through(self, number: int, own: Int32) -> Int32:
        """Return the owners of one group, in the fleet's numbering, from its own."""
        return np.where(own < 0, NOBODY, own + np.int32(self.member_start[number]))

    @property
    def partition_group(self) -> Int64:
        """(all partitions,) int64: the index of each partition's group."""
        return np.repeat(np.arange(len(self)), np.diff(self.partition_start))

    @staticmethod
    def one(group: Group) -> Fleet:
        """Return the fleet of one group: its `group` is the group itself, with its names."""
        sizes = len(group.members), len(group.topics), len(group.owner)
        begins = np.array([(0, size) for size in sizes], np.int64)
        names = "members", "topics", "owner"
        return Fleet(
            group,
            {name: Lists((), _ONE, begin) for name, begin in zip(names, begins, strict=True)},
            [group.racks],
            (group,).__getitem__,
            np.zeros(1, np.int64),
            np.array([group.is_disputed]),
        )

    @staticmethod
    def from_arrow(rows: pa.RecordBatch) -> tuple[Fleet, list[BadRow]]:
        """Return the fleet of the groups in Arrow rows, without a Python object for each.

        Parameters
        ----------
        rows : with the columns of `groups.table.layout.LAYOUT`; others are ignored

        Returns
        -------
        The fleet, and for each row that is no valid group its number and the reason.

        Raises
        ------
        BadInput
            If a column is missing or of another type, or the groups together have more partitions
            than are supported.
        """
        from groups.table.batch import side_by_side

        good, failures = side_by_side(rows)
        racks = [one for one, _ in good.racks_and_details]
        claims = np.asarray(good.rows.column("claims").is_valid(), bool)
        return Fleet(good.group, good.lists, racks, good.alone, good.place, claims), failures

    @staticmethod
    def of(groups: Sequence[Group]) -> Fleet:
        """Return the fleet of some groups; their members, topics and racks get new numbers."""
        lists = {
            "topics": Lists.of((), np.array([len(g.topics) for g in groups], np.int64)),
            "members": Lists.of((), np.array([len(g.members) for g in groups], np.int64)),
        } | {
            name.removesuffix("_records"): _lists([getattr(group, name) for group in groups], kind)
            for name, kind in _COLUMNS.items()
        }
        racks = [group.racks for group in groups]
        return Fleet(
            Group(**columns_through(lists, racks)),
            lists,
            racks,
            groups.__getitem__,
            np.arange(len(groups)),
            np.array([group.is_disputed for group in groups], bool),
        )

    def only(self, chosen: Bools) -> Fleet:
        """Return the fleet of some of the groups, (groups,) bool, in their order."""
        index = np.flatnonzero(chosen)
        lists = {name: one.only(chosen) for name, one in self.lists.items()}
        racks = [self.racks[at] for at in index.tolist()] if self.racks else []
        # No rule concerns two groups, so that a part of a valid fleet needs no check.
        nothing = {field.name: field.default for field in fields(Group)}
        return Fleet(
            Group.of_valid(nothing | columns_through(lists, racks)),
            lists,
            racks,
            alone=partial(_alone, self, index),
            place=self.place[index],
            other_claims=self.other_claims[index],
        )


# A function of this module, so that a fleet can be pickled.
def _alone(fleet: Fleet, index: Int64, number: int) -> Group:
    return fleet.alone(int(index[number]))


def _lists(columns: Sequence[Any], kind: type[np.generic]) -> Lists:
    """Return the columns of some groups as lists; a column that is None becomes a null."""
    there = [column for column in columns if column is not None]
    return Lists.of(
        np.concatenate(there) if there else np.empty(0, kind),
        np.array([0 if column is None else len(column) for column in columns], np.int64),
        np.array([column is not None for column in columns], bool),
    )
