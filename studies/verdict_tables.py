"""Verdict tables: what of the verdicts on the grid a page shows.

Assignors of which every figure of quality is the same share a row, versions and ports alike.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from studies.differences import merged
from studies.page import table

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

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


def tables_of(records: Iterable[Mapping[str, str]]) -> str:
    """Return a table for each kind of subscriptions, the best first."""
    kinds: dict[str, list[Mapping[str, str]]] = {}
    for record in records:
        kinds.setdefault(record["subscriptions"], []).append(record)
    return "\n\n".join(
        f"### {kind.capitalize()} subscriptions\n\n{table_of(found)}"
        for kind, found in kinds.items()
    )


def table_of(records: Sequence[Mapping[str, str]]) -> str:
    """Return a table as Markdown: a row for each set of assignors of the same quality."""
    alike: dict[tuple[str, ...], list[Mapping[str, str]]] = {}
    for record in records:
        alike.setdefault(tuple(record[name] for name in QUALITY), []).append(record)
    rows = sorted(alike.values(), key=_worth, reverse=True)
    return table(HEAD, map(_cells, rows))


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
    return [
        _names([record["assignor"] for record in row]),
        answered,
        _share(int(one["valid"]), plans),
        _share(int(one["balanced"]), plans),
        _share(best, plans),
        _share(int(one["fewest_moves"]), best),
        _spread(one["excess_balance_mean"], one["excess_balance_worst"]),
        _spread(one["excess_moves_mean"], one["excess_moves_worst"]),
        low if low == high else f"{low} to {high}",
    ]


def _names(names: Sequence[str]) -> str:
    written = [f"`{name}`" for name in names if "@" not in name]
    shipped = merged([name for name in names if "@" in name])
    return ", ".join([*written, *([shipped] if shipped else [])])


def _share(part: int, whole: int) -> str:
    if not whole:
        return ""
    # Rounded down: 100% is said of all of them only.
    return f"{1000 * part // whole / 10:g}%"


def _spread(middle: str, worst: str) -> str:
    return f"{_short(float(middle))} ({int(worst):,})" if middle else ""


def _short(value: float) -> str:
    return f"{value:,.0f}" if value >= 10 else f"{value:.2g}"
