"""Comparison: a table and figures of assignors over many groups."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from compare.fleet.facts import UNKNOWN
from compare.over_groups import Standing, ranked
from compare.page.contents import Comparison
from compare.page.drawing import as_csv, drawn
from compare.promises.findings import best_sentences
from compare.scores import COUNTED, CURRENT
from groups.tiers import called

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from compare.fleet.aggregates import Aggregates
    from compare.page.drawing import Drawing

MOST_DOWNLOADED = 2_000_000
MOST_DRAWN = 8
# A figure of fewer groups would say less than the table. So would time against size, if the
# largest group is less than LEAST_GROWTH times as large as the smallest.
FEWEST_DRAWN = 20
LEAST_GROWTH = 10
MOST_UNSCORED = 30
DISTRIBUTIONS = ("excess", "excess_most", "times the fastest", "seconds by partitions")


def comparison_in(
    found: Aggregates,
    tiers: Sequence[str],
    *,
    without: Sequence[str] = (),
    data: str | None = None,
) -> Comparison | None:
    """Return the comparison of assignors; None if only the present assignments were scored.

    Parameters
    ----------
    without : assignors to leave out
    data : the scores as CSV; None: the data of the figures
    """
    counted = {name: one for name, one in _counted(found, tiers).items() if name not in without}
    if not any(one.groups for name, one in counted.items() if name != CURRENT):
        return None
    every = {name: one.groups + one.unscored for name, one in counted.items()}
    standings, data = ranked(counted), _drawn_data(found) if data is None else data
    shown = drawn_assignors(standings)
    named = {name for one in standings for name in one.assignors if name != CURRENT}
    enough = max(one.groups for one in standings if one.assignors != (CURRENT,)) >= FEWEST_DRAWN
    drawings = _drawings(found, tiers, {name: every[name] for name in shown}) if enough else ()
    return Comparison(
        groups=max(every.values()),
        best=best_sentences(standings),
        standings=standings,
        drawings=tuple(drawings),
        drawn=tuple(shown) if enough and len(shown) < len(named) else (),
        unscored=found.unscored(without)[:MOST_UNSCORED],
        data=data if len(data) <= MOST_DOWNLOADED else None,
    )


def _counted(found: Aggregates, tiers: Sequence[str]) -> dict[str, Standing]:
    """Return the standing of each assignor, not ranked yet, by name."""
    counts: dict[str, Counter[str]] = {}
    for row in found.rows("assignor", "assignor", "label"):
        counts.setdefault(row["assignor"], Counter())[row["label"]] = row["count"]
    above = dict.fromkeys(((name, tier) for name in counts for tier in tiers), (0, 0, 0))
    for row in found.rows("excess", "assignor", "tier", "x"):
        key = row["assignor"], row["tier"]
        more, known, worst = above[key]
        many = row["count"]
        above[key] = more + many * (row["x"] > 0), known + many, max(worst, int(row["most"]))
    return {
        name: Standing(
            one["groups"],
            one["unscored"],
            one["optimal"],
            one["maybe"],
            counted=tuple((fact, one[fact]) for fact in COUNTED),
            tiers=tuple((tier, *above[name, tier]) for tier in tiers),
            unknown=tuple((fact, one[f"{fact} {UNKNOWN}"]) for fact in COUNTED),
        )
        for name, one in counts.items()
    }


def drawn_assignors(standings: Sequence[Standing]) -> list[str]:
    """Return the assignors to draw: Kafka's newest and the best of each other client, by rank."""
    ranked = [name for one in standings if one.groups for name in one.assignors if name != CURRENT]
    if len(ranked) <= MOST_DRAWN:
        return ranked
    kafkas: dict[str, str] = {}
    others: dict[str, str] = {}
    for assignor in ranked:
        if assignor.startswith(("kafka-java/", "kafka-broker/")):
            kafkas.setdefault(assignor.partition("@")[0], assignor)
        else:
            others.setdefault(assignor.partition("/")[0], assignor)
    chosen = [*kafkas.values(), *others.values()][:MOST_DRAWN]
    return [assignor for assignor in ranked if assignor in chosen]


def _drawings(found: Aggregates, tiers: Sequence[str], every: Mapping[str, int]) -> list[Drawing]:
    """Return the figures of some assignors.

    Parameters
    ----------
    every : number of groups on which each assignor was tried
    """
    from compare import figures
    from compare.figures.many_groups import distribution

    ends = [_bins(found, name, "assignor", "tier") for name in ("excess_most", "excess")]
    drawings = []
    for tier in tiers:
        sure, possible = (
            {name: distribution(end.get((name, tier), []), many) for name, many in every.items()}
            for end in ends
        )
        if any(possible.values()):
            chart = figures.ecdf_of(sure, possible, tier=called(tier))
            drawings.append(drawn(chart, f"How far above the best: {called(tier)}", ECDF))
    timed = sum(row["count"] for row in found.rows("timed groups", "label"))
    ratios = _bins(found, "times the fastest", "assignor")
    profiles = {name: distribution(ratios[(name,)], timed) for name in every if (name,) in ratios}
    if profiles:
        drawings.append(drawn(figures.profile_of(profiles), "Time beside the fastest", PROFILE))
    rows = [
        {"assignor": r["assignor"], "partitions": r["x"], "seconds": r["y"], "groups": r["count"]}
        for r in found.rows("seconds by partitions", "assignor", "x", "y")
        if r["assignor"] in every
    ]
    sizes = [row["partitions"] for row in rows]
    if sizes and max(sizes) >= LEAST_GROWTH * min(sizes):
        drawings.append(drawn(figures.time_by_size(rows), "Time against size", SIZE))
    return drawings


def _bins(
    found: Aggregates, statistic: str, *by: str
) -> dict[tuple[str, ...], list[tuple[float, int]]]:
    """Return the (x, number of groups) bins of a statistic, by the values of some columns."""
    bins: dict[tuple[str, ...], list[tuple[float, int]]] = {}
    for row in found.rows(statistic, *by, "x"):
        bins.setdefault(tuple(row[name] for name in by), []).append((row["x"], row["count"]))
    return bins


def _drawn_data(found: Aggregates) -> str:
    """Return the data of the figures as CSV: the number of groups in each bin, which ends at x."""
    heads = ["statistic", "assignor", "tier", "x", "y"]
    rows = [
        [row[name] for name in (*heads, "count")]
        for statistic in DISTRIBUTIONS
        for row in found.rows(statistic, *heads)
    ]
    return as_csv([*heads, "groups"], rows)


ECDF = (
    "For each assignor the share of groups (up) in which it is at most so far above the best "
    "(to the right). Higher on the left is better. A line that stays below 100% leaves out groups "
    "in which the assignor gave nothing valid, or was worse in what counts before."
)
PROFILE = (
    "For each assignor the share of groups (up) in which it takes at most so many times as long "
    "as the fastest (to the right). Higher on the left is better."
)
SIZE = "For each assignor how long it takes (up) on groups of so many partitions (to the right)."
