"""The conformance corpus: groups, their best assignments, and the shipped assignors' results.

``python -m studies conformance`` writes the files of ``corpus/conformance`` again, and runs every
shipped assignor that can be called here. The files keep the results of assignors that cannot be
called or are not named. Without other changes, the files stay the same to the byte.
"""

from __future__ import annotations

import sys
from collections import Counter
from dataclasses import replace
from functools import cache
from itertools import accumulate, islice, pairwise, permutations
from time import perf_counter
from typing import TYPE_CHECKING

from compare.promises.conformance import (
    ASKED,
    FOLDER,
    FORMAT,
    RACKS,
    as_text,
    asked_of,
    conformity,
    digest,
    file_of,
    group_of,
)
from compare.promises.findings import SHIPPED, read_findings
from compare.promises.trial import trials
from compare.samples.drawn import ordinary, ordinary_in_racks
from compare.samples.enumerated import Small, joined
from compare.samples.families import family_named
from groups import Assignment, Group, values
from optimal import solve
from studies.page import table
from studies.shipped_findings import bare, children, names_of, without_lag
from studies.tallies import SMALL, small

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from groups.documents.assay_group import JsonObject
    from heuristics.time_limit import TimeLimit

SECONDS = 10.0
SEED = 1
TYPICAL, RACKED = 40, 60
LARGE = (
    *(
        f"100x10-20-topics-{subscriptions}-{event}"
        for subscriptions in ("nested", "nested-skewed", "random", "random-skewed")
        for event in ("fresh", "join-one", "leave-many")
    ),
    "100x10-10-topics-buckets-join-one",
    "100x10-10-topics-equal-join-one",
)
SOURCES = {
    "finding": "a group on which an assignor broke the promise: corpus/findings.jsonl, by its id",
    "typical": "drawn by seed: one or two members join a group that was assigned optimally",
    "racks": "drawn as the typical ones, with three racks: who looks at them does better",
    "small": f"every ordinary group of up to {SMALL} members and partitions in all, one of "
    "those that are alike up to the names of members, topics and partitions",
    "large": "a point of a seeded family: assay conformance --out DIR writes it in full",
}
OBJECTIVES = {"optimal-balance": "kip-54", "optimal-moves": "kip-54", RACKS.name: "kip-881"}
COLUMNS = {"broken": "broken_by", "not_tested": "not_tested_by"}


def instances(promise: str, size: int = SMALL) -> Iterator[JsonObject]:
    """Yield the instances of a promise, without assignors' results.

    Parameters
    ----------
    size : size of the small groups, as in `studies.tallies.small`
    """
    for source, group in _groups(promise, size):
        if promise in ("settles", "optimal-moves") and not len(group.claims.member):
            # Nobody owns anything, so nothing can be revoked or move.
            continue
        answer: JsonObject = {}
        if promise in OBJECTIVES:
            answer = {"answer": _answer(group, OBJECTIVES[promise], large=source == "large")}
        if promise == "optimal-moves" and not _is_plain(group):
            answer["answer"]["owners"] = Assignment(group, group.owner).to_dict()
        if source == "large":
            family = group.name.removesuffix(f"-{SEED}")
            what = {"recipe": {"family": family, "seed": SEED, "sha256": digest(group)}}
        else:
            what = {"group": group.to_dict()}
        yield {"id": group.name, "source": source, **what, **answer}


def _groups(promise: str, size: int) -> Iterator[tuple[str, Group]]:
    if promise == RACKS.name:
        for group in islice(filter(_is_about_racks, ordinary_in_racks(SEED)), RACKED):
            yield "racks", replace(without_lag(group), name=f"racks-{group.name}")
        return
    before: list[JsonObject] = []
    for found in read_findings(SHIPPED):
        group = without_lag(found.group)
        nameless = {**group.to_dict(), "group": ""}
        if found.promise == promise and nameless not in before:
            before.append(nameless)
            yield "finding", group
    for group in islice(ordinary(SEED), TYPICAL):
        yield "typical", replace(without_lag(group), name=f"typical-{group.name}")
    for group in smallest(size):
        yield "small", group
    for name in LARGE:
        yield "large", family_named(name).group(SEED)


@cache
def smallest(size: int = SMALL) -> tuple[Group, ...]:
    """Return the small ordinary groups, one of those that differ only in names, smallest first."""
    found: dict[Small, int] = {}
    number: dict[tuple[int, ...], int] = {}
    for group in small(size):
        least = least_alike(group)
        if least not in found:
            shape = (len(least.rows), len(least.counts), len(least.owner))
            found[least] = number[shape] = number.get(shape, 0) + 1
    return tuple(
        replace(
            joined(one),
            name=f"small-{len(one.rows)}-{len(one.counts)}-{len(one.owner)}-{found[one]}",
        )
        for one in found
    )


