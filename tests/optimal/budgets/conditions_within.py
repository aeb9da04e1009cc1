"""The conditions of docs/explanation/proof.md for a budget on moves, set by set in loops."""

from tests.optimal.judging import readers_of


def accepts_within(group, assignment, objective, level, most) -> bool:
    """Whether levels show for every k that no assignment of at most so many moves has less."""
    readers, held = readers_of(group), assignment.owner.tolist()
    own, members = group.owner.tolist(), range(len(group.members))
    load = [sum(held[p] == m for p in readers) for m in members]
    moves = sum(own[p] not in (-1, held[p]) for p in readers)
    if moves > most:
        return False
    needed = moves == 0
    for k in range(1, max(load, default=0)):
        inside = {m for m in members if level[m] >= k}
        above = sum(max(x - k, 0) for x in load)
        bound_to = sum(all(m in inside for m in readers[p]) for p in readers)
        stay_with = sum(
            own[p] in inside if own[p] >= 0 else all(m in inside for m in readers[p])
            for p in readers
        )
        if max(bound_to, stay_with - most) - k * len(inside) != above:
            return False
        needed = needed or stay_with - moves - k * len(inside) == above
    return needed or objective == ("balance",)
