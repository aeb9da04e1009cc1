"""Detail: one group in full."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING

from compare.gains import WITH_MOVES, early_gain
from compare.hosts import EVEN_HOSTS, host_rows
from compare.lag.behind import peak_lag, without_reader
from compare.lag.words import lag_sentences, least_of_as_good
from compare.limits import signed
from compare.moves import moves_to
from compare.page.drawing import as_csv, drawn
from compare.page.group.contents import Detail, Planned
from compare.page.group.holders import (
    LONGEST_DATA,
    MOST_DRAWN,
    MOST_LISTED,
    Holdings,
    grid_of,
    moves_csv,
    short,
)
from compare.page.group.line import MOST_WEIGHED, shown_best, strip
from compare.reasons import words
from compare.reasons.explanation import explain, lines_of
from compare.reasons.sure import what_is_sure
from compare.reasons.words import not_proved
from compare.remedy import assigns_now, is_rule, of_other_protocol, remedy
from compare.score_table import PEAK_LAG, columns_of
from compare.scores import CURRENT, score_valued
from compare.sentences import hosts_sentence, sentence, spread
from compare.streams import tasks_sentences
from compare.verdict import NOT_VALID, NOTHING_ASSIGNED
from groups.tiers import in_words
from groups.wording import ON_THE_WAY
from heuristics.protocol import assigned_by, by_broker
from optimal.proof import ProofKind
from optimal.solution import Status

if TYPE_CHECKING:
    from collections.abc import Sequence

    from compare.judged import Judged
    from compare.lag.lowest import LowestPeak
    from compare.page.drawing import Drawing
    from compare.page.group.line import Line
    from compare.reasons.explanation import Explanation
    from compare.remedy import Commands
    from compare.score_table import ScoreColumn
    from compare.scores import Score, ScoredGroup
    from groups.assignment import Assignment
    from groups.wording import Nouns
    from optimal.solution import Solution

# Only the worst group has a curve of what each move buys, as that needs a solve for each point.
MOST_CURVES = 1
MOST_CELLS = 5_000
CURVE_SECONDS = 2.0
FEWEST_POINTS = 3
CURVE = (
    "How uneven loads stay (up) after so many moves (to the right). Every dot is the best that so "
    "few moves can do; an open one is not proved."
)
MOST_LINES = 12
LONGEST = 90


def detail_of(scored: ScoredGroup, line: Line, commands: Commands | None) -> Detail:
    """Return one group in full.

    Parameters
    ----------
    commands : makes the commands to suggest for the group; None if the reader's are not known
    """
    judged, scores, lowest = scored.judged, scored.rows, scored.lowest
    group = judged.group
    told, waiting = [sentence(judged)], without_reader(group)
    told += [] if waiting is None else [waiting.sentence()]
    told += tasks_sentences(group)
    if judged.best is None:
        then = what_is_next(judged, scores)
        return Detail(line, tuple(told), next=then, assumed=group.assumed)
    best = shown_best(judged)
    target = (best if judged.plan is None else judged.plan) if line.advised_moves else None
    lags = [*lag_sentences(judged, lowest), "" if lowest is None else _after(target, lowest)]
    told += filter(None, [*_weighed(judged, line, commands), " ".join(filter(None, lags))])
    hosts = host_rows(judged.now, target or judged.now, group.members)
    moves = () if target is None else moves_to(target)
    solved = what_is_sure(judged)
    proved = None if solved is None or solved.proof.kind is ProofKind.NONE else solved
    explanation = None if solved is None else explain(solved)
    reasons: tuple[str, ...] = ()
    if explanation is not None:
        whoever = solved is not judged.best
        lead = words.lead(group, judged.verdict.condition, whoever=whoever)
        reasons = why(explanation, lead)
    elif solved is not None:
        reasons = (group.nouns.said(not_proved(solved)),)
    known = bool(judged.group.subscription_known.all()) or judged.verdict.condition is not None
    # Without assignors' lags, as in the tables of a run, there is no such column.
    columns = columns_of(solved, scores, lowest)
    beside = lowest if any(column.head == PEAK_LAG for column in columns) else None
    limit = None if best is None else int(best.loads.max(initial=0))
    return Detail(
        line=line,
        sentences=tuple(told),
        next=what_is_next(judged, scores),
        holdings=Holdings(judged.now, target, limit or 0),
        limit=limit,
        is_floor=_is_floor(judged),
        hosts=tuple(hosts[:MOST_DRAWN]),
        more_hosts=len(hosts[MOST_DRAWN:]),
        moves=moves[:MOST_LISTED],
        choice=least_of_as_good(judged) if moves else "",
        made_by=remedy(judged, scores, commands),
        more_moves=max(len(moves) - MOST_LISTED, 0),
        grid=None if target is None else grid_of(moves, target),
        planned_heads=tuple((_head(column, group.nouns), column.is_number) for column in columns),
        planned=planned(judged, scores, solved, columns),
        planned_lag=None if beside is None else beside.told,
        planned_elsewhere=of_other_protocol((row.assignor for row in scores), group),
        who_reads_is_open=not known,
        assumed=group.assumed,
        why=reasons,
        lines=(
            () if explanation is None else lines_of(explanation, most=MOST_LINES, longest=LONGEST)
        ),
        proved=proved,
        documents=() if proved is None or line.number > MOST_WEIGHED else _documents(proved),
        trade=None if target is None else trade_of(judged, line),
        moves_data="" if target is None or not moves else short(moves_csv(target)),
    )


def planned(
    judged: Judged,
    scores: Sequence[Score],
    solved: Solution | None,
    columns: Sequence[ScoreColumn],
) -> tuple[Planned, ...]:
    """Return a row for each assignor after one for the best; empty if no assignor was tried."""
    if not any(row.assignor != CURRENT for row in scores):
        return ()
    rows, best = [*scores], shown_best(judged)
    if best is not None and solved is not None:
        known = "proved" if solved.status is Status.OPTIMAL else "found"
        name = f"best in {in_words(solved.objective)} ({known})"
        more = judged.group.with_equal_subscriptions()
        row = score_valued(best.group, best, solved, name, more)
        rows.insert(0, replace(row, seconds=solved.seconds))
    limit = None if best is None else int(best.loads.max(initial=0))
    most = max([limit or 0, *(max(row.loads or (), default=0) for row in rows)])
    return tuple(
        Planned(
            name="now" if row.assignor == CURRENT else row.assignor,
            strip=None if row.loads is None else strip(row.loads, limit, most=most),
            loads=None if row.loads is None else spread(row.loads),
            cells=tuple(_cell(column, row) for column in columns),
            reason=_reason(row),
        )
        for row in rows
    )


def _head(column: ScoreColumn, nouns: Nouns) -> str:
    """Return the heading of a column with its unit, such as ``moves, in tasks``."""
    unit = f"{nouns.partition}s" if column.unit == "partitions" else column.unit
    return f"{column.head}, in {unit}" if unit else column.head


def what_is_next(judged: Judged, scores: Sequence[Score]) -> str:
    """Return what happens to a group if nobody does anything; empty during a rebalance.

    Parameters
    ----------
    scores : the assignors' results on the group
    """
    group, says = judged.group, judged.verdict.says
    if not group.members:
        return "Nothing is read until a consumer joins."
    if says in (NOTHING_ASSIGNED, NOT_VALID) or any(
        one.startswith(ON_THE_WAY) for one in group.assumed
    ):
        return ""
    stays = "This assignment stays until a member joins or leaves, or a topic changes. Then "
    name, in_broker = assigned_by(group), by_broker(group)
    if name is None:
        if in_broker:
            return f"{stays}the broker assigns again (KIP-848); the input does not tell how."
        return f"{stays}the assignor of the group assigns again; the input does not tell which."
    who = f"the broker's {name}" if in_broker else name
    shipped = (row for row in scores if not is_rule(row.assignor))
    made = (row.loads for row in shipped if assigns_now(row.assignor, group))
    loads = next(filter(None, made), None)
    each = "" if loads is None else f": {spread(loads)} partitions each, as the group is now"
    return f"{stays}{who} assigns again{each}."


def _weighed(judged: Judged, line: Line, commands: Commands | None) -> list[str | None]:
    """Return what a few moves buy and whether hosts are uneven; None for each without news."""
    if line.number > MOST_WEIGHED:
        return []
    command = None if commands is None else commands.solve(EVEN_HOSTS)
    return [early_gain(judged), hosts_sentence(judged, command)]


def _after(target: Assignment | None, lowest: LowestPeak) -> str:
    """Return the peak lag after the moves; empty if it is unknown or the lowest one."""
    peak = None if target is None else peak_lag(target)
    if peak is None or peak == lowest.records:
        return ""
    return f"The moves below bring it to {peak:,}."


def _reason(row: Score) -> str | None:
    if not row.violations:
        without = row.status == "scored" or row.is_open
        return row.reason if without else f"{row.status}: {row.reason}"
    more = len(row.violations) - 1
    return f"{row.violations[0]}{f', and {more:,} more' if more else ''}"


def _cell(column: ScoreColumn, row: Score) -> tuple[str, str]:
    """Return the value in a column, and its excess over the best as a number or a range."""
    value = column.value(row)
    if value is None:
        return "-", ""
    if isinstance(value, bool | str):
        return value if isinstance(value, str) else "yes" if value else "no", ""
    return column.told(value), "" if column.excess is None else signed(column.excess(row))


def _is_floor(judged: Judged) -> bool:
    """Return whether no assignment has a lower greatest load than the best that is shown.

    A proved optimum of balance also has the lowest greatest load (docs/explanation/method.md).
    """
    solved = what_is_sure(judged)
    if solved is None or not solved.terms or judged.target is None:
        return False
    first = solved.terms[0]
    return first.name == "balance" and first.bound == first.value


def trade_of(judged: Judged, line: Line) -> Drawing | None:
    """Return the curve of moves against balance.

    None if the verdict is not about these, the group is large or not the worst, or the curve has
    fewer than `FEWEST_POINTS` points.
    """
    target, verdict = judged.target, judged.verdict
    if target is None or judged.best is None or not verdict.is_improvable or not verdict.sure:
        return None
    group, cells = target.group, len(target.group.members) * target.group.n_partitions
    if line.number > MOST_CURVES or cells > MOST_CELLS or judged.best.objective != WITH_MOVES:
        return None
    from optimal.frontier import frontier

    points = frontier(group, *WITH_MOVES, time_limit=CURVE_SECONDS)
    if len(points) < FEWEST_POINTS:
        return None
    from compare import figures

    rows = figures.trade_off_table(WITH_MOVES, points)
    heads = ("moves", "balance", "proved", "bound")
    keys = ("paid", "bought", "proved", "bound")
    data = as_csv(heads, ([row[key] for key in keys] for row in rows))
    return drawn(figures.trade_off(rows), "What each move buys", CURVE, data)


def why(explanation: Explanation, lead: str | None) -> tuple[str, ...]:
    """Return sentences on why a group cannot be better, in the group's nouns."""
    found = [] if lead is None else [lead]
    found += words.reasons(explanation)
    if explanation.moves is None and explanation.solution.objective != ("balance",):
        found.append(words.other_proof(explanation))
    return tuple(map(explanation.group.nouns.said, found))


def _documents(solution: Solution) -> tuple[str, ...]:
    """Return group and solution as JSON, for ``assay check``; empty if too long for a page."""
    both = (solution.group, solution)
    texts = tuple(json.dumps(one.to_dict(), ensure_ascii=False) for one in both)
    return texts if sum(map(len, texts)) <= LONGEST_DATA else ()
