"""Rate: how often something happens in a million rebalances, with a confidence interval.

The rebalances of one service are not independent: if one goes wrong, the next is likely to.
Services are independent, so each counts as one observation. The counts of each service are
appended to a file for each assignor in ``out/how-often``.

``python -m studies how-often [ASSIGNOR ...]`` plays services, continuing after those played
before, and writes the records of these assignors into ``docs/findings/how-often.csv`` and
``how-often-parts.csv``; the records of other assignors stay.
"""

from __future__ import annotations

import sys
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pandas as pd

from heuristics import matching
from heuristics.time_limit import TimeLimit
from studies.how_often.service import service
from studies.how_often.week import SECONDS, SECONDS_AGAIN, SUBSCRIPTIONS, WHAT, weeks
from studies.page import FOLDER, renew, table
from studies.shipped_findings import called_here

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from groups.arrays import Floats
    from studies.how_often.service import Kind
    from studies.page import Cell

STUDIED = (
    "kafka-java/sticky@4.4.0", "kafka-java/cooperative-sticky@4.4.0",
    "kafka-java/sticky@3.9.2", "kafka-java/cooperative-sticky@3.9.2",
    "kafka-java/sticky@2.8.2", "kafka-java/cooperative-sticky@2.8.2",
    "kafka-broker/uniform@4.4.0", "kafka-java/range@4.4.0", "kafka-java/roundrobin@4.4.0",
    "kafka-python/sticky", "kafka-python/cooperative-sticky", "aiokafka/sticky",
    "librdkafka/cooperative-sticky", "sarama/sticky", "franz-go/sticky",
    "franz-go/cooperative-sticky", "kafkajs/RoundRobinAssigner", "sticky-that-ends",
)  # fmt: skip
COUNTS = Path("out/how-often/seed-1")
LINE = ("service", "kind", "subscriptions", "rebalances", *WHAT)
# Services of mixed kinds, and as many of the kind that has no share in the page's rates.
PLAYED: tuple[Kind | None, ...] = (None, "overlapping")
TOGETHER = 100


def play(assignors: Sequence[str], services: int, folder: Path) -> None:
    """Play services with each assignor, a hundred at a time, continuing after its file's end."""
    folder.mkdir(parents=True, exist_ok=True)
    with TimeLimit(SECONDS) as limit, TimeLimit(SECONDS_AGAIN) as patient:
        done = {one: _played(path_of(folder, one)) for one in assignors}
        every = product(PLAYED, range(0, services, TOGETHER), assignors)
        for only, first, assignor in every:
            path = path_of(folder, assignor)
            numbers = range(first, min(first + TOGETHER, services))
            left = [n for n in numbers if (only is not None, n) not in done[assignor]]
            drawn = [service(SEED, number, only) for number in left]
            rows = [
                (week.service.number, week.service.kind, name, *(tally[c] for c in LINE[3:]))
                for week in weeks(drawn, assignor, limit, patient)
                for name, tally in week.tallies.items()
            ]
            pd.DataFrame(rows, columns=LINE).to_csv(
                path, mode="a", header=not path.exists(), index=False
            )
            sys.stderr.write(f"{assignor}: {first + TOGETHER} services\n")


def path_of(folder: Path, assignor: str) -> Path:
    """Return the file of an assignor."""
    return folder / f"{assignor.replace('/', ' ')}.csv"


def _played(path: Path) -> set[tuple[bool, int]]:
    """Return (whether only overlapping services were asked for, number) of those in a file."""
    if not path.exists():
        return set()
    lines = pd.read_csv(path)
    return {*zip(lines.kind == "overlapping", lines.service, strict=True)}


def counts_of(lines: pd.DataFrame, subscriptions: str | None = None) -> pd.DataFrame:
    """Return the counts of each service, by kind and number.

    Parameters
    ----------
    subscriptions : only rebalances with such subscriptions count; None: all
    """
    counts = lines[["rebalances", *WHAT]]
    if subscriptions is not None:
        counts = counts.mul(lines.subscriptions == subscriptions, axis=0)
    return counts.groupby([lines.kind, lines.service]).sum()


