"""Findings on the assignors as shipped: every promise, the smallest group, the versions affected.

``python -m studies.shipped_findings`` makes those lines of ``corpus/findings.jsonl`` anew, of
every assignor that can be called here in the newest version listed, or of those named.
"""

from __future__ import annotations

import json
import sys
from argparse import ArgumentParser
from contextlib import ExitStack
from dataclasses import replace
from itertools import chain, islice
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING

from compare.promises.findings import Finding, as_lines, read_findings, version_order
from compare.promises.promise import PROMISES, promises_of
from compare.promises.shrink import Quarry, shrink
from compare.promises.trial import runner_of, trials
from compare.samples.drawn import drawn
from compare.samples.enumerated import fresh, owned
from compare.samples.ordinary import is_ordinary, ordinary, ordinary_in_racks
from groups import Group
from heuristics import assignors, available, matching
from heuristics.time_limit import TimeLimit
from studies.recorded_findings import renewed

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from groups.documents.assay_group import JsonObject

BATCH = 200
SECONDS = 1.0


def search(
    assignor: str,
    limits: Sequence[TimeLimit],
    *,
    seed: int = 1,
    groups: int = 3000,
    also: Sequence[Group] = (),
) -> dict[str, Quarry]:
    """Return the smallest group found on which each promise breaks; ordinary groups come first.

    It tries the groups of `also`, on which some assignor broke a promise before; then `groups`
    ordinary ones, and as many with racks; then all of up to 2 topics x 3 members x 4 partitions;
    then `groups` drawn ones.

    Parameters
    ----------
    limits : each has a process of its own, in which a part of the calls runs
    """
    best: dict[tuple[str, bool], Quarry] = {}
    stream = chain(also, _groups(seed, groups))
    while batch := list(islice(stream, BATCH)):
        for trial in trials(batch, assignor, limits):
            for promise in promises_of(assignor):
                if promise == "optimal-moves" and trial.group.racks is not None:
                    # KIP-881 puts racks before few moves.
                    continue
                judgement = PROMISES[promise].judge(trial)
                if judgement.holds is False:
                    key = promise, is_ordinary(trial.group)
                    found = Quarry(trial.group, judgement.measured)
                    if key not in best or found.is_smaller_than(best[key]):
                        best[key] = found
    any_group = {promise: found for (promise, _), found in best.items()}
    return {**any_group, **{promise: found for (promise, good), found in best.items() if good}}


def findings_of(
    assignor: str,
    limits: Sequence[TimeLimit],
    *,
    seed: int = 1,
    groups: int = 3000,
    also: Sequence[Group] = (),
) -> Iterator[Finding]:
    """Return a finding for each promise that breaks, shrunk, with the versions affected.

    As :func:`search`; lags are left out, as no client looks at them.
    """
    run = runner_of(assignor, limits[0])
    broken = search(assignor, limits, seed=seed, groups=groups, also=also)
    for promise in (name for name in PROMISES if name in broken):
        quarry, asked = broken[promise], PROMISES[promise]
        quarry = replace(quarry, group=without_lag(quarry.group))
        if is_ordinary(quarry.group):
            asked = asked.on_ordinary_groups()
        least = shrink(quarry, asked, run, until=monotonic() + 300)
        yield by_version(Finding.of(assignor, promise, least.group, least.measured), limits[0])


def by_version(finding: Finding, limit: TimeLimit) -> Finding:
    """Return the finding with what each listed version that can be called here makes of it."""
    name, _, _ = finding.assignor.partition("@")
    versions = [n.partition("@")[2] for n in assignors() if n.partition("@")[0] == name]
    held: dict[str, bool | None] = {}
    for version in sorted(versions, key=version_order):
        other = replace(finding, assignor=f"{name}@{version}")
        held[version] = other.judge(runner_of(other.assignor, limit)).holds
    return replace(
        finding,
        affected=tuple(v for v, holds in held.items() if holds is False),
        unaffected=tuple(v for v, holds in held.items() if holds is True),
    )


def names_of(asked: Sequence[str]) -> tuple[str, ...]:
    """Return the shipped assignors that are asked for, all that can be called if none is."""
    names = matching(asked) if asked else available()
    return tuple(name for name in names if "/" in name)


def main() -> None:
    """Make the findings anew."""
    parser = ArgumentParser(description="make the findings on shipped assignors anew")
    parser.add_argument("names", nargs="*", help="assignors, all that can be called if left out")
    parser.add_argument("--groups", type=int, default=3000, help="how many to draw, twice")
    parser.add_argument("--children", type=int, default=2, help="processes side by side")
    parser.add_argument("--also", type=Path, help="JSON lines of groups to try besides")
    parser.add_argument("--findings", type=Path, default=Path("corpus/findings.jsonl"))
    asked = parser.parse_args()
    names = names_of(asked.names)
    before = list(read_findings(asked.findings))
    also = [finding.group for finding in before if finding.affected]
    if asked.also is not None:
        documents = (json.loads(line) for line in asked.also.read_text("utf-8").splitlines())
        also += map(Group.from_dict, documents)
    found: list[Finding] = []
    with ExitStack() as open_:
        limits = [open_.enter_context(TimeLimit(SECONDS)) for _ in range(asked.children)]
        for name in names:
            started = monotonic()
            made = findings_of(name, limits, groups=asked.groups, also=also)
            of_one = renewed(made, before, _how(asked.groups), limits[0])
            found += of_one
            told = ", ".join(f.promise for f in of_one) or "nothing"
            sys.stderr.write(f"{name} breaks {told}; {monotonic() - started:.0f} s\n")
    anew = {name.partition("@")[0] for name in names}
    kept = [f for f in before if f.is_second or f.assignor.partition("@")[0] not in anew]
    asked.findings.write_text(as_lines([*kept, *found]), encoding="utf-8")


def _how(groups: int) -> str:
    return (
        f"{groups:,} ordinary groups were drawn, and as many with racks; then all groups of up to "
        f"2 topics x 3 members x 4 partitions were tried; then {groups:,} groups were drawn with "
        "claims of every sort, rivals and old generations among them; the smallest on which it "
        "breaks was shrunk"
    )


def without_lag(group: Group) -> Group:
    """Return the group without lags and weights, which no client looks at."""
    document = group.to_dict()
    topics: dict[str, int | JsonObject] = {}
    for name, described in document["topics"].items():
        if isinstance(described, int) or "racks" not in described:
            topics[name] = described if isinstance(described, int) else described["partitions"]
        else:
            topics[name] = {"partitions": described["partitions"], "racks": described["racks"]}
    return Group.from_dict({**document, "topics": topics})


def _groups(seed: int, groups: int) -> Iterator[Group]:
    small = (one.group() for one in chain(fresh(2, 3, 4), owned(2, 3, 4)))
    good = (islice(ordinary(seed), groups), islice(ordinary_in_racks(seed), groups))
    return chain(*good, small, islice(drawn(seed), groups))


if __name__ == "__main__":
    main()
