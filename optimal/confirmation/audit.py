"""The audit: the check that every solve runs, column by column.

It reads the same raw data as the checker and decides the same. What it does not confirm, and what
leaves 64 bits, it hands to the checker, which says where the proof fails.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from groups.tiers import TIERS
from optimal.budgets.audit import proves_within
from optimal.budgets.certificate import require_within, rests_on_a_budget
from optimal.certificate import around_balance, check, is_about_a_peak, scale_of
from optimal.confirmation.books import SAFE, Books
from optimal.confirmation.least_costs import least_costs, topic_firsts
from optimal.form import require_form, unchecked
from optimal.proof import ProofKind

if TYPE_CHECKING:
    from groups.arrays import Int64
    from groups.group import Group
    from groups.tiers import Objective
    from optimal.proof import Proof
    from optimal.solution import Solution

HALF = 32


def audit(group: Group, solution: Solution, books: Books | None = None) -> tuple[str, ...]:
    """Check a solution against its group; return what could not be checked, a line each.

    Parameters
    ----------
    books : of this group and this assignment, where they were made already

    Raises
    ------
    BadInput, InvalidAssignment, ProofError
        As `optimal.certificate.check`, which then has the last word.
    """
    left = confirm(group, solution, books)
    return check(group, solution) if left is None else left


def confirm(
    group: Group, solution: Solution, books: Books | None = None
) -> tuple[str, ...] | None:
    """Return what `optimal.certificate.check` returns; None where it may be of another mind.

    That is where the solution does not hold, and where a sum could leave 64 bits.

    Raises
    ------
    InvalidAssignment, ProofError
        Where form, terms or status are not right.
    """
    require_form(group, solution)
    if solution.assignment is None:
        return unchecked(solution, ())
    if books is None or books.group is not group or books.held is not solution.assignment.owner:
        books = Books.of(group, solution.assignment.owner)
    found = values_of(books, solution.objective, solution.proof)
    if found is None:
        return None
    left = unchecked(solution, found)
    if solution.at_most:
        kept_to = values_of(books, tuple(solution.at_most), solution.proof)
        if kept_to is None:
            return None
        require_within(solution, kept_to)
    if solution.proof.kind is not ProofKind.CERTIFICATE:
        return left
    if rests_on_a_budget(solution):
        return left if proves_within(books, solution) else None
    if is_about_a_peak(solution):
        # The checker has a rule for the peak, this file has none.
        return None
    return left if _proves(books, solution.objective, solution.proof) else None


def values_of(books: Books, objective: Objective, proof: Proof) -> tuple[int, ...] | None:
    """Return the value of each tier; None where the assignment is not valid or a sum too large."""
    if not (_fits(books.group, objective, proof) and books.valid and books.know(objective)):
        return None
    return tuple(books.value(tier) for tier in objective)


def _fits(group: Group, objective: Objective, proof: Proof) -> bool:
    """Say whether whatever is added up stays inside 64 bits."""
    heaviest = 1
    for needs, column in (("lag", group.lag_records), ("weight", group.weight)):
        if column is None or all(TIERS[tier].needs != needs for tier in objective):
            continue
        if column.sum(where=column > 0, dtype=float) >= SAFE:
            return False
        heaviest = max(heaviest, int(column.max(initial=0)))
    if proof.kind is not ProofKind.CERTIFICATE:
        return True
    steepest = heaviest * sum(map(abs, proof.scale or (1,)))
    if proof.price is not None and len(proof.price):
        steepest += max(-int(proof.price.min()), int(proof.price.max()))
    return steepest < SAFE


def _proves(books: Books, objective: Objective, proof: Proof) -> bool:
    """Say whether a certificate proves a valid assignment optimal."""
    if objective == ("topic_balance",):
        return int(books.even_squares.sum()) == books.value("topic_balance")
    before, after = around_balance(objective)
    scale = scale_of(proof, after, [books.most(tier) for tier in after])
    if "balance" not in objective:
        nothing = np.zeros(len(books.loads), np.int64)
        return bool(least_costs(books, before, (), (), (nothing, nothing))[1].all())
    level, price = proof.columns()
    if ((level > books.loads) | (level < books.loads - 1)).any():
        return False
    least = _least(books, before, after, scale, (level, price))
    if least is None:
        return False
    dear = _dot(level + 1, np.maximum(price, 0))
    cheap = _dot(np.maximum(level, 0), np.maximum(-price, 0))
    bound = least - dear + cheap
    return bound == sum(u * books.value(t) for t, u in zip(after, scale, strict=True))


def _least(
    books: Books,
    before: Objective,
    after: Objective,
    scale: tuple[int, ...],
    integers: tuple[Int64, Int64],
) -> int | None:
    """Return what all partitions cost and pay with the allowed reader where that is least.

    None where the holder of a partition is not allowed.
    """
    firsts = None
    if not before and set(after) <= {"stickiness"}:
        firsts = topic_firsts(books, *integers)
        there = (books.readers > 0) & (books.group.partitions > 0)
        one = firsts[:, there]
        if one.size and (one == one[:, :1]).all():
            lowest, cheapest = one[:, 0].tolist()
            return _alike(books, lowest, cheapest, sum(scale), *integers)
    paid, allowed = least_costs(books, before, after, scale, integers, firsts)
    return _dot(1, paid) if allowed.all() else None


def _alike(
    books: Books, lowest: int, cheapest: int, unit: int, level: Int64, price: Int64
) -> int | None:
    """Return the same for topics of one least level, lowest, and one least price, cheapest."""
    if ((books.loads > 0) & (level != lowest)).any():
        return None
    owned = books.owners
    stays = np.where(level == lowest, price, SAFE)
    return int(owned[0]) * cheapest + _dot(owned[1:], np.minimum(cheapest + unit, stays))


def _dot(times: Int64 | int, value: Int64) -> int:
    """Return the sum of the products, of which the factors `times` add up to less than 2^31."""
    high, low = value >> HALF, value & (2**HALF - 1)
    return (int((times * high).sum()) << HALF) + int((times * low).sum())