MILLION = 1_000_000
REPLICATES = 1000
ALL_BUT = 0.025


class Rate(NamedTuple):
    """How often something happens.

    Attributes
    ----------
    rebalances, events : counts, not weighted by the shares
    per_million : rate per million rebalances, with kinds of services weighted by their shares
    low, high : 95% interval of the rate
    services, affected : numbers of services played, and of those in which it happened
    """

    rebalances: int
    events: int
    per_million: float
    low: float
    high: float
    services: int
    affected: int


def rate(counts: pd.DataFrame, what: str, shares: Mapping[str, float], seed: int) -> Rate:
    """Return in how many of a million rebalances something happens, with its interval.

    For each kind, the share of affected services is drawn from the two beta distributions whose
    quantiles are the bounds of Clopper and Pearson; the number of events of an affected service is
    drawn from those that were seen (bootstrap). Weighting the kinds in each draw is what Fay and
    Feuer do with rates (doi 10.1002/(SICI)1097-0258(19970415)16:7<791).
    If it never happened, the upper bound is one-sided: the rule of three over services, assuming
    one event in an affected service.

    Parameters
    ----------
    counts : from :func:`counts_of`
    shares : shares of services by kind; other kinds have share 0

    Raises
    ------
    ValueError
        If no service of a kind with a share was played.
    """
    rng = np.random.default_rng(seed)
    happened, asked = 0.0, 0.0
    bounds = np.zeros((2, 2, REPLICATES))
    seen = []
    for kind, share in shares.items():
        if kind not in counts.index:
            raise ValueError("no service was played of a kind that has a share")
        count, of = (counts.loc[kind, name].to_numpy() for name in (what, "rebalances"))
        seen.append((len(of), (count > 0).sum(), of.sum(), count.sum()))
        happened += share * float(count.mean())
        asked += share * float(of.mean())
        bounds += share * _drawn(count.astype(float), of.astype(float), rng)
    services, affected, rebalances, events = np.sum(seen, axis=0).tolist()
    low, high = MILLION * bounds[:, 0] / np.maximum(bounds[:, 1], 1e-300)
    return Rate(
        rebalances,
        events,
        MILLION * happened / asked if asked else 0.0,
        float(np.quantile(low, ALL_BUT)),
        min(float(np.quantile(high, 1 - (ALL_BUT if events else 2 * ALL_BUT))), float(MILLION)),
        services,
        affected,
    )


def _drawn(count: Floats, of: Floats, rng: np.random.Generator) -> Floats:
    """Return draws of one kind, of shape (low and high, events and rebalances, replicates)."""
    if not of.any():
        # Without rebalances, nothing can go wrong.
        return np.zeros((2, 2, REPLICATES))
    hit = np.flatnonzero(count > 0)
    services, affected = len(of), len(hit)
    if affected:
        again = hit[rng.integers(affected, size=(REPLICATES, affected))]
        events, among = count[again].mean(axis=1), of[again].mean(axis=1)
    else:
        events, among = np.ones(REPLICATES), np.full(REPLICATES, of.mean())
    spared = of[count == 0].mean() if affected < services else 0.0
    low = rng.beta(affected, services - affected + 1, REPLICATES) if affected else 0.0
    high = rng.beta(affected + 1, services - affected, REPLICATES) if affected < services else 1.0
    drawn = [[p * events, p * among + (1 - p) * spared] for p in (low, high)]
    return np.array(drawn, float)


