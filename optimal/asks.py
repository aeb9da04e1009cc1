"""The checker of asks: the prices that members, hosts and racks ask for a partition or standby.

To be read beside docs/explanation/proof.md, from *Hosts and racks* on; `optimal.certificate`
covers the sections before. Asks are compared tier by tier.
"""

from __future__ import annotations

from collections import Counter
from functools import partial
from itertools import pairwise
from operator import add, sub
from typing import TYPE_CHECKING

from groups.wording import listed
from optimal.case import BY_PARTITION, OF_LOADS, OF_PLACES, STANDBY_TIERS, STATE, Case, require

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from groups.arrays import Int64
    from optimal.solution import Solution, Standbys


def require_asks(case: Case, solution: Solution) -> None:
    """Require that every partition has the member of least cost and ask, and that asks fit loads.

    Raises
    ------
    BadInput, ProofError
        If a condition does not hold; the message says where.
    """
    tiers = solution.objective
    known = {*BY_PARTITION, *OF_PLACES, *OF_LOADS, STATE}
    both = " and ".join(OF_LOADS) * ({*OF_LOADS} <= {*tiers})
    unserved = next((tier for tier in tiers if tier not in known), both)
    require(not unserved, f"no certificate is defined for an objective with {unserved}")
    asks = Asks(case, tiers, solution.proof.prices)
    asks.require_cheap()
    asks.require_loads([(p, case.held[p]) for p in case.read])


def require_standbys(standbys: Standbys) -> None:
    """Require that standbys are where they may be, and optimal given the active tasks.

    Raises
    ------
    BadInput, InvalidAssignment, ProofError
        As `optimal.certificate.check` of the actives; the message says where.
    """
    require(standbys.proof.kind == "certificate", "proof.kind: expected a certificate")
    named = tuple(term.name for term in standbys.terms)
    require(named == STANDBY_TIERS, f"terms: {listed(named)}, expected {listed(STANDBY_TIERS)}")
    replicas, many = standbys.replicas, (standbys.task.shape, standbys.member.shape)
    require(type(replicas) is int and replicas >= 0, f"replicas: {replicas!r}, expected a number")
    shaped = many[0] == many[1] and len(many[0]) == 1
    whole = standbys.task.dtype == standbys.member.dtype == "int64"
    require(shaped and whole, "standbys: expected a task and a member of each, int64")
    case = Case(standbys.actives.group, standbys.actives.owner.tolist())
    case.require_valid()
    of_task: dict[int, list[int]] = {p: [] for p in case.read if case.keeps_state(p)}
    pairs = list(zip(standbys.task.tolist(), standbys.member.tolist(), strict=True))
    for p, m in pairs:
        require(p in of_task and m in case.members, f"standbys: {p} with {m}, expected others")
        of_task[p].append(m)
    asks = Asks(case, STANDBY_TIERS, standbys.proof.prices)
    process, ask = asks.units["host"], asks.of_member["member"]
    cheapest = {process[m]: m for m in sorted(case.members, key=ask.__getitem__, reverse=True)}
    copies = max(0, min(replicas, len(cheapest) - 1))
    for p, holders in of_task.items():
        active, chosen = process[case.held[p]], {process[m] for m in holders}
        is_right = len(holders) == copies == len(chosen - {active})
        require(is_right, f"{case.names[p]}: expected {copies} standbys, each on another process")
        others = (m for h, m in cheapest.items() if h not in (active, *chosen))
        least = min((asks.pays(p, m) for m in others), default=None)
        for m in holders:
            cheap = ask[m] == ask[cheapest[process[m]]]
            right = cheap and (least is None or asks.pays(p, m) <= least)
            require(right, f"{case.names[p]}: a standby elsewhere costs and asks less")
    squares = asks.require_loads(pairs, [case.held[p] for p in case.read])
    values = (*squares, sum(case.cost("restores", p, m) for p, m in pairs))
    for term, value in zip(standbys.terms, values, strict=True):
        right = term.value == term.bound == value
        require(right, f"terms.{term.name}: {term.value}, but the value is {value}")


