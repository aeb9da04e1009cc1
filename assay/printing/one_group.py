"""One group's tables: its optimum, and its assignments beside it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.printing.table import Table, ranges
from assay.streams import show
from compare.sentences import spread
from groups.assignment import Assignment

if TYPE_CHECKING:
    from collections.abc import Sequence

    from compare.score import Score, ScoreTerm
    from optimal.solution import Solution

BALANCE = "balance: the sum over all pairs of members of the difference of their loads (KIP-54)"


def print_solution(solution: Solution) -> None:
    """Print what is known, the tiers, each member's load and what moves."""
    show(_headline(solution))
    found = solution.assignment
    if found is None:
        return
    tiers = Table("tier", "value", "bound")
    for term in solution.terms:
        tiers.add(term.name, term.value, term.bound)
    tiers.show()
    members = Table("member", "now", "optimum", "partitions")
    loads = zip(Assignment.current(solution.group).loads, found.loads, strict=True)
    for (member, topics), (now, then) in zip(found.to_dict().items(), loads, strict=True):
        held = " ".join(f"{topic}:{ranges(numbers)}" for topic, numbers in topics.items())
        members.add(member, now, then, held or None)
    members.show()
    for topic, numbers in found.unassigned.items():
        show(f"nobody reads {topic}:{ranges(numbers)}")
    for (origin, target), count in found.moves_by_pair().items():
        show(f"moves {count} from {origin} to {target}")


def print_scores(solution: Solution, scores: Sequence[Score]) -> None:
    """Print what is known of the optimum, then a row per assignor."""
    show(_headline(solution))
    print_rows(solution, scores)


def print_rows(solution: Solution, scores: Sequence[Score]) -> None:
    """Print the optimum and a row per assignor, each tier as value (+excess)."""
    tiers = ["moves" if tier == "stickiness" else tier for tier in solution.objective]
    table = Table("assignor", "loads", "valid", "balanced", *tiers, "seconds", "")
    best, seconds = solution.assignment, f"{solution.seconds:.4f}"
    if best is None:
        unknown = "?" * len(tiers)
        table.add("optimum", None, None, None, *unknown, seconds, solution.status)
    else:
        known = (
            "proved" if solution.status == "optimal" else "the best that is sure to be possible"
        )
        values = [term.value for term in solution.terms]
        table.add("optimum", spread(best.loads), True, best.balanced(), *values, seconds, known)
    for score in scores:
        terms = [None] * len(tiers) if score.terms is None else score.terms
        shown = [None if term is None else with_excess(term) for term in terms]
        note = score.reason or ""
        if score.violations:
            more = len(score.violations) - 1
            note = f"{score.violations[0]}{f' (and {more} more)' if more else ''}"
        valid = score.status if score.valid is None else score.valid
        loads = None if score.loads is None else spread(score.loads)
        spent = f"{score.seconds:.4f}"
        table.add(score.assignor, loads, valid, score.balanced, *shown, spent, note)
    table.show()
    if "balance" in solution.objective:
        show(BALANCE)


def with_excess(term: ScoreTerm) -> str:
    """Return a tier's value, and in brackets what it has more than the optimum."""
    if term.excess is None:
        return str(term.value)
    if isinstance(term.excess, tuple):
        low, high = term.excess
        return f"{term.value} (+{low}..{'?' if high is None else high})"
    return f"{term.value} (+{term.excess})" if term.excess else str(term.value)


def _headline(solution: Solution) -> str:
    objective = " > ".join(solution.objective)
    return (
        f"group {solution.group.name}: {solution.status} for {objective} "
        f"(proof: {solution.proof.kind}, method: {solution.method}, {solution.seconds:.4f} s)"
    )
