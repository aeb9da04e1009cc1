"""Facts: what optima and scores of groups come to, in partial sums that add up to ``aggregates``.

Spark passes all rows of a group to one task, those of groups one after the other. The task adds
them up in Arrow, and what it finds is added to what others find.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from dataclasses import dataclass, field
from datetime import date
from itertools import groupby
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from compare.fleet.tables import RUN, TABLES
from compare.history import GOOD, LEAST_CAPTURES, Capture, above_best, changes_of
from compare.overview import GUESSES, NAMED
from compare.scores import CURRENT
from compare.sentences import EVEN_LAGGING
from compare.verdict import EMPTY, WORST_FIRST
from groups.wording import MOST_NAMED

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from groups.arrays import Floats
    from groups.tiers import Objective

EVERY = "every"
OTHERS = "other families"
NOT_JUDGED = "not judged"
MOST_WORST = 1_000
# Of texts that may be many, the most frequent of each family; of changes, the greatest.
MOST_TEXTS = 100
TEXTS = ("assumed", "reason", NOT_JUDGED)
# Rows that are added up at once, about.
ROWS_AT_ONCE = 2**16
# Up to how many days apart captures are told to the minute, hour, day, month.
DIGITS = ((0, 16), (14, 13), (400, 10), (10**9, 7))
# Up to here each integer is a bin of its own.
EXACT = 64
PER_DOUBLING = 16

_EXCESSES = ("excess", "excess_from", "excess_to")
# Columns of a row of ``optima`` or ``scores``, in SQL. Others are null in it. `own` says whether
# this job makes such rows: those of another version or time limit come after them.
BOTH = ("group", "group_key", "source", "key", "status", RUN)
OF_OPTIMA = {
    "captured_at": "captured_at",
    "lag": "lag",
    "known": "subscriptions_known",
    "assumed": "assumed",
    **{name: f"verdict.{name}" for name in ("says", "tier", "at_least", "waiting", "to_move")},
    "asked": "verdict.question IS NOT NULL",
    "less": "verdict.lag_now - verdict.lag_then",
}
OF_SCORES = {
    **{one: one for one in ("assignor", "n_partitions", "reason", "valid", "balanced", "seconds")},
    **{one: f"terms.{one}" for one in _EXCESSES},
}
_OF_ROWS: Mapping[str, pa.DataType] = {
    **dict.fromkeys(("lag", "at_least", "waiting", "to_move", "less", "n_partitions"), pa.int64()),
    **dict.fromkeys(("own", "known", "asked", "valid", "balanced"), pa.bool_()),
    **dict.fromkeys(_EXCESSES, pa.list_(pa.int64())),
    "assumed": pa.list_(pa.string()),
    "seconds": pa.float64(),
}
ROWS = pa.schema(
    [(name, _OF_ROWS.get(name, pa.string())) for name in (*BOTH, "own", *OF_OPTIMA, *OF_SCORES)]
)
# Rows of ``aggregates`` that are alike in these add up.
FACTS = pa.schema([f for f in TABLES["aggregates"] if f.name not in ("state", "objective")])
ALIKE = ("statistic", "family", "assignor", "tier", "label", "captured_at", "x", "y")
_WORST = (
    "label", "x", "y", "total", "group", "captured_at", "optimum_key", "family", "group_key",
)  # fmt: skip


@dataclass(frozen=True)
class Asked:
    """What is added up.

    Attributes
    ----------
    families : that are told from each other; all others are one. None: all are
    digits : of times of capture that tell some hundred points from each other
    """

    tiers: Objective
    families: frozenset[str] | None
    digits: int


class Fact(NamedTuple):
    """What is counted: the columns in which rows that add up are alike."""

    statistic: str
    family: str | None
    assignor: str | None = None
    tier: str | None = None
    label: str | None = None
    captured_at: str | None = None
    x: float | None = None
    y: float | None = None


@dataclass
class Tally:
    """How many groups a fact holds of, the sum and the greatest of a value, the first name."""

    count: int = 0
    total: float | None = None
    most: float | None = None
    group: str | None = None

    def add(self, count: int, total: float | None, most: float | None, group: str | None) -> None:
        """Add what others count of the same fact."""
        self.count += count
        if total is not None:
            self.total = (self.total or 0.0) + total
        if most is not None:
            self.most = most if self.most is None else max(self.most, most)
        if group is not None:
            self.group = group if self.group is None else min(self.group, group)


@dataclass
class Sums:
    """Facts that are added up, and the groups that people want to see first.

    Attributes
    ----------
    worst : rows of ``aggregates``, of each family the first ones
    changes : likewise, of each kind of change
    """

    facts: defaultdict[Fact, Tally] = field(default_factory=lambda: defaultdict(Tally))
    worst: list[dict[str, Any]] = field(default_factory=list)
    changes: list[dict[str, Any]] = field(default_factory=list)

    def count(self, fact: Fact, alike: Mapping[str, Any], value: float | None = None) -> None:
        """Add a fact about as many rows as are alike, each with that value."""
        many = alike["count_all"]
        total = None if value is None else float(many * value)
        self.facts[fact].add(many, total, value, alike["group_min"])

    def add(self, rows: pa.RecordBatch) -> None:
        """Add rows of facts."""
        for row in rows.to_pylist():
            if row["statistic"] == "worst":
                self.worst.append(row)
            elif row["statistic"] == "change":
                self.changes.append(row)
            else:
                tally = self.facts[Fact(*(row[name] for name in ALIKE))]
                tally.add(row["count"], row["total"], row["most"], row["group"])

    def cut_worst(self) -> None:
        """Keep of the groups of each family the first ones."""
        families = {row["family"] for row in self.worst}
        self.worst = [
            row
            for family in families
            for row in worst_of((one for one in self.worst if one["family"] == family), MOST_WORST)
        ]

    def cut(self) -> None:
        """Keep of groups, changes and texts the first ones; all rows of a text are here."""
        self.cut_worst()
        self.changes = _first(
            self.changes,
            lambda row: (row["family"], row["label"]),
            lambda row: (row["x"] - row["y"], row["group"]),
            MOST_TEXTS,
        )
        texts = _first(
            [one for one in self.facts if one.statistic in TEXTS],
            lambda one: (one.statistic, one.family),
            lambda one: (-self.facts[one].count, one.label, one.assignor or ""),
            MOST_TEXTS,
        )
        kept = {one for one in self.facts if one.statistic not in TEXTS} | {*texts}
        for one in self.facts.keys() - kept:
            del self.facts[one]

    def done(self) -> pa.Table:
        """Return all of it, from all tasks, as rows of facts."""
        self.cut()
        for row in self.changes:
            many = self.facts[Fact("changes", row["family"], label=row["label"])]
            row["total"] = float(many.count)
        for one in [one for one in self.facts if one.statistic == "changes"]:
            del self.facts[one]
        return self.table()

    def table(self) -> pa.Table:
        """Return all of it as rows of facts."""
        rows = [{**one._asdict(), **vars(tally)} for one, tally in self.facts.items()]
        return pa.Table.from_pylist([*rows, *self.worst, *self.changes], FACTS)


def _first(
    rows: Iterable[Any],
    by: Callable[[Any], Any],
    order: Callable[[Any], Any],
    most: int,
) -> list[Any]:
    """Return the first rows in an order, so many of those that are alike."""
    alike: dict[Any, list[Any]] = {}
    for row in rows:
        alike.setdefault(by(row), []).append(row)
    return [row for some in alike.values() for row in sorted(some, key=order)[:most]]


def urgency(row: Mapping[str, Any]) -> tuple[object, ...]:
    """Return where a row of ``worst`` stands, as `compare.judged.worst_first` has it.

    By verdict, how far above the optimum, how many partitions to move, by how much lag could fall,
    name and time of capture.
    """
    rank, numbers = WORST_FIRST.index(row["label"]), (row["x"], row["y"], row["total"])
    above, to_move, less = (number or 0 for number in numbers)
    at = row["captured_at"] or ""
    return rank, -above, -to_move, -less, row["group"], at, row["optimum_key"]


def worst_of(rows: Iterable[dict[str, Any]], most: int) -> list[dict[str, Any]]:
    """Return the rows of ``worst`` that people want to see first, in that order.

    Of each sort of groups that a sentence names the first ones are there, too.
    """
    seen: Counter[str] = Counter()
    kept = []
    for number, row in enumerate(sorted(rows, key=urgency)):
        lags = row["label"] == GOOD and row["total"]
        sort = EVEN_LAGGING if lags else row["label"]
        seen[sort] += 1
        if number < most or ((lags or sort in NAMED) and seen[sort] <= MOST_NAMED):
            kept.append(row)
    return kept


def facts_in(asked: Asked, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Yield the facts of `ROWS`, of which those of a group stand one after the other."""
    sums = Sums()
    for rows in _whole_groups(batches):
        _add_up(asked, rows, sums)
        sums.cut_worst()
    yield from sums.table().to_batches()


