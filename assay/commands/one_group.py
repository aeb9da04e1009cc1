"""One group: its optimum, the check of a solution, and its assignment beside the assignors."""

import re
from fractions import Fraction
from typing import Annotated, Literal

import typer

from assay.commands.options import (
    DEFAULT_SECONDS,
    AssumeEqual,
    AtMost,
    File,
    Format,
    Objective,
    OneOf,
    Rate,
    Reads,
    Reset,
    TimeLimitOption,
    budgets_of,
    note_unused_capacity,
    one_group,
)
from assay.streams import note_assumed, show, show_json
from groups.assignment import Assignment
from groups.documents.json_files import parse_json
from groups.documents.texts import decode, read_bytes
from groups.errors import AssayError, BadInput, ProofError
from groups.tiers import parse_objective
from groups.unknown import reading_least, reading_most

# Where nobody says what is best, and the question is about the peak.
WORTH = "balance > peak_lag"


def solve(
    file: File,
    *,
    objective: Objective = "kip-54",
    at_most: AtMost = None,
    method: Annotated[
        Literal["auto", "flow", "exchange", "cp-sat", "ilp", "brute"],
        typer.Option(help="how to solve"),
    ] = "auto",
    time_limit: TimeLimitOption = DEFAULT_SECONDS,
    group: OneOf = None,
    reads: Reads = None,
    assume_equal: AssumeEqual = False,
    reset: Reset = None,
    rate: Rate = None,
    only_if: Annotated[
        str | None,
        typer.Option(
            "--only-if-peak-falls",
            metavar="X%",
            help="leave the group alone unless its peak can fall by so much, then with the fewest "
            "moves that do it; left out, the objective is then 'balance > peak_lag'",
        ),
    ] = None,
    format_: Format = "table",
) -> None:
    """Find the best assignment of a group, with its proof.

    Where subscriptions are not known it is one that holds whoever reads what, if there is one.
    """
    from assay.printing.one_group import print_solution
    from compare.reasons.sure import sure_optimum
    from optimal import solve as solve_group

    budgets = budgets_of(at_most or [])
    if only_if is not None and (budgets or method != "auto"):
        raise BadInput("--only-if-peak-falls: not together with --at-most or --method")
    share = None if only_if is None else _share(only_if)
    one = one_group([file], group, reads or [], assume_equal=assume_equal, reset=reset, rate=rate)
    if rate is None:
        note_unused_capacity([one], parse_objective(objective))
    if share is not None:
        from assay.printing.worth import print_worth
        from compare.lag.worth import worth_moving

        tiers = WORTH if objective == "kip-54" else objective
        worth = worth_moving(one, share, tiers, time_limit=time_limit or DEFAULT_SECONDS)
        note_assumed(one.assumed)
        if format_ == "json":
            show_json(worth.to_dict())
        else:
            print_worth(worth)
        return
    if one.subscription_known.all() or budgets or method != "auto":
        solution = solve_group(
            one, objective, method=method, time_limit=time_limit, at_most=budgets
        )
    else:
        solution = sure_optimum(one, parse_objective(objective), time_limit=time_limit)
    note_assumed(one.assumed)
    if format_ == "json":
        show_json(solution.to_dict())
    else:
        print_solution(solution)


def _share(text: str) -> Fraction:
    """Return the share of ``10%`` or ``10``."""
    if not re.fullmatch(r"[0-9]{1,3}(\.[0-9]{1,6})?%?", text):
        raise BadInput(f"--only-if-peak-falls {text}: expected a percentage as in 10%")
    share = Fraction(text.removesuffix("%")) / 100
    if not 0 < share <= 1:
        raise BadInput(f"--only-if-peak-falls {text}: expected more than 0% and at most 100%")
    return share


def check(
    file: File,
    solution: Annotated[str, typer.Argument(help="an assay-solution/1 document")],
    *,
    group: OneOf = None,
    reads: Reads = None,
    assume_equal: AssumeEqual = False,
    reset: Reset = None,
    objective: Annotated[
        str | None,
        typer.Option(
            "--objective", help="what it has to answer, as of solve; left out: what it says"
        ),
    ] = None,
    at_most: AtMost = None,
    strict: Annotated[
        bool,
        typer.Option("--strict", help="exit code 1 where the status could not be checked"),
    ] = False,
) -> None:
    """Check a solution and its proof, without a solver.

    Validity, every term and the certificate are computed again; without a certificate, all
    assignments of a group that has a million at the most are counted again. Prints the question
    that the solution answers, the bounds and the status that were judged, and what was not
    checked. A solution of another question than --objective and --at-most ask is refused.
    """
    from assay.printing.judgement import asked, judged
    from optimal.certificate import check as check_solution
    from optimal.recount import count_again
    from optimal.solution import Solution

    given = one_group([file], group, reads or [], assume_equal=assume_equal, reset=reset)
    # With more readers nothing is harder: what no assignment is below there, none is below here.
    one = reading_most(given)
    data = read_bytes(solution)
    try:
        document = parse_json(decode(data))
        answer = Solution.from_dict(one, document)
        answered = answer.objective, dict(answer.at_most)
        question = answered
        if objective is not None or at_most:
            tiers = answer.objective if objective is None else parse_objective(objective)
            question = tiers, budgets_of(at_most or [])
        if answered != question:
            raise ProofError(
                f"it answers {asked(*answered)}, but the question is {asked(*question)}"
            )
        unchecked = list(check_solution(one, answer))
        if answer.assignment is not None:
            answer_if_least = Assignment(reading_least(given), answer.assignment.owner)
            if answer_if_least.violations:
                raise ProofError(
                    f"it depends on who reads what: {answer_if_least.violations[0]}; "
                    "add --reads PATTERN=TOPICS, or --assume-equal"
                )
        if unchecked and count_again(one, answer):
            unchecked = []
    except AssayError as error:
        raise type(error)(f"{solution}: {error}") from None
    note_assumed(one.assumed)
    show(f"the question: {asked(*answered)}")
    if answer.assignment is not None:
        terms = ", ".join(
            f"{term.name} {term.value} (bound {'unknown' if term.bound is None else term.bound})"
            for term in answer.terms
        )
        show(f"the assignment is valid and costs what it says: {terms}")
    show(f"status {judged(answer, checked=not unchecked)}")
    if document.get("assumed", []) != list(one.assumed):
        unchecked.append("what the solution says was assumed, which is not what was assumed here")
    for line in (*unchecked, "how it was found: method, seconds, why it stopped"):
        show(f"not checked: {line}")
    if strict and unchecked:
        raise typer.Exit(1)
