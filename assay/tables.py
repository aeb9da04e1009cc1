"""Tables that several commands show: assignors on a group and on several, groups by verdict."""

from __future__ import annotations

from functools import partial
from operator import itemgetter
from typing import TYPE_CHECKING, Any

import numpy as np

from assay.streams import OPTIONS, WHO_READS, show
from assay.terminal import Column, by_reason, show_table, tell
from compare.hosts import HostRow, host_rows
from compare.limits import signed
from compare.over_groups import (
    NotScored,
    Standing,
    Worst,
    in_a_line,
    standings_of,
    unscored_of,
    worst_groups,
)
from compare.overview import GUESSES, Glance, Overview, is_lagging
from compare.page.group.line import labels_of
from compare.remedy import of_other_protocol
from compare.score_table import PEAK_LAG, columns_of
from compare.scores import (
    COUNTED,
    DEPENDS,
    FACTS,
    UNKNOWN,
    Score,
    outcome_of,
    score_outcome,
)
from compare.sentences import AT_LEAST, BALANCE, BALANCED, spread
from compare.verdict import EVEN_LAGGING, GOOD, NOBODY_READS
from compare.what_if import EVERY_TOPIC
from groups.arrays import NOBODY
from groups.assignment import Assignment
from groups.tiers import called, in_words
from groups.wording import agreed, counted, duration, rounded
from optimal.proof import ProofKind

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Container, Mapping, Sequence

    from compare.lag.lowest import LowestPeak
    from compare.score_table import ScoreColumn
    from compare.scores import Excess
    from groups.group import Group
    from groups.tiers import Objective
    from optimal.solution import Solution

MOST_UNSCORED = 10
MOST_HOSTS = 12
MOST_QUESTIONS = 5

Pair = tuple[str, str]


def show_scores(
    solution: Solution,
    scores: Sequence[Score],
    lowest: LowestPeak | None = None,
    *,
    told: Container[str] = (),
    reading_most: Group | None = None,
) -> None:
    """Print the optimum and a row for each assignor, then why some have no score.

    Parameters
    ----------
    lowest : the lowest peak lag, with which each row's peak lag is compared; None if unknown
    told : assignors whose reason has already been printed
    reading_most : as in `compare.scores.score`
    """
    rows = [_optimum(solution, reading_most), *scores]
    columns = columns_of(solution, rows, lowest)
    lagging = any(column.head == PEAK_LAG for column in columns)
    show_table(
        rows,
        Column("assignor", lambda row: row.assignor, whole=True),
        Column("loads", lambda row: None if row.loads is None else spread(row.loads), right=True),
        *(
            Column(one.head, partial(_cell, one), right=one.is_number, gives_way=one.gives_way)
            for one in columns
        ),
    )
    untold = (score for score in scores if score.assignor not in told)
    for line in by_reason((score.assignor, why_not(score)) for score in untold):
        tell(line)
    if "balance" in solution.objective:
        tell(BALANCE)
    if any(
        row.balanced and any(t.name == "balance" and t.excess for t in row.terms or ())
        for row in rows
    ):
        tell(BALANCED)
    if any(term.excess for row in rows for term in row.terms or ()):
        but = ", except of peak lag" if lagging else ""
        tell(f"in brackets: how much worse than the optimum{but}")
    others = (row.assignor for row in scores)
    if said := of_other_protocol(others, solution.group):
        tell(said)
    if lowest is not None and lagging:
        tell(
            f"peak lag: of the member with most, at which {in_words(solution.objective)} does not "
            f"look; in brackets: how much more than {lowest.told}"
        )


def why_not(score: Score) -> str | None:
    """Return why a row has no score or is not valid, with the option that helps; else None."""
    hint = f"; {OPTIONS['subscriptions']}" if score.is_open else ""
    said = "not scored, as " if score.reason in (UNKNOWN, DEPENDS) else ""
    return score.why_not and f"{said}{score.why_not}{hint}"


