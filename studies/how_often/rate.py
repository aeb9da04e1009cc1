"""Rate: how many of a million rebalances, with an interval that takes services as its units.

The rebalances of one service are not independent of each other: where one goes wrong the next is
likely to. The services are independent, so each counts as one observation. The counts of each
service are kept in a file for each assignor as they come.
"""

from __future__ import annotations

import csv
import json
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from studies.how_often.service import KINDS
from studies.how_often.week import WHAT
from studies.page import table

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from pathlib import Path

    from groups.arrays import Floats, Int64
    from studies.how_often.service import Kind
    from studies.how_often.week import Week
    from studies.page import Cell

SUBSCRIPTIONS = ("alike", "differing")
LINE = ("service", "kind", "subscriptions", "rebalances", *WHAT)


@dataclass(frozen=True)
class Played:
    """What was counted in the weeks of services of one kind.

    Attributes
    ----------
    rebalances : (services, 2) int64, with equal and with differing subscriptions
    events : by what, (services, 2) int64
    """

    rebalances: Int64
    events: Mapping[str, Int64]

    def among(self, subscriptions: str) -> Played:
        """Return the same of the rebalances whose subscriptions are "alike" or "differing"."""
        kept = np.array([one == subscriptions for one in SUBSCRIPTIONS])
        events = {what: counts * kept for what, counts in self.events.items()}
        return Played(self.rebalances * kept, events)


def file_of(folder: Path, assignor: str, only: Kind | None = None) -> Path:
    """Return where the counts of an assignor are, in a folder of their own if of one kind only."""
    return (folder if only is None else folder / only) / f"{assignor.replace('/', ' ')}.csv"


def append(path: Path, weeks: Sequence[Week]) -> None:
    """Add weeks to a file, two lines each; groups without a valid plan to one beside it."""
    is_new = not path.exists()
    with path.open("a", encoding="utf-8", newline="") as file:
        lines = csv.writer(file, lineterminator="\n")
        if is_new:
            lines.writerow(LINE)
        for week in weeks:
            for name, tally in zip(SUBSCRIPTIONS, (week.alike, week.differing), strict=True):
                who = (week.service.number, week.service.kind, name)
                lines.writerow([*who, tally.rebalances, *tally.events.values()])
    shown = [
        json.dumps({**group.to_dict(), "group": f"{what} {group.name}"})
        for week in weeks
        for what, group in week.shown.items()
    ]
    with path.with_suffix(".jsonl").open("a", encoding="utf-8") as file:
        file.writelines(f"{line}\n" for line in shown)


def services_in(path: Path) -> int:
    """Count the services of a file, from number 0 on; 0 where there is none."""
    if not path.exists():
        return 0
    return (len(path.read_text(encoding="utf-8").splitlines()) - 1) // len(SUBSCRIPTIONS)


def played(folder: Path) -> dict[str, dict[str, Played]]:
    """Return what the files of a folder have, by assignor and the kind of service."""
    rows: dict[str, list[dict[str, str]]] = {}
    for path in sorted([*folder.glob("*.csv"), *folder.glob("*/*.csv")]):
        with path.open(encoding="utf-8", newline="") as file:
            rows.setdefault(path.stem.replace(" ", "/"), []).extend(csv.DictReader(file))
    return {
        assignor: {kind: _of_kind(kind, found) for kind in KINDS}
        for assignor, found in sorted(rows.items())
    }


def _of_kind(kind: Kind, rows: Sequence[Mapping[str, str]]) -> Played:
    counts = {
        name: np.array([int(row[name]) for row in rows if row["kind"] == kind], np.int64)
        for name in ("rebalances", *WHAT)
    }
    pairs = {name: one.reshape(-1, len(SUBSCRIPTIONS)) for name, one in counts.items()}
    return Played(pairs.pop("rebalances"), pairs)


MILLION = 1_000_000
REPLICATES = 1000
ALL_BUT = 0.025


@dataclass(frozen=True)
class Rate:
    """How often something happens.

    Attributes
    ----------
    services, affected : how many were played, and in how many of them it happened
    rebalances, events : as they were counted, whatever the shares
    per_million : of the rebalances of services, with the shares that these have in a fleet
    low, high : 95% interval of that
    """

    services: int
    affected: int
    rebalances: int
    events: int
    per_million: float
    low: float
    high: float


