"""Short ways to write a group, all assignments of a group, and the values of a solution."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import product
from typing import Any

import numpy as np

from benchmarks.instances import alike
from groups import Assignment, Group, MemberDetails


def document(topics: Mapping[str, Any], members: Mapping[str, Any], **more: Any) -> dict[str, Any]:
    head = {"format": "assay-group/1", "group": "g"}
    return head | {"topics": topics, "members": members} | more


def group_of(
    topics: Mapping[str, Any],
    subscriptions: Mapping[str, Sequence[str] | None],
    owned: Mapping[str, Mapping[str, Sequence[int]]] | None = None,
    name: str = "g",
    *,
    racks: Sequence[str] = (),
    hosts: Sequence[str] = (),
    capacities: Sequence[int | None] = (),
    generation: int | Mapping[str, int] | None = None,
) -> Group:
    """Return a group of topics, subscriptions and owned partitions.

    racks, hosts, capacities : one for each member, in order; None and missing ones are not set
    generation : that of each member, or of all
    """
    members: dict[str, dict[str, Any]] = {
        m: {"subscription": None if read is None else list(read)}
        for m, read in subscriptions.items()
    }
    for member, held in (owned or {}).items():
        members[member]["owned"] = held
    if generation is not None:
        for member, one in members.items():
            one["generation"] = generation if isinstance(generation, int) else generation[member]
    for key, column in (("rack", racks), ("host", hosts), ("capacity", capacities)):
        for member, value in zip(members.values(), column, strict=False):
            if value is not None:
                member[key] = value
    return Group.from_dict(document(topics, members, group=name))


def streams(
    subtopologies: Mapping[str, tuple[int, bool | None]],
    members: Mapping[str, tuple[str, Mapping[str, Any], Mapping[str, Any]]],
    **more: Any,
) -> Group:
    """Return a streams group.

    subtopologies : (number of tasks, stateful) by name
    members : (process, active tasks, standby tasks) by name
    """
    parts = {
        name: {"tasks": tasks, "stateful": stateful}
        for name, (tasks, stateful) in subtopologies.items()
    }
    described = {
        name: {"process": process, "tasks": {"active": active, "standby": standby}}
        for name, (process, active, standby) in members.items()
    }
    head = {"format": "assay-streams/1", "group": "app"}
    return Group.from_dict(head | {"subtopologies": parts, "members": described} | more)


def one_topic(
    lags: Sequence[int], members: int, owned: Sequence[int] = (), **columns: Sequence[int | None]
) -> Group:
    """Return a group of one topic that c0, c1, ... read, with weights equal to its lags.

    `owned` are the partitions that c0 owns.
    """
    topic = {"partitions": len(lags), "lag": list(lags), "weight": list(lags)}
    held = {"c0": {"t": list(owned)}} if owned else {}
    names = [f"c{m}" for m in range(members)]
    return group_of({"t": topic}, {name: ["t"] for name in names}, held, **columns)


def lopsided(members: int = 2, partitions: int = 6) -> Group:
    """Return a group of one topic that all members read and the first member owns."""
    return Group.from_arrays(
        group="lopsided",
        topics=["t0"],
        partitions=[partitions],
        members=[f"c{m:04}" for m in range(members)],
        subscription_indptr=[0, 1],
        subscription_topics=[0],
        subscription_row=[0] * members,
        owner=[0] * partitions,
    )


def lagging(partitions: int, members: int, kind: str, *, topics: int = 1) -> Group:
    """Return a group of topics that all read, with random owners and capacities.

    `kind` is the kind of lags, as in `benchmarks.instances.alike`.
    """
    group, rng = alike(partitions, members, kind, 1, topics=topics), np.random.default_rng(7)
    owner = rng.integers(0, members, group.n_partitions).astype(np.int32)
    rates = rng.integers(50, 201, members).tolist()
    return replace(
        group, owner=owner, details=tuple(MemberDetails(capacity=rate) for rate in rates)
    )


def every_assignment(group: Group) -> list[Assignment]:
    """Return all valid assignments of a group, ascending by owners."""
    readers = [group.subscribers(t).tolist() or [-1] for t in group.topic.tolist()]
    return [Assignment(group, np.array(row, np.int32)) for row in product(*readers)]


def found(solution) -> tuple[int, ...]:
    return tuple(term.value for term in solution.terms)


def chain(members: int, partitions: int, owned=None) -> Group:
    """Return a group in which members i and i + 1 read topic i."""
    topics = {f"t{i:04}": partitions for i in range(members - 1)}
    names = list(topics)
    reads = {f"c{m:04}": names[max(m - 1, 0) : m + 1] for m in range(members)}
    return group_of(topics, reads, owned)
