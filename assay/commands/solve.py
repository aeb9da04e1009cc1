"""Solve: the best assignment of a group, or whether moving towards it is worth it."""

from __future__ import annotations

import re
from fractions import Fraction
from typing import TYPE_CHECKING, Annotated

import typer

from assay.commands.options import (
    DEFAULT_SECONDS,
    AtMost,
    Format,
    GroupOptions,
    Objective,
    OneOf,
    TimeLimitOption,
    Views,
    budgets_of,
    note_unused_capacity,
    one_group,
    tell_condition,
)
from assay.streams import note_assumed, show_json
from assay.terminal import Column, show_moves, show_table, tell
from compare.lag.behind import Behind, behind
from compare.lag.fall import worth_moving
from compare.lag.lowest import with_best
from compare.lag.words import NAMED, least_of_as_good, measured, peak_found
from compare.moves import moves_to
from compare.reasons.sure import judged_and_sure, required
from compare.reasons.sure import solve as solve_group
from groups.assignment import Assignment
from groups.errors import BadInput
from groups.tiers import TIERS, called, parse_objective, values
from groups.wording import OF_CONSUMERS, agreed, counted, duration, percent, ranges
from optimal.budgets.budget import question
from optimal.proof import MEANING, ProofKind
from optimal.solution import Status
from optimal.solve import METHODS, MethodName

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from compare.judged import Judged
    from compare.lag.fall import Worth
    from optimal.solution import Solution

# The default objective of --only-if-peak-falls.
WORTH = "balance > peak_lag"


def solve(
    files: Views,
    *,
    group: OneOf = None,
    objective: Objective = "kip-54",
    at_most: AtMost = None,
    only_if: Annotated[
        str | None,
        typer.Option(
            "--only-if-peak-falls",
            metavar="X%",
            help="the fewest moves that lower the peak by so much, or leave the group alone; the "
            "objective is then 'balance > peak_lag' by default",
        ),
    ] = None,
    options: GroupOptions,
    format_: Format = "table",
    time_limit: TimeLimitOption = DEFAULT_SECONDS,
    method: Annotated[
        MethodName, typer.Option(metavar="METHOD", help=", ".join(METHODS))
    ] = "auto",
) -> None:
    """Find the best assignment of a group, with its proof.

    Where subscriptions are not known it is one that holds whoever reads what, if there is one.
    """
    budgets = budgets_of(at_most)
    if only_if is not None and (budgets or method != "auto"):
        raise BadInput("--only-if-peak-falls: not together with --at-most or --method")
    share = None if only_if is None else _share(only_if)
    one = one_group(files, group, options)
    judged: Judged | None = None
    note_unused_capacity([one], parse_objective(objective), options)
    if share is not None:
        tiers = WORTH if objective == "kip-54" else objective
        worth = worth_moving(one, share, tiers, time_limit=time_limit)
        answer, document, solution = worth_told(worth), worth.to_dict(), worth.solution
    else:
        if budgets or method != "auto":
            solution = solve_group(
                one, objective, method=method, time_limit=time_limit, at_most=budgets
            )
        else:
            judged, sure = judged_and_sure(one, objective, time_limit=time_limit)
            solution = required(judged, sure)
        answer, document = "", solution.to_dict()
    note_assumed(one.assumed)
    if format_ == "json":
        show_json(document)
        return
    if answer:
        tell(answer)
    if solution is not None:
        show_solution(solution)
        tell_condition(one)
        if judged is not None and (said := least_of_as_good(judged)):
            tell(said)


def _share(text: str) -> Fraction:
    """Return the share of ``10%`` or ``10``."""
    if not re.fullmatch(r"[0-9]{1,3}(\.[0-9]{1,6})?%?", text):
        raise BadInput(f"--only-if-peak-falls {text}: expected a percentage as in 10%")
    share = Fraction(text.removesuffix("%")) / 100
    if not 0 < share <= 1:
        raise BadInput(f"--only-if-peak-falls {text}: expected more than 0% and at most 100%")
    return share