class Asks:
    """What members, hosts and racks ask: one integer per tier.

    Attributes
    ----------
    units : of each kind (`state`, `member`, `host`, `rack`, in this order) the unit of each
        member: its own name, or the name of its host or rack
    asked : of each kind what each unit asks, by the unit's name
    of_member : of the kinds `state` and `member` what each member asks
    """

    def __init__(self, case: Case, tiers: Sequence[str], tables: Mapping[str, Int64]) -> None:
        finest = ["state"] * (STATE in tiers) + ["member"]
        self.case, self.tiers = case, tiers
        self.units = {kind: list(case.group.members) for kind in finest}
        self.units |= {kind: case.places(kind) for t, kind in OF_PLACES.items() if t in tiers}
        kinds = " and ".join(self.units)
        require({*tables} == {*self.units}, f"prices: expected those of each {kinds}")
        self.asked: dict[str, dict[str, tuple[int, ...]]] = {}
        for kind, units in self.units.items():
            names = units if kind in finest else sorted({*units})
            shape = tables[kind].shape
            right = shape == (len(names), len(tiers))
            require(right, f"prices.{kind}: {shape} integers for {len(names)}")
            self.asked[kind] = dict(zip(names, map(tuple, tables[kind].tolist()), strict=True))
        self.of_member = {kind: [*self.asked[kind].values()] for kind in finest}

    def pays(self, p: int, m: int, kind: str = "member") -> tuple[int, ...]:
        """Return per tier what partition p costs with member m plus what the member asks."""
        cost, tiers = self.case.cost, self.tiers
        costs = (cost(tier, p, m) if tier in BY_PARTITION else 0 for tier in tiers)
        return tuple(map(add, costs, self.of_member[kind][m]))

    def require_cheap(self) -> None:
        """Require that every partition is with a reader to whom it pays least."""
        case = self.case
        for kind, asks in self.of_member.items():
            pays = partial(self.pays, kind=kind)
            for p, least in case.least(asks, pays, {*case.members}, self.tiers).items():
                mine = "state" not in self.of_member or case.keeps_state(p) == (kind == "state")
                right = not mine or pays(p, case.held[p]) == least
                message = f"{case.names[p]}: another reader than its member costs and asks less"
                require(right, message)

    def require_loads(
        self, held: Sequence[tuple[int, int]], fixed: Sequence[int] = ()
    ) -> list[int]:
        """Require that asks fit the loads; return the sum of squared loads of each kind.

        What a member or place asks, less what its next coarser place asks, is at least what its
        last partition adds to its square, and at most what one more partition would add.

        Parameters
        ----------
        held : pairs of a partition or standby and its member; fixed : the member of each active
            task beside them, which stays
        """
        case, tiers, squares = self.case, self.tiers, list[int]()
        of = {STATE: "state", **dict.fromkeys(OF_LOADS, "member"), **OF_PLACES}
        levels = tiers.index("balance") if "balance" in tiers else None
        units_of = self.units | {"": [""] * len(case.members)}
        asks_of = self.asked | {"": {"": (0,) * len(tiers)}}
        for (kind, units), (coarser, above) in pairwise(units_of.items()):
            counts = (m for p, m in held if kind != "state" or case.keeps_state(p))
            may_leave, weights = Counter(units[m] for m in counts), case.weights(units)
            loads = may_leave + Counter(units[m] for m in fixed)
            squared = [kind == of.get(tier) for tier in tiers]
            pairs = {*zip(units, above, strict=True)}
            require(len(pairs) == len(weights), f"prices.{kind}: one {kind} is in two places")
            for name, place in sorted(pairs):
                load, weight = loads[name], weights[name]
                ask = tuple(map(sub, asks_of[kind][name], asks_of[coarser][place]))
                last, more = (
                    tuple(weight * (2 * k - 1) * one for one in squared) for k in (load, load + 1)
                )
                right = ask <= more and (ask >= last or not may_leave[name])
                require(right, f"prices.{kind}.{name}: they do not allow a load of {load}")
                if levels is not None and kind != "member":
                    expected = asks_of[coarser][place][levels] if kind == "state" else 0
                    even = asks_of[kind][name][levels] == expected
                    require(even, f"prices.{kind}.{name}: expected {expected} in balance")
            squares.append(sum(weights[name] * load**2 for name, load in loads.items()))
        return squares
