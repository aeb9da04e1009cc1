"""The checker's part for the peak: what nobody can bring the busiest member below.

Plain Python in the order of docs/proof.md, as `optimal.certificate`, which calls it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from groups.errors import ProofError
from groups.tiers import TIERS

if TYPE_CHECKING:
    from collections.abc import Callable

    from groups.tiers import Objective
    from optimal.case import Case
    from optimal.solution import Proof

PEAKS = ("peak_lag", "peak_weight")
# What a partition costs at least with some members, in the tiers before.
Costs = dict[int, tuple[int, ...]]


def before_peak(objective: Objective) -> Objective:
    """Return the tiers before a peak that comes last; all of them where none does."""
    return objective[:-1] if objective[-1] in PEAKS else objective


def require_peak(
    case: Case,
    objective: Objective,
    proof: Proof,
    costs: Callable[[set[int]], Costs],
    counts: list[tuple[int, int]],
) -> None:
    """Require that no assignment as good in the tiers before has a lower peak.

    Parameters
    ----------
    costs : what each partition costs at least with one of some members that read it
    counts : how many partitions each member holds at least and at most, where balance says so
    """
    peak = case.value(objective[-1])
    if peak == 0:
        return
    if proof.floor is None:
        raise ProofError("floor is missing")
    chosen, everybody = set(proof.floor.members), set(range(len(case.reads)))
    if not chosen <= everybody:
        raise ProofError("floor.members: an index outside the group's members")
    inside, outside = costs(chosen), costs(everybody - chosen)
    only = [p for p in inside if p not in outside or inside[p] < outside[p]]
    able = [p for p in inside if p not in outside or inside[p] <= outside[p]]
    needs = str(TIERS[objective[-1]].needs)
    size = {p: case.known(needs, p) for p in case.read}
    heavy = [p for p in only if size[p] >= proof.floor.at_least]
    if proof.floor.bound == "average":
        bound = -(-sum(size[p] for p in only) // len(chosen))
    elif before_peak(objective) == ("topic_balance",) and not counts:
        bound = _least_with_one(case, size, heavy)
    else:
        held = 0
        if counts:
            room = sum(counts[m][1] for m in chosen) - len(only)
            held = min(max(counts[m][0], counts[m][1] - room) for m in chosen)
        share = -(-len(heavy) // len(chosen))
        bound = _least_of_several(size, heavy, share, able, held)
    if bound != peak:
        what = f"the {proof.floor.bound} bounds {objective[-1]} by {bound}, not by {peak}"
        raise ProofError(f"floor: {what}")


def _least_of_several(
    size: dict[int, int], heavy: list[int], share: int, able: list[int], held: int
) -> int:
    """Return the least that `held` partitions weigh, `share` of them heavy."""
    lightest = sorted(heavy, key=lambda p: size[p])[:share]
    rest = sorted(size[p] for p in set(able) - set(lightest))
    return sum(size[p] for p in lightest) + sum(rest[: max(0, held - share)])


def _least_with_one(case: Case, size: dict[int, int], heavy: list[int]) -> int:
    """Return the least that a reader of a heavy partition carries, where topics are even.

    It holds its share, rounded down, of every topic that it reads.
    """
    of_topic: dict[int, list[int]] = {}
    for p in sorted(case.read, key=lambda p: size[p]):
        of_topic.setdefault(case.topic[p], []).append(p)
    share = {t: len(of_topic[t]) // len(case.readers[t]) for t in of_topic}
    light = {t: sum(size[p] for p in of_topic[t][: share[t]]) for t in of_topic}
    of_member = [sum(light.get(t, 0) for t in topics) for topics in case.reads]
    least = []
    for p in heavy:
        t = case.topic[p]
        others = [size[q] for q in of_topic[t] if q != p][: max(0, share[t] - 1)]
        reader = min(of_member[m] for m in case.readers[t])
        least.append(reader - light[t] + size[p] + sum(others))
    return min(least, default=0)
