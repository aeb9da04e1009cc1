"""A standalone cluster of Spark on loopback: a master, workers, a Connect server."""

import os
import socket
import subprocess
import sys
import time
from pathlib import Path

import pyspark

from compare.fleet.session import class_archive
from heuristics.shipped.java.jars import spark_java_home
from tests.compare.fleet.processes import clear, with_variable, words_of

ROOT = Path(__file__).parents[3]
# The environment variable that all processes of a cluster inherit; its value is their folder.
MARK = "ASSAY_CLUSTER"
HOME = Path(pyspark.__file__).parent
QUICK = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC -Xlog:disable -XX:-UsePerfData"
DEPLOY = "org.apache.spark.deploy"
START_SECONDS = 90


class Cluster:
    """A context manager that starts a master, and kills all processes of the cluster on exit."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        java = spark_java_home()
        self.quick = f"{QUICK} -XX:SharedArchiveFile={class_archive(java)}"
        self.environment = {
            **os.environ,
            MARK: str(folder),
            "JAVA_HOME": str(java),
            "PYTHONPATH": str(ROOT),
            "PYSPARK_PYTHON": sys.executable,
            "SPARK_LOCAL_IP": "127.0.0.1",
            "SPARK_PUBLIC_DNS": "127.0.0.1",
            "SPARK_LOCAL_DIRS": str(folder),
            "SPARK_DAEMON_JAVA_OPTS": self.quick,
            "SPARK_DAEMON_MEMORY": "512m",
        }
        self.started: list[subprocess.Popen[bytes]] = []
        self.workers: list[subprocess.Popen[bytes]] = []

    def __enter__(self) -> "Cluster":
        port = free_port()
        self.master = f"spark://127.0.0.1:{port}"
        listening = ["--host", "127.0.0.1", "--port", str(port), "--webui-port", "0"]
        self.run(f"{DEPLOY}.master.Master", *listening)
        wait_for(port)
        return self

    def __exit__(self, *_: object) -> None:
        clear(MARK, self.folder)
        for process in self.started:
            process.wait(60)

    @property
    def conf(self) -> list[str]:
        """Command options that make executors start quickly, with little memory."""
        quick = f"spark.executor.extraJavaOptions={self.quick}"
        return ["--conf", quick, "--conf", "spark.executor.memory=512m"]

    def add_worker(self) -> subprocess.Popen[bytes]:
        folder = self.folder / f"worker-{len(self.workers)}"
        of_worker = ["--host", "127.0.0.1", "--webui-port", "0", "--cores", "1", "--memory", "1g"]
        self.workers.append(
            self.run(f"{DEPLOY}.worker.Worker", *of_worker, "--work-dir", str(folder), self.master)
        )
        return self.workers[-1]

    def serve(self) -> str:
        """Start a Connect server on this machine, and return its address."""
        port = free_port()
        settings = {
            "spark.master": "local[2,3]",
            "spark.connect.grpc.binding.port": port,
            "spark.ui.enabled": "false",
            "spark.driver.bindAddress": "127.0.0.1",
            "spark.driver.host": "127.0.0.1",
            "spark.driver.extraJavaOptions": self.quick,
        }
        confs = [word for key, value in settings.items() for word in ("--conf", f"{key}={value}")]
        server = "org.apache.spark.sql.connect.service.SparkConnectServer"
        self.run(f"{DEPLOY}.SparkSubmit", "--class", server, *confs, "spark-internal")
        wait_for(port)
        return f"sc://127.0.0.1:{port}"

    def run(self, *command: str) -> subprocess.Popen[bytes]:
        log = self.folder / f"{command[0].rpartition('.')[2]}-{time.monotonic_ns()}.log"
        with log.open("wb") as said:
            started = subprocess.Popen(
                [str(HOME / "bin" / "spark-class"), *command],
                env=self.environment, cwd=self.folder, stdin=subprocess.DEVNULL,
                stdout=said, stderr=said,
            )  # fmt: skip
        self.started.append(started)
        return started

    def executors(self) -> list[int]:
        """Process ids of the executors' JVMs."""
        every = with_variable(MARK, self.folder)
        return [pid for pid in every if "CoarseGrainedExecutor" in words_of(pid)]


def free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


def wait_for(port: int) -> None:
    until = time.monotonic() + START_SECONDS
    while time.monotonic() < until:
        try:
            socket.create_connection(("127.0.0.1", port), 1).close()
        except OSError:
            time.sleep(0.1)
        else:
            return
    raise TimeoutError(f"nothing listens on port {port}")
