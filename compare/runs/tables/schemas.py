"""Columns, types and units of the tables that a run leaves: stated once."""

from __future__ import annotations

import pyarrow as pa

from groups.columnar.layout import LAYOUT

TERMS = pa.list_(pa.struct([("name", pa.string()), ("value", pa.int64()), ("bound", pa.int64())]))
EXCESSES = pa.list_(
    pa.struct(
        [
            ("name", pa.string()),
            ("value", pa.int64()),
            ("excess", pa.int64()),  # null after the first tier that differs, and where open
            ("excess_from", pa.int64()),  # the interval where the optimum is not proved
            ("excess_to", pa.int64()),
        ]
    )
)

STAGES = pa.list_(pa.struct([("stage", pa.string()), ("seconds", pa.float64())]))

# Of the assignment that a group has now, as `compare.verdict.Verdict` says it; and how many
# partitions move to the best that can be had.
VERDICT = pa.struct(
    [
        ("says", pa.string()),
        ("sure", pa.bool_()),
        ("tier", pa.string()),
        ("at_least", pa.int64()),
        ("at_most", pa.int64()),
        ("moves", pa.int64()),
        ("condition", pa.string()),
        ("question", pa.string()),
        ("to_move", pa.int64()),
    ]
)

TABLES = {
    "groups": pa.schema(
        [
            *LAYOUT,
            ("key", pa.string()),
            ("source", pa.string()),
            ("place", pa.string()),  # the source, and the line where it has several
            ("n_members", pa.int64()),
            ("n_topics", pa.int64()),
            ("n_partitions", pa.int64()),
            ("equal_subscriptions", pa.bool_()),
        ]
    ),
    "optima": pa.schema(
        [
            ("group", pa.string()),
            ("key", pa.string()),
            ("captured_at", pa.string()),  # ISO 8601, null where it is not known
            ("group_key", pa.string()),
            ("objective", pa.string()),
            ("status", pa.string()),
            ("reason", pa.string()),
            ("stopped", pa.string()),
            ("method", pa.string()),
            ("seconds", pa.float64()),
            ("terms", TERMS),
            ("proof", pa.string()),  # kind of proof
            ("assumed", pa.list_(pa.string())),
            ("loads", pa.list_(pa.int64())),  # partitions per member, in the order of ids
            ("verdict", VERDICT),  # null where the group could not be judged
        ]
    ),
    "scores": pa.schema(
        [
            ("group", pa.string()),
            ("key", pa.string()),
            ("captured_at", pa.string()),  # ISO 8601, null where it is not known
            ("group_key", pa.string()),
            ("objective", pa.string()),
            ("assignor", pa.string()),
            ("status", pa.string()),
            ("reason", pa.string()),
            ("valid", pa.bool_()),
            ("balanced", pa.bool_()),  # KIP-54's own predicate
            ("terms", EXCESSES),
            ("rounds", pa.int64()),
            ("revoked", pa.int64()),
            ("seconds", pa.float64()),
            ("loads", pa.list_(pa.int64())),
        ]
    ),
    "failures": pa.schema(
        [
            ("group", pa.string()),
            ("key", pa.string()),
            ("captured_at", pa.string()),  # ISO 8601, null where it is not known
            ("source", pa.string()),
            ("place", pa.string()),
            ("reason", pa.string()),
        ]
    ),
    # Of the input, so that what was read is not read again.
    "parts": pa.schema(
        [
            ("key", pa.string()),  # of its content, and what was taken as given in reading it
            ("bytes", pa.int64()),  # that it has to read
            ("groups", pa.list_(pa.string())),  # keys of what it came to
            ("failures", pa.list_(pa.string())),
        ]
    ),
    "runs": pa.schema(
        [
            ("run", pa.string()),  # with it the names of the files begin that the run wrote
            ("started_at", pa.string()),  # ISO 8601
            ("ended", pa.string()),  # done, failed or interrupted
            ("reason", pa.string()),  # why it failed, else null
            ("version", pa.string()),
            ("commit", pa.string()),  # of the clone, + where files differ from it; else null
            ("solvers", pa.list_(pa.string())),  # each with its version
            ("python", pa.string()),
            ("processor", pa.string()),  # of the machine that started the run, and its cores
            ("master", pa.string()),  # of Spark
            ("cores", pa.int64()),  # tasks at once
            ("input", pa.string()),
            ("objective", pa.string()),
            ("assignors", pa.list_(pa.string())),
            ("time_limit_seconds", pa.float64()),
            ("assume_equal", pa.bool_()),
            ("reset", pa.string()),
            ("seed", pa.int64()),  # of random searches
            ("groups", pa.int64()),  # captures of groups in the input
            ("missing", pa.int64()),  # of these, how many lacked a row
            ("proved", pa.int64()),  # of these, how many have a proved optimum
            ("failed", pa.int64()),  # how many the run could not solve
            ("failures", pa.int64()),  # inputs that are no group
            ("files", pa.int64()),  # that the run wrote, and what is in them
            ("rows", pa.int64()),
            ("bytes", pa.int64()),
            ("seconds", pa.float64()),
            ("stages", STAGES),  # where the seconds went, of all cores together
        ]
    ),
    # What the others come to, in a bounded number of rows; `statistic` says what a row counts.
    "aggregates": pa.schema(
        [
            ("state", pa.string()),  # key of the files that they were made of
            ("objective", pa.string()),
            ("statistic", pa.string()),
            ("family", pa.string()),  # file of many groups, or folder, that the groups are from
            ("assignor", pa.string()),
            ("tier", pa.string()),
            ("label", pa.string()),  # what is counted: a verdict, a status, a reason
            ("group", pa.string()),
            ("group_key", pa.string()),
            ("optimum_key", pa.string()),  # of the row in ``optima``
            ("captured_at", pa.string()),
            ("x", pa.float64()),
            ("y", pa.float64()),
            ("count", pa.int64()),  # of groups
            ("total", pa.float64()),  # sum of a value over them
            ("most", pa.float64()),  # the greatest
        ]
    ),
}
