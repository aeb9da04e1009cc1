"""The audit: the check that every solve runs, by columns, for one group or many at once.

It reads the same raw data as the checker and makes the same decision for each group. What it does
not confirm, and what leaves 64 bits, goes to the checker, which says where the proof fails.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from groups.arrays import any_in_parts, exact_sums, sums
from groups.assignment import Assignment
from groups.fleet import Fleet
from groups.needs import lacking
from groups.tiers import SQUARED_LOADS, cost_of, incompatible_pair, is_laminar, racks_of
from optimal.certificate import check
from optimal.evidence import Evidence
from optimal.form import (
    around_balance,
    is_about_a_peak,
    require_form,
    require_within,
    rests_on_a_budget,
    unchecked,
)
from optimal.proof import ASKED, ProofKind, heights_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from groups.arrays import Bools, Int64, Ints
    from groups.group import Group
    from groups.tiers import Exact, Objective
    from optimal.solution import Solution


# Two numbers below it can be added in 64 bits; as a level or price, it means "there is none".
SAFE = 2**62


@dataclass(frozen=True, eq=False)
class Certificates:
    """The certificates of the answers to the groups of a fleet.

    Attributes
    ----------
    level, price : (members,) int64
    scale : (groups, tiers after balance) int64, units of price that a unit of each tier is worth
    """

    level: Int64
    price: Int64
    scale: Int64


def audit(group: Group, solution: Solution, evidence: Evidence | None = None) -> tuple[str, ...]:
    """Check a solution against its group; return what could not be checked, a line each.

    Parameters
    ----------
    evidence : of this group and this assignment, if the caller has it already

    Raises
    ------
    BadInput, InvalidAssignment, ProofError
        As `optimal.certificate.check`, which decides if the audit does not confirm.
    """
    left = confirm(group, solution, evidence)
    return check(group, solution) if left is None else left


def confirm(
    group: Group, solution: Solution, evidence: Evidence | None = None
) -> tuple[str, ...] | None:
    """Return what `optimal.certificate.check` would return; None if the audit cannot confirm it.

    It cannot if the solution does not hold or a sum could leave 64 bits.

    Raises
    ------
    InvalidAssignment, ProofError
        If form, terms or status are wrong.
    """
    require_form(group, solution)
    if solution.assignment is None:
        return unchecked(solution, ())
    if evidence is None:
        group.require_subscriptions()
        evidence = Evidence(Fleet.one(group), Assignment(group, solution.assignment.owner))
    objective, at_most = solution.objective, tuple(solution.at_most)
    if not evidence.valid.all() or lacking(evidence.fleet, (*objective, *at_most)):
        return None
    found = evidence.values((*objective, *at_most))[0].tolist()
    left = unchecked(solution, tuple(found[: len(objective)]))
    require_within(solution, found[len(objective) :])
    proof = solution.proof
    if proof.kind is not ProofKind.CERTIFICATE:
        return left
    if rests_on_a_budget(solution):
        most = solution.at_most["stickiness"]
        above, least, needs_all = shown_above(evidence, proof.levels(), most)
        needed = evidence.moved.any() and "stickiness" in objective
        return left if (least == above).all() and (needs_all.any() or not needed) else None
    if is_about_a_peak(solution):
        # Only the checker has rules for peaks.
        return None
    if is_laminar(objective):
        return left if asks_prove(evidence, objective, proof.prices) else None
    nothing = np.zeros(len(evidence.loads), np.int64)
    level, price = proof.columns() if "balance" in objective else (nothing, nothing)
    after = () if objective == ("topic_balance",) else around_balance(objective)[1]
    scale = proof.scale or (1,) * len(after[:1])
    if len(scale) != len(after) or any(not 1 <= unit < SAFE for unit in scale):
        return None
    certificates = Certificates(level, price, np.array([scale], np.int64).reshape(1, -1))
    return left if proved(evidence, objective, certificates).all() else None


def proved(evidence: Evidence, objective: Objective, given: Certificates) -> Bools:
    """Return for each group whether its certificate proves a valid assignment optimal."""
    fleet, loads = evidence.fleet, evidence.loads
    if objective == ("topic_balance",):
        (squares,) = evidence.values(objective).T
        return np.asarray(squares == sums(evidence.even_squares, fleet.topic_start), bool)
    before, after = around_balance(objective)
    if "balance" not in objective:
        nothing = np.zeros(len(loads), np.int64)
        allowed = least_costs(evidence, before, (), (), (nothing, nothing))[1]
        return np.asarray(evidence.of_groups(~allowed) == 0)
    level, price, scale = given.level, given.price, given.scale
    good = ~any_in_parts((level > loads) | (level < loads - 1), fleet.member_start)
    good &= _outweighs(evidence, after, scale)
    if not _fits(evidence, after, price, scale) or not good.any():
        return np.zeros(len(fleet), bool)
    bound, allowed = _paid(evidence, before, after, given)
    # hi(m) where the price is above 0, lo(m) elsewhere: condition 3 of docs/explanation/proof.md.
    taken = np.where(price > 0, level + 1, np.maximum(level, 0))
    dear = exact_sums(taken * price, fleet.member_start)
    cost = (scale.astype(object) * evidence.values(after)).sum(axis=1) if after else 0
    return np.asarray(good & allowed & (bound.astype(object) - dear == cost), bool)


def _fits(evidence: Evidence, after: Objective, price: Int64, scale: Int64) -> bool:
    """Return whether the costs and prices of one partition or member stay inside 64 bits."""
    heaviest = max((cost_of(tier).greatest(evidence.group) for tier in after), default=1)
    steepest = max(1.0, heaviest) * float(scale.astype(float).sum(axis=1).max(initial=0))
    dearest = float(np.abs(price.astype(float)).max(initial=0))
    fullest = float(evidence.loads.max(initial=0)) + 1
    return steepest + dearest < SAFE and dearest * fullest < SAFE


def _outweighs(evidence: Evidence, after: Objective, scale: Int64) -> Bools:
    """Return for each group whether a unit of each tier outweighs all later tiers together."""
    rest: Exact = np.zeros(len(scale), object)
    good = np.ones(len(scale), bool)
    for at in reversed(range(len(after))):
        good &= (scale[:, at] > rest).astype(bool)
        if at:
            rest = rest + scale[:, at].astype(object) * evidence.of_groups(
                evidence.dearest(after[at])
            )
    return good


def _paid(
    evidence: Evidence, before: Objective, after: Objective, given: Certificates
) -> tuple[Exact, Bools]:
    """Return the least that the partitions of each group cost and pay, and if holders are allowed.

    (groups,) sums over partitions with their allowed readers; (groups,) bool, whether all holders
    are allowed readers.
    """
    if len(evidence.fleet) == 1 and not before and set(after) <= {"stickiness"}:
        firsts = _topic_firsts(evidence.group, given.level, given.price)
        there = (evidence.group.readers > 0) & (evidence.group.partitions > 0)
        pairs = firsts[:, there]
        if pairs.size and (pairs == pairs[:, :1]).all():
            # As most often in a large group, topics are alike: 2 ms, not 120, for 10^6 partitions.
            return _paid_alike(evidence, given, *pairs[:, 0].tolist())
    of, fleet = evidence.fleet.partition_group, evidence.fleet
    scale: list[int | Int64] = (
        given.scale[0].tolist() if len(fleet) == 1 else list(given.scale[of[evidence.read]].T)
    )
    integers = given.level, given.price
    paid, allowed = least_costs(evidence, before, after, scale, integers)
    return evidence.of_groups(paid), np.asarray(evidence.of_groups(~allowed) == 0)


def _paid_alike(
    evidence: Evidence, given: Certificates, lowest: int, cheapest: int
) -> tuple[Exact, Bools]:
    """Return what `_paid` returns if the least level and price are the same for all topics."""
    level, price = given.level, given.price
    allowed = not ((evidence.loads > 0) & (level != lowest)).any()
    owned = evidence.group.owned
    free = int(evidence.group.partitions[evidence.group.readers > 0].sum()) - int(owned.sum())
    stays = np.where(level == lowest, price, SAFE)
    paid = owned * np.minimum(cheapest + int(given.scale.sum()), stays)
    return exact_sums(np.append(paid, free * cheapest), np.array([0, len(paid) + 1])), np.array(
        [allowed]
    )


def least_costs(
    evidence: Evidence,
    before: Objective,
    after: Objective,
    scale: Sequence[int | Int64],
    integers: tuple[Int64, Int64],
) -> tuple[Int64, Bools]:
    """Return the least that each partition costs and pays with an allowed reader.

    Parameters
    ----------
    before, after : the tiers before balance, and those that the prices are about
    scale : what a unit of each tier after balance counts, an integer or (read,)
    integers : level and price, (members,) int64 each

    Returns
    -------
    (read,) int64, and (read,) bool: whether the holder is an allowed reader
    """
    level, price = integers
    place, places = _firsts(evidence, (*before, *after), *integers)
    owner, held = evidence.group.owner[evidence.read], evidence.held[evidence.read]
    options = [first[:, place] for first in places]
    of_owner = np.stack((level[owner], price[owner]))
    of_owner[0, owner < 0] = SAFE
    options.append(of_owner)

    def costs(tier: str) -> list[Int64 | Bools | int]:
        """Return for each option what partitions cost in a tier with it, (read,) each."""
        if cost_of(tier).far:
            return [*range(len(places)), evidence.far(tier, owner)]
        return [*[evidence.leaving(tier)] * len(places), 0]

    opened = [option[0] < SAFE for option in options]
    allowed = np.ones(len(held), bool)
    for tier in before:
        each = costs(tier)
        lowest = _lowest(opened, each)
        allowed &= evidence.costs(tier) == lowest
        opened = [there & (cost == lowest) for there, cost in zip(opened, each, strict=True)]
    lowest = _lowest(opened, [option[0] for option in options])
    allowed &= level[held] == lowest
    paid: list[Int64] = [option[1] for option in options]
    for tier, unit in zip(after, scale, strict=True):
        paid = [price + unit * cost for price, cost in zip(paid, costs(tier), strict=True)]
    best = [there & (o[0] == lowest) for there, o in zip(opened, options, strict=True)]
    return _lowest(best, paid), allowed


def _topic_firsts(group: Group, level: Int64, price: Int64) -> Int64:
    """(2, topics) int64: the least level of a topic's readers, and the least price at that level.

    SAFE for a topic without readers.
    """
    of_row = _least(np.stack((level, price)), group.subscription_row, len(group.subscriptions))
    entry = of_row[:, group.subscriptions.entry_row]
    return _least(entry, group.subscription_topics, len(group.readers))


def _firsts(
    evidence: Evidence, objective: Objective, level: Int64, price: Int64
) -> tuple[Ints, list[Int64]]:
    """(place of each read partition, least level and price of the readers of a place).

    A place is a topic. If a tier is about racks, it is a topic and a set of replica racks; then
    the second value has two arrays as of `_topic_firsts`, for near readers and for far ones.
    """
    group, racks = evidence.group, racks_of(evidence.group, objective)
    if not any(cost_of(tier).far for tier in objective):
        return group.topic[evidence.read], [_topic_firsts(group, level, price)]
    if racks is None or not len(evidence.loads):
        return np.zeros(0, np.int64), [np.zeros((2, 0), np.int64)] * 2
    width = len(racks.names) + 1
    kinds, kind = np.unique(
        group.subscription_row * np.int64(width) + racks.member + 1, return_inverse=True
    )
    of_kind = _least(np.stack((level, price)), kind, len(kinds))
    row, rack = np.divmod(kinds, width)
    sets = int(racks.replicas.max(initial=0)) + 2
    keys, place = np.unique(
        group.topic[evidence.read] * np.int64(sets) + racks.replicas[evidence.read] + 1,
        return_inverse=True,
    )
    topic, replicas = np.divmod(keys, sets)
    replicas -= 1
    start = group.subscription_indptr[row]
    entry, entry_kind = _ranges(start, np.diff(group.subscription_indptr)[row])
    entry_topic = group.subscription_topics[entry]
    start = np.searchsorted(topic, np.arange(len(group.readers) + 1))
    at, of_entry = _ranges(start[entry_topic], np.diff(start)[entry_topic])
    entry_kind = entry_kind[of_entry]
    far = racks.lack(replicas[at], rack[entry_kind] - 1)
    return place, [
        _least(of_kind[:, entry_kind[chosen]], at[chosen], len(keys)) for chosen in (~far, far)
    ]


def _ranges(start: Int64, length: Int64) -> tuple[Int64, Int64]:
    """Return all integers of some ranges, one range after the other, and the range of each."""
    of = np.repeat(np.arange(len(start)), length)
    within = np.arange(len(of)) - np.repeat(np.cumsum(length) - length, length)
    return start[of] + within, of


def _least(pairs: Int64, of: Ints, count: int) -> Int64:
    """(2, count) int64: for each index in `of` its lexicographically least pair."""
    found = np.full((2, count), SAFE, np.int64)
    np.minimum.at(found[0], of, pairs[0])
    tight = np.where(pairs[0] == found[0][of], pairs[1], SAFE)
    np.minimum.at(found[1], of, tight)
    return found


def _lowest(there: Sequence[Bools], values: Sequence[Int64 | Bools | int]) -> Int64:
    """(read,) int64: the least of several values of a partition, ignoring those not `there`."""
    found = np.full(len(there[0]), SAFE, np.int64)
    for chosen, value in zip(there, values, strict=True):
        np.minimum(found, value, out=found, where=chosen)
    return found


def asks_prove(evidence: Evidence, objective: Objective, prices: Mapping[str, Int64]) -> bool:
    """Return whether prices of every tier prove a valid assignment optimal."""
    incompatible = (incompatible_pair(objective) or ("", ""))[1] not in ("", "balance")
    if not set(objective) <= ASKED or set(objective) >= SQUARED_LOADS or incompatible:
        return False
    heights = heights_of(evidence.group, objective)
    if {*prices} != {height.kind for height in heights}:
        return False
    tables = [prices[height.kind] for height in heights]
    pairs = list(zip(heights, tables, strict=True))
    if any(len(table) != len(height.over) for height, table in pairs):
        return False
    heaviest = max(cost_of(tier).greatest(evidence.group) for tier in objective)
    steepest = max(max(height.places.weight, default=1) for height in heights)
    dearest = max(float(np.abs(table.astype(float)).max(initial=0)) for table in tables)
    if 2 * dearest + heaviest + steepest * (2.0 * len(evidence.held) + 1) >= SAFE:
        return False
    keeps, copies = {height.kind: table for height, table in pairs}, evidence.group.copies
    least = _asks_least(evidence, objective, keeps["member"])
    if "state" in keeps and copies is not None:
        with_state = _asks_least(evidence, objective, keeps["state"])
        least = np.where(copies.replicas[evidence.read] >= 0, with_state, least)
    if not least.all():
        return False
    above, coarser = np.zeros((1, len(objective)), np.int64), np.zeros(len(evidence.loads), int)
    for height, table in reversed(pairs):
        load, member = height.loads(evidence.group, evidence.held), height.places.member
        ask, last, more = table - above[height.over], height.steps(load), height.steps(load + 1)
        wrong = _greater(ask.T, more.T) | (_greater(last.T, ask.T) & (load > 0))
        nested = (height.over[member] == coarser).all()
        even = ask if height.kind == "state" else table
        levelled = height.kind != "member" and "balance" in objective
        uneven = levelled and even[:, objective.index("balance")].any()
        if wrong.any() or uneven or not nested:
            return False
        above, coarser = table, member
    return True


def _asks_least(evidence: Evidence, objective: Objective, price: Int64) -> Bools:
    """(read,) bool: whether a partition is with the reader of least cost plus ask.

    Parameters
    ----------
    price : (members, tiers) int64
    """
    if not len(evidence.held[evidence.read]):
        return np.ones(0, bool)
    order = np.lexsort(price.T[::-1])
    ascending, rank = price[order], np.zeros(len(price), np.int64)
    rises = (ascending[1:] != ascending[:-1]).any(axis=1)
    rank[order[1:]] = np.cumsum(rises)
    distinct = ascending[np.append(True, rises)]
    place, places = _firsts(evidence, objective, rank, rank)
    owner, held = evidence.group.owner[evidence.read], evidence.held[evidence.read]

    def paid(by: Ints, costs: Sequence[Int64 | Bools | int]) -> list[Int64]:
        return [cost + column[by] for cost, column in zip(costs, distinct.T, strict=True)]

    here = paid(rank[held], [evidence.costs(tier) for tier in objective])
    found = np.ones(len(held), bool)
    for far, firsts in enumerate(places):
        first = firsts[0][place]
        there = first < SAFE
        costs = [far if cost_of(t).far else evidence.leaving(t) for t in objective]
        found &= ~(there & _greater(here, paid(np.where(there, first, 0), costs)))
    costs = [evidence.far(tier, owner) if cost_of(tier).far else 0 for tier in objective]
    return found & ~((owner >= 0) & _greater(here, paid(rank[owner], costs)))


def _greater(one: Iterable[Int64], other: Iterable[Int64]) -> Bools:
    """Return where `one` is lexicographically greater than `other`, column by column."""
    pairs = iter(zip(one, other, strict=True))
    first, second = next(pairs)
    greater, level = first > second, first == second
    for first, second in pairs:
        greater |= level & (first > second)
        level &= first == second
    return np.asarray(greater, bool)


def shown_above(evidence: Evidence, level: Int64, most: int) -> tuple[Int64, Int64, Bools]:
    """Return what levels prove for every k from 0 to the greatest load.

    Parameters
    ----------
    evidence : of a valid assignment of one group
    level : (members,) int64; most : the budget on moves

    Returns
    -------
    above : how many partitions are above k, counting each member's load beyond k
    least : a lower bound on that number for any assignment within the budget
    needs_all : whether one move less would leave more above k
    """
    group, fullest = evidence.group, int(evidence.loads.max(initial=0))
    bound = stays = _topic_firsts(group, level, level)[0, group.topic[evidence.read]]
    if len(level):
        stays = np.where(evidence.owned, level[group.owner[evidence.read]], bound)
    cost = np.arange(fullest + 1) * _counts(level, fullest)
    stay_with = _counts(stays, fullest)
    least = np.maximum(_counts(bound, fullest), stay_with - min(most, len(bound))) - cost
    least[0] = len(bound)
    above = np.cumsum(_counts(evidence.loads - 1, fullest)[::-1])[::-1]
    needs_all = stay_with - int(evidence.moved.sum()) - cost == above
    needs_all[0] = needs_all[fullest] = False
    return above, np.maximum(least, 0), needs_all


def _counts(numbers: Int64, most: int) -> Int64:
    """(most + 1,) int64: for every k from 0 to `most`, how many numbers are k or more."""
    at = np.bincount(np.clip(numbers, -1, most) + 1, minlength=most + 2)[1:]
    return np.cumsum(at[::-1])[::-1].astype(np.int64)