def added_up(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Yield facts that are alike as one, and of those that may be many the first ones.

    Parameters
    ----------
    batches : of facts: of a statistic, a family and a label either all or none
    """
    sums = Sums()
    for rows in batches:
        sums.add(rows)
    sums.cut()
    yield from sums.table().to_batches()


def _whole_groups(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.Table]:
    """Yield rows in tables, all of a group in one."""
    held: list[pa.RecordBatch] = []
    size, most = 0, ROWS_AT_ONCE
    for batch in batches:
        held.append(batch)
        size += len(batch)
        if size >= most:
            rows = pa.Table.from_batches(held).combine_chunks()
            end = pc.index(rows["group"], rows["group"][-1]).as_py()
            if end:
                yield rows[:end]
            held, size = rows[end:].to_batches(), len(rows) - end
            # A group with many captures waits for all of them.
            most = ROWS_AT_ONCE + 2 * size
    if size:
        yield pa.Table.from_batches(held).combine_chunks()


def _add_up(asked: Asked, rows: pa.Table, sums: Sums) -> None:
    """Add what whole groups come to.

    Of a group that was captured several times the last capture counts, and how it went there.
    """
    rows = rows.append_column("family", _families(rows["source"], asked.families))
    is_optimum = pc.is_null(rows["assignor"])
    optima = _one_each(rows.filter(is_optimum), ["group_key"])
    scores = _one_each(rows.filter(pc.invert(is_optimum)), ["group_key", "assignor"])
    last = optima.group_by("group", use_threads=False).aggregate([("captured_at", "max")])
    latest = last["captured_at_max"].take(pc.index_in(optima["group"], last["group"]))
    is_now = pc.fill_null(pc.equal(optima["captured_at"], latest), True)
    optima = optima.append_column("now", is_now)
    now = optima.filter(is_now)
    _of_optima(optima, asked.digits, sums)
    _of_names(optima, sums)
    _worst(now, sums)
    _changes(optima, sums)
    scores = scores.filter(pc.is_in(scores["group_key"], now["group_key"].combine_chunks()))
    _of_scores(scores, asked.tiers, sums)
    _of_times(scores, sums)


def family_of(source: str) -> str:
    """Return where a group is from: a file of many, or else the folder.

    Examples
    --------
    >>> family_of("in/groups.jsonl"), family_of("in/a.txt, in/b.txt"), family_of("a.json")
    ('in/groups.jsonl', 'in', '.')
    """
    first = source.split(", ", 1)[0]
    if re.search(r"[.](jsonl|ndjson|parquet)$", first, re.I):
        return first
    above, slash, _ = first.rpartition("/")
    return above if slash else "."


def _families(sources: pa.ChunkedArray, told: frozenset[str] | None) -> pa.Array:
    coded = sources.combine_chunks().dictionary_encode()
    families = map(family_of, coded.dictionary.to_pylist())
    names = [one if told is None or one in told else OTHERS for one in families]
    return pa.array(names, pa.string()).take(coded.indices)


def _one_each(rows: pa.Table, by: list[str]) -> pa.Table:
    """Return one row of those that are alike: this job's, else that of the latest run.

    Runs with another time limit, or of another version, leave rows of their own.
    """
    if len(rows.group_by(by).aggregate([])) == len(rows):
        return rows
    rows = rows.append_column("_place", pa.array(range(len(rows)), pa.int64()))
    order = [("own", "descending"), (RUN, "descending"), ("key", "ascending")]
    ranked = rows.sort_by(order)
    ranked = ranked.append_column("_rank", pa.array(range(len(rows)), pa.int64()))
    firsts = ranked.group_by(by, use_threads=False).aggregate([("_rank", "min")])
    # Again one group after the other.
    kept = ranked.take(firsts["_rank_min"]).sort_by("_place")
    return kept.drop_columns(["_place", "_rank"])


def _alike(rows: pa.Table, columns: Mapping[str, Any] | None = None) -> list[dict[str, Any]]:
    """Return what some rows are alike in, how many there are, and the first name of a group."""
    by = {"family": rows["family"], **(columns or {})}
    told = pa.table({"group": rows["group"], **by}).group_by([*by], use_threads=False)
    found: list[dict[str, Any]] = told.aggregate([([], "count_all"), ("group", "min")]).to_pylist()
    return found


def _of_optima(optima: pa.Table, digits: int, sums: Sums) -> None:
    assumed = optima["assumed"].combine_chunks()
    of_row, lines = pc.list_parent_indices(assumed), assumed.flatten()
    columns = {
        "says": optima["says"],
        "moves": _to_move(optima),
        "at": pc.utf8_slice_codeunits(optima["captured_at"], 0, digits),
        "now": optima["now"],
        "proved": pc.equal(optima["status"], "optimal"),
        "known": optima["known"],
        "asked": optima["asked"],
    }
    for said in GUESSES:
        rests = np.zeros(len(optima), bool)
        rests[np.asarray(of_row.filter(pc.match_substring(lines, said)))] = True
        columns[said] = pa.array(rests)
    for row in _alike(optima, columns):
        family, says, now = row["family"], row["says"], row["now"]
        if now:
            sums.count(Fact("verdict", family, label=says), row, row["moves"])
        if row["at"] is not None:
            sums.count(Fact("trend", family, label=says, captured_at=row["at"]), row, row["moves"])
        judged = now and says is not None and says not in EMPTY
        labels = {
            "captured": True,
            "proved": row["proved"],
            "judged": judged,
            "unknown": judged and row["known"] is False,
            "questions": now and row["asked"],
            **{said: now and row[said] for said in GUESSES},
        }
        for label, holds in labels.items():
            if holds:
                sums.count(Fact("groups", family, label=label), row)
    told = optima.select(["family", "group", "now"]).take(of_row).append_column("line", lines)
    told = told.filter(told["now"])
    for row in _alike(told, {"line": told["line"]}):
        sums.count(Fact("assumed", row["family"], label=row["line"]), row)
    without = optima.filter(pc.and_(optima["now"], pc.is_null(optima["says"])))
    for row in _alike(without, {"name": without["group"]}):
        sums.count(Fact(NOT_JUDGED, row["family"], label=row["name"]), row)


def _to_move(optima: pa.Table) -> pa.ChunkedArray:
    """(groups,) partitions to move, null of those that are not improvable."""
    return pc.if_else(pc.equal(optima["says"], "improvable"), optima["to_move"], None)


def _of_names(optima: pa.Table, sums: Sums) -> None:
    """Count each name of a group, and each of those with a verdict to name.

    A name counts for the first family that has it, so that those of several families add up.
    """
    now = optima.filter(optima["now"])
    rows_of: dict[str, Any] = {
        EVERY: optima,
        **{one: now.filter(pc.equal(now["says"], one)) for one in NAMED},
    }
    lags = pc.and_(pc.equal(now["says"], GOOD), pc.is_valid(now["less"]))
    rows_of[EVEN_LAGGING] = now.filter(lags)
    for label, rows in rows_of.items():
        names = rows.group_by("group", use_threads=False).aggregate([("family", "min")])
        names = names.rename_columns(["group", "family"])
        for row in _alike(names):
            sums.count(Fact("names", row["family"], label=label), row)


def _worst(optima: pa.Table, sums: Sums) -> None:
    """Add the groups that people want to see first, of each family."""
    optima = optima.filter(pc.is_valid(optima["says"]))
    above = pc.coalesce(optima["at_least"], optima["waiting"])
    rank = pc.index_in(optima["says"], pa.array(WORST_FIRST))
    told = pa.table(
        {
            "rank": rank,
            "above": pc.negate(pc.fill_null(above, 0)),
            "more": pc.negate(pc.fill_null(_to_move(optima), 0)),
            "lags": pc.negate(pc.fill_null(optima["less"], 0)),
            "at": pc.fill_null(optima["captured_at"], ""),
            "label": optima["says"],
            "x": above.cast(pa.float64()),
            "y": _to_move(optima).cast(pa.float64()),
            "total": optima["less"].cast(pa.float64()),
            "optimum_key": optima["key"],
            **{one: optima[one] for one in ("family", "group", "group_key", "captured_at")},
        }
    )
    order = ("rank", "above", "more", "lags", "group", "at", "optimum_key")
    told = told.sort_by([(one, "ascending") for one in order])
    lags = pc.and_(pc.equal(told["label"], GOOD), pc.greater(told["total"], 0))
    sorts = {one: pc.equal(told["label"], one) for one in NAMED} | {EVEN_LAGGING: lags}
    for family in pc.unique(told["family"]).to_pylist():
        is_here = pc.equal(told["family"], family)
        chosen = [pc.indices_nonzero(is_here)[:MOST_WORST]]
        for is_so in sorts.values():
            of_sort = pc.indices_nonzero(pc.fill_null(pc.and_(is_here, is_so), False))
            chosen.append(of_sort[:MOST_NAMED])
        first = told.take(pc.unique(pa.chunked_array(chosen)))
        for row in first.select(_WORST).to_pylist():
            sums.worst.append({"statistic": "worst", "count": 1, **row})


def _changes(optima: pa.Table, sums: Sums) -> None:
    """Add how groups went that were captured several times.

    `x` and `y` are the first and the last value; `count` how many captures there are.
    """
    columns = ["group", "captured_at", "says", "tier", "at_least", "lag", "family"]
    rows = optima.filter(pc.is_valid(optima["captured_at"])).select(columns)
    many = rows.group_by("group", use_threads=False).aggregate([([], "count_all")])
    series = many.filter(pc.greater_equal(many["count_all"], LEAST_CAPTURES))["group"]
    rows = rows.filter(pc.is_in(rows["group"], series.combine_chunks()))
    for name, some in groupby(rows.to_pylist(), lambda row: row["group"]):
        captures = [*some]
        family = min(row["family"] for row in captures)
        for one in changes_of(
            name,
            (
                Capture(
                    row["captured_at"],
                    row["says"],
                    above_best(row["says"], row["tier"], row["at_least"]),
                    row["lag"],
                )
                for row in captures
            ),
        ):
            told = {"family": family, "label": one.what, "group": name}
            numbers = {"x": float(one.first), "y": float(one.last), "count": one.captures}
            sums.changes.append({"statistic": "change", **told, **numbers})
            sums.facts[Fact("changes", family, label=one.what)].add(1, None, None, name)


def _of_scores(scores: pa.Table, tiers: Objective, sums: Sums) -> None:
    columns = {
        "assignor": scores["assignor"],
        "scored": pc.equal(scores["status"], "scored"),
        "why": pc.if_else(
            pc.equal(scores["status"], "scored"),
            None,
            pc.binary_join_element_wise(
                scores["status"], pc.fill_null(scores["reason"], "None"), ": "
            ),
        ),
        "valid": scores["valid"],
        "balanced": scores["balanced"],
        "has_terms": pc.is_valid(scores["excess"]),
    }
    for number, tier in enumerate(tiers):
        excess, low, high = (_nth(scores[name].combine_chunks(), number) for name in _EXCESSES)
        columns[f"excess of {tier}"] = excess
        columns[f"low of {tier}"], columns[f"high of {tier}"] = low, high
    for row in _alike(scores, columns):
        family, assignor, scored = row["family"], row["assignor"], row["scored"]
        excesses = [row[f"excess of {tier}"] for tier in tiers]
        lows = [row[f"low of {tier}"] for tier in tiers]
        ends = zip(excesses, lows, strict=True)
        maybe = all((low or 0 if one is None else one) <= 0 for one, low in ends)
        labels = {
            "groups": scored,
            "unscored": not scored,
            "valid": scored and row["valid"],
            "balanced": scored and row["balanced"],
            "optimal": row["has_terms"] and all(one == 0 for one in excesses),
            "maybe": row["valid"] and row["has_terms"] and maybe,
        }
        for label, holds in labels.items():
            if holds:
                sums.count(Fact("assignor", family, assignor, label=label), row)
        if not scored:
            sums.count(Fact("reason", family, assignor, label=row["why"]), row)
        for tier, excess, low in zip(tiers, excesses, lows, strict=True):
            # An incumbent that a heuristic beats leaves the excess open from 0 on.
            least = excess if low is None else max(low, 0)
            most = row[f"high of {tier}"] if excess is None else excess
            for name, value in (("excess", least), ("excess_most", most)):
                if value is not None:
                    fact = Fact(name, family, assignor, tier, x=integer_bin(value))
                    sums.count(fact, row, value)


def _nth(lists: pa.ListArray, number: int) -> pa.Array:
    """(lists,) the item of that number from 0 in each list, null where there is none."""
    counts = np.asarray(pc.fill_null(pc.list_value_length(lists), 0))
    at = np.asarray(lists.offsets)[:-1] + number
    return lists.values.take(pa.array(at, mask=counts <= number))


def _of_times(scores: pa.Table, sums: Sums) -> None:
    """Count how many times the fastest an assignor took, and how long for groups of a size."""
    timed = pc.and_(pc.equal(scores["status"], "scored"), pc.greater(scores["seconds"], 0.0))
    timed = pc.and_(timed, pc.greater(scores["n_partitions"], 0))
    rows = scores.filter(pc.and_(timed, pc.not_equal(scores["assignor"], CURRENT)))
    if not len(rows):
        return
    groups = rows.group_by(["group_key", "family", "group"], use_threads=False)
    groups = groups.aggregate([("seconds", "min")])
    for row in _alike(groups):
        sums.count(Fact("timed groups", row["family"]), row)
    at = pc.index_in(rows["group_key"], groups["group_key"].combine_chunks())
    seconds = rows["seconds"].to_numpy()
    partitions = rows["n_partitions"].to_numpy()
    digits = np.char.str_len(partitions.astype(str))
    size = 10 ** np.maximum(digits - 2, 0)
    columns: dict[str, Any] = {
        "assignor": rows["assignor"],
        "times": bin_of(seconds / groups["seconds_min"].take(at).to_numpy()),
        "partitions": (partitions // size * size).astype(float),
        "took": bin_of(seconds),
    }
    for row in _alike(rows, columns):
        family, assignor = row["family"], row["assignor"]
        sums.count(Fact("times the fastest", family, assignor, x=row["times"]), row)
        sized = {"x": row["partitions"], "y": row["took"]}
        sums.count(Fact("seconds by partitions", family, assignor, **sized), row)


def bin_of(values: Floats) -> Floats:
    """Return the upper ends of the bins of values above 0: a few bins per doubling.

    What a distribution says there, "so many are at most this", is exact.
    """
    found: Floats = 2 ** (np.ceil(PER_DOUBLING * np.log2(values)) / PER_DOUBLING)
    return found


def integer_bin(value: int) -> float:
    """Return the same of an integer from 0 on."""
    return float(value) if value <= EXACT else float(np.floor(bin_of(np.array([value]))[0]))


def digits_between(first: str, last: str) -> int:
    """Return how many characters of a time tell some hundred points between two from each other.

    Examples
    --------
    >>> digits_between("2026-11-20T10:00:00Z", "2026-11-20T12:30:00Z")  # minutes
    16
    >>> digits_between("2026-11-20T10:00:00Z", "2027-02-20T10:00:00Z")  # days
    10
    """
    try:
        days = (date.fromisoformat(last[:10]) - date.fromisoformat(first[:10])).days
    except ValueError:
        return DIGITS[-1][1]
    return next(digits for most, digits in DIGITS if days <= most)
