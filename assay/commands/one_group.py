"""One group: its optimum, the check of a solution, and its assignment beside the assignors."""

from typing import Annotated, Literal

import typer

from assay.commands.options import (
    DEFAULT_SECONDS,
    Assignors,
    AssumeEqual,
    FailAbove,
    File,
    Format,
    Objective,
    TimeLimitOption,
    limits_of,
)
from assay.streams import complain, note_assumed, show, show_json
from groups.documents.json_files import decode, parse_json, read_bytes
from groups.errors import AssayError, BadInput
from groups.group import Group


def solve(
    file: File,
    *,
    objective: Objective = "kip-54",
    method: Annotated[
        Literal["auto", "flow", "cp-sat", "ilp", "brute"], typer.Option(help="how to solve")
    ] = "auto",
    time_limit: TimeLimitOption = None,
    assume_equal: AssumeEqual = False,
    format_: Format = "table",
) -> None:
    """Find the best assignment of a group, with its proof."""
    from assay.printing.one_group import print_solution
    from optimal import solve as solve_group

    group = _group(file, assume_equal=assume_equal)
    solution = solve_group(group, objective, method=method, time_limit=time_limit)
    note_assumed(group.assumed)
    if format_ == "json":
        show_json(solution.to_dict())
    else:
        print_solution(solution)


def check(
    file: File,
    solution: Annotated[str, typer.Argument(help="an assay-solution/1 document")],
    *,
    assume_equal: AssumeEqual = False,
) -> None:
    """Check a solution and its proof, without a solver.

    Validity, every term and the certificate are computed again. Prints the status and the bounds
    that were judged, and what was not checked.
    """
    from optimal.certificate import check as check_solution
    from optimal.solution import Solution

    group = _group(file, assume_equal=assume_equal)
    group.require_subscriptions()
    data = read_bytes(solution)
    try:
        document = parse_json(decode(data))
        answer = Solution.from_dict(group, document)
        unchecked = list(check_solution(group, answer))
    except AssayError as error:
        raise type(error)(f"{solution}: {error}") from None
    note_assumed(group.assumed)
    if answer.assignment is not None:
        terms = ", ".join(
            f"{term.name} {term.value} (bound {'unknown' if term.bound is None else term.bound})"
            for term in answer.terms
        )
        show(f"the assignment is valid and costs what it says: {terms}")
    show(f"status {answer.status}{'' if unchecked else ': the certificate proves it'}")
    if document.get("assumed", []) != list(group.assumed):
        unchecked.append("what the solution says was assumed, which is not what was assumed here")
    for line in (*unchecked, "how it was found: method, seconds, why it stopped"):
        show(f"not checked: {line}")


def score(
    file: File,
    *,
    assignor: Assignors = None,
    objective: Objective = "kip-54",
    time_limit: TimeLimitOption = None,
    assume_equal: AssumeEqual = False,
    fail_above: FailAbove = None,
    format_: Format = "table",
) -> None:
    """Score the current assignment and assignors against the optimum.

    Without --assignor: all assignors that can be called here.
    """
    from assay.printing.one_group import print_scores
    from compare.limits import too_far
    from compare.score import (
        CURRENT,
        assignors_asked,
        score_assignors,
        scores_document,
    )
    from heuristics.time_limit import TimeLimit
    from optimal import solve as solve_group

    limits = limits_of(fail_above or [])
    asked = assignors_asked(assignor)
    group = _group(file, assume_equal=assume_equal)
    solution = solve_group(group, objective, time_limit=time_limit)
    names = [CURRENT, *(name for name in asked if name != CURRENT)]
    with TimeLimit(time_limit or DEFAULT_SECONDS) as limit:
        rows = score_assignors(group, solution, names, limit)
    note_assumed(group.assumed)
    if format_ == "json":
        show_json(scores_document(group, solution, rows))
    else:
        print_scores(solution, rows)
    judged = [row for row in rows if row.assignor in (asked if assignor else [CURRENT])]
    lines = too_far(judged, limits) if limits else []
    for line in lines:
        complain(line)
    raise typer.Exit(1 if lines else 0)


def _group(file: str, *, assume_equal: bool) -> Group:
    try:
        group = Group.read(file)
    except BadInput as error:
        hint = "; make a snapshot of other tools' output with: assay import FILE"
        raise BadInput(f"{error}{hint if 'not JSON' in str(error) else ''}") from None
    return group.with_equal_subscriptions() if assume_equal else group
