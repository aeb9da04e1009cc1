"""One group's tables: its optimum, and its assignments beside it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.printing.lag import lag_columns, members_behind
from assay.printing.table import Table, with_notes
from assay.printing.terminal import tell
from assay.streams import OPTIONS
from compare.lag.behind import behind
from compare.lag.words import peak_found
from compare.sentences import called, spread
from groups.assignment import Assignment
from groups.tiers import TIERS
from groups.wording import ranges

if TYPE_CHECKING:
    from collections.abc import Sequence

    from compare.lag.lowest import LowestPeak
    from compare.scores import Score, ScoreTerm
    from optimal.solution import Solution

BALANCE = "balance: the sum over all pairs of members of the difference of their loads (KIP-54)"
EXCESS = "in brackets: how much worse than the optimum"


def print_solution(solution: Solution) -> None:
    """Print what is known, the tiers, each member's load and what moves."""
    tell(_headline(solution))
    found = solution.assignment
    if found is None:
        return
    tiers = Table("tier", "value", "bound")
    for term in solution.terms:
        tiers.add(term.name, term.value, term.bound)
    tiers.show()
    best = "best" if solution.at_most else "optimum"
    now = Assignment.current(solution.group)
    lags = members_behind(behind(now), behind(found)) if _is_on_lag(solution) else {}
    members = Table("member", "now", best, *lags, "partitions", right=range(3, 3 + len(lags)))
    for m, (member, topics) in enumerate(found.to_dict().items()):
        held = [f"{topic}:{ranges(numbers)}" for topic, numbers in topics.items()]
        cells = [column[m] for column in lags.values()]
        members.add(member, now.loads[m], found.loads[m], *cells, held)
    members.show()
    if said := peak_found(solution):
        tell(said)
    for topic, numbers in found.unassigned.items():
        tell(f"nobody reads {topic}:{ranges(numbers)}")
    for (origin, target), count in found.moves_by_pair().items():
        tell(f"moves {count} from {origin} to {target}")


def print_scores(solution: Solution, scores: Sequence[Score]) -> None:
    """Print what is known of the optimum, then a row per assignor."""
    tell(_headline(solution))
    print_rows(solution, scores)


def print_rows(
    solution: Solution, scores: Sequence[Score], lowest: LowestPeak | None = None
) -> None:
    """Print the optimum and a row per assignor, each tier as value (+excess); then the reasons.

    Parameters
    ----------
    lowest : the lowest peak lag, to hold each row's against; None where it is not known
    """
    tiers = [called(tier) for tier in solution.objective]
    lags = None if lowest is None else lag_columns(solution, scores, lowest)
    heads = ("assignor", "loads", "valid", "balanced", *tiers, *(lags or ()), "seconds")
    numbers = [1, *range(4, len(heads))]
    table = Table(*heads, right=numbers, whole=[0], gives_way=[numbers[-1], 2, 3])
    best = solution.assignment
    rows: list[list[object]] = [
        [name_of(solution), None, None, None]
        if best is None
        else [name_of(solution), spread(best.loads), True, best.balanced()]
    ]
    columns = [[(str(term.value), "")] for term in solution.terms] or [[("?", "")] for _ in tiers]
    reasons: dict[str, list[str]] = {}
    for score in scores:
        loads = None if score.loads is None else spread(score.loads)
        valid = score.status if score.valid is None else score.valid
        rows.append([score.assignor, loads, valid, score.balanced])
        for column, term in zip(columns, score.terms or [None] * len(tiers), strict=True):
            column.append(("-", "") if term is None else told(term))
        reason = reason_of(score)
        if reason is not None:
            reasons.setdefault(reason, []).append(score.assignor)
    noted = any(note for column in columns for _, note in column)
    columns += (lags or {}).values()
    seconds = [solution.seconds, *(score.seconds for score in scores)]
    for row, *cells, spent in zip(rows, *map(with_notes, columns), seconds, strict=True):
        table.add(*row, *cells, f"{spent:.4f}")
    table.show()
    for reason, names in reasons.items():
        tell(f"{', '.join(names)}: {reason}")
    if "balance" in solution.objective:
        tell(BALANCE)
    if noted:
        tell(EXCESS)
    if lowest is not None and lags and "peak lag" in lags:
        least = f"{'' if lowest.proved else 'about '}{lowest.records:,}"
        tell(
            "peak lag: of the member with most; in brackets: beside the least that balanced loads "
            f"can have, {least}"
        )


def _is_on_lag(solution: Solution) -> bool:
    """Return whether the question is about lag, or somebody told what members read."""
    asked = {TIERS[tier].needs for tier in (*solution.objective, *solution.at_most)}
    return "lag" in asked or any(one.capacity for one in solution.group.details)


def name_of(solution: Solution) -> str:
    """Return what the row of the optimum is called, with what is known of it."""
    if solution.assignment is None:
        return "optimum (unknown)"
    return "optimum (proved)" if solution.status == "optimal" else "best known"


def reason_of(score: Score) -> str | None:
    """Return why a row has no score, or is not valid; None where it is."""
    if not score.violations:
        from compare.scores import UNKNOWN

        hint = f"; {OPTIONS['subscriptions']}" if score.reason == UNKNOWN else ""
        return score.reason and f"{score.reason}{hint}"
    first = min(score.violations, key=lambda violation: violation.partition_exists)
    more = len(score.violations) - 1
    return f"not valid: {first}{f' (and {more} more)' if more else ''}"


def told(term: ScoreTerm) -> tuple[str, str]:
    """Return a tier's value, and in brackets what it has more than the optimum, if it has."""
    if isinstance(term.excess, tuple):
        low, high = term.excess
        return str(term.value), f" (+{low}..{'?' if high is None else high})"
    return str(term.value), f" (+{term.excess})" if term.excess else ""


def _headline(solution: Solution) -> str:
    objective = " > ".join(solution.objective)
    if solution.at_most:
        limits = [f"{tier} at most {most}" for tier, most in solution.at_most.items()]
        objective = f"{objective} with {' and '.join(limits)}"
    return (
        f"group {solution.group.name}: {solution.status} for {objective} "
        f"(proof: {solution.proof.kind}, method: {solution.method}, {solution.seconds:.4f} s)"
    )
