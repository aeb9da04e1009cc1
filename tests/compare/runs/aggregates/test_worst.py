"""The order of the worst groups: by columns, to Spark, and of judged groups it is one."""

import random

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from compare.runs.aggregates.worst import ORDER_IN_SQL, first_of_each, measured, worst_first
from compare.runs.tables.schemas import VERDICT
from compare.verdict import WORST_FIRST


def rows_with_ties() -> pa.Table:
    """Every verdict with ties in all that it is sorted by, in no order."""
    drawn = random.Random(5)
    verdicts = [
        {"says": says, "sure": True, "at_least": at_least, "to_move": to_move}
        for says in WORST_FIRST
        for at_least in (None, 0, 2)
        for to_move in (None, 1, 12)
        for _ in range(3)
    ]
    drawn.shuffle(verdicts)
    count = len(verdicts)
    columns = {
        "group": [drawn.choice(["a", "b"]) for _ in range(count)],
        "captured_at": [
            drawn.choice([None, "2026-11-20T03:00:14Z", "2026-11-21T03:00:14Z"])
            for _ in range(count)
        ],
        "optimum_key": [f"{number:03}" for number in range(count)],
    }
    return pa.table({**columns, **measured(pa.array(verdicts, VERDICT))})


def urgency(row: dict) -> tuple:
    return (
        WORST_FIRST.index(row["label"]), -(row["x"] or 0), -(row["y"] or 0), row["group"],
        row["captured_at"] or "", row["optimum_key"],
    )  # fmt: skip


def test_more_partitions_to_move_come_first_among_groups_as_far_above_the_optimum():
    rows = rows_with_ties()
    ordered = rows.take(worst_first(rows)).to_pylist()
    assert ordered == sorted(rows.to_pylist(), key=urgency)
    assert {row["y"] for row in ordered if row["label"] != "improvable"} == {None}
    assert {row["y"] for row in ordered if row["label"] == "improvable"} == {None, 1, 12}


@pytest.mark.spark
def test_spark_has_the_same_order(spark, tmp_path):
    rows = rows_with_ties()
    pq.write_table(rows, tmp_path / "rows.parquet")
    order = ", ".join(ORDER_IN_SQL)
    query = f"SELECT optimum_key FROM parquet.`{tmp_path}/rows.parquet` ORDER BY {order}"
    found = spark.sql(query).toArrow()
    assert found["optimum_key"] == rows.take(worst_first(rows))["optimum_key"]


def test_of_each_value_the_first_rows_are_kept():
    values = pa.chunked_array([["b", "b"], ["b", "a", "c", "c"]])
    assert first_of_each(values, 2).tolist() == [True, True, False, True, True, True]