# Shares of services by kind, for the page's rates.
SHARES = {"alike": 0.75, "new-topic": 0.10, "roles": 0.15}
SEED = 1
# The client of an assignor as written.
NO_CLIENT = "written"
AMONG_KINDS = {
    "alike": "services whose members all read the same topics",
    "new-topic": "services of which one deployment adds a topic",
    "roles": "services with roles and a topic that all read",
    "overlapping": "services with roles and no topic that all read",
}
AMONG = {
    "alike": "rebalances in which all members read the same topics",
    "differing": "rebalances in which subscriptions differ",
}
HEAD = (
    "assignor", "rebalances played", "hangs", "exceptions", "never settles", "invalid",
    "misses the best balance", "moves too many",
)  # fmt: skip
WHO = ("client", "assignor", "version")


def records_of(path: Path) -> tuple[list[dict[str, Cell]], list[dict[str, Cell]]]:
    """Return the records of an assignor's file: a rate for each of `WHAT`.

    The second value has the same for each kind of service, and by whether subscriptions differ.
    """
    lines = pd.read_csv(path)
    counts = counts_of(lines)
    client, _, rest = path.stem.replace(" ", "/").rpartition("/")
    name, _, version = rest.partition("@")
    who: dict[str, Cell] = dict(zip(WHO, (client or NO_CLIENT, name, version), strict=True))
    parts: list[dict[str, Cell]] = []
    for kind, text in AMONG_KINDS.items():
        if kind in counts.index:
            parts += _records({**who, "of": text}, counts, {kind: 1.0})
    for name in SUBSCRIPTIONS:
        parts += _records({**who, "of": AMONG[name]}, counts_of(lines, name), SHARES)
    return _records(who, counts, SHARES), parts


def _records(
    who: Mapping[str, Cell], counts: pd.DataFrame, shares: Mapping[str, float]
) -> list[dict[str, Cell]]:
    records: list[dict[str, Cell]] = []
    for what in WHAT:
        found = rate(counts, what, shares, SEED)._asdict()
        figures = {key: _rounded(found[key]) for key in ("per_million", "low", "high")}
        records.append({**who, "what": what, **found, **figures})
    return records


def run(names: Sequence[str], services: int) -> None:
    """Play so many services of each sort, and replace the records of these assignors."""
    here = called_here(matching(names or STUDIED))
    play(here, services, COUNTS)
    made = [records_of(path_of(COUNTS, name)) for name in here]
    renew(FOLDER / "how-often.csv", (r for records, _ in made for r in records), WHO, _full_name)
    renew(FOLDER / "how-often-parts.csv", (r for _, parts in made for r in parts), WHO, _full_name)


def page_of(records: Iterable[Mapping[str, str]], parts: Iterable[Mapping[str, str]]) -> str:
    """Return the tables as Markdown: all services, then three of their parts.

    Parameters
    ----------
    records, parts : records of the two files
    """
    tables, parts = [_table(records)], list(parts)
    for text in (AMONG["differing"], AMONG_KINDS["overlapping"], AMONG["alike"]):
        tables += [f"### Only {text}", _table(one for one in parts if one["of"] == text)]
    return "\n\n".join(tables)


def _rounded(figure: float) -> float | int:
    """Return a figure rounded to two digits, or to a whole number if it is 10 or more."""
    return round(figure) if figure >= 10 else float(f"{figure:.2g}")


def _table(records: Iterable[Mapping[str, str]]) -> str:
    rows: dict[str, list[str]] = {}
    for one in records:
        row = rows.setdefault(_full_name(one), [f"{int(one['rebalances']):,}"])
        row.append(_cell(one))
    return table(HEAD, ([name, *cells] for name, cells in rows.items()))


def _full_name(record: Mapping[str, Cell]) -> str:
    client = "" if record["client"] == NO_CLIENT else f"{record['client']}/"
    return f"`{client}{record['assignor']}` {record['version']}".rstrip()


def _cell(one: Mapping[str, str]) -> str:
    figure, low, high = (f"{_rounded(float(one[k])):,}" for k in ("per_million", "low", "high"))
    return f"{figure} ({low} to {high})" if int(one["events"]) else f"0 (up to {high})"
