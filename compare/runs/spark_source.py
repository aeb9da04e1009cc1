"""Spark source: the data source ``assay``, for who has Spark."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def spark_source(spark: SparkSession) -> None:
    """Register the data source ``assay`` with a session of Spark.

    ``spark.read.format("assay").load(PATH)`` is then a DataFrame of the groups in a file or a
    folder, a row each; its columns and options are in docs/reference/data-source.md.

    Raises
    ------
    BadInput
        Where PySpark 4 or what it needs is missing.

    Examples
    --------
    >>> from assay import spark_source
    >>> from pyspark.sql import SparkSession
    >>> spark = SparkSession.builder.getOrCreate()
    >>> spark_source(spark)
    >>> groups = spark.read.format("assay").load("corpus/captures/3.6.2")
    >>> groups.selectExpr("group", "size(members) as members").first()
    Row(group='coop-a', members=4)
    """
    from groups.extras import require

    require("pyspark", "pyarrow", "pandas", extra="spark")
    from compare.runs.source.spark import GroupSource

    spark.dataSource.register(GroupSource)
