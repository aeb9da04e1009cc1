"""Session: a quiet local Spark session on loopback."""

from __future__ import annotations

import logging
import os
import sys
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from compare.runs.session.failed_session import one_line
from groups.errors import AssayError
from heuristics.shipped.java.runtime import spark_java_home

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pyspark.sql import SparkSession

GROUPS_PER_BATCH = 256
# The second number is how often a task may be tried: a worker's death does not end the job.
MASTER = "local[2,3]"


@contextmanager
def spark_session(out: Path) -> Iterator[SparkSession]:
    """Start a local Spark session and stop it at the end.

    Parameters
    ----------
    out : folder that the session writes to

    Raises
    ------
    BadInput
        Where there is no Java 17 or later, or the folder can no longer be written.
    AssayError
        Where Spark fails for another reason.
    """
    os.environ["JAVA_HOME"] = str(spark_java_home())
    os.environ["PYSPARK_PYTHON"] = os.environ["PYSPARK_DRIVER_PYTHON"] = sys.executable
    os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
    from py4j.protocol import Py4JError
    from pyspark.errors import PySparkException
    from pyspark.sql import SparkSession

    logging.getLogger("py4j").setLevel(logging.ERROR)
    quiet = Path(__file__).with_name("log4j2.properties").resolve().as_uri()
    with TemporaryDirectory(prefix="assay-spark-") as scratch:
        settings = {
            "spark.ui.enabled": "false",
            "spark.ui.showConsoleProgress": "false",
            "spark.driver.bindAddress": "127.0.0.1",
            "spark.driver.host": "127.0.0.1",
            "spark.driver.memory": "2g",
            # A JVM that lives for seconds gains nothing from the optimising compiler.
            "spark.driver.extraJavaOptions": (
                f"-Dlog4j2.configurationFile={quiet} -XX:TieredStopAtLevel=1"
            ),
            "spark.local.dir": scratch,
            "spark.sql.warehouse.dir": f"{scratch}/warehouse",
            "spark.sql.session.timeZone": "UTC",
            "spark.sql.shuffle.partitions": "4",
            "spark.sql.adaptive.enabled": "false",
            "spark.sql.execution.arrow.maxRecordsPerBatch": str(GROUPS_PER_BATCH),
            "spark.sql.execution.pyspark.udf.faulthandler.enabled": "true",
        }
        builder = SparkSession.builder.appName("kafka-assay").master(MASTER)
        for key, value in settings.items():
            builder = builder.config(key, value)
        session = _started(builder, Path(scratch) / "jvm.log")
        try:
            yield session
        except (Py4JError, PySparkException) as error:
            raise one_line(error, out) from error
        finally:
            # A Java that is gone has stopped already.
            with suppress(Py4JError):
                session.stop()


def _started(builder: SparkSession.Builder, log: Path) -> SparkSession:
    """Start the JVM with its standard error in a file: what it says there is not for users."""
    kept = os.dup(2)
    with log.open("wb") as file:
        os.dup2(file.fileno(), 2)
        try:
            return builder.getOrCreate()
        except Exception as error:
            said = log.read_text(errors="replace").strip().splitlines()
            last = said[-1] if said else str(error)
            raise AssayError(f"Spark did not start: {last}") from error
        finally:
            os.dup2(kept, 2)
            os.close(kept)
