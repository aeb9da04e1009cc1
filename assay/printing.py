"""Tables for people, on standard output."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from assay.streams import printable, put, show
from groups.assignment import Assignment

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from compare.promises.findings import Finding
    from compare.scenarios.journey import Journey
    from compare.scenarios.rollout import Rollout
    from compare.score import Score, ScoreTerm
    from optimal.solution import Solution

WIDE = 240


def print_solution(solution: Solution) -> None:
    """Print what is known, the tiers, each member's load and what moves."""
    show(_verdict(solution))
    if solution.assignment is None:
        return
    tiers = _table("tier", "value", "bound")
    for term in solution.terms:
        _row(tiers, term.name, str(term.value), "-" if term.bound is None else str(term.bound))
    _show(tiers)
    loads = _table("member", "now", "optimum", "partitions")
    before = Assignment.current(solution.group).loads
    for index, (member, topics) in enumerate(solution.assignment.to_dict().items()):
        held = " ".join(f"{t}:{_ranges(numbers)}" for t, numbers in topics.items())
        now, then = int(before[index]), int(solution.assignment.loads[index])
        _row(loads, member, str(now), str(then), held or "-")
    _show(loads)
    for topic, numbers in solution.assignment.unassigned.items():
        show(f"nobody reads {topic}:{_ranges(numbers)}")
    for (origin, target), count in solution.assignment.moves_by_pair().items():
        show(f"moves {count} from {origin} to {target}")


def print_scores(solution: Solution, rows: Sequence[Score]) -> None:
    """Print the optimum and a row per assignor, each tier as value (+excess)."""
    show(_verdict(solution))
    table = _table("assignor", "valid", "balanced", *solution.objective, "seconds", "")
    optimum = [str(term.value) for term in solution.terms] or ["?"] * len(solution.objective)
    found = solution.assignment
    balanced = None if found is None else found.balanced()
    known = "-" if found is None else "yes"
    _row(
        table,
        "optimum",
        known,
        _yes(balanced),
        *optimum,
        f"{solution.seconds:.4f}",
        str(solution.status),
    )
    for row in rows:
        tiers = ["-"] * len(solution.objective)
        if row.terms is not None:
            tiers = [_with_excess(term) for term in row.terms]
        note = row.reason or ""
        if row.violations:
            more = f" (and {len(row.violations) - 1} more)" if len(row.violations) > 1 else ""
            note = f"{row.violations[0]}{more}"
        shown = row.status if row.valid is None else _yes(row.valid)
        cells = (row.assignor, shown, _yes(row.balanced), *tiers, f"{row.seconds:.4f}")
        _row(table, *cells, note)
    _show(table)


def print_assignors(rows: Sequence[Mapping[str, Any]]) -> None:
    """Print what can be scored."""
    table = _table("name", "kind", "source", "version", "available")
    for row in rows:
        available = "yes" if row["available"] else row["reason"]
        cells = (row["name"], row["kind"], row["source"], row["version"] or "-", available)
        _row(table, *cells)
    _show(table)


def print_journeys(name: str, journeys: Sequence[Journey], *, steps: bool) -> None:
    """Print each assignor's steps beside those of the optimum, the first journey; then sums."""
    own, tiers = journeys[0], journeys[0].objective
    show(f"scenario {name}: {len(own.steps)} rebalances, {' > '.join(tiers)}")
    counts = ("rounds", "revoked", "ownerless", "needless")
    for journey in journeys[1:] if steps else ():
        show(f"{journey.assignor}, and on the right the optimum that goes its own way")
        best_tiers = (f"optimal {tier}" for tier in tiers)
        table = _table("event", "members", "partitions", "valid", *tiers, *counts, *best_tiers)
        for step, best in zip(journey.steps, own.steps, strict=True):
            row = step.row
            shown = row.reason if row.terms is None else _yes(row.valid)
            terms = [_with_excess(t) for t in row.terms or ()] or ["-"] * len(tiers)
            numbers = (row.rounds, row.revoked, step.ownerless, step.needless)
            _row(
                table,
                step.event,
                str(step.members),
                str(step.partitions),
                shown or "-",
                *terms,
                *(str(number) for number in numbers),
                *([str(value) for value in best.best] or ["?"] * len(tiers)),
            )
        _show(table)
    show("sums over all rebalances, in brackets the optimum's from the same states")
    table = _table("assignor", "not optimal", *tiers, *counts, "without plan")
    for journey in journeys:
        total = journey.total
        by_name: Mapping[str, object] = total
        sums = [f"{total['terms'][tier]} ({total['optimum'][tier]})" for tier in tiers]
        _row(
            table,
            journey.assignor,
            str(total["not_optimal"]),
            *sums,
            *(str(by_name[count]) for count in counts),
            str(total["open"]),
        )
    _show(table)


