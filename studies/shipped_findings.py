"""Findings on the assignors as shipped: every promise, the smallest group, the versions affected.

``python -m studies findings`` writes these lines of ``corpus/findings.jsonl`` and the records in
``docs/findings/smallest.json``, for the named assignors or else for the newest listed version of
every assignor that can be called here.
"""

from __future__ import annotations

import sys
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from itertools import chain, islice
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING

from compare.promises.findings import Finding, as_lines, read_findings, version_order
from compare.promises.promise import PROMISES
from compare.promises.record import Found
from compare.promises.shrink import shrink
from compare.promises.trial import runner_of
from compare.samples.drawn import drawn, is_ordinary, ordinary, ordinary_in_racks
from compare.samples.enumerated import fresh, owned
from heuristics import WRITTEN, assignor_named, assignors, available, matching
from heuristics.time_limit import TimeLimit
from studies.tallies import SMALL, put_records, record_of, small, tally_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from compare.promises.shrink import Quarry
    from groups import Group
    from studies.tallies import Tally

FINDINGS = Path("corpus/findings.jsonl")
SECONDS = 2.0
# Longer, for the runs that are recorded, as the machine may be busy.
RECORDED_SECONDS = 5.0
CHILDREN = 2
RACKED = 6000
HOW = (
    f"every ordinary group of up to {SMALL} members and partitions in all was tried; "
    "{0:,} ordinary groups were drawn, and as many with racks; then all groups of up to 2 topics "
    "x 3 members x 4 partitions were tried; then {0:,} groups were drawn with claims of every "
    "sort, rivals and old generations among them; the smallest on which it breaks was shrunk"
)


def search(
    assignor: str,
    limits: Sequence[TimeLimit],
    groups: int,
    also: Sequence[Group] = (),
    enumerated: Mapping[str, Tally] | None = None,
    up_to: tuple[int, int, int] = (2, 3, 4),
) -> dict[str, Quarry]:
    """Return the smallest group found on which each promise breaks, preferring ordinary groups.

    It tries the groups of `also`, on which some assignor broke a promise before; then `groups`
    ordinary ones, and as many with racks; then all small ones; then `groups` drawn ones.

    Parameters
    ----------
    enumerated : the tallies of all small ordinary groups, by promise
    up_to : topics, members and partitions of the small groups at most
    """
    found: dict[str, Quarry] = {}
    for good in (False, True):
        rest = (one.group() for one in chain(fresh(*up_to), owned(*up_to)))
        ordinary_ones = (islice(draw(1), groups) for draw in (ordinary, ordinary_in_racks))
        every = chain(also, *ordinary_ones, rest, islice(drawn(1), groups))
        chosen = (group for group in every if is_ordinary(group) is good)
        for promise, one in tally_of(assignor, chosen, limits).items():
            if good and enumerated:
                one.offer(enumerated[promise].smallest)
            if one.smallest is not None:
                found[promise] = one.smallest
    return found


def findings_of(
    assignor: str, broken: Mapping[str, Quarry], limit: TimeLimit
) -> Iterator[Finding]:
    """Return a finding for each promise that breaks, shrunk, with the versions affected.

    Lags are left out, as no client looks at them.
    """
    run = runner_of(assignor, limit)
    for promise in (name for name in PROMISES if name in broken):
        quarry, asked = broken[promise], PROMISES[promise]
        quarry = replace(quarry, group=without_lag(quarry.group))
        if is_ordinary(quarry.group):
            asked = asked.on_ordinary_groups()
        least = shrink(quarry, asked, run, until=monotonic() + 300)
        yield by_version(Finding.of(assignor, promise, least.group, least.measured), limit)


def by_version(finding: Finding, limit: TimeLimit) -> Finding:
    """Return the finding with the affected and unaffected of the versions that can be called."""
    name = bare(finding.assignor)
    versions = [n.partition("@")[2] for n in assignors() if bare(n) == name]
    held: dict[str, bool | None] = {}
    for version in sorted(versions, key=version_order):
        other = replace(finding, assignor=f"{name}@{version}")
        held[version] = other.try_again(runner_of(other.assignor, limit))[1].holds
    return replace(
        finding,
        affected=tuple(v for v, holds in held.items() if holds is False),
        unaffected=tuple(v for v, holds in held.items() if holds is True),
    )


