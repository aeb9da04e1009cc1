"""Facts: partial sums over optima and scores of groups, which add up to ``aggregates``.

Spark passes all rows of a group to one task. Each task adds up its groups in Arrow, and its facts
are added to those of the other tasks.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from datetime import date
from itertools import groupby
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from compare.fleet.tables import RUN, TABLES, first_of
from compare.history import LEAST_CAPTURES, Capture, changes_of
from compare.overview import GUESSES, NOT_JUDGED
from compare.scores import COUNTED, CURRENT
from compare.verdict import (
    BAD,
    BETTER_EXISTS,
    EMPTY,
    EVEN_LAGGING,
    GOOD,
    NOBODY_READS,
    WORST_FIRST,
    urgency,
)
from groups.collection import file_order, latest_in, of_one_time
from groups.documents.json_files import END_OF_LINES
from groups.errors import BadInput
from groups.wording import MOST_NAMED

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from groups.arrays import Floats
    from groups.tiers import Objective

PLACE = ("source", "place")
EVERY = "every"
OTHERS = "other families"
ONE_TIME = "one time"
# ``<fact> unknown`` counts groups with a valid assignment for which the fact is not known.
UNKNOWN = "unknown"
# So many groups a page has in a line each.
MOST_WORST = 1_000
# Each family keeps this many of its most frequent texts, and of its greatest changes.
MOST_TEXTS = 100
TEXTS = ("assumed", "reason", NOT_JUDGED, ONE_TIME)
# Rows that a task adds up at once, roughly.
ROWS_AT_ONCE = 2**17
# (days, characters): captures at most so many days apart are shown by minute, hour, day, month.
DIGITS = ((0, 16), (14, 13), (400, 10), (10**9, 7))
# Integers up to this one have a bin each.
EXACT = 64
PER_DOUBLING = 16

_EXCESSES = ("excess", "excess_from", "excess_to")
# SQL for a group's family: its file if that holds many groups, else its folder.
FAMILY = f"""
    CASE WHEN substring_index(source, ', ', 1) RLIKE '(?i){END_OF_LINES}|[.]parquet$'
              THEN substring_index(source, ', ', 1)
         WHEN substring_index(source, ', ', 1) LIKE '%/%'
              THEN regexp_replace(substring_index(source, ', ', 1), '/[^/]*$', '')
         ELSE '.' END
"""
# SQL for the columns of `ROWS` from a row of ``optima`` or ``scores``; the other columns are null.
# `own` is whether this job makes such rows; they win over those of another version or time limit.
BOTH = {one: one for one in ("group", "group_key", "key", "status", RUN)}
OF_OPTIMA = {
    "family": FAMILY,
    "captured_at": "captured_at",
    **{one: one for one in PLACE},
    "lag": "lag",
    "known": "subscriptions_known",
    "assumed": "assumed",
    **{name: f"verdict.{name}" for name in ("says", "tier", "at_least", "waiting", "to_move")},
    "asked": "verdict.question IS NOT NULL",
    "less": "verdict.lag_now - verdict.lag_then",
}
SCORED = ("assignor", "reason", "seconds", *COUNTED)
OF_SCORES = {
    **{one: one for one in ("n_partitions", *SCORED)},
    **{one: f"terms.{one}" for one in _EXCESSES},
}
_OF_ROWS: Mapping[str, pa.DataType] = {
    **dict.fromkeys(("lag", "at_least", "waiting", "to_move", "less", "n_partitions"), pa.int64()),
    **dict.fromkeys(("own", "known", "asked"), pa.bool_()),
    **dict.fromkeys(_EXCESSES, pa.list_(pa.int64())),
    "assumed": pa.list_(pa.string()),
    **{name: TABLES["scores"].field(name).type for name in SCORED},
}
ROWS = pa.schema(
    [(name, _OF_ROWS.get(name, pa.string())) for name in (*BOTH, "own", *OF_OPTIMA, *OF_SCORES)]
)
FACTS = pa.schema([f for f in TABLES["aggregates"] if f.name not in ("state", "objective")])
# Facts that are equal in these columns are added up, except statistics on single groups.
ALIKE = ("statistic", "family", "assignor", "tier", "label", "captured_at", "x", "y")
ALONE = pa.array(["worst", "change"])
# Verdicts of which the names of groups are counted.
NAMED = (NOBODY_READS, *BAD)
ADDED = {"count": "sum", "total": "sum", "most": "max", "group": "min"}


@dataclass(frozen=True)
class Breakdown:
    """How facts are broken down.

    Attributes
    ----------
    tiers : the objective
    families : the families to keep apart; all others are one. None: keep all apart
    digits : characters of a time of capture that make a point of the trend
    """

    tiers: Objective
    families: frozenset[str] | None
    digits: int


def facts_in(breakdown: Breakdown, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Yield the facts of `ROWS`, added up; the batches hold all rows of their groups."""
    yield from added_up(facts_of(breakdown, pa.Table.from_batches(batches, ROWS))).to_batches()


