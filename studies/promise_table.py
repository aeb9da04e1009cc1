"""The table of promises: every small group, every assignor as written, every promise.

``python -m studies promises`` writes the counts into ``docs/findings/promises.csv``, the effects
of the amendments of KIP-615 into ``amendments.csv``, and the findings on assignors as written into
``corpus/findings.jsonl``.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from concurrent.futures import ProcessPoolExecutor
from contextlib import suppress
from fractions import Fraction
from itertools import chain, combinations, combinations_with_replacement, islice, product
from multiprocessing import get_context
from typing import TYPE_CHECKING, NamedTuple

from compare.promises.description import sizes
from compare.promises.findings import Finding, read_findings
from compare.promises.promise import PROMISES
from compare.promises.shrink import Quarry, shrink
from compare.promises.trial import Trial, in_process, optima
from compare.samples.drawn import drawn
from compare.samples.enumerated import equal, fresh, owned
from groups import Group, Refused
from heuristics import WRITTEN
from heuristics.time_limit import TimeLimit
from heuristics.written.kip615 import (
    Capacities,
    owned_partitions,
    require_equal_subscriptions,
)
from studies.page import FOLDER, share, table, write
from studies.shipped_findings import FINDINGS, renewed, write_findings
from studies.tallies import Tally, tally

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from groups import Assignment
    from studies.page import Cell

WORKERS = 2
SECONDS = 10.0
HOW = (
    "every group of the sets of docs/findings/promises.md; the smallest on which it breaks, shrunk"
)
Key = tuple[str, str, str]


class Scope(NamedTuple):
    """A set of groups: its name, a description, and a function that yields the groups."""

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


def tally_written(
    groups: Iterable[Group], assignors: Iterable[str] = WRITTEN
) -> dict[tuple[str, str], Tally]:
    """Judge every promise of assignors as written on some groups."""
    runs = [in_process(name) for name in assignors]

    def trials_of(batch: Sequence[Group]) -> Iterator[Trial]:
        for group, optimum in zip(batch, optima(batch), strict=True):
            yield from (Trial(run, group, optimum) for run in runs)

    asked = {r.assignor: [p for p in PROMISES if PROMISES[p].asked_of(r.assignor)] for r in runs}
    return tally(groups, asked, trials_of)


def tally_all() -> dict[Key, Tally]:
    """Return the tallies of all scopes, by (scope, assignor, promise)."""
    jobs = [(scope.name, part) for scope in scopes() for part in range(WORKERS)]
    total: dict[Key, Tally] = defaultdict(Tally)
    with ProcessPoolExecutor(WORKERS, mp_context=get_context("spawn")) as pool:
        for (scope, _), found in zip(jobs, pool.map(_part, *zip(*jobs, strict=True)), strict=True):
            for (assignor, promise), one in found.items():
                total[scope, assignor, promise] += one
    return total


def _part(scope: str, part: int) -> dict[tuple[str, str], Tally]:
    groups = next(found.groups for found in scopes() if found.name == scope)
    return tally_written(islice(groups(), part, None, WORKERS))


def findings_of(total: Mapping[Key, Tally]) -> list[Finding]:
    """Return a finding for each broken promise: the smallest group of all scopes, shrunk.

    Among groups of the same size, that of the first scope wins.
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
    """Return a record for each assignor, promise and scope: groups tested, and broken."""
    by_promise = {(f.assignor, f.promise): f for f in findings}
    records: list[dict[str, Cell]] = []
    for assignor, promise in product(WRITTEN, PROMISES):
        found = by_promise.get((assignor, promise))
        for scope in scopes() if PROMISES[promise].asked_of(assignor) else ():
            one = total[scope.name, assignor, promise]
            records.append(
                {
                    "assignor": assignor,
                    "promise": promise,
                    "scope": scope.name,
                    "tested": one.tested.total(),
                    "broken": one.broken.total(),
                    "smallest": "" if found is None else sizes(found.group),
                    "finding": "" if found is None else found.id,
                }
            )
    return records


