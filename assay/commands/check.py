"""Check: whether a solution and its proof hold."""

from __future__ import annotations

from typing import Annotated

import typer

from assay.commands.options import (
    Asked,
    AtMost,
    File,
    GroupOptions,
    OneOf,
    budgets_of,
    one_group,
)
from assay.streams import note_assumed, show
from compare.reasons.sure import check as check_solution
from groups.documents.json_files import parse_json
from groups.documents.texts import decode, named, read_bytes
from groups.errors import AssayError, BadInput, InvalidAssignment, ProofError
from groups.tiers import TIERS, called, parse_objective
from optimal.budgets.budget import question
from optimal.proof import ProofKind
from optimal.solution import FORMAT, Solution, Status

# Whose word a status rests on if its proof cannot be checked.
WORD = {ProofKind.SOLVER: "the solver", ProofKind.EXHAUSTION: "the search"}


def check(
    file: File,
    solution: Annotated[
        str, typer.Argument(metavar="SOLUTION", help="an assay-solution/1 document")
    ],
    *,
    group: OneOf = None,
    objective: Annotated[
        str | None,
        typer.Option(
            metavar="OBJECTIVE",
            help="what the solution has to answer; left out: what it says itself",
        ),
    ] = None,
    at_most: AtMost = None,
    strict: Annotated[
        bool,
        typer.Option("--strict", help="exit code 1 if the status could not be checked"),
    ] = False,
    options: GroupOptions,
) -> None:
    """Check a solution and its proof, without a solver.

    Validity, the value of each tier and the certificate are computed again. If there is no
    certificate, all assignments are counted again, up to a million. An answer to another question
    than --objective and --at-most ask is refused.
    """
    data, name = read_bytes(solution), named(solution)
    try:
        document = parse_json(decode(data))
    except AssayError as error:
        raise error.within(name) from None
    top = document if isinstance(document, dict) else None
    if top is not None and "format" not in top:
        alike = Asked(sources=[file], group=group, options=options)
        plan = f"a plan is judged by {alike.command('score', '--plan', solution)}"
        raise BadInput(f"{name}: no format, expected {FORMAT!r}; {plan}")
    given = one_group([file], group, options, otherwise=None if top is None else top.get("group"))
    one = given.with_equal_subscriptions()
    try:
        answer = Solution.from_dict(one, document)
        answered = answer.objective, dict(answer.at_most)
        asked = answered
        if objective is not None or at_most:
            tiers = answer.objective if objective is None else parse_objective(objective)
            asked = tiers, budgets_of(at_most)
        if answered != asked:
            raise ProofError(
                f"it answers {question(*answered)}, but the question is {question(*asked)}"
            )
        try:
            unchecked = list(check_solution(given, answer))
        except InvalidAssignment as error:
            hint = _of_another_capture(error, answer)
            raise InvalidAssignment(f"not a valid solution: {error}{hint}") from None
        except ProofError as error:
            raise error.within("not proved") from None
    except AssayError as error:
        raise error.within(name) from None
    note_assumed(given.assumed)
    show(f"the question: {question(*answered)}")
    if answer.assignment is not None:
        terms = ", ".join(
            f"{called(term.name)} {term.value} "
            f"(bound {'unknown' if term.bound is None else term.bound})"
            for term in answer.terms
        )
        show(f"the assignment is valid and costs what it says: {terms}")
    anyhow = "" if unchecked or given.subscription_known.all() else ", whoever reads what"
    show(f"status {_status(answer, checked=not unchecked)}{anyhow}")
    said, here = document.get("assumed", []), [*one.assumed]
    if said != here:
        differing = [f"the solution alone: {line}" for line in said if line not in here]
        differing += [f"here alone: {line}" for line in here if line not in said]
        unchecked.append(
            "what the solution says was assumed, which is not what was assumed here: "
            f"{'; '.join(differing) or 'the order differs'}"
        )
    for line in (*unchecked, "how it was found: method, seconds, why it stopped"):
        show(f"not checked: {line}")
    if strict and unchecked:
        raise typer.Exit(1)


def _of_another_capture(error: InvalidAssignment, answer: Solution) -> str:
    """Return a hint that a wrong value may come from another capture of the group; else empty.

    A solution holds neither the owned partitions nor the lag that it was computed from.
    """
    tier = next((one for one in answer.objective if str(error).startswith(f"terms.{one}: ")), None)
    if tier is None:
        return ""
    of = TIERS[tier]
    if of.cost is not None and of.cost.leaving:
        what = "what members own"
    elif of.needs in ("lag", "weight"):
        what = f"the {of.needs}"
    else:
        return ""
    return f"; that follows from {what}: is the solution of another capture of the group?"


def _status(solution: Solution, *, checked: bool) -> str:
    """Return the status and what it rests on.

    Parameters
    ----------
    checked : whether every bound could be checked
    """
    status, kind = solution.status, solution.proof.kind
    if not checked:
        word = WORD.get(kind) if status is Status.OPTIMAL else None
        return f"{status} by the word of {word}: not checked" if word else f"{status}"
    if kind is ProofKind.CERTIFICATE:
        return f"{status}: the certificate proves it"
    found = "none is better" if status is Status.OPTIMAL else "the bounds hold"
    return f"{status}: all assignments were counted again, and {found}"
