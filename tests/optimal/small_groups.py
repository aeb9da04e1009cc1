"""Groups written in a line or two, and what a solution costs."""

from collections.abc import Mapping, Sequence
from typing import Any

from groups import Group


def group_of(
    topics: Mapping[str, Any],
    subscriptions: Mapping[str, Sequence[str] | None],
    owned: Mapping[str, Mapping[str, Sequence[int]]] | None = None,
    name: str = "g",
    *,
    racks: Sequence[str] = (),
    hosts: Sequence[str] = (),
    capacities: Sequence[int | None] = (),
) -> Group:
    """A group by its topics, who reads what, who owns what, and a rack, host or rate each."""
    members: dict[str, dict[str, Any]] = {
        m: {"subscription": None if read is None else list(read)}
        for m, read in subscriptions.items()
    }
    for member, held in (owned or {}).items():
        members[member]["owned"] = held
    for key, column in (("rack", racks), ("host", hosts), ("capacity", capacities)):
        for member, one in zip(members.values(), column, strict=False):
            if one is not None:
                member[key] = one
    return Group.from_dict(
        {"format": "assay-group/1", "group": name, "topics": topics, "members": members}
    )


def one_topic(
    lags: Sequence[int], members: int, owned: Sequence[int] = (), **columns: Sequence[int | None]
) -> Group:
    """One topic that c0, c1, ... read; its lags are its weights; c0 owns some of it."""
    topic = {"partitions": len(lags), "lag": list(lags), "weight": list(lags)}
    held = {"c0": {"t": list(owned)}} if owned else {}
    names = [f"c{m}" for m in range(members)]
    return group_of({"t": topic}, {name: ["t"] for name in names}, held, **columns)


def found(solution) -> tuple[int, ...]:
    return tuple(term.value for term in solution.terms)


def chain(members: int, partitions: int, owned=None) -> Group:
    """Topic i is read by the members i and i + 1."""
    topics = {f"t{i:04}": partitions for i in range(members - 1)}
    names = list(topics)
    reads = {f"c{m:04}": names[max(m - 1, 0) : m + 1] for m in range(members)}
    return group_of(topics, reads, owned)