def facts_of(breakdown: Breakdown, rows: pa.Table) -> pa.Table:
    """Return the facts of `ROWS`, not added up yet; the table holds all rows of its groups."""
    return pa.concat_tables(_facts_of_groups(breakdown, one_row_each(rows).combine_chunks()))


def one_row_each(rows: pa.Table) -> pa.Table:
    """Return one row for each group's optimum, and one for each of its assignors.

    Rows of this job win over rows of another time limit or version, then later over earlier runs.
    """
    order = [("own", "descending"), (RUN, "descending"), ("key", "ascending")]
    return first_of(rows, ("group", "group_key", "assignor"), order, 1)


def added_up(facts: pa.Table) -> pa.Table:
    """Add up facts that are equal in `ALIKE`; keep the most urgent groups of each family."""
    alone = pc.is_in(facts["statistic"], value_set=ALONE)
    sums = added_by(facts.filter(pc.invert(alone)), ALIKE)
    worst = facts.filter(pc.equal(facts["statistic"], "worst"))
    changes = facts.filter(pc.equal(facts["statistic"], "change"))
    changes = changes.append_column("_less", pc.subtract(changes["x"], changes["y"]))
    by, order = ("family", "label"), [("_less", "ascending"), ("group", "ascending")]
    changes = first_of(changes, by, order, MOST_TEXTS).drop_columns("_less")
    return pa.concat_tables([_as_facts(sums), worst_of(worst, "family", MOST_WORST), changes])


def added_by(facts: pa.Table, by: Sequence[str]) -> pa.Table:
    """Add up facts that are equal in some columns."""
    found = facts.group_by([*by], use_threads=False).aggregate([*ADDED.items()])
    return found.rename_columns([*by, *ADDED])


def most_frequent_texts(facts: pa.Table) -> pa.Table:
    """Drop all but the most frequent texts of each family; the facts are already added up."""
    many = pc.is_in(facts["statistic"], value_set=pa.array(TEXTS))
    order = [("count", "descending"), ("label", "ascending"), ("assignor", "ascending")]
    texts = first_of(facts.filter(many), ("statistic", "family"), order, MOST_TEXTS)
    return pa.concat_tables([facts.filter(pc.invert(many)), texts])


def worst_of(worst: pa.Table, by: str, most: int) -> pa.Table:
    """Return the most urgent groups, in the order of `compare.verdict.urgency`.

    The first groups of each sort that a sentence names are always among them.

    Parameters
    ----------
    worst : rows of the statistic ``worst``
    by : `most` groups are kept for each value of this column

    Raises
    ------
    BadInput
        If a verdict is none of this version's.
    """
    for says in pc.unique(worst["label"]).to_pylist():
        if says not in WORST_FIRST:
            raise BadInput(
                f"the tables have the verdict {says!r} of another version: assay run fills "
                "another folder"
            )
    columns = ("label", "most", "x", "y", "total", "group", "captured_at", "optimum_key", by)
    rows = [*zip(*(worst[name].to_pylist() for name in columns), strict=True)]

    def order(at: int) -> tuple[object, ...]:
        label, *numbers, group, time, key, _ = rows[at]
        tier, above, to_move, less = (one or 0 for one in numbers)
        return *urgency(label, tier, above, to_move, less, group, time or ""), key

    seen: Counter[object] = Counter()
    kept = []
    for at in sorted(range(len(rows)), key=order):
        label, _, _, _, less, *_, alike = rows[at]
        sort = EVEN_LAGGING if label == GOOD and less else label
        seen.update((alike, (alike, sort)))
        is_named = sort in (*NAMED, EVEN_LAGGING) and seen[alike, sort] <= MOST_NAMED
        if is_named or seen[alike] <= most:
            kept.append(at)
    return worst.take(pa.array(kept, pa.int64()))


