"""Explain: why the best assignment of a group cannot be better, in words."""

from __future__ import annotations

from typing import Annotated

import typer

from assay.commands.options import (
    DEFAULT_SECONDS,
    Asked,
    GroupOptions,
    Objective,
    OneOf,
    TimeLimitOption,
    Views,
    group_in,
    how_to_answer,
    other_objective,
)
from assay.streams import note_assumed, printable, put
from assay.tables import show_hosts
from assay.terminal import Column, show_table, tell, width, wrapped
from compare.reasons import words
from compare.reasons.explanation import Explanation, lines_of
from compare.reasons.explanation import explain as explained
from compare.reasons.peak import peak_of
from compare.reasons.sure import judged_and_sure
from compare.reasons.words import about
from compare.sentences import not_valid_sentence, on_the_way_sentence, sentence
from compare.verdict import ALL_ALIKE
from groups.tiers import parse_objective

WIDEST = 100
MOST_BLOCKS = 5
LONGEST = 28


def explain(
    files: Views,
    *,
    group: OneOf = None,
    member: Annotated[
        str | None,
        typer.Option(metavar="MEMBER", help="explain what it holds; its id or client id"),
    ] = None,
    objective: Objective = "kip-54",
    options: GroupOptions,
    time_limit: TimeLimitOption = DEFAULT_SECONDS,
) -> None:
    """Explain in words why no assignment is better than the best one.

    It names the members that are the only readers of partitions, what that means for their loads,
    and the partitions that must move.
    """
    tiers = parse_objective(objective)
    given, damaged = group_in(files, group, options)
    one = options.assumed(given)
    note_assumed(one.assumed)
    judged, solution = judged_and_sure(one, tiers, time_limit=time_limit)
    found = explained(solution) if one.members and solution is not None else None
    if found is not None:
        for said in filter(None, (on_the_way_sentence(one), not_valid_sentence(found.now))):
            _say(said)
        alike = None if one is given else ALL_ALIKE
        lead = words.lead(one, alike, whoever=found.group is not one)
        show_explanation(found, member, lead=lead)
    else:
        _say(sentence(judged))
        if one.members and solution is not None:
            _say(one.nouns.said(words.not_proved(solution)))
        if solution is None or judged.further_question:
            asked = Asked(sources=files, group=one.name, options=options, time_limit=time_limit)
            best = other_objective(tiers)
            for line in how_to_answer(judged.reads_asked, one, asked, "explain", *best):
                tell(line)
    raise typer.Exit(2 if damaged else 0)


def show_explanation(
    explanation: Explanation, member: str | None = None, *, lead: str | None = None
) -> None:
    """Print why the optimum cannot be better, for the group or for one member of it.

    Parameters
    ----------
    lead : a sentence to print first, such as what was assumed
    """
    lines = None if member is None else about(explanation, member)
    said = explanation.group.nouns.said
    if lead:
        _say(said(lead))
    _say(said(words.headline(explanation)))
    if blocks := lines_of(explanation, most=MOST_BLOCKS, longest=LONGEST):
        show_table(
            blocks,
            Column("line", lambda one: one.number, right=True),
            Column(said("members"), lambda one: one.members),
            Column("topics", lambda one: one.topics),
            Column(said("partitions"), lambda one: one.partitions),
            Column("each holds", lambda one: one.holds, right=True),
        )
    for line in words.reasons(explanation) if lines is None else lines:
        _say(said(line))
    peak, because = peak_of(explanation) if lines is None else ("", "")
    for line in filter(None, (peak, because)):
        _say(said(line))
    objective = explanation.solution.objective
    counted_out = bool(because) and len(objective) == 1
    if member is None:
        show_hosts(explanation.now, explanation.best)
    if explanation.moves is None and objective != ("balance",) and not counted_out:
        _say(said(words.other_proof(explanation)))


def _say(sentence: str) -> None:
    """Print a sentence in lines of at most 100 columns, also to a file: there are many."""
    text, room = printable(sentence), min(width() or WIDEST, WIDEST)
    put(wrapped(text, room, indent="  " if text.startswith("- ") else ""))