def plan_told(row: Score, given: str = "") -> str:
    """Return whether a plan is valid, and its excess in the first tier that is not optimal.

    Parameters
    ----------
    row : the plan's row, scored or not
    given : the condition under which it was scored, if any
    """
    given = given and f", if {given}"
    if reason := why_not(row):
        return f"{row.assignor}: {reason}"
    worse = next((term for term in row.terms or () if term.excess != 0), None)
    if worse is None:
        tiers = in_words([term.name for term in row.terms or ()])
        return f"{row.assignor}: valid, and as good as can be in {tiers}{given}."
    found = f"{called(worse.name)} {''.join(noted(worse.value, worse.excess))}"
    if isinstance(worse.excess, tuple) and worse.excess[0] <= 0:
        found = f"it is open whether it is as good as can be: {found}"
        return f"{row.assignor}: valid; {found}{given}."
    return f"{row.assignor}: valid, but not as good as can be: {found}{given}."


def _optimum(solution: Solution, reading_most: Group | None) -> Score:
    """Return the row of the optimum; its name says whether it is proved, or a solver's word."""
    name = "best known"
    if solution.status == "optimal":
        by_word = solution.proof.kind is ProofKind.SOLVER
        name = "optimum (by a solver)" if by_word else "optimum (proved)"
    if solution.assignment is None:
        name = "optimum (unknown)"
    return score_outcome(solution.group, outcome_of(solution), solution, name, reading_most)


def _cell(column: ScoreColumn, row: Score) -> object:
    value, told = column.value(row), column.in_short or column.told
    if value is None or isinstance(value, bool | str):
        return value
    return told(value) if column.excess is None else noted(value, column.excess(row), told)


def noted(value: object, excess: Excess, told: Callable[[Any], str] = "{:,}".format) -> Pair:
    """Return a value, and its excess over the optimum in brackets; no brackets for excess 0."""
    more = signed(excess, told)
    return told(value), f" ({more})" if more else ""


def show_over_groups(named: Sequence[tuple[str, Score]], tiers: Objective) -> None:
    """Print which assignor is best on all groups, a row for each, and why some have no score.

    Parameters
    ----------
    named : (group, score) pairs
    """
    rows = [row for _, row in named]
    standings, worst = standings_of(rows, tiers), worst_groups(named, tiers)
    found = [(name, one) for one in standings if one.groups for name in one.assignors]
    if found:
        from compare.promises.findings import best_sentences

        if best := best_sentences(standings):
            tell(best)
        show_table(
            found,
            Column("assignor", itemgetter(0), whole=True),
            Column("scored", lambda row: f"{row[1].groups} of {row[1].groups + row[1].unscored}"),
            *(Column(FACTS[fact].head, partial(_counted, fact)) for fact in COUNTED),
            Column(GOOD, lambda row: _up_to(row[1].optimal, row[1].maybe)),
            *(Column(f"worse in {called(tier)}", partial(_worse, tier)) for tier in tiers),
            Column("worst group", partial(_worst, worst), whole=True, shown=bool(worst)),
        )
        tell(
            "worse in: in how many groups it is worse there and equal in what comes before; "
            "in brackets by how much at most"
        )
        if worst:
            tell(
                f"worst group: where it is furthest from the optimum in {in_words(tiers)}; in "
                "brackets the first of these in which it is, and by how much"
            )
    show_unscored(unscored_of(rows))


def _worst(worst: Mapping[str, Worst], row: tuple[str, Standing]) -> str | None:
    found = worst.get(row[0])
    return found and f"{found.group} ({called(found.tier)} +{found.excess:,})"


def _counted(fact: str, row: tuple[str, Standing]) -> str:
    return _up_to(dict(row[1].counted)[fact], row[1].may_hold(fact))


def _up_to(sure: int, maybe: int) -> str:
    """Return a number of groups: ``8``, or ``8 to 9`` if it is not known for each of them."""
    return f"{sure:,}" if maybe <= sure else f"{sure:,} to {maybe:,}"


