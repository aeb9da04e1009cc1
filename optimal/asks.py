"""The checker of asks: what members, hosts and racks ask for a partition, tier by tier.

To be read beside docs/explanation/proof.md, *Hosts and racks*, as `optimal.certificate` is
beside the rest of the page.
"""

from __future__ import annotations

from collections import Counter
from itertools import pairwise
from operator import add, sub
from typing import TYPE_CHECKING

from optimal.case import BY_PARTITION, OF_LOADS, OF_PLACES, STATE, require

if TYPE_CHECKING:
    from collections.abc import Sequence

    from optimal.case import Case
    from optimal.solution import Solution


def require_asks(case: Case, solution: Solution) -> None:
    """Require that every partition is where it costs and asks least, and that all loads are right.

    What a member or place asks, less what the place above it asks, is no less than what its last
    partition adds to its squares, and no more than what one more adds. All tier by tier.
    """
    tiers, tables = solution.objective, solution.proof.prices
    known = {*BY_PARTITION, *OF_PLACES, *OF_LOADS, STATE}
    both = " and ".join(OF_LOADS) * ({*OF_LOADS} <= {*tiers})
    other = next((tier for tier in tiers if tier not in known), both)
    require(not other, f"no certificate is defined for an objective with {other}")
    # What each member is on at each height: its state, itself, its host, its rack, the group.
    finest = ["state"] * (STATE in tiers) + ["member"]
    heights: dict[str, list[str]] = {kind: list(case.group.members) for kind in finest}
    heights |= {kind: case.places(kind) for tier, kind in OF_PLACES.items() if tier in tiers}
    require({*tables} == {*heights}, f"prices: expected those of each {' and '.join(heights)}")
    asks: dict[str, dict[str, tuple[int, ...]]] = {"": {"": (0,) * len(tiers)}}
    for priced, table in tables.items():
        names, rows = heights[priced], table.tolist()
        names = names if priced in finest else sorted({*names})
        require(len(rows) == len(names), f"prices.{priced}: {len(rows)} rows for {len(names)}")
        asks[priced] = dict(zip(names, map(tuple, rows), strict=True))
    for kind in finest:
        _require_cheap(case, tiers, [*asks[kind].values()], kind if len(finest) > 1 else None)
    levels = tiers.index("balance") if "balance" in tiers else None
    of = {STATE: "state", **dict.fromkeys(OF_LOADS, "member"), **OF_PLACES}
    heights[""] = [""] * len(case.members)
    for (kind, units), (coarser, above) in pairwise(heights.items()):
        there = [p for p in case.read if kind != "state" or case.keeps_state(p)]
        loads, weights = Counter(units[case.held[p]] for p in there), case.weights(units)
        squared = [kind == of.get(tier) for tier in tiers]
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
            if levels is not None and kind != "member":
                expected = asks[coarser][place][levels] if kind == "state" else 0
                even = asks[kind][name][levels] == expected
                require(even, f"prices.{kind}.{name}: expected {expected} in balance")


def _require_cheap(
    case: Case, tiers: Sequence[str], asks: list[tuple[int, ...]], kind: str | None
) -> None:
    """Require that partitions are where they cost and ask least.

    Parameters
    ----------
    asks : what each member asks for these partitions
    kind : of the partitions: `state` or, for those without, `member`; None: all
    """

    def costs(p: int, m: int) -> tuple[int, ...]:
        own = (case.cost(tier, p, m) if tier in BY_PARTITION else 0 for tier in tiers)
        return tuple(map(add, own, asks[m]))

    for p, least in case.least(asks, costs, {*case.members}, tiers).items():
        if kind is None or case.keeps_state(p) == (kind == "state"):
            cheap = costs(p, case.held[p]) == least
            require(cheap, f"{case.names[p]}: another reader than its member costs and asks less")
