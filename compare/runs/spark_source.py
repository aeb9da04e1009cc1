"""Spark source: the data source ``assay``, for who has Spark."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def spark_source(spark: SparkSession) -> SparkSession:
    """Register the data source ``assay`` with a session, and return the session.

    ``spark.read.format("assay").load(PATH)`` is then a DataFrame of the groups in a file or a
    folder, a row each; its columns and options are in docs/reference/data-source.md.

    Raises
    ------
    BadInput
        Where PySpark 4 or what it needs is missing.
    """
    from groups.extras import require

    require("pyspark", "pyarrow", "pandas", extra="spark")
    from compare.runs.source.spark import GroupSource

    spark.dataSource.register(GroupSource)
    return spark