def _worse(tier: str, row: tuple[str, Standing]) -> Pair | None:
    ((groups, known, most),) = (found for name, *found in row[1].tiers if name == tier)
    return noted(groups, most) if known else None


def show_unscored(found: Sequence[NotScored]) -> None:
    """Print how many assignors are not scored on every group, and why."""
    if not found:
        return
    tell(in_a_line(found))
    show_table(
        found,
        Column("assignor", lambda one: one.names),
        Column("groups", lambda one: one.groups),
        Column("status", lambda one: one.status),
        Column("reason, for example", lambda one: one.reason),
        most=MOST_UNSCORED,
        more=", in the table scores",
    )


def show_groups(
    worst: Sequence[Glance],
    not_judged: Mapping[str, str],
    *,
    several: bool = False,
    failing: Collection[str] = (),
) -> bool:
    """Print a line for each group; return whether a lag is shown.

    Parameters
    ----------
    not_judged : groups without a verdict, by name or file, and what the verdict column shows
    several : whether a group has several captures, even if `worst` has one line of each group
    failing : names of groups beyond a limit, which are printed first
    """
    # The time of capture tells several captures of one group apart.
    times = several or len({one.name for one in worst}) < len(worst)
    lagging = any(one.peak is not None for one in worst)
    # Without a rate, the time to catch up is only known where it is 0.
    rated = any(one.longest for one in worst)
    every: list[Glance | Pair] = [*worst, *not_judged.items()]
    lines = sorted(every, key=lambda one: _name(one) not in failing)
    show_table(
        lines,
        Column("group", _name),
        Column(
            "limit",
            lambda one: "fails" if _name(one) in failing else None,
            whole=True,
            shown=bool(failing),
        ),
        Column("captured at", _field("captured_at"), whole=True, shown=times),
        Column("members", _field("members"), right=True),
        Column("partitions", _field("partitions"), right=True, gives_way=2),
        Column("loads now", _field("now"), right=True, gives_way=1),
        Column("best loads", _field("best"), right=True),
        Column("verdict", _verdict, whole=True),
        Column("moves", _field("advised_moves"), right=True),
        Column("idle", _field("idle"), right=True, shown=any(one.idle for one in worst)),
        Column("peak lag now / then / least", _peak_lags, right=True, shown=lagging),
        Column("catch-up now / best", _catch_up, right=True, shown=rated),
    )
    return lagging or rated


def _field(name: str) -> Callable[[Glance | Pair], object]:
    return lambda one: getattr(one, name, None)


def _name(one: Glance | Pair) -> str:
    return one[0] if isinstance(one, tuple) else one.name


def _verdict(one: Glance | Pair) -> str:
    if isinstance(one, tuple):
        return one[1]
    waiting = one.verdict.waiting or 0
    least = AT_LEAST if one.verdict.waiting_unknown else ""
    if one.without_owner:
        waits = f": {least}{rounded(waiting)} records" if waiting else ""
        return f"{counted(one.without_owner, 'partition')} without owner{waits}"
    if one.verdict.says == NOBODY_READS:
        return f"{one.shown}: {least}{rounded(waiting)}"
    return f"{one.shown}{' *' if one.verdict.condition else ''}"


def _peak_lags(one: Glance | Pair) -> Pair | None:
    """Return the peak lag now, after the moves, and the lowest possible."""
    if isinstance(one, tuple) or one.peak is None:
        return None
    then = "-" if one.then is None else rounded(one.then)
    return f"{rounded(one.peak)} / {then}", _best(one, one.lowest, rounded)


def _catch_up(one: Glance | Pair) -> Pair | None:
    """Return the longest time to catch up, now and at the lowest peak lag if rates are equal."""
    if isinstance(one, tuple) or one.longest is None:
        return None
    return duration(one.longest), _best(one, one.longest_best, duration)