def matrix_of(records: Iterable[Mapping[str, Cell]]) -> str:
    """Return the scopes, a matrix of assignors by promises, and the table of broken promises.

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


LOOP, VOID = "1, the loop", "2, void claims"
VARIANTS = {"none, as written": (), LOOP: (LOOP,), VOID: (VOID,), "both": (LOOP, VOID)}
CONTESTED = (4, 4)


def contested(members: int, partitions: int) -> Iterator[Group]:
    """Yield all groups up to a size with one topic, by which members claim each partition.

    All claims are of one generation. Groups that differ only in the numbers of the partitions come
    once.
    """
    for size, total in product(range(1, members + 1), range(1, partitions + 1)):
        every = range(size)
        claimants = list(chain.from_iterable(combinations(every, n) for n in range(size + 1)))
        for claimed_by in combinations_with_replacement(claimants, total):
            yield Group.from_dict(
                {
                    "format": "assay-group/1",
                    "group": "contested",
                    "topics": {"t": total},
                    "members": {
                        f"m{member}": {
                            "subscription": ["t"],
                            "owned": {"t": [p for p, by in enumerate(claimed_by) if member in by]},
                            "generation": 1,
                        }
                        for member in every
                    },
                }
            )


def made_by(group: Group, amendments: Iterable[str]) -> Assignment:
    """Return the assignment of KIP-615 with some amendments, for a group that it covers."""
    owned = owned_partitions(group)
    if VOID in amendments:
        times = Counter(chain.from_iterable(owned))
        owned = [[partition for partition in mine if times[partition] == 1] for mine in owned]
    return Capacities.of(group).assign(group, owned, one_each=LOOP not in amendments)


def amended(scopes: Mapping[str, Iterable[Group]]) -> list[dict[str, Cell]]:
    """Return a record for each scope and variant: on how many groups it breaks its promises.

    `groups` counts those that KIP-615 covers, `uneven` those whose loads differ by two or more,
    and `invalid` those whose assignment is not valid.
    """
    records: list[dict[str, Cell]] = []
    for scope, groups in scopes.items():
        found = {name: Counter(groups=0, uneven=0, invalid=0) for name in VARIANTS}
        for group in groups:
            with suppress(Refused):
                require_equal_subscriptions(group)
                for name, amendments in VARIANTS.items():
                    made = made_by(group, amendments)
                    found[name]["groups"] += 1
                    found[name]["uneven"] += int(made.loads.max() - made.loads.min()) > 1
                    found[name]["invalid"] += not made.is_valid
        records += [{"scope": scope, "amendments": name, **one} for name, one in found.items()]
    return records


def amendments_of(records: Sequence[Mapping[str, Cell]]) -> str:
    """Return the counts by scope and variant as Markdown, a row a variant."""
    what = ("uneven", "invalid")
    heads = [
        f"{one}, {scope}" for one in what for scope in dict.fromkeys(r["scope"] for r in records)
    ]
    rows = {name: [name] for name in VARIANTS}
    for key, record in product(what, records):
        broken, groups = int(record[key] or 0), f"{int(record['groups'] or 0):,}"
        cell = f"**{broken:,}** of {groups}" if broken else f"none of {groups}"
        rows[str(record["amendments"])].append(cell)
    members, partitions = CONTESTED
    return (
        f"- *contested*: one topic, every set of members that claim a partition in one "
        f"generation, up to {members} members x {partitions} partitions\n\n"
        + table(["amendments of KIP-615", *heads], rows.values())
    )


def page_of(
    records: Iterable[Mapping[str, Cell]], amendments: Sequence[Mapping[str, Cell]]
) -> str:
    """Return the tables of promises and of amendments."""
    return f"{matrix_of(records)}\n\n{amendments_of(amendments)}"


def run() -> None:
    """Count again, and write the findings."""
    total = tally_all()
    findings = findings_of(total)
    every = {scope.name: scope.groups() for scope in scopes()}
    asked = {
        "equal": every["equal"], "contested": contested(*CONTESTED), "seeded": every["seeded"]
    }  # fmt: skip
    write(FOLDER / "promises.csv", records_of(total, findings))
    write(FOLDER / "amendments.csv", amended(asked))
    before = list(read_findings(FINDINGS))
    others = [f for f in before if f.assignor not in WRITTEN]
    with TimeLimit(SECONDS) as limit:
        write_findings([*renewed(findings, before, HOW, limit), *others])
