"""Runs from and to stores that are not mounted: Hadoop's file system and S3, on loopback."""

import os
import re
import shutil
import signal
import subprocess
from contextlib import contextmanager
from pathlib import Path

import pyspark
import pytest
from pyarrow import fs

from compare.fleet.tables import Tables, read_table
from heuristics.shipped.cache import cache_folder
from heuristics.shipped.java.jars import fetched, spark_java_home
from tests.compare.fleet.cluster import free_port, wait_for
from tests.compare.fleet.running import Running, fill_two_portions

pytestmark = [pytest.mark.cluster, pytest.mark.spark]

PROGRAM = Path(__file__).with_name("Dfs.java")
OF_SPARK = Path(pyspark.__file__).parent / "jars"
PAGE = Path(__file__).parents[3] / "docs" / "how-to" / "run-the-fleet-on-a-cluster.md"
GROUPS = 24
# A server of S3 whose store is a folder.
GATEWAY = "github.com/versity/versitygw/cmd/versitygw@v1.8.0"
KEYS = {"AWS_ACCESS_KEY_ID": "someone", "AWS_SECRET_ACCESS_KEY": "nobody-else"}
REGION = "us-east-1"


def hadoop_version() -> str:
    """Return the version of Hadoop that Spark includes."""
    (jar,) = OF_SPARK.glob("hadoop-client-api-*.jar")
    return re.sub(r".*-api-|\.jar", "", jar.name)


@contextmanager
def hdfs(folder: Path, files: list[Path], spark):
    """Start a Hadoop cluster with files in ``/in``.

    Yields its address, the options of a run, and what returns the rows of a table, also those
    that are there twice.
    """
    jars = fetched("org.apache.hadoop", "hadoop-client-minicluster", hadoop_version())
    (jar,) = (one for one in jars if "minicluster" in one.name)
    java = spark_java_home() / "bin" / "java"
    command = [java, "-XX:TieredStopAtLevel=1", "-Xmx512m", "-cp", f"{jar}:{OF_SPARK}/*", PROGRAM]
    with subprocess.Popen(
        [*map(str, command), str(folder / "data"), *map(str, files)],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
    ) as process:  # fmt: skip
        try:
            address = next(line for line in process.stdout if line.startswith("hdfs://")).strip()

            def rows(name: str) -> list[dict]:
                found = Tables(f"{address}/out").read(spark, name).collect()
                return [row.asDict() for row in found]

            yield address, (), rows
        finally:
            process.kill()


@contextmanager
def s3(folder: Path, files: list[Path], _):
    """Start an S3 server with files in the bucket ``groups``; yields the same values as `hdfs`."""
    port, store, beside = free_port(), folder / "store", folder / "sidecar"
    store.mkdir()
    beside.mkdir()
    access, secret = KEYS.values()
    command = [gateway(), "--access", access, "--secret", secret, "--port", f"127.0.0.1:{port}"]
    with (
        subprocess.Popen(
            [*command, "posix", "--sidecar", str(beside), str(store)],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        ) as process,
        pytest.MonkeyPatch.context() as patch,
    ):  # fmt: skip
        endpoint = f"http://127.0.0.1:{port}"
        for name, value in {**KEYS, "AWS_REGION": REGION, "AWS_ENDPOINT_URL": endpoint}.items():
            patch.setenv(name, value)
        try:
            wait_for(port)
            server, _ = fs.FileSystem.from_uri("s3://groups?allow_bucket_creation=true")
            server.create_dir("groups")
            for file in files:
                place = f"groups/in/{file.name}"
                with server.open_output_stream(place, compression=None) as stream:
                    stream.write(file.read_bytes())

            def rows(name: str) -> list[dict]:
                return read_table("s3a://groups/out", name).to_dict("records")

            yield "s3a://groups", (*connector(), *settings(endpoint)), rows
        finally:
            process.kill()


def gateway() -> str:
    """Return the path of the S3 server, after building it if necessary."""
    if shutil.which("go") is None:
        pytest.skip("no Go toolchain: install Go 1.26")
    folder = cache_folder("s3", GATEWAY.rpartition("@")[2])
    if not (folder / "versitygw").is_file():
        variables = {**os.environ, "GOBIN": str(folder), "GOFLAGS": "-modcacherw"}
        subprocess.run(["go", "install", GATEWAY], env=variables, check=True, timeout=600)
    return str(folder / "versitygw")


def connector() -> list[str]:
    """Return the options that load the S3 connector, from the page on clusters."""
    found = re.findall(r"--conf (spark\.jars\.\S+)", PAGE.read_text("utf-8"))
    assert any(f"hadoop-aws:{hadoop_version()}" in one for one in found), found
    return [word for one in found for word in ("--conf", one)]


def settings(endpoint: str) -> list[str]:
    told = {"endpoint": endpoint, "path.style.access": "true", "endpoint.region": REGION}
    return [word for k, v in told.items() for word in ("--conf", f"spark.hadoop.fs.s3a.{k}={v}")]


@pytest.mark.parametrize("store", [hdfs, s3])
def test_a_run_from_and_to_a_store_is_killed_and_goes_on(store, tmp_path, spark):
    files = fill_two_portions(tmp_path, GROUPS)
    free = sorted(f"free{n}" for n in range(GROUPS))
    both = sorted([*free, *(f"g{n}" for n in range(GROUPS))])
    with store(tmp_path, files, spark) as (address, options, rows):

        def start() -> Running:
            place = {"source": f"{address}/in", "out": f"{address}/out"}
            return Running(tmp_path, "--master", "local[1,3]", *options, **place)

        run = start()
        run.at_the_gate()
        run.send(signal.SIGKILL)
        assert run.left() == []
        assert sorted(row["group"] for row in rows("optima")) == free
        run = start()
        run.open()
        code, said, err = run.end()
        assert code == 0, err
        assert f"\n{2 * GROUPS} groups, {2 * GROUPS} of them with a proved optimum, " in said
        assert f", {GROUPS} of them new in this run, 2 inputs failed, " in said
        for name, count in {"groups": 1, "optima": 1, "scores": 2}.items():
            assert sorted(row["group"] for row in rows(name)) == sorted(both * count), name
        places = sorted(row["place"] for row in rows("failures"))
        assert places == [f"{address}/in/{file.name}:6" for file in files]
