"""Verdicts on the maintainers' grid: quality and time of every assignor, beside the optimum.

``python -m studies verdicts`` writes ``docs/findings/verdicts.csv``. Assignors run one after the
other, on the groups of Kafka's own benchmarks, which measure only time.
"""

from __future__ import annotations

from itertools import product
from statistics import mean, median
from typing import TYPE_CHECKING, TypeAlias, get_args

from compare.samples.families import Family, LastEvent, Subscriptions, grid
from compare.scores import score_assignors
from heuristics import assignors, matching
from heuristics.time_limit import TimeLimit
from optimal import solve
from studies.differential import merged
from studies.in_turn import reading_alike, solving
from studies.page import FOLDER, renew, table
from studies.shipped_findings import called_here

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from compare.scores import Score
    from groups import Group
    from optimal.solution import Solution
    from studies.page import Cell

SEED, MOST_PARTITIONS, SECONDS = 1, 5000, 2.0


def points(members: int, most_partitions: int) -> Iterator[Family]:
    """Yield the points of AssignorBenchmark, then those that ConsumerAssignorBenchmark adds.

    The latter have topics of equal or unequal size, every kind of subscription, every event.
    """
    added = (
        Family(members, 10, 100, subscriptions, event, skewed)
        for skewed, subscriptions, event in product(
            (False, True), get_args(Subscriptions), get_args(LastEvent)
        )
        if members * 10 <= most_partitions
    )
    yield from dict.fromkeys((*grid((members,), most_partitions), *added))


# The kind of subscriptions, "equal" or "differing", the assignor, its score on a point of this
# kind, None if it was not tried as a smaller one took too long, and the seconds of the assignor
# divided by those of the exact solver, None without a plan.
Row: TypeAlias = "tuple[str, str, Score | None, float | None]"


def grid_rows(families: Sequence[Family], names: Sequence[str], limit: TimeLimit) -> Iterator[Row]:
    """Yield a row for each point and assignor, the smallest points first."""
    too_slow: set[tuple[str, str, str]] = set()
    for family in sorted(families, key=lambda f: f.members * f.per_member):
        group = family.group(SEED)
        solution = solve(group)
        kind = "equal" if family.subscriptions == "equal" else "differing"
        for name in names:
            series = (name, family.subscriptions, family.event)
            if series in too_slow:
                yield kind, name, None, None
                continue
            score, ratio = _in_turn(group, solution, name, limit)
            if score.status == "timed-out":
                too_slow.add(series)
            yield kind, name, score, ratio


def _in_turn(
    group: Group, solution: Solution, name: str, limit: TimeLimit
) -> tuple[Score, float | None]:
    """Call an assignor and the exact solver twice each, in turn; the second calls count.

    The solver's seconds include grouping members with equal subscriptions, because the assignors'
    seconds do too.
    """
    solving(group)
    reading_alike(group)
    row = score_assignors(group, solution, [name], limit)[0]
    if row.status != "scored":
        return row, None
    exact = reading_alike(group) + solving(group)
    again = score_assignors(group, solution, [name], limit)[0]
    return (again, again.seconds / exact) if again.status == "scored" else (row, None)


def records_of(rows: Iterable[Row]) -> list[dict[str, Cell]]:
    """Return a record for each kind of subscriptions and assignor; means are over its plans.

    An assignor that refused every point has none.
    """
    found: dict[str, dict[str, list[Row]]] = {"equal": {}, "differing": {}}
    for row in rows:
        found[row[0]].setdefault(row[1], []).append(row)
    return [
        {"subscriptions": kind, "assignor": name, **_figures(of)}
        for kind, by_name in found.items()
        for name, of in by_name.items()
        if any(score is None or score.status != "refused" for _, _, score, _ in of)
    ]


