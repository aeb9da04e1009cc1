"""Claims: what members said they own, and the valid owners that follow."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from groups.arrays import NOBODY, column, constructor_call, frozen
from groups.errors import BadInput

if TYPE_CHECKING:
    from groups.arrays import Bools, Int32, Int64, Ints
    from groups.columns.subscriptions import Subscriptions


# Passed in place of a group's owners: derive them from its claims.
BY_CLAIMS: Int32 = frozen(np.empty(0, np.int32))


@dataclass(frozen=True, eq=False)
class Claims:
    """The partitions that members said they own.

    One entry per claim, in ascending order of (member, topic, partition), without repeats.

    Attributes
    ----------
    member : (claims,) int32, index into ``Group.members``
    topic : (claims,) int32, index into ``Group.topics + Group.absent_topics``
    partition : (claims,) int64, number inside the topic; may be past its end
    """

    member: Int32
    topic: Int32
    partition: Int64

    def __post_init__(self) -> None:
        """Check the columns and their order, and replace them by immutable ones.

        Raises
        ------
        BadInput
            If a column has the wrong length, type or order; the message names the place.
        """
        member = column(self.member, "claims.member", np.int32)
        topic = column(self.topic, "claims.topic", np.int32, length=len(member))
        partition = column(self.partition, "claims.partition", np.int64, length=len(member))
        rises = _rise(member, topic, partition)
        if not rises.all():
            raise BadInput(
                f"claims[{int(np.argmin(rises)) + 1}]: does not come after the one before it"
            )
        vars(self).update(member=member, topic=topic, partition=partition)

    __reduce__ = constructor_call

    @staticmethod
    def ascending(member: Int32, topic: Int32, partition: Int64) -> Claims:
        """Return claims of columns without checking them; they must be sorted and frozen."""
        found = object.__new__(Claims)
        vars(found).update(member=member, topic=topic, partition=partition)
        return found

    @staticmethod
    def sorted(member: Int32, topic: Int32, partition: Int64) -> Claims:
        """Return claims of columns in any order, without repeats."""
        if not _rise(member, topic, partition).all():
            order = np.lexsort((partition, topic, member))
            member, topic, partition = member[order], topic[order], partition[order]
        return Claims.ascending(frozen(member), frozen(topic), frozen(partition))

    @staticmethod
    def of(member: Ints, partition: Ints, topic: Int32, number: Int64) -> Claims:
        """Return the claims of (member, partition) pairs in any order; repeats count once.

        Parameters
        ----------
        member, partition : (pairs,) int, the second among all partitions of the group
        topic, number : (all partitions,), those columns of the group
        """
        every = max(len(topic), 1)
        pairs = np.unique(np.asarray(member, np.int64) * every + partition)
        who, what = np.divmod(pairs, every)
        return Claims(frozen(who.astype(np.int32)), frozen(topic[what]), frozen(number[what]))

    def valid_owner(
        self, generation: Int64, partitions: Int64, subscriptions: Subscriptions
    ) -> Int32:
        """Return the valid owner of each partition: (all partitions,) int32, -1 where nobody.

        Of the claims on one existing partition, the one of the highest generation wins; two of the
        same highest generation void each other. If the winner does not read the topic, nobody owns
        the partition.

        Parameters
        ----------
        generation : (members,) int64, generation of each member's claims
        partitions : (topics,) int64, partition count of each topic
        """
        exists = np.flatnonzero(self.topic < len(partitions))
        exists = exists[self.partition[exists] < partitions[self.topic[exists]]]
        topic, member = self.topic[exists], self.member[exists]
        ends = np.cumsum(partitions)
        partition = (ends - partitions)[topic] + self.partition[exists]
        born = generation[member]
        order = np.lexsort((-born, partition))
        partition, member, born = partition[order], member[order], born[order]
        highest = np.ones(len(order), bool)
        highest[1:] = partition[1:] != partition[:-1]
        rival = np.zeros(len(order), bool)
        rival[:-1] = (partition[:-1] == partition[1:]) & (born[:-1] == born[1:])
        won = highest & ~rival
        partition, member = partition[won], member[won]
        keeps = subscriptions.include(member, topic[order][won])
        owner = np.full(int(ends[-1]) if len(ends) else 0, NOBODY, np.int32)
        owner[partition[keeps]] = member[keeps]
        return frozen(owner)


def _rise(member: Int32, topic: Int32, partition: Int64) -> Bools:
    """(claims - 1,) bool: whether each claim but the first is greater than the one before it."""
    rises = np.zeros(max(len(member) - 1, 0), bool)
    for values in (partition, topic, member):
        rises = (values[1:] > values[:-1]) | ((values[1:] == values[:-1]) & rises)
    return rises
