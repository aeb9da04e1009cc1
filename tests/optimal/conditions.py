"""The conditions of docs/explanation/proof.md in plain loops, a partition and a member at a time.

Those of ``assay-solution/1`` word by word, and their extension to any order of the tiers that cost
each partition by itself. Every reader is looked at.
"""

from __future__ import annotations

from itertools import permutations
from typing import TYPE_CHECKING

from tests.optimal.judging import readers_of

if TYPE_CHECKING:
    from groups import Group

KIP_54 = ("balance", "stickiness")
CERTIFIED = ("balance", "stickiness", "moved_weight", "racks")
ORDERS = [
    order for size in range(1, 5) for order in permutations(CERTIFIED, size) if "balance" in order
]


def format_accepts(group, assignment, level, price, reward=None) -> bool:
    """The conditions of the format; `reward` is 1 for each partition kept."""
    readers, held = readers_of(group), assignment.owner.tolist()
    own, members = group.owner.tolist(), range(len(group.members))
    reward = reward or dict.fromkeys(readers, 1)
    load = [sum(held[p] == m for p in readers) for m in members]
    lo, hi = [max(level[m], 0) for m in members], [level[m] + 1 for m in members]
    topic_level = {p: min(level[m] for m in readers[p]) for p in readers}
    allowed = {p: [m for m in readers[p] if level[m] == topic_level[p]] for p in readers}
    if not all(held[p] in allowed[p] for p in readers):
        return False
    if not all(lo[m] <= load[m] <= hi[m] for m in members):
        return False
    kept = sum(reward[p] for p in readers if held[p] == own[p])
    bound = sum(max((own[p] == m) * reward[p] - price[m] for m in allowed[p]) for p in readers)
    bound += sum(hi[m] * max(price[m], 0) - lo[m] * max(-price[m], 0) for m in members)
    return kept == bound


def weights_of(group: Group) -> list[int]:
    return [0] * group.n_partitions if group.weight is None else group.weight.tolist()


def cost_of(group: Group, tier: str, partition: int, member: int) -> int:
    """What it costs in a tier that a member holds a partition."""
    if tier == "racks":
        near = group.racks.of_set(int(group.racks.replicas[partition]))
        mine = int(group.racks.member[member])
        return int(mine < 0 or group.racks.names[mine] not in near)
    moves = group.owner[partition] not in (-1, member)
    return int(moves) * (1 if tier == "stickiness" else weights_of(group)[partition])


def priced(objective: tuple[str, ...]) -> tuple[str, ...]:
    """The tiers that the prices are about; the format proves balance alone with stickiness."""
    return objective[objective.index("balance") + 1 :] or (
        ("stickiness",) if objective == ("balance",) else ()
    )


def accepts(group, assignment, objective, level, price, scale) -> bool:
    """The conditions for tiers before balance, balance, and tiers after it."""
    readers, held = readers_of(group), assignment.owner.tolist()
    members, at = range(len(group.members)), objective.index("balance")
    before, after = objective[:at], priced(objective)
    load = [sum(held[p] == m for p in readers) for m in members]
    bound = paid = 0
    for p, all_readers in readers.items():
        costs = {m: [cost_of(group, tier, p, m) for tier in before] for m in all_readers}
        open_ones = [m for m in all_readers if costs[m] == min(costs.values())]
        least = min(level[m] for m in open_ones)
        allowed = [m for m in open_ones if level[m] == least]
        if held[p] not in allowed:
            return False
        cost = {
            m: sum(u * cost_of(group, t, p, m) for u, t in zip(scale, after, strict=True))
            for m in allowed
        }
        bound += min(cost[m] + price[m] for m in allowed)
        paid += cost[held[p]]
    for m in members:
        lo, hi = max(level[m], 0), level[m] + 1
        if not lo <= load[m] <= hi:
            return False
        bound -= hi * max(price[m], 0) - lo * max(-price[m], 0)
    for i, unit in enumerate(scale):
        rest = 0
        for later, tier in zip(scale[i + 1 :], after[i + 1 :], strict=True):
            owned = [p for p in readers if group.owner[p] >= 0]
            weight = sum(weights_of(group)[p] for p in owned)
            most = {"stickiness": len(owned), "moved_weight": weight, "racks": len(readers)}
            rest += later * most[tier]
        if unit <= rest:
            return False
    return bound == paid
