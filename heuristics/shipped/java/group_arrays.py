"""GroupArrays: a group handed to our Java classes as arrays, and what they hand back."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from groups import Assignment, Refused
from groups.arrays import NOBODY

if TYPE_CHECKING:
    from groups import Claims, Group
    from groups.arrays import Int32, Int64, Ints

MOST = int(np.iinfo(np.int32).max)


def fill(arrays: Any, group: Group, owned: Claims) -> None:
    """Write a group into an ``assay.GroupArrays``.

    Parameters
    ----------
    arrays : the Java object
    owned : what the members have, as the assignor is to see it

    Raises
    ------
    Refused
        Where a number does not fit into the 32 bits that Kafka has for it.
    """
    strings, of_ints = _array_types()

    def ints(values: Ints, what: str = "an index") -> Any:
        return of_ints(_int32(values, what))

    names, members = group.topics + group.absent_topics, len(group.members)
    indptr, subscribed = _subscriptions(group)
    arrays.topics = strings(list(names))
    arrays.partitions = ints(group.partitions, "partitions")
    arrays.members = strings(list(group.members))
    details = group.details or [None] * members
    arrays.instances = strings([said and said.instance_id for said in details])
    arrays.generations = ints(group.generation, "generation")
    arrays.subscriptionStarts, arrays.subscribed = ints(indptr), ints(subscribed)
    arrays.ownedStarts = ints(np.searchsorted(owned.member, np.arange(members + 1)))
    arrays.ownedTopics = ints(owned.topic)
    arrays.ownedNumbers = ints(owned.partition, "an owned partition")
    racks = group.racks
    none = np.empty(0, np.int32)
    if racks is None:
        arrays.racks = strings([])
        arrays.memberRacks = ints(np.full(members, NOBODY))
        arrays.replicaSets = arrays.setOf = arrays.rackOf = ints(none)
        return
    arrays.racks = strings(list(racks.names))
    arrays.memberRacks = ints(racks.member)
    arrays.replicaSets = ints(racks.replicas)
    sets, of_rack = np.divmod(racks.holds, max(len(racks.names), 1))
    arrays.setOf, arrays.rackOf = ints(sets), ints(of_rack)


def handed_out(arrays: Any, group: Group) -> Assignment:
    """Return the assignment that an ``assay.GroupArrays`` holds, whatever it is."""
    member, topic, number = (
        np.array(array, np.int64)
        for array in (arrays.heldBy, arrays.heldTopics, arrays.heldNumbers)
    )
    order = np.lexsort((number, topic, member))
    return Assignment.from_columns(group, member[order], topic[order], number[order])


@cache
def _array_types() -> tuple[Any, Any]:
    """Return the types of arrays of strings and of ints, which take a while to be made."""
    from jpype import JArray, JInt, JString

    return JArray(JString), JArray(JInt)


def _subscriptions(group: Group) -> tuple[Int64, Int64]:
    """CSR of the subscriptions: topics that do not exist last, as in `absent_topics`."""
    members, topics = group.subscription_pairs
    absent = np.array(sorted(group.absent_subscriptions), np.int64).reshape(-1, 2)
    member = np.concatenate((members, absent[:, 0]))
    topic: Int64 = np.concatenate((topics, absent[:, 1] + len(group.topics)))
    counts = np.bincount(member, minlength=len(group.members))
    if len(absent):
        topic = topic[np.lexsort((topic, member))]
    return np.concatenate(([0], np.cumsum(counts))).astype(np.int64), topic


def _int32(values: Ints, what: str) -> Int32:
    if len(values) and int(values.max()) > MOST:
        raise Refused(f"{what} of {int(values.max())}: Kafka has 32 bits for it")
    return np.ascontiguousarray(values, np.int32)
