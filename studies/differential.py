"""The differential table: assignors as written against the same as shipped, on seeded groups.

``python -m studies differential`` writes every figure into ``docs/findings/differential.csv``. The
page has a matrix of the differences for each assignor as written, with a row for each assignor as
shipped and a column for each kind of group.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias

from compare.samples.drawn import KINDS, seeded
from groups import Failed, values
from heuristics import assignors
from heuristics.time_limit import NOT_STARTED, TimeLimit
from studies.page import FOLDER, share, table, write
from studies.shipped_findings import bare, called_here

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from groups import Group
    from heuristics.assignor import Outcome
    from studies.page import Cell

WORKERS = 2


@dataclass(frozen=True)
class Measured:
    """The result of an assignor on a group.

    Attributes
    ----------
    loads : partitions of each member, in the group's order; () without a valid plan
    balance, moves : the balance score, and partitions taken from their valid owner; 0 without one
    """

    status: Literal["valid", "invalid", "refused", "failed", "timed-out"]
    loads: tuple[int, ...] = ()
    balance: int = 0
    moves: int = 0


def measured(
    names: Iterable[str], groups: Sequence[Group], *, seconds: float = 2.0
) -> dict[str, list[Measured]]:
    """Run assignors on groups, each client in a process of its own.

    Parameters
    ----------
    seconds : time limit of an assignor for each group

    Returns
    -------
    dict
        By assignor, the results in the order of the groups.

    Raises
    ------
    Failed
        If an assignor cannot be called here, or did not join again.
    """
    clients = defaultdict(list)
    for name in names:
        clients[name.rpartition("/")[0]].append(name)

    def run_client(names: Sequence[str]) -> dict[str, list[Measured]]:
        with TimeLimit(seconds) as limit:
            return {name: [*map(_of_outcome, limit.plan_many(groups, name))] for name in names}

    with ThreadPoolExecutor(WORKERS) as pool:
        # Clients with most assignors first, so that the last one to finish is short.
        parts = pool.map(run_client, sorted(clients.values(), key=len, reverse=True))
        return {name: made for part in parts for name, made in part.items()}


def _of_outcome(came: Outcome) -> Measured:
    if came.status == "unavailable" or (came.reason or "").startswith(NOT_STARTED):
        raise Failed(came.reason or "")
    if came.plan is None:
        return Measured("failed" if came.status == "planned" else came.status)
    assignment = came.plan.assignment
    if not assignment.is_valid:
        return Measured("invalid")
    balance, moves = values(assignment, ("balance", "stickiness"))
    return Measured("valid", tuple(assignment.loads.tolist()), balance, moves)


# Numbers of groups of one kind: those that the assignor as written does not refuse; those without
# a valid assignment of one or the other; those with valid ones of both. Of the latter: with the
# same loads, sorted and member by member; with a lower or higher balance score of the shipped one;
# and with the same score, those with as many, fewer or more moves.
COUNTS = (
    "groups", "written_invalid", "invalid", "failed", "timed_out", "valid",
    "same_loads", "same_each", "better", "worse", "same_moves", "fewer", "more",
)  # fmt: skip
# `COUNTS` by (assignor as written, assignor as shipped, kind of groups).
Rows: TypeAlias = "dict[tuple[str, str, str], Counter[str]]"


def counts_of(written: Measured, shipped: Measured) -> Iterator[str]:
    """Yield the names of `COUNTS` in which a group counts, by the results of two assignors."""
    if written.status == "refused":
        return
    yield "groups"
    if written.status != "valid":
        yield "written_invalid"
    if shipped.status != "valid":
        status = shipped.status.replace("-", "_")
        yield "failed" if status == "refused" else status
    if written.status != "valid" or shipped.status != "valid":
        return
    yield "valid"
    if sorted(written.loads) == sorted(shipped.loads):
        yield "same_loads"
    if written.loads == shipped.loads:
        yield "same_each"
    if shipped.balance != written.balance:
        yield "better" if shipped.balance < written.balance else "worse"
    elif shipped.moves == written.moves:
        yield "same_moves"
    else:
        yield "fewer" if shipped.moves < written.moves else "more"


SAME, TIES_ONLY = "same", "ties"
# Left out of the page, as it has the same pairs and nearly the same figures as `kip-615-amended`.
IN_THE_RECORDS_ONLY = "kip-615-constrained"


def cell(row: Counter[str] | None) -> str:
    """Return in words how a shipped assignor differs, in shares of the groups; "" if not compared.

    "same": all loads and numbers of moves are the same. "ties": the sorted loads are the same, but
    not those of each member.
    """
    if row is None:
        return ""
    if row["groups"] == row["valid"] == row["same_each"] == row["same_moves"]:
        return SAME
    parts = (
        (row["better"], "more even"),
        (row["worse"], "less even"),
        (row["fewer"], "fewer moves"),
        (row["more"], "more moves"),
        (row["invalid"], "not valid"),
        (row["failed"] + row["timed_out"], "no answer"),
    )
    said = [f"{words} {share(count, row['groups'])}" for count, words in parts if count]
    return ", ".join(said) or TIES_ONLY


def merged(names: Sequence[str]) -> str:
    """Return names as code, with all versions of an assignor behind one name."""
    versions: dict[str, list[str]] = {}
    for name in names:
        client, _, version = name.partition("@")
        versions.setdefault(client, []).append(version)
    return ", ".join(f"`{client}` {', '.join(found)}" for client, found in versions.items())


def matrix_of(written: str, rows: Rows) -> str:
    """Return the matrix of one assignor as written; those that never differ are listed below."""
    alike: dict[tuple[str, ...], list[str]] = {}
    for name in dict.fromkeys(name for one, name, _ in rows if one == written):
        cells = tuple(cell(rows.get((written, name, kind))) for kind in KINDS)
        alike.setdefault((bare(name), *cells), []).append(name)
    same, unlike = [], []
    for (_, *said), names in alike.items():
        if set(said) <= {SAME, TIES_ONLY, ""}:
            same += names
        else:
            unlike.append([merged(names), *said])
    parts = [f"### `{written}`"]
    if unlike:
        parts.append(table(["as shipped", *KINDS], unlike))
    if same:
        parts.append(f"No difference but in ties: {merged(same)}.")
    return "\n\n".join(parts)


def page_of(records: Iterable[Mapping[str, str]]) -> str:
    """Return the generated part of the page: the kinds of groups, and the matrices."""
    rows = rows_in(records)
    sizes = dict.fromkeys(KINDS, 0)
    for (_, _, kind), row in rows.items():
        sizes[kind] = max(sizes[kind], row["groups"])
    kinds = "\n".join(
        f"- *{kind}*, {sizes[kind]:,} groups: {text}" for kind, text in KINDS.items()
    )
    shown = dict.fromkeys(one for one, _, _ in rows if one != IN_THE_RECORDS_ONLY)
    return "\n\n".join([kinds, *(matrix_of(written, rows) for written in shown)])


# Names of the shipped assignors, without the client, that each assignor as written is compared to.
SHIPPED_AS = {
    "range": ("range",),
    "roundrobin": ("roundrobin", "RoundRobinAssigner"),
    "kip-54-sticky": ("sticky",),
    "kip-615-constrained": ("sticky", "cooperative-sticky"),
    "kip-615-amended": ("sticky", "cooperative-sticky"),
    "kip-429-cooperative": ("cooperative-sticky",),
    "sticky-that-ends": ("sticky",),
}


def pairs(names: Iterable[str]) -> list[tuple[str, str]]:
    """Return the (as written, as shipped) pairs to compare."""
    shipped = list(names)
    return [
        (written, name)
        for written, kept in SHIPPED_AS.items()
        for name in shipped
        if bare(name).partition("/")[2] in kept
    ]


def compared(names: Sequence[str], total: int, *, seconds: float = 2.0) -> Rows:
    """Compare assignors as shipped with those as written, on at least `total` groups.

    Kinds without a group that is compared are left out.
    """
    kinds = seeded(total)
    groups = [group for found in kinds.values() for group in found]
    kind_of = [kind for kind, found in kinds.items() for _ in found]
    every = dict.fromkeys([*(one for one, _ in pairs(names)), *names])
    by_name = measured(every, groups, seconds=seconds)
    rows: Rows = defaultdict(Counter)
    for written, shipped in pairs(names):
        for kind, *both in zip(kind_of, by_name[written], by_name[shipped], strict=True):
            rows[written, shipped, kind].update(counts_of(*both))
    return {key: row for key, row in rows.items() if row["groups"]}


KEY = ("written", "shipped", "kind")


def rows_in(records: Iterable[Mapping[str, str]]) -> Rows:
    """Return the rows that records hold."""
    return {
        (one["written"], one["shipped"], one["kind"]): Counter({k: int(one[k]) for k in COUNTS})
        for one in records
    }


def run(many: int) -> None:
    """Compare again, on so many groups."""
    names = dict.fromkeys(shipped for _, shipped in pairs(assignors()))
    rows = compared(called_here(names), many)
    records: list[dict[str, Cell]] = [
        {**dict(zip(KEY, key, strict=True)), **{name: row[name] for name in COUNTS}}
        for key, row in rows.items()
    ]
    write(FOLDER / "differential.csv", records)
