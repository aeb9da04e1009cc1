"""Weeks played: the counts of each service, kept in a file for each assignor as they come."""

from __future__ import annotations

import csv
import json
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from studies.how_often.service import KINDS
from studies.how_often.tally import WHAT

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from groups.arrays import Int64
    from studies.how_often.service import Kind
    from studies.how_often.tally import Week

SUBSCRIPTIONS = ("alike", "differing")
HEAD = ("service", "kind", "subscriptions", "rebalances", *WHAT)


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
            lines.writerow(HEAD)
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
