"""The table of promises: every small group, every assignor as written, every promise.

``python -m studies.promise_table`` counts anew into ``docs/findings/promises.csv``, what the
amendments of KIP-615 mend into ``amendments.csv``, and makes the findings in
``corpus/findings.jsonl``.
"""

from __future__ import annotations

import sys
from argparse import ArgumentParser
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from fractions import Fraction
from itertools import islice
from multiprocessing import get_context
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING

from compare.promises.findings import Finding, as_lines, read_findings
from compare.promises.promise import PROMISES
from compare.promises.shrink import Quarry, shrink
from compare.promises.trial import Trial, in_process, optima
from compare.samples.drawn import drawn
from compare.samples.enumerated import equal, fresh, owned
from heuristics import WRITTEN
from heuristics.time_limit import TimeLimit
from studies import amendments
from studies.page import share, table, write
from studies.recorded_findings import renewed

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from groups import Group
    from studies.page import Cell

BATCH = 500
SECONDS = 10.0
HOW = (
    "every group of the sets of docs/findings/promises.md; the smallest on which it breaks, shrunk"
)
Key = tuple[str, str, str]


@dataclass(frozen=True)
class Scope:
    """Some groups: a name, what is in it, and the groups themselves."""

    name: str
    text: str
    groups: Callable[[], Iterator[Group]]


def scopes(
    *,
    equal_to: tuple[int, int] = (5, 12),
    fresh_to: tuple[int, int, int] = (3, 3, 6),
    owned_to: tuple[int, int, int] = (3, 3, 4),
    seeded: int = 20_000,
) -> tuple[Scope, ...]:
    """Return the scopes of the table, by their limits."""
    limits = "{} topics x {} members x {} partitions"
    return (
        Scope(
            "equal",
            "equal subscriptions, every ownership, up to {} members x {} partitions".format(
                *equal_to
            ),
            lambda: (small.group() for small in equal(*equal_to)),
        ),
        Scope(
            "fresh",
            f"any subscriptions, nobody owns anything, up to {limits.format(*fresh_to)}",
            lambda: (small.group() for small in fresh(*fresh_to)),
        ),
        Scope(
            "owned",
            f"any subscriptions, every ownership, up to {limits.format(*owned_to)}",
            lambda: (small.group() for small in owned(*owned_to)),
        ),
        Scope(
            "seeded",
            f"{seeded:,} groups of seed 1 beyond, up to 6 topics x 8 members x 36 partitions",
            lambda: islice(drawn(1), seeded),
        ),
    )


@dataclass
class Tally:
    """How one promise fared: groups that put it to the test, that break it, the smallest."""

    tested: int = 0
    broken: int = 0
    smallest: Quarry | None = None

    def add(self, found: Trial, promise: str) -> None:
        """Count one group."""
        judgement = PROMISES[promise].judge(found)
        self.tested += judgement.holds is not None
        if judgement.holds is False:
            self.broken += 1
            self.offer(Quarry(found.group, judgement.measured))

    def offer(self, quarry: Quarry | None) -> None:
        """Keep the smaller of two groups; of two alike the one whose document sorts first."""
        best = self.smallest
        if quarry is not None and (best is None or quarry.is_smaller_than(best)):
            self.smallest = quarry


def tally(
    groups: Iterator[Group],
    assignors: Sequence[str] = tuple(WRITTEN),
    *,
    part: int = 0,
    parts: int = 1,
) -> dict[tuple[str, str], Tally]:
    """Put every promise to every assignor on some groups: the batches of one part out of several.

    Returns
    -------
    dict
        A tally for each (assignor, promise).
    """
    runs = {name: in_process(name) for name in assignors}
    found = {(a, p): Tally() for a in runs for p in PROMISES if PROMISES[p].asked_of(a)}
    number = 0
    while batch := list(islice(groups, BATCH)):
        number += 1
        if number % parts != part:
            continue
        for group, optimum in zip(batch, optima(batch), strict=True):
            for name, run in runs.items():
                made = Trial(run, group, optimum)
                for promise in PROMISES:
                    if (name, promise) in found:
                        found[name, promise].add(made, promise)
    return found


def tally_all(workers: int) -> dict[Key, Tally]:
    """Make the tallies of all scopes: a dict by scope, assignor and promise."""
    jobs = [(scope.name, part, workers) for scope in scopes() for part in range(workers)]
    total: dict[Key, Tally] = {}
    with ProcessPoolExecutor(workers, mp_context=get_context("spawn")) as pool:
        for (scope, _, _), found in zip(
            jobs, pool.map(_job, *zip(*jobs, strict=True)), strict=True
        ):
            for (assignor, promise), one in found.items():
                sum_ = total.setdefault((scope, assignor, promise), Tally())
                sum_.tested += one.tested
                sum_.broken += one.broken
                sum_.offer(one.smallest)
    return total