def _best(one: Glance, value: int | None, told: Callable[[int], str]) -> str:
    return (
        " / -" if value is None else f" / {told(value)}{'' if one.lowest_proved else ' or less'}"
    )


def with_like(said: str) -> str:
    """Return a sentence; one about what new members read gets the option that changes that."""
    return f"{said} To change that, {OPTIONS['like']}." if said.startswith(EVERY_TOPIC) else said


def show_given(plan: Assignment, indent: str) -> None:
    """Print which member gets which of the partitions that have no owner now."""
    before = Assignment.current(plan.group).owner
    given = Assignment(plan.group, np.where(before < 0, plan.owner, NOBODY))
    for member, topics in given.to_dict().items():
        if topics:
            tell(f"{indent}{member} gets {plan.group.nouns.held(topics)}")


def show_hosts(
    now: Assignment, best: Assignment, plans: Mapping[str, Assignment] | None = None
) -> None:
    """Print the load of each host, now and at the best, fullest first, and of its members.

    Prints nothing if a host is unknown, if there is one host, or if each host has one member.

    Parameters
    ----------
    plans : further assignments by name, a column each
    """
    rows, nouns = host_rows(now, best, labels_of(now.group)), now.group.nouns
    if not rows:
        return
    show_table(
        rows,
        Column(nouns.host, lambda row: row.host),
        Column("now", lambda row: row.now),
        Column("best", lambda row: row.best, shown=any(row.now != row.best for row in rows)),
        *(_host_column(name, now, plan) for name, plan in (plans or {}).items()),
        Column(f"{nouns.member}s", lambda row: len(row.members)),
        Column("each holds", lambda row: row.each_holds),
        most=MOST_HOSTS,
    )


def _host_column(name: str, now: Assignment, plan: Assignment) -> Column[HostRow]:
    held = {row.host: row.best for row in host_rows(now, plan, labels_of(now.group))}
    return Column(name, lambda row: held[row.host])


def show_overview(overview: Overview) -> None:
    """Print how many groups have which verdict, and what to do about the most urgent ones."""
    tell(overview.headline())
    shown, more = overview.attention()
    for one in shown:
        tell(f"- {one.name}: {one.to_do}", indent="  ")
    if more:
        tell(f"- {counted(more, 'group')} more {agreed(more, 'need')} attention")
    history = overview.history()
    for said in filter(None, (overview.who_moves(), *history)):
        tell(said)
    if history:
        tell("who lost what, and who committed nothing: assay diff EARLIER LATER --group NAME")


def show_notes(overview: Overview, who_reads: str = WHO_READS) -> None:
    """Print more open questions, how to answer them, and the conditions that verdicts rest on.

    Parameters
    ----------
    who_reads : how to answer the questions
    """
    show_guessed(overview.guessed, overview.now)
    asked = [one for one in overview.worst if one.verdict.question]
    # The first are among what to do.
    first = overview.attention()[0]
    for one in [one for one in asked if one not in first][:MOST_QUESTIONS]:
        tell(f"{one.name}: {one.verdict.question}")
    if asked:
        tell(who_reads)
    if any(map(is_lagging, overview.worst)):
        tell(f"{EVEN_LAGGING}: a few moves take a tenth or more off the lag of the busiest member")
    conditions = {one.verdict.condition for one in overview.worst}
    for condition in sorted(filter(None, conditions)):
        show(f"* if {condition}")


def show_guessed(guessed: Mapping[str, int], captured: int) -> None:
    """Print for how many groups the source text leaves something out, so that it is guessed.

    Parameters
    ----------
    guessed : number of groups that rest on each guess of `GUESSES`
    captured : number of groups
    """
    for said, what in GUESSES.items():
        if count := guessed.get(said, 0):
            some = f"{count:,} of {counted(captured, 'group')}"
            shows = f"the text of {some} does not show" if count < captured else "no text shows"
            tell(f"{shows} {what}")
