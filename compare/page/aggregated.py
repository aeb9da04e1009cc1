"""Aggregated: assignors over the groups of a run, of what the run added up."""

from __future__ import annotations

from itertools import accumulate
from typing import TYPE_CHECKING

from compare.page.comparison import Counted, compared, drawings_of, ranked
from compare.page.csv_text import as_csv
from compare.scores import CURRENT
from compare.sentences import called

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import altair as alt

    from compare.figures.curves import Points
    from compare.fleet.summaries import Aggregates
    from compare.page.contents import Comparison
    from compare.page.drawing import Drawing

COUNTS = ("groups", "unscored", "valid", "balanced", "optimal", "maybe")
DISTRIBUTIONS = ("excess", "excess_most", "times the fastest", "seconds by partitions")


def comparison_in(
    found: Aggregates, tiers: Sequence[str], *, without: Sequence[str] = ()
) -> Comparison | None:
    """Return the comparison of assignors; None where nothing was scored but what is there now.

    Parameters
    ----------
    without : assignors to leave out
    """
    counted = {name: one for name, one in _counted(found, tiers).items() if name not in without}
    if not any(one.counts["groups"] for name, one in counted.items() if name != CURRENT):
        return None
    every = {name: one.counts["groups"] + one.counts["unscored"] for name, one in counted.items()}

    def drawings(shown: Sequence[str]) -> list[Drawing]:
        return _drawings(found, tiers, {name: every[name] for name in shown})

    standings, unscored = ranked(counted), found.unscored(without)
    return compared(max(every.values()), standings, drawings, unscored, _data(found))


def _counted(found: Aggregates, tiers: Sequence[str]) -> dict[str, Counted]:
    counts: dict[str, dict[str, int]] = {}
    for row in found.rows("assignor", "assignor", "label"):
        counts.setdefault(row["assignor"], dict.fromkeys(COUNTS, 0))[row["label"]] = row["count"]
    above = dict.fromkeys(((name, tier) for name in counts for tier in tiers), (0, 0, 0))
    for row in found.rows("excess", "assignor", "tier", "x"):
        key = row["assignor"], row["tier"]
        more, known, worst = above[key]
        many = row["count"]
        above[key] = more + many * (row["x"] > 0), known + many, max(worst, int(row["most"]))
    return {
        name: Counted(one, tuple((tier, *above[name, tier]) for tier in tiers))
        for name, one in counts.items()
    }


def _drawings(found: Aggregates, tiers: Sequence[str], every: Mapping[str, int]) -> list[Drawing]:
    """Draw some assignors.

    Parameters
    ----------
    every : of each the number of groups in which it was tried
    """
    from compare import figures

    ends = [_by_tier(found, name) for name in ("excess_most", "excess")]
    above: dict[str, alt.LayerChart] = {}
    for tier in tiers:
        sure, possible = (
            {name: _points(end.get((name, tier), []), many) for name, many in every.items()}
            for end in ends
        )
        if any(possible.values()):
            above[tier] = figures.ecdf_of(sure, possible, tier=called(tier))
    timed = sum(row["count"] for row in found.rows("timed groups", "label"))
    ratios: dict[str, list[tuple[float, int]]] = {}
    for row in found.rows("times the fastest", "assignor", "x"):
        ratios.setdefault(row["assignor"], []).append((row["x"], row["count"]))
    profiles = {name: _points(ratios[name], timed) for name in every if name in ratios}
    sizes = [
        {"assignor": r["assignor"], "partitions": r["x"], "seconds": r["y"], "groups": r["count"]}
        for r in found.rows("seconds by partitions", "assignor", "x", "y")
        if r["assignor"] in every
    ]
    return drawings_of(above, figures.profile_of(profiles) if profiles else None, sizes)


def _by_tier(found: Aggregates, end: str) -> dict[tuple[str, str], list[tuple[float, int]]]:
    bins: dict[tuple[str, str], list[tuple[float, int]]] = {}
    for row in found.rows(end, "assignor", "tier", "x"):
        bins.setdefault((row["assignor"], row["tier"]), []).append((row["x"], row["count"]))
    return bins


def _points(bins: Sequence[tuple[float, int]], every: int) -> Points:
    """Return the distribution of some bins: (x, share of all that is at most x), ascending."""
    ordered = sorted(bins)
    sums = accumulate(many for _, many in ordered)
    return tuple((x, seen / every) for (x, _), seen in zip(ordered, sums, strict=True))


def _data(found: Aggregates) -> str:
    """Return what is drawn as CSV: how many groups are in each bin, of which `x` is the end."""
    heads = ["statistic", "assignor", "tier", "x", "y"]
    rows = [
        [row[name] for name in (*heads, "count")]
        for statistic in DISTRIBUTIONS
        for row in found.rows(statistic, *heads)
    ]
    return as_csv([*heads, "groups"], rows)