def findings_of(total: Mapping[Key, Tally]) -> list[Finding]:
    """Return a finding for each broken promise: the smallest group of all scopes, shrunk.

    Of groups of one size that of the first scope wins.
    """
    smallest: dict[tuple[str, str], Quarry] = {}
    for (_, assignor, promise), one in total.items():
        best, quarry = smallest.get((assignor, promise)), one.smallest
        if quarry is not None and (best is None or quarry.size < best.size):
            smallest[assignor, promise] = quarry
    found = []
    for (assignor, promise), quarry in smallest.items():
        least = shrink(quarry, PROMISES[promise], in_process(assignor))
        found.append(Finding.of(assignor, promise, least.group, least.measured))
    return found


def records_of(total: Mapping[Key, Tally], findings: Sequence[Finding]) -> list[dict[str, Cell]]:
    """Return a record for each assignor, promise and scope: groups put to the test, and broken."""
    by_promise = {(f.assignor, f.promise): f for f in findings}
    return [
        {
            "assignor": assignor,
            "promise": promise,
            "scope": scope.name,
            "tested": total[scope.name, assignor, promise].tested,
            "broken": total[scope.name, assignor, promise].broken,
            "smallest": _described(by_promise.get((assignor, promise))),
            "finding": found.id if (found := by_promise.get((assignor, promise))) else "",
        }
        for assignor in WRITTEN
        for promise in PROMISES
        if PROMISES[promise].asked_of(assignor)
        for scope in scopes()
    ]


def matrix_of(records: Iterable[Mapping[str, Cell]]) -> str:
    """Return the scopes and a matrix: a row an assignor, a column a promise, then the exceptions.

    A cell says "kept", or the greatest share of the groups of a scope on which the promise breaks.
    """
    worst: dict[tuple[str, str], tuple[Fraction, str]] = {}
    exceptions: dict[str, tuple[str, ...]] = {}
    for record in records:
        pair = str(record["assignor"]), str(record["promise"])
        tested, broken = int(record["tested"] or 0), int(record["broken"] or 0)
        rate = Fraction(broken, tested) if tested else Fraction(0)
        said = f"{share(broken, tested)} of {record['scope']}" if broken else "kept"
        worst[pair] = max(worst.get(pair, (rate, said)), (rate, said))
        if record["finding"]:
            finding = str(record["finding"])
            what = (f"`{pair[0]}`", pair[1], str(record["smallest"]), f"`{finding}`")
            exceptions[finding] = what
    lines = [f"- *{scope.name}*: {scope.text}" for scope in scopes()]
    rows = []
    for assignor in dict.fromkeys(assignor for assignor, _ in worst):
        cells = [worst[assignor, p][1] if (assignor, p) in worst else "" for p in PROMISES]
        rows.append([f"`{assignor}`", *cells])
    lines += ["", table(["assignor", *PROMISES], rows)]
    head = ("assignor", "breaks", "on as few as", "finding")
    return "\n".join([*lines, "", table(head, exceptions.values())])


def main() -> None:
    """Count anew, and make the findings."""
    parser = ArgumentParser(description="make the table of promises and the findings anew")
    parser.add_argument("--out", type=Path, default=Path("docs/findings"))
    parser.add_argument("--findings", type=Path, default=Path("corpus/findings.jsonl"))
    parser.add_argument("--workers", type=int, default=2)
    asked = parser.parse_args()
    started = perf_counter()
    total = tally_all(asked.workers)
    findings = findings_of(total)
    amended = {name: amendments.broken_by(groups) for name, groups in amendments.scopes().items()}
    write(asked.out / "promises.csv", records_of(total, findings))
    write(asked.out / "amendments.csv", amendments.records_of(amended))
    before = list(read_findings(asked.findings))
    others = [f for f in before if f.assignor not in WRITTEN]
    with TimeLimit(SECONDS) as limit:
        findings = renewed(findings, before, HOW, limit)
    asked.findings.write_text(as_lines([*findings, *others]), encoding="utf-8")
    seconds = perf_counter() - started
    sys.stderr.write(f"{len(findings)} findings in {seconds:.0f} s\n")


def _job(scope: str, part: int, parts: int) -> dict[tuple[str, str], Tally]:
    groups = next(found.groups for found in scopes() if found.name == scope)
    return tally(groups(), part=part, parts=parts)


def _described(finding: Finding | None) -> str:
    if finding is None:
        return ""
    group = finding.group
    sizes = (len(group.members), len(group.topics), group.n_partitions)
    parts = [
        f"{n} {what}{'' if n == 1 else 's'}"
        for n, what in zip(sizes, ("member", "topic", "partition"), strict=True)
    ]
    return ", ".join(parts)


if __name__ == "__main__":
    main()
