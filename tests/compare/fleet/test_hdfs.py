"""A run from and to a file system that is not mounted: Hadoop's own, on loopback."""

import gzip
import json
import re
import signal
import subprocess
from contextlib import contextmanager
from pathlib import Path

import pyspark
import pytest

from compare.fleet.tables import Tables
from compare.samples.families import Family
from heuristics.shipped.java.jars import fetched
from heuristics.shipped.java.runtime import spark_java_home
from tests.compare.fleet.running import Running

pytestmark = pytest.mark.cluster

PROGRAM = Path(__file__).with_name("Dfs.java")
OF_SPARK = Path(pyspark.__file__).parent / "jars"
GROUPS = 3_000


def hadoop_version() -> str:
    """Return the version that Spark brings with it."""
    (jar,) = OF_SPARK.glob("hadoop-client-api-*.jar")
    return re.sub(r".*-api-|\.jar", "", jar.name)


@contextmanager
def hdfs(folder: Path, *files: Path):
    """Start a cluster that holds some files in ``/in``, and yield its address."""
    jars = fetched("org.apache.hadoop", "hadoop-client-minicluster", hadoop_version())
    (jar,) = (one for one in jars if "minicluster" in one.name)
    java = spark_java_home() / "bin" / "java"
    command = [java, "-XX:TieredStopAtLevel=1", "-Xmx512m", "-cp", f"{jar}:{OF_SPARK}/*", PROGRAM]
    with subprocess.Popen(
        [*map(str, command), str(folder / "data"), *map(str, files)],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
    ) as process:  # fmt: skip
        try:
            address = next(line for line in process.stdout if line.startswith("hdfs://"))
            yield address.strip()
        finally:
            process.kill()


@pytest.mark.spark
def test_a_run_from_and_to_hdfs_is_killed_and_goes_on(tmp_path, spark):
    documents = [Family(10, 6, 6, "random", "join-one").group(n).to_dict() for n in range(50)]
    names = [f"g{n:04}" for n in range(GROUPS)]
    lines = [f"{json.dumps({**documents[n % 50], 'group': x})}\n" for n, x in enumerate(names)]
    first, second = tmp_path / "a.jsonl", tmp_path / "b.jsonl.gz"
    first.write_text("".join(lines[: GROUPS // 2]))
    with gzip.open(second, "wt") as packed:
        packed.writelines([*lines[GROUPS // 2 :], '{"format": "assay-group/1", "group": "cut"\n'])
    with hdfs(tmp_path, first, second) as address:
        tables = Tables(f"{address}/out")

        def start() -> Running:
            place = {"source": f"{address}/in", "out": str(tables)}
            return Running(tmp_path, "--master", "local[1,3]", **place, assignors=("current",))

        def a_portion() -> bool:
            return tables.read_if_there(spark, "inputs") is not None

        run = start()
        run.until(a_portion)
        run.send(signal.SIGKILL)
        assert run.left() == []
        kept = tables.latest(spark, "optima").count()
        assert GROUPS // 2 <= kept <= GROUPS
        code, said, err = start().end()
        assert code == 0, err
        assert f"\n{GROUPS:,} groups, {GROUPS:,} of them with a proved optimum, " in said
        assert f", {GROUPS - kept:,} of them new in this run, 1 input failed, " in said
        for name in ("groups", "optima", "scores"):
            rows = tables.read(spark, name).select("group").collect()
            assert sorted(row["group"] for row in rows) == names, name
        (failure,) = tables.read(spark, "failures").collect()
        assert failure["place"] == f"{address}/in/b.jsonl.gz:{GROUPS // 2 + 1}"