def least_alike(group: Group) -> Small:
    """Return a canonical form: the least of all groups that differ only in names."""
    starts = accumulate(group.partitions.tolist(), initial=0)
    owner = group.owner.tolist()
    topics = [(owner[a:b], group.subscribers(t)) for t, (a, b) in enumerate(pairwise(starts))]
    alike = []
    for order in permutations(range(len(group.members))):
        new = {old: at for at, old in enumerate(order)} | {-1: -1}
        # Sorted, so that the order of topics does not matter.
        form = sorted(
            (len(owners), sorted(new[m] for m in readers), sorted(new[m] for m in owners))
            for owners, readers in topics
        )
        alike.append(form)
    least = min(alike)
    rows = tuple(
        tuple(t for t, (_, readers, _) in enumerate(least) if m in readers)
        for m in range(len(group.members))
    )
    held = tuple(m for _, _, owners in least for m in owners)
    return Small(tuple(count for count, _, _ in least), rows, held)


def _is_plain(group: Group) -> bool:
    """Return whether every claim can be kept and has no rival."""
    current = Assignment.current(group)
    return not current.strays and bool((current.owner == group.owner).all())


def _is_about_racks(group: Group) -> bool:
    """Return whether the optimum of KIP-881 is better in racks than that of KIP-54."""
    found = [solve(group, objective).assignment for objective in ("kip-54", "kip-881")]
    without, best = (values(one, ("racks",))[0] for one in found if one is not None)
    return best < without


def _answer(group: Group, objective: str, *, large: bool) -> JsonObject:
    """Return loads and values of a right answer, with a best assignment and its certificate."""
    solution = solve(group, objective)
    best = solution.assignment
    if best is None or solution.proof.level is None:
        raise AssertionError(f"{group.name}: not proved")
    terms = {term.name.replace("stickiness", "moves"): term.value for term in solution.terms}
    found: JsonObject = {"loads": sorted(best.loads.tolist()), **terms}
    if not large:
        found |= {"assignment": best.to_dict(), "proof": solution.proof.to_dict(group)}
    return found


def with_columns(
    names: Sequence[str], files: dict[str, JsonObject], limits: Sequence[TimeLimit]
) -> None:
    """Run assignors on all instances, and write their results into the files."""
    every = {one["id"]: one for file in files.values() for one in file["instances"]}
    groups = {name: group_of(one) for name, one in every.items()}
    for name in names:
        started = perf_counter()
        asked = {
            promise: file["instances"]
            for promise, file in files.items()
            if promise in asked_of(name)
        }
        ids = [*dict.fromkeys(one["id"] for some in asked.values() for one in some)]
        came = trials([groups[one] for one in ids], name, limits)
        # A busy machine may slow an assignor down, so only the second time-out counts.
        late = [n for n, one in enumerate(came) if one.outcome.status == "timed-out"]
        for n, one in zip(late, trials([came[n].group for n in late], name, limits), strict=True):
            came[n] = one
        for held in conformity(asked, dict(zip(ids, came, strict=True))):
            file = files[held.promise]
            file["assignors"] = sorted({*file["assignors"], name})
            for one in file["instances"]:
                for said, key in COLUMNS.items():
                    more = [name] if one["id"] in getattr(held, said) else []
                    if who := sorted([*one.pop(key, []), *more]):
                        one[key] = who
        sys.stderr.write(f"{name}: {perf_counter() - started:.0f} s\n")


def remade(promise: str, anew: Sequence[str] = ()) -> JsonObject:
    """Return the file of a promise: new instances, with the results of an old file, if any.

    Parameters
    ----------
    anew : assignors whose results, of all releases, are dropped
    """
    gone = {bare(name) for name in anew}
    is_new = not (FOLDER / f"{promise}.json").exists()
    before: JsonObject = {"assignors": [], "instances": []} if is_new else file_of(promise)

    def kept(names: Sequence[str]) -> list[str]:
        return [name for name in names if bare(name) not in gone]

    known = {one["id"]: one for one in before["instances"]}
    found = []
    for one in instances(promise):
        columns = {key: kept(known.get(one["id"], {}).get(key, [])) for key in COLUMNS.values()}
        found.append(one | {key: names for key, names in columns.items() if names})
    sources = {one["source"] for one in found}
    return {
        "format": FORMAT,
        "promise": promise,
        "text": ASKED[promise].text,
        "promised_by": ASKED[promise].source,
        "sources": {name: text for name, text in SOURCES.items() if name in sources},
        "seconds": SECONDS,
        "assignors": kept(before["assignors"]),
        "instances": found,
    }


def page_of() -> str:
    """Return a table of how many instances of each promise an assignor breaks.

    A dash: it does not make the promise.
    """
    files = [file_of(promise) for promise in ASKED]
    rows: dict[str, list[str]] = {}
    for at, file in enumerate(files):
        broken = Counter(name for one in file["instances"] for name in one.get("broken_by", ()))
        for name in file["assignors"]:
            row = rows.setdefault(name, ["-"] * len(files))
            row[at] = str(broken[name])
    head = [f"{file['promise']} ({len(file['instances'])})" for file in files]
    return table(["assignor", *head], ([name, *rows[name]] for name in sorted(rows)))


def run(names: Sequence[str]) -> None:
    """Write the files again."""
    names = names_of(names)
    files = {promise: remade(promise, names) for promise in ASKED}
    with children(SECONDS) as limits:
        with_columns(names, files, limits)
    for promise, file in files.items():
        (FOLDER / f"{promise}.json").write_text(as_text(file), encoding="utf-8")
