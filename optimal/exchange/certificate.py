"""The checker's part for the peak: what nobody can bring the busiest member below.

Plain Python in the order of docs/explanation/proof.md, as `optimal.certificate`, which calls it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from groups.errors import ProofError
from groups.tiers import PEAKS, TIERS

if TYPE_CHECKING:
    from collections.abc import Callable

    from groups.tiers import Objective
    from optimal.case import Case
    from optimal.exchange.floor import Floor
    from optimal.proof import Proof

# What may come after each peak.
EVENED = {
    "peak_lag": ("lag_spread", "lag_balance"),
    "peak_weight": ("weight_spread", "weight_balance"),
}
NAMES = {"average": "average", "crowd": "crowd", "weighted": "weighted average"}
# What a partition costs at least with some members, in the tiers before.
Costs = dict[int, tuple[int, ...]]


def before_peak(objective: Objective) -> Objective:
    """Return the tiers before a peak that comes last, or before how even the rest is.

    All of them where there is no such peak.
    """
    if objective[-1] in PEAKS:
        return objective[:-1]
    if len(objective) > 1 and objective[-1] in EVENED.get(objective[-2], ()):
        return objective[:-2]
    return objective


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
    tier, *even = objective[len(before_peak(objective)) :]
    peak = case.value(tier)
    if peak == 0:
        return
    if proof.floor is None:
        raise ProofError("floor is missing")
    size = {p: case.known(str(TIERS[tier].needs), p) for p in case.read}
    earlier = before_peak(objective)
    if tier == "peak_time":
        bound = _bound_on_time(case, earlier, proof.floor, size, costs, counts, peak)
    else:
        bound = _bound(case, earlier, proof.floor, size, costs, counts)
    if bound != peak:
        what = f"the {NAMES[proof.floor.bound]} bounds {tier} by {bound}, not by {peak}"
        raise ProofError(f"floor: {what}")
    for name in even:
        require_even(case, name, counts, peak)


def require_even(case: Case, tier: str, counts: list[tuple[int, int]], peak: int = 0) -> None:
    """Require that no loads are more even, given that the peak is reached, 0 for none."""
    size, fewest = sorted(case.known(str(TIERS[tier].needs), p) for p in case.read), 0
    if counts:
        room = sum(most for _, most in counts) - len(case.read)
        fewest = min(max(least, most - room) for least, most in counts)
    least = _least_of_all(tier, size, len(case.reads), peak, fewest)
    if least != case.value(tier):
        raise ProofError(f"{tier}: the loads show {least}, not {case.value(tier)}")


def _bound(
    case: Case,
    earlier: Objective,
    floor: Floor,
    size: dict[int, int],
    costs: Callable[[set[int]], Costs],
    counts: list[tuple[int, int]],
) -> int:
    """Return what no peak is below by the floor of a proof."""
    chosen, everybody = set(floor.members), set(range(len(case.reads)))
    if not chosen <= everybody:
        raise ProofError("floor.members: an index outside the group's members")
    if floor.bound == "weighted":
        if earlier != ("topic_balance",):
            raise ProofError("floor.bound: weighted bounds a peak after topic_balance alone")
        return _least_weighted(case, size, dict(zip(floor.members, floor.weight, strict=True)))
    inside, outside = costs(chosen), costs(everybody - chosen)
    only = [p for p in inside if p not in outside or inside[p] < outside[p]]
    able = [p for p in inside if p not in outside or inside[p] <= outside[p]]
    if floor.bound == "average":
        return -(-sum(size[p] for p in only) // len(chosen))
    heavy = [p for p in only if size[p] >= floor.at_least]
    if earlier == ("topic_balance",) and not counts:
        return _least_with_one(case, size, heavy, [1] * len(case.reads))
    held = 0
    if counts:
        room = sum(counts[m][1] for m in chosen) - len(only)
        held = min(max(counts[m][0], counts[m][1] - room) for m in chosen)
    share = -(-len(heavy) // len(chosen))
    return _least_of_several(size, heavy, share, able, held)


def _bound_on_time(
    case: Case,
    earlier: Objective,
    floor: Floor,
    size: dict[int, int],
    costs: Callable[[set[int]], Costs],
    counts: list[tuple[int, int]],
    peak: int,
) -> int:
    """Return what no time is below by the floor of a proof, `peak` at the most of a crowd."""
    chosen, everybody = set(floor.members), set(range(len(case.reads)))
    if not chosen <= everybody:
        raise ProofError("floor.members: an index outside the group's members")
    if floor.bound == "weighted":
        raise ProofError("floor.bound: weighted bounds no peak_time")
    inside, outside = costs(chosen), costs(everybody - chosen)
    only = [p for p in inside if p not in outside or inside[p] < outside[p]]
    able = [p for p in inside if p not in outside or inside[p] <= outside[p]]
    rates = case.capacities()
    if floor.bound == "average":
        return -(-sum(size[p] for p in only) // sum(rates[m] for m in chosen))
    heavy = [p for p in only if size[p] >= floor.at_least]
    if earlier == ("topic_balance",) and not counts:
        return _least_with_one(case, size, heavy, rates)
    held = dict.fromkeys(chosen, (0, len(case.read)))
    if counts:
        room = sum(counts[m][1] for m in chosen) - len(only)
        held = {m: (max(counts[m][0], counts[m][1] - room), counts[m][1]) for m in chosen}
    weights = sorted(size[p] for p in heavy)
    light = sorted(size[p] for p in set(able) - set(heavy))
    rooms = {m: (peak - 1) * rates[m] for m in chosen}
    fit = [_heavy_that_fit(weights, light, *held[m], room=rooms[m]) for m in chosen]
    return peak if sum(fit) < len(heavy) else peak - 1


def _least_of_all(name: str, size: list[int], members: int, peak: int, held: int) -> int:
    """Return what no spread or balance is below where the peak is reached.

    Parameters
    ----------
    size : what each partition weighs, ascending
    held : how many partitions each member holds at least
    """
    total, fullest = sum(size), [0]
    for j in range(1, members + 1):
        heavy = size[max(0, len(size) - j) :]
        light = size[: len(size) - len(heavy)][: max(0, j * held - len(heavy))]
        left = members - j + 1
        next_one = -((fullest[-1] - total) // left)
        shown = sum(heavy) + sum(light)
        fullest.append(max(shown, fullest[-1] + next_one, peak if j == 1 else 0))
    if name.endswith("_spread"):
        emptiest = [(total - fullest[j]) // (members - j) for j in range(1, members)]
        return max(0, fullest[1] - min(emptiest)) if emptiest else 0
    return 2 * sum(fullest[1:members]) - (members - 1) * total


def _least_of_several(
    size: dict[int, int], heavy: list[int], share: int, able: list[int], held: int
) -> int:
    """Return the least that `held` partitions weigh, `share` of them heavy."""
    lightest = sorted(heavy, key=lambda p: size[p])[:share]
    rest = sorted(size[p] for p in set(able) - set(lightest))
    return sum(size[p] for p in lightest) + sum(rest[: max(0, held - share)])


def _heavy_that_fit(
    heavy: list[int], light: list[int], least: int, most: int, *, room: int
) -> int:
    """Return how many heavy partitions a member may hold, with the light ones it has to hold.

    Parameters
    ----------
    heavy, light : what they weigh, ascending
    least, most : how many partitions it holds
    """
    fit, carried = 0, 0
    number = min(len(heavy), most)
    rest = sum(light[: max(0, least)])
    for taken in range(1, number + 1):
        carried += heavy[taken - 1]
        if 0 <= least - taken < len(light):
            rest -= light[least - taken]
        fit = taken if carried + rest <= room else fit
    return fit


def _least_with_one(case: Case, size: dict[int, int], heavy: list[int], rates: list[int]) -> int:
    """Return the least that a reader of a heavy partition carries, where topics are even.

    In units of its rate, which is 1 for what it carries.

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
        with_it = size[p] + sum(others) - light[t]
        least.append(min(-(-(of_member[m] + with_it) // rates[m]) for m in case.readers[t]))
    return min(least, default=0)


def _least_weighted(case: Case, size: dict[int, int], weight: dict[int, int]) -> int:
    """Return what the peak is at least, where members count as often as their weight says.

    Of each topic every reader holds its share, rounded down, and those of least weight one more;
    the heaviest partitions are with those of least weight.
    """
    of_topic: dict[int, list[int]] = {}
    for p in case.read:
        of_topic.setdefault(case.topic[p], []).append(size[p])
    total = 0
    for t, heaviest_first in of_topic.items():
        heaviest_first.sort(reverse=True)
        lightest = sorted(weight.get(m, 0) for m in case.readers[t])
        share, more = divmod(len(heaviest_first), len(lightest))
        places = sorted(lightest * share + lightest[:more])
        total += sum(s * w for s, w in zip(heaviest_first, places, strict=True))
    return -(-total // sum(weight.values()))