def recorded(finding: Finding, limit: TimeLimit) -> Finding:
    """Return the finding with the record of a new run; unchanged if the assignor cannot be called.

    The record has the assignor's plan, a better one, the environment, and the command to repeat
    it.
    """
    if assignor_named(finding.assignor).missing() is not None:
        return finding
    command = f"assay reproduce {finding.id} --run"
    if finding.assignor in WRITTEN:
        command = f"assay hunt {finding.assignor} --promise {finding.promise}"
    return finding.recorded(runner_of(finding.assignor, limit), command)


def renewed(
    made: Iterable[Finding], before: Iterable[Finding], how: str, limit: TimeLimit
) -> list[Finding]:
    """Return new findings with records.

    A finding whose group has not changed keeps its date, method and explanation; others were found
    today.
    """
    known = {finding.id: finding for finding in before}
    found = []
    for finding in made:
        old = known.get(finding.id)
        if old is not None and old.group.to_dict() == finding.group.to_dict():
            finding = replace(finding, found=old.found, why=old.why)
        anew = replace(finding, found=finding.found or Found.today(how))
        found.append(recorded(anew, limit))
    return found


def bare(name: str) -> str:
    """Return the name of an assignor without its version."""
    return name.partition("@")[0]


def names_of(asked: Sequence[str]) -> list[str]:
    """Return the named shipped assignors; without names, all that can be called."""
    names = matching(asked) if asked else available()
    return [name for name in names if "/" in name]


def called_here(names: Iterable[str]) -> list[str]:
    """Return the assignors that can be called here; print the others on standard error."""
    missing = {name: assignor_named(name).missing() for name in names}
    sys.stderr.writelines(f"not here: {n}: {why}\n" for n, why in missing.items() if why)
    return [name for name, why in missing.items() if why is None]


@contextmanager
def children(seconds: float) -> Iterator[list[TimeLimit]]:
    """Open several time limits, each with a process of its own."""
    with ExitStack() as opened:
        yield [opened.enter_context(TimeLimit(seconds)) for _ in range(CHILDREN)]


def write_findings(findings: Sequence[Finding]) -> None:
    """Write all findings."""
    FINDINGS.write_text(as_lines(findings), encoding="utf-8")


def run(names: Sequence[str], many: int) -> None:
    """Search for findings again, and write them.

    Parameters
    ----------
    many : number of groups to draw, of each sort
    """
    names, before = names_of(names), list(read_findings(FINDINGS))
    also = [finding.group for finding in before if finding.affected]
    anew = {bare(name) for name in names}
    kept = [f for f in before if f.is_second or bare(f.assignor) not in anew]
    with children(SECONDS) as limits:
        for name in names:
            started = monotonic()
            enumerated = tally_of(name, small(), limits)
            racked = tally_of(name, islice(ordinary_in_racks(1), RACKED), limits, ["settles"])
            broken = search(name, limits, many, also, enumerated)
            found = renewed(
                findings_of(name, broken, limits[0]), before, HOW.format(many), limits[0]
            )
            kept += found
            by_promise = {finding.promise: finding for finding in found}
            records = [
                record_of(name, promise, one, by_promise.get(promise))
                for promise, one in enumerated.items()
            ]
            for record in records:
                if one := racked.get(record["promise"]):
                    counts = {"groups": one.broken.total(), "tested": one.tested.total()}
                    record["with_racks"] = counts
            put_records(records)
            told = ", ".join(by_promise) or "nothing"
            sys.stderr.write(f"{name} breaks {told}; {monotonic() - started:.0f} s\n")
    write_findings(kept)


def record(ids: Sequence[str]) -> None:
    """Run findings again (all if none is named), and write the results into their records.

    A finding whose assignor cannot be called here keeps its record.
    """
    with TimeLimit(RECORDED_SECONDS) as limit:
        write_findings(
            [
                recorded(finding, limit) if not ids or finding.id in ids else finding
                for finding in read_findings(FINDINGS)
            ]
        )


def without_lag(group: Group) -> Group:
    """Return the group without lags and weights, which no client looks at."""
    return replace(group, lag_records=None, weight=None)