def _facts_of_groups(breakdown: Breakdown, rows: pa.Table) -> Iterator[pa.Table]:
    """Yield the facts of whole groups.

    If a group was captured several times, the last capture counts; the others make its changes.
    """
    if breakdown.families is not None:
        is_kept = pc.is_in(
            rows["family"], value_set=pa.array(sorted(breakdown.families), pa.string())
        )
        at = rows.schema.get_field_index("family")
        rows = rows.set_column(at, "family", pc.if_else(is_kept, rows["family"], OTHERS))
    is_optimum = pc.is_null(rows["assignor"])
    optima, scores = rows.filter(is_optimum), rows.filter(pc.invert(is_optimum))
    places = zip(*(pc.fill_null(optima[one], "").to_pylist() for one in PLACE), strict=True)
    # Of answers on one capture, such as with and without an assumption, this job's come last.
    order = [-at for _, at in sorted((file_order(*one), -at) for at, one in enumerate(places))]
    optima = optima.take(pa.array(order, pa.int64()))
    now = _latest(optima, "group")
    yield from _facts_of_optima(optima, now, breakdown)
    yield from _facts_of_changes(optima)
    # A score's family is that of its optimum.
    at = pc.index_in(scores["group_key"], now["group_key"].combine_chunks())
    family = scores.schema.get_field_index("family")
    scores = scores.set_column(family, "family", now["family"].take(at)).filter(pc.is_valid(at))
    yield from _facts_of_scores(scores, breakdown.tiers)
    yield from _facts_of_times(scores)


def _fact(
    statistic: str, rows: pa.Table, value: pa.ChunkedArray | None = None, **by: Any
) -> pa.Table:
    """Return a fact for each family and each combination of the columns `by`.

    It holds the number of rows, the sum and the maximum of `value`, and the first group's name.
    """
    every = {"family": rows["family"], **by}
    columns = {
        name: pa.repeat(pa.scalar(one), len(rows)) if isinstance(one, str) else one
        for name, one in every.items()
    }
    numbers = pa.nulls(len(rows)) if value is None else value
    added = {"group": rows["group"], "value": numbers.cast(pa.float64(), safe=False)}
    table = pa.table({**columns, **added})
    sums = [([], "count_all"), ("value", "sum"), ("value", "max"), ("group", "min")]
    found = table.group_by([*columns], use_threads=False).aggregate(sums)
    return _as_facts(found.rename_columns([*columns, *ADDED]), statistic)


def _as_facts(rows: pa.Table, statistic: str | None = None) -> pa.Table:
    """Return rows in the columns of `FACTS`; a column that is missing is null."""
    if statistic is not None:
        rows = rows.append_column("statistic", pa.repeat(pa.scalar(statistic), len(rows)))
    names = {*rows.column_names}
    columns = {
        field.name: rows[field.name].cast(field.type, safe=False)
        if field.name in names
        else pa.nulls(len(rows), field.type)
        for field in FACTS
    }
    return pa.table(columns, FACTS)


