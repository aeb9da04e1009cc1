"""Comparison: assignors over many groups, in numbers and in figures."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from compare.page.contents import Comparison, Standing
from compare.page.drawing import Drawing, drawn
from compare.page.trials import excesses, times, trials_csv
from compare.scores import CURRENT
from compare.sentences import called
from compare.unscored import unscored_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    import altair as alt

    from compare.page.trials import Trial
    from compare.unscored import NotScored

MOST_DOWNLOADED = 2_000_000
MOST_DRAWN = 8
# A distribution over fewer groups says less than the table; so does time against size where the
# largest group is not some times as large as the smallest.
FEWEST_DRAWN = 20
LEAST_GROWTH = 10
MOST_UNSCORED = 30


@dataclass(frozen=True)
class Counted:
    """What an assignor came to over some groups.

    Attributes
    ----------
    counts : of groups, as the attributes of `Standing` of these names
    tiers : of each tier the groups where it is above the optimum, of how many, and the worst
    """

    counts: Mapping[str, int]
    tiers: tuple[tuple[str, int, int, int], ...]


def comparison_of(trials: Sequence[Trial], tiers: Sequence[str]) -> Comparison | None:
    """Return the comparison of assignors; None where nothing was scored but what is there now."""
    if not any(t.score.status == "scored" and t.score.assignor != CURRENT for t in trials):
        return None
    groups = len({trial.group for trial in trials})

    def drawings(shown: Sequence[str]) -> list[Drawing]:
        return _drawings([trial for trial in trials if trial.score.assignor in shown], tiers)

    return compared(
        groups,
        standings(trials, tiers),
        drawings,
        unscored_of(trial.score for trial in trials),
        trials_csv(trials, tiers),
    )


def compared(
    groups: int,
    standings: tuple[Standing, ...],
    drawings: Callable[[Sequence[str]], Sequence[Drawing]],
    unscored: Sequence[NotScored],
    data: str,
) -> Comparison:
    """Return the comparison of what is counted, with as much as fits into a page.

    Parameters
    ----------
    groups : how many there are
    standings : as :func:`ranked` gives them
    drawings : draws the assignors of the names given
    unscored : why assignors have no score of some groups
    data : what is drawn, as CSV
    """
    shown = drawn_assignors(standings)
    scored = max((one.groups for one in standings if one.assignors != (CURRENT,)), default=0)
    enough = scored >= FEWEST_DRAWN
    return Comparison(
        groups=groups,
        standings=standings,
        drawings=tuple(drawings(shown)) if enough else (),
        drawn=left_out(shown, standings) if enough else (),
        unscored=tuple(unscored[:MOST_UNSCORED]),
        data=data if len(data) <= MOST_DOWNLOADED else None,
    )


def standings(trials: Sequence[Trial], tiers: Sequence[str]) -> tuple[Standing, ...]:
    """Return how each assignor fared, as :func:`ranked` does of what is counted here."""
    by_name: dict[str, list[Trial]] = {}
    for trial in trials:
        by_name.setdefault(trial.score.assignor, []).append(trial)
    return ranked(
        {
            name: Counted(_counts(found), tuple(_tier(found, tier) for tier in tiers))
            for name, found in by_name.items()
        }
    )


def ranked(counted: Mapping[str, Counted]) -> tuple[Standing, ...]:
    """Return how each assignor fared, best first; what is there now stands apart, at the end.

    They are ranked by the number of groups in which they are as good as can be, then balanced,
    then valid; equal ones have the same place. Only those have a place that gave an assignment of
    as many groups as any; the others follow. Assignors of which all counts are equal share a row.
    """
    every = max((one.counts["groups"] for one in counted.values()), default=0)
    alike: dict[tuple[tuple[int, ...], object], list[str]] = {}
    for name in sorted(counted):
        one = counted[name]
        if name != CURRENT:
            rank = (every - one.counts["groups"], *_rank(one.counts))
            alike.setdefault((rank, (*one.counts.values(), one.tiers)), []).append(name)
    ranks = sorted(rank for (rank, _), names in alike.items() for _ in names)
    found = []
    for (rank, _), names in sorted(alike.items(), key=lambda row: (row[0][0], row[1])):
        place = 0 if rank[0] else ranks.index(rank) + 1
        found.append(_standing(names, counted[names[0]], place, tied=ranks.count(rank) > 1))
    if CURRENT in counted:
        found.append(_standing([CURRENT], counted[CURRENT], 0, tied=False))
    return tuple(found)


def _standing(names: Sequence[str], counted: Counted, place: int, *, tied: bool) -> Standing:
    return Standing(tuple(names), place, tied, tiers=counted.tiers, **counted.counts)


def _counts(trials: Sequence[Trial]) -> dict[str, int]:
    rows = [trial.score for trial in trials]
    scored = [row for row in rows if row.status == "scored"]
    return {
        "groups": len(scored),
        "unscored": len(rows) - len(scored),
        "valid": sum(bool(row.valid) for row in scored),
        "balanced": sum(bool(row.balanced) for row in scored),
        "optimal": sum(row.is_optimal for row in scored),
        "maybe": sum(_may_be_optimal(trial) for trial in trials),
    }


def _rank(counts: Mapping[str, int]) -> tuple[int, ...]:
    return tuple(-counts[what] for what in ("optimal", "balanced", "valid"))


def _may_be_optimal(trial: Trial) -> bool:
    """Return whether nothing that is proved says that it is worse than the best."""
    row = trial.score
    if row.terms is None or not row.valid:
        return False
    lows = [
        term.excess[0] if isinstance(term.excess, tuple) else term.excess for term in row.terms
    ]
    return all(low is None or low <= 0 for low in lows)


def _tier(trials: Sequence[Trial], tier: str) -> tuple[str, int, int, int]:
    least = [row["excess"] for row in excesses(trials, tier)]
    known = [x for x in least if isinstance(x, int)]
    return tier, sum(x > 0 for x in known), len(known), max(known, default=0)


def drawn_assignors(standings: Sequence[Standing]) -> list[str]:
    """Return the assignors to draw: Kafka's newest and the best of each other client, by rank."""
    ranked = [name for one in standings if one.groups for name in one.assignors if name != CURRENT]
    if len(ranked) <= MOST_DRAWN:
        return ranked
    found: dict[str, None] = {}
    for assignor in ranked:
        name = assignor.partition("@")[0]
        kafkas = name.startswith(("kafka-java/", "kafka-broker/"))
        if kafkas and name not in {other.partition("@")[0] for other in found}:
            found[assignor] = None
    clients = {name.partition("/")[0] for name in found}
    for assignor in ranked:
        client = assignor.partition("/")[0]
        if client not in clients:
            clients.add(client)
            found[assignor] = None
    chosen = list(found)[:MOST_DRAWN]
    return [assignor for assignor in ranked if assignor in chosen]