def show_solution(solution: Solution) -> None:
    """Print the status, the tiers, each member's load and the moves."""
    tell(headline(solution))
    found = solution.assignment
    if found is None:
        return
    show_table(
        solution.terms,
        Column("tier", lambda term: called(term.name)),
        Column("value", lambda term: term.value),
        Column("bound", lambda term: term.bound, right=True),
    )
    now = Assignment.current(solution.group)
    nouns = solution.group.nouns
    held = {
        member: in_ranges(topics) if nouns == OF_CONSUMERS else [nouns.held(topics)]
        for member, topics in found.to_dict().items()
    }
    members = [*held]
    best = "best" if solution.at_most else "optimum"
    best = best if solution.status is Status.OPTIMAL else "best found"
    show_table(
        range(len(members)),
        Column(nouns.member, solution.group.called.__getitem__),
        Column("now", lambda m: now.loads[m]),
        Column(best, lambda m: found.loads[m]),
        *(lag_columns(behind(now), behind(found)) if _is_on_lag(solution) else ()),
        Column(f"{nouns.partition}s", lambda m: held[members[m]]),
    )
    if said := peak_found(solution):
        tell(nouns.said(said))
    for named in in_ranges(found.unassigned):
        tell(f"nobody reads {named}")
    tell_proofs([solution.proof.kind])
    if len(found.moved):
        tell("moves:")
        show_moves(moves_to(found), nouns)


def tell_proofs(kinds: Iterable[str]) -> None:
    """Print the meaning of each kind of proof, once; unproved answers have none."""
    for kind in map(ProofKind, dict.fromkeys(kinds)):
        if kind is not ProofKind.NONE:
            tell(f"{kind}: {MEANING[kind]}")


def in_ranges(topics: Mapping[str, Sequence[int]]) -> list[str]:
    """Return partitions by topic as ``t0:0-2,5``."""
    return [f"{topic}:{ranges(numbers)}" for topic, numbers in topics.items()]


def _is_on_lag(solution: Solution) -> bool:
    """Return whether the objective or a budget is about lag, or members have a capacity."""
    asked = {TIERS[tier].needs for tier in (*solution.objective, *solution.at_most)}
    return "lag" in asked or any(one.capacity for one in solution.group.details)


def worth_told(worth: Worth) -> str:
    """Return why to leave the group alone, or what the fewest moves gain."""
    solution, peak = worth.solution, worth.objective[-1]
    if solution is None or solution.assignment is None:
        return f"{worth.group}: {_leave_alone(worth)}"
    moved = len(solution.assignment.moved)
    (reached,) = values(solution.assignment, (peak,))
    return (
        f"{worth.group}: {counted(moved, 'move')} "
        f"{agreed(moved, 'bring')} the {NAMED[peak]} from {measured(peak, worth.now)} "
        f"to {measured(peak, reached)}: {_lower(worth.now, reached)}. {_fewest(worth, moved)}"
    )


def _leave_alone(worth: Worth) -> str:
    peak, now = worth.objective[-1], worth.now
    if not now:
        return "leave it alone, nobody is behind."
    name = f"the {NAMED[peak]} is {measured(peak, now)} now"
    asked = f"{measured(peak, worth.wanted)} was asked for"
    bound, found = measured(peak, worth.bound), measured(peak, worth.found)
    given = f" {with_best(worth.objective[:-1])}".rstrip()
    if worth.found == worth.bound:
        least = f"the lowest possible{given} is {found}: {_lower(now, worth.found)}"
    elif worth.sure:
        least = f"it cannot be below {bound}{given}: {_lower(now, worth.bound)}"
    else:
        return (
            f"leave it alone, as far as known: {name}, the lowest found{given} is {found}, and "
            f"{asked}. Not proved: it cannot be below {bound}."
        )
    return f"leave it alone: {name}, {least}, and {asked}."


def _fewest(worth: Worth, moved: int) -> str:
    if moved <= worth.fewest:
        return "Fewer are not enough."
    known = f": {counted(worth.fewest, 'move')} at least" if worth.fewest else ""
    return f"That fewer are not enough is not proved{known}."


def _lower(now: int, then: int) -> str:
    if then > now:
        return f"{percent(then - now, now)} higher"
    return "no lower" if then == now else f"{percent(now - then, now)} lower"


def headline(solution: Solution) -> str:
    """Return the status of a solution, its proof and how it was found."""
    return (
        f"group {solution.group.name}: {solution.status} for "
        f"{question(solution.objective, solution.at_most)} "
        f"(proof: {solution.proof.kind}, method: {solution.method}, {solution.seconds:.4f} s)"
    )


def lag_columns(now: Behind | None, then: Behind | None) -> list[Column[int]]:
    """Return columns of each member's lag and time to catch up; a row is a member's number.

    There is no column if a lag is not known.
    """
    if now is None or then is None or now.unknown or then.unknown:
        return []
    timed = None not in (now.longest, then.longest) and bool(now.longest or then.longest)
    return [
        Column("lag now", now.records.__getitem__),
        Column("lag best", then.records.__getitem__),
        Column("catch-up now", now.seconds.__getitem__, format_number=duration, shown=timed),
        Column("catch-up best", then.seconds.__getitem__, format_number=duration, shown=timed),
    ]