def _facts_of_optima(optima: pa.Table, now: pa.Table, breakdown: Breakdown) -> Iterator[pa.Table]:
    """Yield facts on optima: on all captures, and on each group's capture that counts, `now`."""
    yield _fact("verdict", now, _to_move(now), label=now["says"])
    dated = optima.filter(pc.is_valid(optima["captured_at"]))
    at = pc.utf8_slice_codeunits(dated["captured_at"], 0, breakdown.digits)
    # A group that was captured several times in one hour counts once in it.
    dated = _latest(dated.append_column("point", at), "group", "point")
    by = {"label": dated["says"], "captured_at": dated["point"]}
    yield _fact("trend", dated, _to_move(dated), **by)
    says = pc.fill_null(now["says"], EMPTY[0])
    judged = now.filter(pc.invert(pc.is_in(says, value_set=pa.array(EMPTY))))
    assumed = now["assumed"].combine_chunks()
    lines, of_row = assumed.flatten(), pc.list_parent_indices(assumed)
    rely_on = {
        guess: pc.unique(of_row.filter(pc.match_substring(lines, guess))) for guess in GUESSES
    }
    captures = [*zip(*(optima[one].to_pylist() for one in ("group", "captured_at")), strict=True)]
    is_shared = [at for at in of_one_time(captures) if captures[at][1] is not None]
    shared = optima.take(pa.array(is_shared, pa.int64()))
    counts = {
        "captured": optima,
        "proved": optima.filter(pc.equal(optima["status"], "optimal")),
        "judged": judged,
        "unknown": judged.filter(pc.invert(judged["known"])),
        "questions": now.filter(now["asked"]),
        ONE_TIME: shared,
        **{guess: now.take(those) for guess, those in rely_on.items()},
    }
    for label, counted in counts.items():
        yield _fact("groups", counted, label=label)
    yield _fact("assumed", now.select(["family", "group"]).take(of_row), label=lines)
    without = now.filter(pc.is_null(now["says"]))
    yield _fact(NOT_JUDGED, without, label=without["group"])
    yield _fact(ONE_TIME, shared, label=shared["group"])
    lags = pc.and_(pc.equal(now["says"], GOOD), pc.is_valid(now["less"]))
    named = {EVERY: optima, EVEN_LAGGING: now.filter(lags)}
    named |= {one: now.filter(pc.equal(now["says"], one)) for one in NAMED}
    for label, those in named.items():
        # A name counts for the first family that has it, so that sums over families are right.
        names = those.group_by("group", use_threads=False).aggregate([("family", "min")])
        yield _fact("names", names.rename_columns(["group", "family"]), label=label)
    with_verdict = now.filter(pc.is_valid(now["says"]))
    same = ("family", "group", "group_key", "captured_at")
    worst = {
        **{name: with_verdict[name] for name in same},
        "label": with_verdict["says"],
        "optimum_key": with_verdict["key"],
        "x": pc.coalesce(with_verdict["at_least"], with_verdict["waiting"]),
        "y": _to_move(with_verdict),
        "total": with_verdict["less"],
        "most": pc.index_in(with_verdict["tier"], value_set=pa.array(breakdown.tiers)),
        "count": pa.repeat(pa.scalar(1), len(with_verdict)),
    }
    yield _as_facts(pa.table(worst), "worst")


def _latest(optima: pa.Table, *by: str) -> pa.Table:
    """Return the captures that count of each class of rows that are equal in some columns."""
    classes = zip(*(optima[name].to_pylist() for name in by), strict=True)
    counting = latest_in([*zip(classes, optima["captured_at"].to_pylist(), strict=True)])
    return optima.take(pa.array(counting, pa.int64()))


def _to_move(optima: pa.Table) -> pa.ChunkedArray:
    """(groups,) partitions to move, null for groups that are not improvable."""
    is_improvable = pc.is_in(optima["says"], value_set=pa.array(BETTER_EXISTS))
    return pc.if_else(is_improvable, optima["to_move"], None)


def _facts_of_changes(optima: pa.Table) -> Iterator[pa.Table]:
    """Yield the changes of groups that were captured several times, and their numbers.

    In a change, `x` and `y` are the first and the last value, `count` the number of captures, and
    `captured_at` the time of the first one after a step.
    """
    columns = ["group", "family", *Capture._fields]
    rows = optima.filter(pc.is_valid(optima["captured_at"])).select(columns)
    many = rows.group_by("group", use_threads=False).aggregate([([], "count_all")])
    series = many.filter(pc.greater_equal(many["count_all"], LEAST_CAPTURES))["group"]
    rows = rows.filter(pc.is_in(rows["group"], series.combine_chunks())).sort_by("group")
    found: list[dict[str, Any]] = []
    for name, same in groupby(rows.to_pylist(), lambda row: row["group"]):
        captured = [*same]
        family = min(row["family"] for row in captured)
        captures = (Capture(*(row[of] for of in Capture._fields)) for row in captured)
        for one in changes_of(name, captures):
            numbers = {"x": float(one.first), "y": float(one.last), "count": one.captures}
            about = {"label": one.what, "group": name, "captured_at": one.since}
            found.append({"family": family, **about, **numbers})
    if found:
        changes = pa.Table.from_pylist(found)
        yield _as_facts(changes, "change")
        yield _fact("changes", changes, label=changes["label"])


