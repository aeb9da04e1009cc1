"""The same tables on a cluster of several processes, also where a machine of it is lost."""

import json
import os
import signal
import subprocess
from pathlib import Path

import pytest

from assay import fleet
from compare.fleet.tables import read_table
from tests.compare.fleet.cluster import HOME, ROOT, Cluster
from tests.compare.fleet.running import Running, fill

pytestmark = [pytest.mark.cluster, pytest.mark.spark]

GROUPS = 24
TABLES = ("groups", "optima", "scores", "failures")


@pytest.fixture(scope="module")
def cluster(tmp_path_factory):
    folder = tmp_path_factory.mktemp("cluster")
    fill(folder, GROUPS)
    with Cluster(folder) as started:
        yield started


@pytest.fixture(scope="module")
def without_spark(cluster) -> list[dict]:
    """Return the rows of a pool of processes; test_pool.py requires that Spark's are equal."""
    (cluster.folder / "open").touch()
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(cluster.folder)
        patch.syspath_prepend(cluster.folder)
        asked = ["current", "gated:gate"]
        found = fleet.tables("in.jsonl", asked, time_limit=300, processes=1)
    return rows_of({name: getattr(found, name).to_pandas() for name in TABLES})


def tables_of(out: Path) -> list[dict]:
    return rows_of({name: read_table(out, name) for name in TABLES})


def ended(running: Running, out: str) -> list[dict]:
    """Require that a run ends with every optimum proved; return the rows of its tables."""
    code, said, err = running.end()
    assert code == 0, err
    assert f"\n{GROUPS} groups, {GROUPS} of them with a proved optimum, " in said
    return tables_of(running.folder / out)


def rows_of(tables: dict) -> list[dict]:
    """Return the rows of all tables, without the columns of times and of the run."""
    rows = []
    for name, table in tables.items():
        left = table.drop(columns=[c for c in ("seconds", "run") if c in table])
        rows += [row | {"table": name} for row in json.loads(left.to_json(orient="records"))]
    return sorted(rows, key=json.dumps)


def test_a_run_survives_the_loss_of_the_only_worker_and_of_one_of_two_with_the_same_tables(
    cluster, without_spark
):
    gate, opened = cluster.folder / "asked", cluster.folder / "open"
    opened.unlink()
    gate.unlink(missing_ok=True)
    workers = [cluster.add_worker()]
    running = Running(cluster.folder, "--master", cluster.master, *cluster.conf, out="cluster")
    for alive in (1, 2):
        running.at_the_gate()
        if alive == 2:
            gate.unlink()
            workers.append(cluster.add_worker())
            running.until(lambda: len(cluster.executors()) == 2)
        lost = workers.pop(0)
        gate.unlink(missing_ok=True)
        lost.send_signal(signal.SIGKILL)
        lost.wait(60)
        if alive == 1:
            workers.append(cluster.add_worker())
    running.open()
    assert ended(running, "cluster") == without_spark


def test_spark_submit_starts_the_same_run(cluster, without_spark):
    submit = [HOME / "bin" / "spark-submit", "--master", cluster.master, *cluster.conf]
    submit += ["--driver-java-options", cluster.quick]
    job = ["run", "in.jsonl", "--out", "submitted", "--time-limit", "300"]
    asked = ["--assignor", "current", "--assignor", "gated:gate"]
    ran = subprocess.run(
        [*submit, ROOT / "assay" / "__main__.py", *job, *asked], cwd=cluster.folder,
        env=cluster.environment, capture_output=True, text=True, timeout=240, check=False,
    )  # fmt: skip
    assert ran.returncode == 0, ran.stderr[-2000:]
    assert f"{GROUPS} groups, {GROUPS} of them with a proved optimum, " in ran.stdout
    assert tables_of(cluster.folder / "submitted") == without_spark


def test_a_spark_connect_server_runs_the_same_run(cluster, without_spark):
    pytest.importorskip("grpc")
    server = cluster.serve()
    running = Running(cluster.folder, "--master", server, out="connected")
    assert ended(running, "connected") == without_spark
    assert os.listdir(running.scratch) == []


def test_a_run_that_waits_for_a_cluster_without_workers_ends_when_it_is_asked_to(cluster):
    for name in ("asked", "open"):
        (cluster.folder / name).unlink(missing_ok=True)
    if not (workers := [one for one in cluster.workers if one.poll() is None]):
        workers = [cluster.add_worker()]
    running = Running(cluster.folder, "--master", cluster.master, *cluster.conf, out="cut")
    running.at_the_gate()
    for lost in workers:
        lost.send_signal(signal.SIGKILL)
        lost.wait(60)
    code, _, err = running.send(signal.SIGINT)
    assert code == 128 + signal.SIGINT
    assert "Traceback" not in err
