"""The checker: what a solution says of its group, recomputed from the raw data.

Plain Python in the order of docs/explanation/proof.md. It reads nothing of the group that was
derived from something else, and shares no code with what solves. The audit
(`optimal.audit`) checks the same by columns.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from groups.errors import ProofError
from groups.tiers import MOVES, PEAKS
from optimal.budgets.certificate import (
    require_proved_within,
    require_within,
    rests_on_a_budget,
)
from optimal.case import BY_PARTITION, Case
from optimal.exchange.certificate import require_even, require_peak
from optimal.form import require_form, unchecked
from optimal.moves.asked import OF_LOADS, Asked
from optimal.moves.certificate import (
    counts_of_topics,
    counts_within,
    narrowed,
    require_few_moves,
    rests_on_moves,
)
from optimal.proof import ProofKind

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from groups.group import Group
    from groups.tiers import Objective
    from optimal.exchange.certificate import Costs
    from optimal.moves.certificate import Counts
    from optimal.proof import Proof
    from optimal.solution import Solution


def check(group: Group, solution: Solution) -> tuple[str, ...]:
    """Check a solution against its group; return what could not be checked, a line each.

    Raises
    ------
    BadInput
        Where a tier needs what the group does not have.
    InvalidAssignment
        Where the assignment is of another group or not valid, or a term is not what it says.
    ProofError
        Where the status is more than the proof allows, or the certificate does not hold; the
        message says where.

    Examples
    --------
    >>> from assay import Group, check, solve
    >>> group = Group.from_dict(
    ...     {
    ...         "format": "assay-group/1",
    ...         "group": "orders",
    ...         "topics": {"t0": 2, "t1": 3},
    ...         "members": {
    ...             "c0": {"subscription": ["t0", "t1"], "owned": {"t0": [0, 1], "t1": [0, 1, 2]}},
    ...             "c1": {"subscription": ["t1"]},
    ...         },
    ...     }
    ... )
    >>> check(group, solve(group))
    ()
    """
    require_form(group, solution)
    if solution.assignment is None:
        return unchecked(solution, ())
    case = Case(group, solution.assignment.owner.tolist())
    case.require_valid()
    left = unchecked(solution, tuple(case.value(tier) for tier in solution.objective))
    require_within(solution, [case.value(tier) for tier in solution.at_most])
    if rests_on_a_budget(solution):
        require_proved_within(case, solution)
    elif solution.proof.kind is ProofKind.CERTIFICATE:
        asked = None
        if is_about_a_peak(solution):
            # A certificate that rests on no budget holds within any.
            asked = Asked.of(solution.objective, solution.at_most)
            asked = asked or Asked.of(solution.objective, {})
        _require_proved(case, solution.objective, solution.proof, asked)
    return left


def is_about_a_peak(solution: Solution) -> bool:
    """Say whether a certificate is about a peak, how even loads are, or moves under a peak."""
    of_loads = any(tier in (*PEAKS, *OF_LOADS) for tier in solution.objective)
    return bool(solution.proof.givers) or of_loads


def _require_proved(case: Case, objective: Objective, proof: Proof, asked: Asked | None) -> None:
    """Follow docs/explanation/proof.md: tiers before balance, levels, prices, peak."""
    earlier = objective if asked is None else asked.earlier
    if earlier in ((), ("topic_balance",)):
        _require_proved_without_costs(case, objective, proof, asked)
        return
    before, after = around_balance(objective, earlier)
    scale = scale_of(proof, after, [case.most(tier) for tier in after])
    level = price = [0] * len(case.reads)
    if "balance" in objective:
        level, price = (column.tolist() for column in proof.columns())
    bound, priced = 0, list(zip(after, scale, strict=True))
    for p, readers in _few_readers(case, level, price, racks="racks" in objective):
        holder = case.held[p]
        # Open: those with whom it costs least in the tiers before balance.
        cost = {m: [case.cost(tier, p, m) for tier in before] for m in readers}
        opened = [m for m in readers if cost[m] == min(cost.values())]
        if holder not in opened:
            where = f"{case.name(p)}: its member costs more than another by "
            raise ProofError(where + " > ".join(before))
        # Levels: of these, those of the least level are allowed.
        least = min(level[m] for m in opened)
        if level[holder] != least:
            who = f"{case.name(p)}: with {case.group.members[holder]} of level {level[holder]}"
            raise ProofError(f"{who}, but its least level is {least}")
        allowed = [m for m in opened if level[m] == least]
        # Prices: what it costs and pays where that is least.
        bound += min(price[m] + sum(u * case.cost(t, p, m) for t, u in priced) for m in allowed)
    if "balance" in objective:
        bound -= _paid_by_members(case, level, price)
    paid = sum(unit * case.value(tier) for tier, unit in priced)
    if bound != paid:
        raise ProofError(f"price: the prices bound {' > '.join(after)} by {bound}, not by {paid}")
    if asked is not None:
        counts = counts_within(case, asked.at_most)
        if "balance" in earlier:
            counts = narrowed(_counts(level, price), counts)

        def costs(some: set[int]) -> Costs:
            return _least_costs(case, some, before, (level, price), priced)

        _require_rest(case, asked, proof, costs, (counts, counts))


def _require_proved_without_costs(
    case: Case, objective: Objective, proof: Proof, asked: Asked | None
) -> None:
    """Require even topics, where they count, and a peak that has to do with nothing else."""
    even = "topic_balance" in objective
    if even:
        _require_even_topics(case)
    if asked is not None:
        counts = every = counts_within(case, asked.at_most)
        if even:
            counts, every = _counts_of_one_topic(case), counts_of_topics(case)
        _require_rest(case, asked, proof, lambda some: _least_costs(case, some), (counts, every))


def _require_rest(
    case: Case,
    asked: Asked,
    proof: Proof,
    costs: Callable[[set[int]], Costs],
    counts: tuple[Counts, Counts],
) -> None:
    """Require the least peak, the fewest moves, and the rest to be as even as it can be.

    Parameters
    ----------
    counts : how many partitions each member holds, as the peak and as the moves go by it
    """
    loads = tuple(tier for tier in asked.rest if tier != MOVES)
    if loads and loads[0] in OF_LOADS:
        require_even(case, loads[0], counts[0])
    elif loads and not rests_on_moves(asked, proof):
        require_peak(case, (*asked.earlier, *loads), proof, costs, counts[0])
    elif len(loads) > 1:
        raise ProofError("floor is missing")
    require_few_moves(case, asked, proof, counts[1])


def _counts_of_one_topic(case: Case) -> list[tuple[int, int]]:
    """Return how many partitions each member holds if there is one even topic, else nothing."""
    read = {case.topic[p] for p in case.read}
    if len(read) != 1:
        return []
    readers = set(case.readers[read.pop()])
    share, more = divmod(len(case.read), len(readers))
    even, nothing = (share, share + (more > 0)), (0, 0)
    return [even if m in readers else nothing for m in range(len(case.reads))]


def _paid_by_members(case: Case, level: list[int], price: list[int]) -> int:
    """Return the most that members pay, each of which must hold what its level allows."""
    paid = 0
    for m, member in enumerate(case.group.members):
        lo, hi, load = max(level[m], 0), level[m] + 1, case.loads[m]
        if not lo <= load <= hi:
            raise ProofError(f"{member}: holds {load}, but level {level[m]} allows {lo} to {hi}")
        paid += hi * max(price[m], 0) - lo * max(-price[m], 0)
    return paid


def _counts(level: list[int], price: list[int]) -> list[tuple[int, int]]:
    """Return how many partitions each member holds wherever the prices bound what is paid."""
    return [
        (f + 1 if paid > 0 else max(f, 0), max(f, 0) if paid < 0 else f + 1)
        for f, paid in zip(level, price, strict=True)
    ]


def _least_costs(
    case: Case,
    some: set[int],
    before: Objective = (),
    columns: tuple[list[int], list[int]] | None = None,
    priced: Sequence[tuple[str, int]] = (),
) -> Costs:
    """Return what each partition costs and pays with the best of some members, tier by tier."""
    nothing = [0] * len(case.reads)
    level, price = columns or (nothing, nothing)
    racks = "racks" in (*before, *(tier for tier, _ in priced))
    return {
        p: min(
            (
                *(case.cost(tier, p, m) for tier in before),
                level[m],
                price[m] + sum(unit * case.cost(tier, p, m) for tier, unit in priced),
            )
            for m in readers
        )
        for p, readers in _few_readers(case, level, price, racks=racks, among=some)
        if readers
    }


def _few_readers(
    case: Case,
    level: list[int],
    price: list[int],
    *,
    racks: bool,
    among: set[int] | None = None,
) -> Iterator[tuple[int, set[int]]]:
    """Yield each partition with its holder and those of its readers that can be best.

    Readers equally far from it cost the same, and only the owner costs less: so the first of them
    by level and price stands for the others. None but those `among` some members, where given.
    """
    among = set(range(len(case.reads))) if among is None else among
    firsts: dict[tuple[int, int], dict[int, int]] = {}
    for p in case.read:
        place = case.topic[p], case.known("racks", p) if racks else 0
        if place not in firsts:
            some = [m for m in case.readers[place[0]] if m in among]
            ranked = sorted(some, key=lambda m: (level[m], price[m]))
            firsts[place] = {case.cost("racks", p, m) if racks else 0: m for m in ranked[::-1]}
        yield p, {*firsts[place].values(), case.held[p], case.owner[p]} & among


def _require_even_topics(case: Case) -> None:
    """Require of each topic the least sum of squares: shares that differ by one at most."""
    least = 0
    for t, count in Counter(case.topic[p] for p in case.read).items():
        share, more = divmod(count, len(case.readers[t]))
        least += more * (share + 1) ** 2 + (len(case.readers[t]) - more) * share**2
    if (found := case.value("topic_balance")) != least:
        raise ProofError(f"topic_balance: its least value is {least}, not {found}")


def around_balance(
    objective: Objective, earlier: Objective | None = None
) -> tuple[Objective, Objective]:
    """Return the tiers before balance and those that the prices are about.

    Parameters
    ----------
    earlier : the tiers before a peak, or before moves under one; None: all
    """
    if objective == ("balance",):
        return (), ("stickiness",)
    objective = objective if earlier is None else earlier
    for tier in objective:
        if tier not in (*BY_PARTITION, "balance"):
            raise ProofError(f"no certificate is defined for an objective with {tier}")
    at = objective.index("balance") if "balance" in objective else len(objective)
    return objective[:at], objective[at + 1 :]


def scale_of(proof: Proof, after: Objective, most: list[int]) -> tuple[int, ...]:
    """Return what a unit of each tier counts, more than the later ones can cost at the most."""
    scale, rest = proof.scale or (1,) * len(after[:1]), 0
    if len(scale) != len(after) or min(scale, default=1) < 1:
        raise ProofError(f"scale: expected {len(after)} units of 1 or more")
    for tier, unit, value in zip(after[::-1], scale[::-1], most[::-1], strict=True):
        if unit <= rest:
            raise ProofError(f"scale: {unit} for {tier} does not outweigh the tiers after it")
        rest += unit * value
    return scale