def rate(kinds: Mapping[str, Played], what: str, shares: Mapping[str, float], seed: int) -> Rate:
    """Return how many of a million rebalances something happens in.

    For each kind the share of services that it happens to is drawn from the two beta
    distributions whose quantiles are the bounds of Clopper and Pearson, and how often it happens
    to one of these from those that were seen (bootstrap). Weighting the kinds in each draw is
    what Fay and Feuer do with rates (doi 10.1002/(SICI)1097-0258(19970415)16:7<791).
    Where it never happened, the upper bound is one-sided: the rule of three over services, if one
    that it happens to sees it once.

    Parameters
    ----------
    shares : of all services, by kind; those not named count with 0
    """
    rng = np.random.default_rng(seed)
    seen = {kind: kinds[kind] for kind, share in shares.items() if share > 0}
    if not all(len(one.rebalances) for one in seen.values()):
        raise ValueError("no service was played of a kind that has a share")
    happened, asked = 0.0, 0.0
    bounds = np.zeros((2, 2, REPLICATES))
    services = affected = rebalances = events = 0
    for kind, one in seen.items():
        count, of = one.events[what].sum(axis=1), one.rebalances.sum(axis=1)
        hit = int((count > 0).sum())
        services, affected = services + len(of), affected + hit
        rebalances, events = rebalances + int(of.sum()), events + int(count.sum())
        happened += shares[kind] * float(count.mean())
        asked += shares[kind] * float(of.mean())
        bounds += shares[kind] * _drawn(count.astype(float), of.astype(float), rng)
    low, high = MILLION * bounds[:, 0] / np.maximum(bounds[:, 1], 1e-300)
    return Rate(
        services,
        affected,
        rebalances,
        events,
        MILLION * happened / asked if asked else 0.0,
        float(np.quantile(low, ALL_BUT)),
        min(float(np.quantile(high, 1 - (ALL_BUT if events else 2 * ALL_BUT))), float(MILLION)),
    )


def _drawn(count: Floats, of: Floats, rng: np.random.Generator) -> Floats:
    """Return (low and high, events and rebalances of a service, replicates) for one kind."""
    if not of.any():
        # What is never asked cannot go wrong.
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


# Of all services: what the page takes, and anybody else may take otherwise.
SHARES = {"alike": 0.75, "new-topic": 0.10, "roles": 0.15, "overlapping": 0.0}
SEED = 1
# The client of an assignor that is not as shipped.
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


def rows_of(
    found: Mapping[str, Mapping[str, Played]], shares: Mapping[str, float]
) -> list[dict[str, Cell]]:
    """Return a record for each assignor and each thing that may happen.

    Parameters
    ----------
    found : what was played, by assignor and kind of service
    shares : of all services, by kind
    """
    return [
        row for assignor, kinds in found.items() for row in _records(assignor, {}, kinds, shares)
    ]


def parts_of(
    found: Mapping[str, Mapping[str, Played]], shares: Mapping[str, float]
) -> list[dict[str, Cell]]:
    """Return the same of each kind of service alone, and by whether subscriptions differ."""
    records: list[dict[str, Cell]] = []
    for assignor, kinds in found.items():
        for kind, text in AMONG_KINDS.items():
            if len(kinds[kind].rebalances):
                records += _records(assignor, {"of": text}, kinds, {kind: 1.0})
        for name in SUBSCRIPTIONS:
            among = {kind: one.among(name) for kind, one in kinds.items()}
            records += _records(assignor, {"of": AMONG[name]}, among, shares)
    return records


def page_of(records: Iterable[Mapping[str, str]], parts: Iterable[Mapping[str, str]]) -> str:
    """Return the tables as Markdown: all services, then what is unlike in them one by one.

    Parameters
    ----------
    records, parts : as they are read from their files
    """
    tables, parts = [_table(list(records))], list(parts)
    for text in (AMONG["differing"], AMONG_KINDS["overlapping"], AMONG["alike"]):
        found = [one for one in parts if one["of"] == text]
        if found:
            tables += [f"### Only {text}", _table(found)]
    return "\n\n".join(tables)


def _records(
    assignor: str,
    besides: dict[str, Cell],
    kinds: Mapping[str, Played],
    shares: Mapping[str, float],
) -> list[dict[str, Cell]]:
    client, _, rest = assignor.rpartition("/")
    name, _, version = rest.partition("@")
    records: list[dict[str, Cell]] = []
    for what in WHAT:
        one = rate(kinds, what, shares, SEED)
        records.append(
            {
                "client": client or NO_CLIENT,
                "assignor": name,
                "version": version,
                **besides,
                "what": what,
                "rebalances": one.rebalances,
                "events": one.events,
                "per_million": _rounded(one.per_million),
                "low": _rounded(one.low),
                "high": _rounded(one.high),
                "services": one.services,
                "affected": one.affected,
            }
        )
    return records


def _rounded(figure: float) -> float | int:
    """Return two digits and those before the point: more would say too much."""
    return round(figure) if figure >= 10 else float(f"{figure:.2g}")


def _table(records: Sequence[Mapping[str, str]]) -> str:
    rows: dict[str, list[Mapping[str, str]]] = {}
    for one in records:
        client = "" if one["client"] == NO_CLIENT else f"{one['client']}/"
        name = f"`{client}{one['assignor']}` {one['version']}".rstrip()
        rows.setdefault(name, []).append(one)
    return table(
        HEAD,
        (
            [name, f"{int(found[0]['rebalances']):,}", *map(_cell, found)]
            for name, found in rows.items()
        ),
    )


def _cell(one: Mapping[str, str]) -> str:
    figure, low, high = (f"{_rounded(float(one[k])):,}" for k in ("per_million", "low", "high"))
    return f"{figure} ({low} to {high})" if int(one["events"]) else f"0 (up to {high})"
