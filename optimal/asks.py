"""The checker of asks: what members, hosts and racks ask for a partition, tier by tier.

To be read beside docs/explanation/proof.md, *Hosts and racks*, as `optimal.certificate` is
beside the rest of the page.
"""

from __future__ import annotations

from collections import Counter
from itertools import pairwise
from operator import add, sub
from typing import TYPE_CHECKING

from optimal.case import BY_PARTITION, OF_LOADS, OF_PLACES, require

if TYPE_CHECKING:
    from optimal.case import Case
    from optimal.solution import Solution


def require_asks(case: Case, solution: Solution) -> None:
    """Require that every partition is where it costs and asks least, and that all loads are right.

    What a member or place asks, less what the place above it asks, is no less than what its last
    partition adds to its squares, and no more than what one more adds. All tier by tier.
    """
    tiers, tables = solution.objective, solution.proof.prices
    known = {*BY_PARTITION, *OF_PLACES, *OF_LOADS}
    both = " and ".join(OF_LOADS) * ({*OF_LOADS} <= {*tiers})
    other = next((tier for tier in tiers if tier not in known), both)
    require(not other, f"no certificate is defined for an objective with {other}")
    # What each member is on at each height: itself, its host, its rack, the whole group.
    heights: dict[str, list[str]] = {"member": list(case.group.members)}
    heights |= {kind: case.places(kind) for tier, kind in OF_PLACES.items() if tier in tiers}
    require({*tables} == {*heights}, f"prices: expected those of each {' and '.join(heights)}")
    asks: dict[str, dict[str, tuple[int, ...]]] = {"": {"": (0,) * len(tiers)}}
    for priced, table in tables.items():
        names, rows = heights[priced], table.tolist()
        names = names if priced == "member" else sorted({*names})
        require(len(rows) == len(names), f"prices.{priced}: {len(rows)} rows for {len(names)}")
        asks[priced] = dict(zip(names, map(tuple, rows), strict=True))
    of_member = [*asks["member"].values()]

    def costs(p: int, m: int) -> tuple[int, ...]:
        own = (case.cost(tier, p, m) if tier in BY_PARTITION else 0 for tier in tiers)
        return tuple(map(add, own, of_member[m]))

    best = case.least(of_member, costs, {*case.members}, racks="racks" in tiers)
    for p, least in best.items():
        cheap = costs(p, case.held[p]) == least
        require(cheap, f"{case.names[p]}: another reader than its member costs and asks less")
    levels = tiers.index("balance") if "balance" in tiers else None
    heights[""] = [""] * len(case.members)
    for (kind, units), (coarser, above) in pairwise(heights.items()):
        loads, weights = Counter(units[case.held[p]] for p in case.read), case.weights(units)
        squared = [kind == ("member" if t in OF_LOADS else OF_PLACES.get(t)) for t in tiers]
        pairs = {*zip(units, above, strict=True)}
        require(len(pairs) == len(weights), f"prices.{kind}: one {kind} is in two places")
        for name, place in sorted(pairs):
            load, weight = loads[name], weights[name]
            ask = tuple(map(sub, asks[kind][name], asks[coarser][place]))
            step = weight * (2 * load - 1)
            last, more = (
                tuple(one * square for square in squared) for one in (step, step + 2 * weight)
            )
            right = ask <= more and (ask >= last or not load)
            require(right, f"prices.{kind}.{name}: they do not allow a load of {load}")
            even = levels is None or kind == "member" or not asks[kind][name][levels]
            require(even, f"prices.{kind}.{name}: expected 0 in balance")
