"""Master: which Spark a run is on, and what is set on it."""

from __future__ import annotations

import os
import re
import socket
import sys
from typing import TYPE_CHECKING

from compare.runs.session import daemon
from groups.errors import BadInput

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

# As many tasks at once as the JVM sees cores, which heeds limits of processes and containers; a
# task is tried three times, so the death of a worker of Python's does not end the job.
DEFAULT = "local[*,3]"
KINDS = re.compile(
    r"local(\[([0-9]+|\*)(,[0-9]+)?\])?|local-cluster\[.+\]|yarn|(spark|k8s|sc)://.+"
)
ADDRESS = re.compile(r"(?:spark|sc)://(?P<host>\[[^]]+\]|[^:/;,]+)(?::(?P<port>[0-9]+))?[^,]*")
PORTS = {"spark": 7077, "sc": 15002}
ANSWER_SECONDS = 10.0


def master_of(given: str | None) -> str | None:
    """Return the master of a run; None where ``spark-submit`` has chosen one.

    Parameters
    ----------
    given : ``local[4]``, ``spark://HOST:PORT``, ``yarn``, ``k8s://...``, or ``sc://HOST:PORT``
        of a Spark Connect server; None: what ``SPARK_REMOTE`` says, else all cores of this machine

    Raises
    ------
    BadInput
        Where there is no such master.
    """
    if submitted():
        if given is not None:
            raise BadInput(f"--master: {given}, but spark-submit has a --master of its own")
        return None
    master = given or os.environ.get("SPARK_REMOTE") or DEFAULT
    if not KINDS.fullmatch(master):
        raise BadInput(
            f"--master: {master!r}, expected local[N], spark://HOST:PORT, yarn, k8s://URL or "
            "sc://HOST:PORT"
        )
    return master


def conf_of(given: Iterable[str]) -> dict[str, str]:
    """Return settings of Spark's that are given as ``KEY=VALUE``.

    Raises
    ------
    BadInput
        Where one is not such a pair, or its key not one of Spark's.
    """
    settings = {}
    for one in given:
        key, equals, value = one.partition("=")
        if not equals or not key.startswith("spark."):
            raise BadInput(f"--conf: {one!r}, expected spark.KEY=VALUE")
        if key == "spark.master":
            raise BadInput(f"--conf: {one!r}, but a master is given with --master")
        settings[key] = value
    return settings


def answers(master: str) -> None:
    """Raise BadInput where nobody listens at a master's address: Spark would try for minutes."""
    address = ADDRESS.fullmatch(master)
    # Of several masters, for high availability, any may be down.
    if address is None:
        return
    port = int(address["port"] or PORTS[master.partition(":")[0]])
    try:
        socket.create_connection((address["host"].strip("[]"), port), ANSWER_SECONDS).close()
    except (OSError, OverflowError) as error:
        reason = getattr(error, "strerror", None) or error
        raise BadInput(f"--master: {master}: nobody answers there: {reason}") from None


def submitted() -> bool:
    """Whether ``spark-submit`` started this process."""
    return "PYSPARK_GATEWAY_PORT" in os.environ


def is_local(master: str | None) -> bool:
    """Whether tasks run on this machine alone, below the session's own JVM."""
    return master is not None and master.startswith("local")


def is_connect(master: str | None) -> bool:
    """Whether the session is that of a Spark Connect server."""
    return master is not None and master.startswith("sc://")


def of_own_session(master: str, scratch: Path, java: Iterable[str]) -> dict[str, str]:
    """Return what a run sets on a session that it starts.

    Parameters
    ----------
    scratch : folder that goes away with the session
    java : options of its JVM
    """
    settings = {
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.sql.execution.pyspark.udf.faulthandler.enabled": "true",
        "spark.sql.warehouse.dir": f"{scratch}/warehouse",
        "spark.driver.extraJavaOptions": " ".join(java),
    }
    if is_local(master):
        settings |= {
            "spark.driver.bindAddress": "127.0.0.1",
            "spark.driver.host": "127.0.0.1",
            "spark.driver.memory": "2g",
            "spark.sql.adaptive.enabled": "false",
            # To compile code takes longer than to interpret it: a query has some thousand rows.
            "spark.sql.codegen.wholeStage": "false",
            "spark.sql.codegen.factoryMode": "NO_CODEGEN",
            # Workers are started before the first query, which has the same ones with these two.
            "spark.python.worker.faulthandler.enabled": "true",
            "spark.sql.execution.pyspark.udf.simplifiedTraceback.enabled": "false",
            "spark.python.daemon.module": daemon.MODULE,
        }
    return settings


def environment(master: str, scratch: Path) -> dict[str, str]:
    """Return the variables that a session's JVM starts with.

    Workers of this machine run the Python that this process runs; those of other machines run
    the one that ``PYSPARK_PYTHON`` names, else the same path.
    """
    python = sys.executable
    if not is_local(master):
        python = os.environ.get("PYSPARK_PYTHON", python)
    variables = {
        "PYSPARK_PYTHON": python,
        "SPARK_LOCAL_DIRS": str(scratch),
        "TMPDIR": str(scratch),
    }
    if is_local(master) and "SPARK_LOCAL_IP" not in os.environ:
        variables["SPARK_LOCAL_IP"] = "127.0.0.1"
    return variables