def print_rollouts(rollouts: Sequence[Rollout]) -> None:
    """Print each rule's rollout act by act, then the sums of all side by side."""
    counts = ("rounds", "revoked", "lost", "moved", "ownerless", "stopped")
    for rollout in rollouts:
        show(f"{rollout.name} under the {rollout.rule} rule")
        table = _table(
            "what happens", "assignor", "protocol", *counts, "must not commit", "contested", ""
        )
        for step in rollout.steps:
            _row(
                table,
                step.act,
                step.assignor,
                step.protocol,
                *(str(getattr(step, count)) for count in counts),
                " ".join(step.barred) or "-",
                " ".join(step.contested) or "none",
                "" if step.refused is None else f"turned away: {step.refused}",
            )
        _show(table)
    show("sums after the start")
    totals = [rollout.total for rollout in rollouts]
    table = _table("", *(str(rollout.rule) for rollout in rollouts))
    for key in totals[0]:
        _row(table, key, *(str(total[key]) for total in totals))
    _show(table)


def print_finding(finding: Finding) -> None:
    """Print a broken promise, what was measured, and the group."""
    group = finding.group
    measured = ", ".join(f"{key} {value}" for key, value in finding.measured.items())
    show(f"{finding.assignor} breaks {finding.promise}: {measured}")
    sizes = (f"{t} {n}" for t, n in zip(group.topics, group.partitions.tolist(), strict=True))
    show(f"partitions of each topic: {', '.join(sizes) or '-'}")
    table = _table("member", "generation", "reads", "owns")
    for member, said in group.to_dict()["members"].items():
        owned = " ".join(f"{t}:{_ranges(numbers)}" for t, numbers in said["owned"].items())
        reads = " ".join(said["subscription"])
        born = str(said.get("generation", "-"))
        _row(table, member, born, reads or "-", owned or "-")
    _show(table)


def _verdict(solution: Solution) -> str:
    objective = " > ".join(solution.objective)
    return (
        f"group {solution.group.name}: {solution.status} for {objective} "
        f"(proof: {solution.proof.kind}, method: {solution.method}, {solution.seconds:.4f} s)"
    )


def _with_excess(term: ScoreTerm) -> str:
    if term.excess is None:
        return str(term.value)
    if isinstance(term.excess, tuple):
        low, high = term.excess
        return f"{term.value} (+{low}..{'?' if high is None else high})"
    return f"{term.value} (+{term.excess})" if term.excess else str(term.value)


def _ranges(numbers: Sequence[int]) -> str:
    """Return ascending numbers with runs put together: 0-3,7."""
    runs: list[list[int]] = []
    for number in numbers:
        if runs and number == runs[-1][1] + 1:
            runs[-1][1] = number
        else:
            runs.append([number, number])
    return ",".join(str(a) if a == b else f"{a}-{b}" for a, b in runs)


def _yes(value: bool | None) -> str:
    return "-" if value is None else "yes" if value else "no"


def _table(*columns: str) -> Table:
    table = Table(box=None, pad_edge=False, header_style="bold")
    for column in columns:
        table.add_column(Text(column), overflow="fold")
    return table


def _row(table: Table, *cells: str) -> None:
    # As text, so that brackets are no markup: pip install 'kafka-assay[java]'.
    table.add_row(*(Text(printable(cell)) for cell in cells))


def _show(table: Table) -> None:
    # Whoever redirects the table wants whole names, not the width of a terminal.
    console = Console(width=None if sys.stdout.isatty() else WIDE)
    with console.capture() as captured:
        console.print(table)
    put("\n".join(line.rstrip() for line in captured.get().splitlines()))