def _figures(rows: Sequence[Row]) -> dict[str, Cell]:
    scores = [score for _, _, score, _ in rows if score is not None]
    ratios = [ratio for *_, ratio in rows if ratio is not None]
    scored = [row for row in scores if row.status == "scored"]
    good = [row for row in scored if row.valid and row.terms]
    excess = [[term.excess for term in row.terms or ()] for row in good]
    balance = [e[0] for e in excess if isinstance(e[0], int)]
    moves = [e[1] for e in excess if isinstance(e[1], int)]
    return {
        "plans": len(scored),
        **{
            why.replace("-", "_"): sum(row.status == why for row in scores)
            for why in ("timed-out", "failed", "refused")
        },
        "left_out": len(rows) - len(scores),
        "valid": len(good),
        "balanced": sum(bool(row.balanced) for row in good),
        "best_balance": balance.count(0),
        "fewest_moves": moves.count(0),
        "excess_balance_mean": round(mean(balance), 2) if balance else None,
        "excess_balance_worst": max(balance, default=None),
        "excess_moves_mean": round(mean(moves), 2) if moves else None,
        "excess_moves_worst": max(moves, default=None),
        "seconds_over_exact_median": float(f"{median(ratios):.3g}") if ratios else None,
        "seconds_over_exact_worst": float(f"{max(ratios):.3g}") if ratios else None,
    }


def run(names: Sequence[str], many: int) -> None:
    """Score again, on groups of so many members; assignors that are not scored keep records."""
    here = called_here(matching(names or assignors()))
    with TimeLimit(SECONDS) as limit:
        records = records_of(grid_rows([*points(many, MOST_PARTITIONS)], here, limit))
    renew(FOLDER / "verdicts.csv", records, ["assignor"])


QUALITY = (
    "plans", "timed_out", "failed", "refused", "left_out", "valid", "balanced", "best_balance",
    "fewest_moves", "excess_balance_mean", "excess_balance_worst", "excess_moves_mean",
    "excess_moves_worst",
)  # fmt: skip
HEAD = (
    "assignors", "answered", "of those valid", "balanced", "best balance", "of those fewest moves",
    "excess balance, mean (worst)", "excess moves, mean (worst)",
    "seconds over the exact solver's, medians",
)  # fmt: skip
NO_ANSWER = (
    ("timed_out", "too late"), ("left_out", "left out"), ("failed", "failed"),
    ("refused", "refused"),
)  # fmt: skip


def page_of(records: Iterable[Mapping[str, str]]) -> str:
    """Return a table for each kind of subscriptions: assignors of one quality, the best first."""
    kinds: dict[str, dict[tuple[str, ...], list[Mapping[str, str]]]] = {}
    for record in records:
        alike = kinds.setdefault(record["subscriptions"], {})
        alike.setdefault(tuple(record[name] for name in QUALITY), []).append(record)
    return "\n\n".join(
        f"### {kind.capitalize()} subscriptions\n\n"
        + table(HEAD, map(_cells, sorted(alike.values(), key=_worth, reverse=True)))
        for kind, alike in kinds.items()
    )


def _worth(row: Sequence[Mapping[str, str]]) -> tuple[float, float, float]:
    one = row[0]
    plans, best = int(one["plans"]), int(one["best_balance"])
    points = plans + sum(int(one[key]) for key, _ in NO_ANSWER)
    return best / points, int(one["fewest_moves"]) / (best or 1), plans


def _cells(row: Sequence[Mapping[str, str]]) -> list[str]:
    one = row[0]
    plans, best = int(one["plans"]), int(one["best_balance"])
    none = {why: int(one[key]) for key, why in NO_ANSWER if one[key] != "0"}
    answered = _share(plans, plans + sum(none.values()))
    if none:
        answered += f" ({', '.join(f'{count} {why}' for why, count in none.items())})"
    ratios = [float(r["seconds_over_exact_median"]) for r in row if r["seconds_over_exact_median"]]
    low, high = (_short(end(ratios)) if ratios else "" for end in (min, max))
    names = [record["assignor"] for record in row]
    shipped = merged([name for name in names if "@" in name])
    return [
        ", ".join([*(f"`{name}`" for name in names if "@" not in name), *filter(None, [shipped])]),
        answered,
        _share(int(one["valid"]), plans),
        _share(int(one["balanced"]), plans),
        _share(best, plans),
        _share(int(one["fewest_moves"]), best),
        _spread(one["excess_balance_mean"], one["excess_balance_worst"]),
        _spread(one["excess_moves_mean"], one["excess_moves_worst"]),
        low if low == high else f"{low} to {high}",
    ]


def _share(part: int, whole: int) -> str:
    if not whole:
        return ""
    # Rounded down, so that only all of them are 100%.
    return f"{1000 * part // whole / 10:g}%"


def _spread(middle: str, worst: str) -> str:
    return f"{_short(float(middle))} ({int(worst):,})" if middle else ""


def _short(value: float) -> str:
    return f"{value:,.0f}" if value >= 10 else f"{value:.2g}"