def left_out(shown: Sequence[str], standings: Sequence[Standing]) -> tuple[str, ...]:
    """Return the assignors in the figures, where that is not all of them."""
    names = {name for one in standings for name in one.assignors if name != CURRENT}
    return tuple(shown) if len(shown) < len(names) else ()


def _drawings(trials: Sequence[Trial], tiers: Sequence[str]) -> list[Drawing]:
    from compare import figures

    above: dict[str, alt.LayerChart] = {}
    for tier in tiers:
        rows = [r for r in excesses(trials, tier) if r["assignor"] != CURRENT]
        if any(r["excess"] is not None for r in rows):
            above[tier] = figures.ecdf(rows, tier=called(tier))
    seconds = times(trials)
    return drawings_of(above, figures.profile(seconds) if seconds else None, seconds)


def drawings_of(
    above: Mapping[str, alt.LayerChart],
    profile: alt.Chart | None,
    seconds: Sequence[Mapping[str, object]],
) -> list[Drawing]:
    """Return the drawings of assignors, each with what it shows.

    Parameters
    ----------
    above : of each tier how far above the best
    profile : the time beside the fastest; None where nothing was timed
    seconds : rows of `figures.time_by_size`
    """
    from compare import figures

    found = [
        drawn(chart, f"How far above the best: {called(tier)}", ECDF)
        for tier, chart in above.items()
    ]
    if profile is not None:
        found.append(drawn(profile, "Time beside the fastest", PROFILE))
    told = (row["partitions"] for row in seconds)
    sizes = [size for size in told if isinstance(size, (int, float))]
    if sizes and max(sizes) >= LEAST_GROWTH * min(sizes):
        found.append(drawn(figures.time_by_size(seconds), "Time against size", SIZE))
    return found


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
