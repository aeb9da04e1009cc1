"""Groups written in a line or two, and what a solution costs."""

from groups import Group


def group_of(topics, subscriptions, owned=None, name="g") -> Group:
    members = {m: {"subscription": list(topics)} for m, topics in subscriptions.items()}
    for member, held in (owned or {}).items():
        members[member]["owned"] = held
    return Group.from_dict(
        {"format": "assay-group/1", "group": name, "topics": topics, "members": members}
    )


def found(solution) -> tuple[int, ...]:
    return tuple(term.value for term in solution.terms)


def chain(members: int, partitions: int, owned=None) -> Group:
    """Topic i is read by the members i and i + 1."""
    topics = {f"t{i:04}": partitions for i in range(members - 1)}
    names = list(topics)
    reads = {f"c{m:04}": names[max(m - 1, 0) : m + 1] for m in range(members)}
    return group_of(topics, reads, owned)