def _facts_of_scores(scores: pa.Table, tiers: Objective) -> Iterator[pa.Table]:
    is_scored = pc.equal(scores["status"], "scored")
    all_zero = none_above = pc.is_valid(scores["excess"])
    for number, tier in enumerate(tiers):
        # Null if a list is shorter.
        excess, low, high = (
            pc.list_slice(lists, number, number + 1, return_fixed_size_list=True).values
            for lists in (scores[name].combine_chunks() for name in _EXCESSES)
        )
        all_zero = pc.and_(all_zero, pc.fill_null(pc.equal(excess, 0), False))
        none_above = pc.and_(none_above, pc.less_equal(pc.coalesce(excess, low, 0), 0))
        # An assignor may beat an incumbent that is not proved: then the excess is open from 0.
        least = pc.coalesce(pc.max_element_wise(low, 0, skip_nulls=False), excess)
        for name, value in (("excess", least), ("excess_most", pc.coalesce(excess, high))):
            is_known = pc.is_valid(value)
            known, value = scores.filter(is_known), value.filter(is_known)
            x = pa.array(integer_bins(np.asarray(value)))
            yield _fact(name, known, value, assignor=known["assignor"], tier=tier, x=x)
    counts = {
        "groups": is_scored,
        "unscored": pc.invert(is_scored),
        **{name: pc.and_(is_scored, scores[name].cast(pa.bool_())) for name in COUNTED},
        **{
            f"{name} {UNKNOWN}": pc.and_(scores["valid"], pc.is_null(scores[name]))
            for name in COUNTED
        },
        "optimal": all_zero,
        "maybe": pc.and_(scores["valid"], none_above),
    }
    for label, holds in counts.items():
        those = scores.filter(holds)
        yield _fact("assignor", those, assignor=those["assignor"], label=label)
    without = scores.filter(pc.invert(is_scored))
    reason = pc.coalesce(without["reason"], without["status"])
    why = pc.binary_join_element_wise(without["status"], reason, ": ")
    yield _fact("reason", without, assignor=without["assignor"], label=why)


def _facts_of_times(scores: pa.Table) -> Iterator[pa.Table]:
    """Yield facts on assignors' times: relative to the fastest, and by number of partitions."""
    timed = pc.and_(pc.equal(scores["status"], "scored"), pc.greater(scores["seconds"], 0.0))
    timed = pc.and_(timed, pc.greater(scores["n_partitions"], 0))
    rows = scores.filter(pc.and_(timed, pc.not_equal(scores["assignor"], CURRENT)))
    if not len(rows):
        return
    groups = rows.group_by(["group_key", "family", "group"], use_threads=False)
    groups = groups.aggregate([("seconds", "min")])
    yield _fact("timed groups", groups)
    at = pc.index_in(rows["group_key"], groups["group_key"].combine_chunks())
    seconds, partitions = rows["seconds"].to_numpy(), rows["n_partitions"].to_numpy()
    times = bin_of(seconds / groups["seconds_min"].take(at).to_numpy())
    yield _fact("times the fastest", rows, assignor=rows["assignor"], x=pa.array(times))
    size = 10 ** np.maximum(np.char.str_len(partitions.astype(str)) - 2, 0)
    sized = {"x": pa.array(partitions // size * size), "y": pa.array(bin_of(seconds))}
    yield _fact("seconds by partitions", rows, assignor=rows["assignor"], **sized)


def bin_of(values: Floats) -> Floats:
    """Return the upper ends of the bins of values above 0, with `PER_DOUBLING` bins per doubling.

    A cumulative count at the end of a bin is exact.
    """
    found: Floats = 2 ** (np.ceil(PER_DOUBLING * np.log2(values)) / PER_DOUBLING)
    return found


def integer_bins(values: Any) -> Floats:
    """Return the upper ends of the bins of integers from 0 on, which are integers themselves."""
    ends = np.floor(bin_of(np.maximum(values, 1).astype(float)))
    return np.where(values <= EXACT, values, ends).astype(float)


def digits_between(first: str, last: str) -> int:
    """Return how many characters of a time make up to some hundred points between two times.

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
