"""The checker's part for budgets: what is kept to, and that nothing within a budget is better.

Plain Python in the order of docs/explanation/proof.md, as `optimal.certificate`, which calls it.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from groups.errors import InvalidAssignment, ProofError
from optimal.proof import ProofKind

if TYPE_CHECKING:
    from collections.abc import Sequence

    from optimal.case import Case
    from optimal.solution import Solution

PROVED_WITHIN = (("balance",), ("balance", "stickiness"))


def require_within(solution: Solution, values: Sequence[int]) -> None:
    """Require that an assignment keeps to the budgets; `values` are those of their tiers."""
    for (tier, most), value in zip(solution.at_most.items(), values, strict=True):
        if value > most:
            raise InvalidAssignment(f"at_most.{tier}: {most}, but the value is {value}")


def rests_on_a_budget(solution: Solution) -> bool:
    """Say whether the certificate of a solution holds within its budget on moves only."""
    kind, proof = solution.proof.kind, solution.proof
    if kind is not ProofKind.CERTIFICATE or proof.level is None or proof.price is not None:
        return False
    return "stickiness" in solution.at_most and solution.objective in PROVED_WITHIN


def require_proved_within(case: Case, solution: Solution) -> None:
    """Require that for every k no assignment within the budget has fewer partitions above k.

    Those are the partitions that a member holds beyond k, of all members together.
    """
    level: list[int] = solution.proof.levels().tolist()
    most, moves = solution.at_most["stickiness"], case.value("stickiness")
    loads = [case.loads[m] for m in range(len(level))]
    fullest = max(loads, default=0)
    of_topic = [min((level[m] for m in readers), default=0) for readers in case.readers]
    bound = {p: of_topic[case.topic[p]] for p in case.read}
    stays = [bound[p] if case.owner[p] < 0 else level[case.owner[p]] for p in case.read]
    # Of every k up to the greatest load: how many members, how many partitions, and so on.
    members = _counts(level, fullest)
    bound_to, stay_with = _counts([*bound.values()], fullest), _counts(stays, fullest)
    fuller = _counts([load - 1 for load in loads], fullest)
    above, needed = 0, moves == 0 or "stickiness" not in solution.objective
    for k in range(fullest - 1, 0, -1):
        above += fuller[k]
        least = max(bound_to[k], stay_with[k] - most) - k * members[k]
        if least != above:
            raise ProofError(f"level: what is above {k} is {above}, but the bound is {least}")
        needed = needed or stay_with[k] - moves - k * members[k] == above
    if not needed:
        raise ProofError(f"level: nothing shows that fewer than {moves} moves cost balance")


def _counts(numbers: Sequence[int], most: int) -> list[int]:
    """Return for every k from 0 to `most` how many of the numbers are k or more."""
    at = Counter(min(number, most) for number in numbers)
    counts = [0] * (most + 2)
    for k in range(most, -1, -1):
        counts[k] = counts[k + 1] + at[k]
    return counts
