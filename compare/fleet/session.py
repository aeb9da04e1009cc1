"""Session: the Spark session that a run is on, its own or one that was there before."""

from __future__ import annotations

import logging
import os
import re
import shlex
import signal
import socket
import sys
import warnings
from contextlib import contextmanager, suppress
from importlib.metadata import version
from pathlib import Path
from subprocess import DEVNULL, PIPE, SubprocessError, run
from tempfile import TemporaryDirectory, TemporaryFile, gettempdir
from typing import TYPE_CHECKING

from groups.errors import AssayError, BadInput
from groups.extras import require
from heuristics.shipped.cache import archive_of_classes
from heuristics.shipped.java.jars import spark_java_home

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from contextlib import AbstractContextManager

    from py4j.java_gateway import JavaGateway
    from pyspark.sql import DataFrame, SparkSession

# As many tasks at once as the JVM sees cores, which heeds limits of processes and containers; a
# task is tried three times, so the death of a worker of Python's does not end the job.
DEFAULT = "local[*,3]"
KINDS = re.compile(
    r"local(\[([0-9]+|\*)(,[0-9]+)?\])?|local-cluster\[.+\]|yarn|(spark|k8s|sc)://.+"
)
ADDRESS = re.compile(r"(?:spark|sc)://(?P<host>\[[^]]+\]|[^:/;,]+)(?::(?P<port>[0-9]+))?[^,]*")
PORTS = {"spark": 7077, "sc": 15002}
ANSWER_SECONDS = 10.0
# The first session's classes are archived before its end.
STOP_SECONDS = 90.0
# Environments with a Spark or a Java of their own each have one, of 190 MB.
MOST_ARCHIVES = 3
GOES_ON = "what was done is kept; the same command goes on"
QUIET = Path(__file__).with_name("log4j2.properties")
JAVA = (
    f"-Dlog4j2.configurationFile={QUIET.resolve().as_uri()}",
    # A JVM that passes rows on for seconds gains nothing from the optimising compiler.
    "-XX:TieredStopAtLevel=1",
    "-XX:+UseSerialGC",
    "-XX:-UsePerfData",
)
OF_ANY = {
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    # To note for each column of a query where it was made takes longer than to plan the query.
    "spark.python.sql.dataFrameDebugging.enabled": "false",
}
OF_LOCAL = {
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.memory": "2g",
    "spark.sql.adaptive.enabled": "false",
    "spark.sql.shuffle.partitions": "4",
    # To compile code takes longer than to interpret it: a query has some thousand rows.
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
}

# Spark looks at the size of a batch anew at each row, which takes ten times as long as to pass it
# on, unless it is told not to: of rows of tables their number is enough.
BATCH = "spark.sql.execution.arrow.maxBytesPerBatch"
ANY_BYTES = 2**31 - 1
# Where tables are added up or held against limits, a worker of Python's that is silent for so long
# stands still: it is ended, and its task tried again.
FOR_ROWS = {
    BATCH: str(ANY_BYTES),
    "spark.sql.execution.pyspark.udf.idleTimeoutSeconds": "600",
    "spark.sql.execution.pyspark.udf.killOnIdleTimeout": "true",
}

# Java archives no class that is loaded and not linked, which are a quarter: those that only the
# check of another class has asked for. This links them, and initialises none.
LINK = """
public class Link implements java.util.function.Consumer {
    public void accept(Object names) {
        String[] each = ((String) names).split(" ");
        for (int i = 0; i < each.length; i++) {
            try {
                Class.forName(each[i], false, ClassLoader.getSystemClassLoader())
                    .getDeclaredConstructors();
            } catch (Throwable missing) {
            }
        }
    }
}
"""


@contextmanager
def spark_session(
    *,
    master: str | None = None,
    conf: Mapping[str, str] | None = None,
    given: SparkSession | None = None,
) -> Iterator[SparkSession]:
    """Start a Spark session and end it.

    A session that is there already is used and stays: one that is given, or that ``spark-submit``
    or a notebook has started. What is set on it is set back at the end.

    Parameters
    ----------
    master : as in :func:`master_of`
    conf : further settings, which win over the run's own
    given : a session to use

    Raises
    ------
    BadInput
        Where there is no Java 17 or later, or no such master.
    AssayError
        Where Spark fails for another reason.
    KeyboardInterrupt
        Where one came; the session's processes have ended by then.
    """
    from py4j.protocol import Py4JError
    from pyspark.errors import PySparkException
    from pyspark.sql import SparkSession

    present = given or SparkSession.getActiveSession()
    if present is None and submitted():
        master_of(master)
        present = SparkSession.builder.appName("kafka-assay").getOrCreate()
    settings = dict(conf or {})
    with set_for_now(present, settings) if present is not None else _own(master, settings) as one:
        try:
            yield one
        except (Py4JError, PySparkException, ConnectionError, EOFError) as error:
            raise in_one_line(error) from error


@contextmanager
def set_for_now(session: SparkSession, settings: Mapping[str, str]) -> Iterator[SparkSession]:
    """Set what is given on a session, and set it back at the end."""
    before = {key: session.conf.get(key, None) for key in settings}
    for key, value in settings.items():
        session.conf.set(key, value)
    try:
        yield session
    finally:
        with suppress(Exception):
            for key, value in before.items():
                if value is None:
                    session.conf.unset(key)
                else:
                    session.conf.set(key, value)


@contextmanager
def kept(rows: DataFrame) -> Iterator[DataFrame]:
    """Keep rows in memory, or on disk where they do not fit, once they are made."""
    found = rows.persist()
    try:
        yield found
    finally:
        found.unpersist()


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
            raise BadInput(f"master: {given}, but spark-submit has a --master of its own")
        return None
    master = given or os.environ.get("SPARK_REMOTE") or DEFAULT
    if not KINDS.fullmatch(master):
        raise BadInput(
            f"master: {master!r}, expected local[N], spark://HOST:PORT, yarn, k8s://URL or "
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
            raise BadInput(f"conf: {one!r}, expected spark.KEY=VALUE")
        if key == "spark.master":
            raise BadInput(f"conf: {one!r}, but a master is given, too")
        settings[key] = value
    return settings


def submitted() -> bool:
    """Whether ``spark-submit`` started this process."""
    return "PYSPARK_GATEWAY_PORT" in os.environ


def runs_here(master: str | None) -> bool:
    """Whether tasks run on this machine alone, below the session's own JVM.

    Raises
    ------
    BadInput
        Where there is no such master.
    """
    found = master_of(master)
    return found is not None and found.startswith("local")


def in_one_line(error: Exception) -> AssayError:
    """Return what to raise instead of an exception of Spark's."""
    text = str(error)
    if connector := _NO_CONNECTOR.search(text):
        return BadInput(
            f"Spark cannot load {connector[1]}: it needs a connector for this address; "
            "docs/how-to/run-the-fleet-on-a-cluster.md has that for s3a"
        )
    of_files = _OF_FILES.findall(text)
    if of_files:
        return BadInput(f"{_short(of_files[-1])}; {GOES_ON}")
    for pattern, said in _ENDED:
        if pattern.search(text):
            return AssayError(f"{said}; {GOES_ON}")
    return AssayError(f"Spark: {reason_in(error)}")


# What files and folders do to a job; Spark tells it in the middle of a stack trace.
_OF_FILES = re.compile(
    r"(?:java\.n?io|org\.apache\.hadoop\.[\w.]+)\.[\w$]*(?:Exception|Error): ([^\n]+)"
)
_NO_CONNECTOR = re.compile(r"Class (org\.apache\.hadoop\.fs\.\S+) not found")
# The line of a Python traceback, and of a Java one, that says what was raised.
_RAISED = re.compile(r"^\s*([\w.]+(?:Error|Exception|Exit|Interrupt|Warning)\b.*)", re.M)
_CAUSE = re.compile(r"^(?:Caused by: |: )?[\w.$]+(?:Exception|Error): ([^\n]+)", re.M)
# What bash says of Spark's start scripts, where they stumble over a Java that failed.
_OF_SCRIPTS = re.compile(r"/bin/spark-[a-z]+: line \d+: ")
# What Spark and py4j say where a process of theirs is gone.
_ENDED = (
    (
        re.compile(r"Python worker (exited unexpectedly|failed to connect back)|EOFException"),
        "a Python process of Spark's ended",
    ),
    (
        re.compile(
            r"Answer from Java side is empty|while (sending|trying to connect)|Connection"
            r" (refused|reset)|has been closed|SparkContext was shut down|stopped SparkContext"
            # Of what Java itself raised, more would be said.
            r"|An error occurred while calling o\d+\.\w+\s*\Z"
        ),
        "Spark's Java process ended",
    ),
)
_LONGEST = 300


def reason_in(error: Exception) -> str:
    """Return what Python raised in a worker, else the innermost of what Java did, in one line."""
    text = str(error)
    _, _, trace = text.partition("Traceback (most recent call last)")
    raised = [*_RAISED.findall(trace)[:1], *_CAUSE.findall(text)[-1:]]
    return _short([*raised, *text.strip().splitlines(), type(error).__name__][0])


def _short(line: str) -> str:
    return line if len(line) <= _LONGEST else f"{line[:_LONGEST]}..."


def _did_not_start(master: str, error: Exception, log: str = "") -> AssayError:
    said = [line.strip() for line in log.splitlines() if line.strip()]
    last = [line for line in said if not _OF_SCRIPTS.search(line)][-1:]
    why = _short(last[0]) if last else reason_in(error)
    return AssayError(f"Spark did not start on {master}: {why}")


def _own(master: str | None, conf: Mapping[str, str]) -> AbstractContextManager[SparkSession]:
    where = master_of(master)
    assert where is not None
    _require_answer(where)
    return _connected(where, conf) if where.startswith("sc://") else _started(where, conf)


def _require_answer(master: str) -> None:
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
        raise BadInput(f"master: {master}: nobody answers there: {reason}") from None


@contextmanager
def _connected(master: str, conf: Mapping[str, str]) -> Iterator[SparkSession]:
    """Open a session of a Spark Connect server; what still runs in it at the end is cancelled."""
    require("grpc", "grpc_status", "zstandard", extra="connect")
    from pyspark.errors import PySparkException
    from pyspark.sql import SparkSession

    logging.getLogger("pyspark.sql.connect.client.logging").setLevel(logging.CRITICAL)
    try:
        session = SparkSession.builder.remote(master).create()
        for key, value in conf.items():
            session.conf.set(key, value)
    except Exception as error:
        raise _did_not_start(master, error) from error
    try:
        yield session
    finally:
        with suppress(Exception):
            session.interruptAll()
        with suppress(PySparkException):
            session.stop()


@contextmanager
def _started(master: str, conf: Mapping[str, str]) -> Iterator[SparkSession]:
    """Start a JVM and a session in it; at the end both are gone, and the folder of its scratch.

    The JVM ends when this process does, however that is: its standard input is a pipe from here.
    """
    from pyspark import SparkConf, SparkContext
    from pyspark.java_gateway import launch_gateway
    from pyspark.sql import SparkSession

    local = master.startswith("local")
    settings = SparkConf(loadDefaults=False).setMaster(master).setAppName("kafka-assay")
    # Workers of this machine run the Python that this process runs; others what the user says.
    python = sys.executable if local else os.environ.get("PYSPARK_PYTHON", sys.executable)
    java = spark_java_home()
    variables = {"JAVA_HOME": str(java), "PYSPARK_PYTHON": python}
    if local:
        variables["SPARK_LOCAL_IP"] = os.environ.get("SPARK_LOCAL_IP", "127.0.0.1")
    _quiet()
    archive = class_archive(java)
    with _scratch() as folder, TemporaryFile() as log:
        kept = archive.is_file()
        options = (
            *JAVA,
            f"-Djava.io.tmpdir={folder}",
            f"-XX:ErrorFile={folder}/error.log",
            f"-XX:SharedArchiveFile={archive}" if kept else "-XX:+RecordDynamicDumpInfo",
        )
        own = {
            **OF_ANY,
            **(OF_LOCAL if local else {}),
            "spark.driver.extraJavaOptions": " ".join(map(shlex.quote, options)),
            "spark.local.dir": folder,
            "spark.sql.warehouse.dir": folder,
        }
        settings.setAll([*{**own, **conf}.items()])
        on_interrupt = signal.getsignal(signal.SIGINT)
        try:
            with _variables(variables):
                gateway = launch_gateway(
                    settings, {"stdout": log, "stderr": log, "start_new_session": True}
                )
                # Of what its parent, killed, does not remove; what stands in it goes before.
                gateway.jvm.java.io.File(folder).deleteOnExit()
                session = SparkSession(SparkContext(conf=settings, gateway=gateway))
        except Exception as error:
            log.seek(0)
            raise _did_not_start(master, error, log.read().decode(errors="replace")) from error
        # PySpark has taken over Ctrl-C, but for a thread that may not.
        with suppress(ValueError):
            signal.signal(signal.SIGINT, on_interrupt)
        try:
            yield session
            if not kept:
                _keep(java, gateway, archive)
        finally:
            with warnings.catch_warnings(), suppress(Exception):
                warnings.simplefilter("ignore")
                session.stop()
            with suppress(Exception):
                gateway.shutdown()
                gateway.proc.stdin.close()
                gateway.proc.wait(STOP_SECONDS)
            # PySpark keeps the way to its JVM for good, also to one that is gone.
            for name in ("_gateway", "_jvm", "_active_spark_context"):
                setattr(SparkContext, name, None)


def class_archive(java: Path) -> Path:
    """Return where the classes of this Spark on this Java are kept, which may not be there.

    The first session on a machine keeps them. Without them a run of 19 groups took 31 processor
    seconds, with them 21 to 25.
    """
    import pyspark

    home = Path(os.environ.get("SPARK_HOME") or Path(pyspark.__file__).parent)
    return archive_of_classes("spark", java, str(home.resolve()), version("pyspark"))


def _keep(java: Path, gateway: JavaGateway, archive: Path) -> None:
    """Archive the classes that a JVM has loaded; without the archive only time is lost.

    At a good end, and not as Java's own ``ArchiveClassesAtExit`` at any: after its parent was
    killed, a JVM would stay 20 s and more.
    """
    from py4j.protocol import Py4JError

    part = archive.with_name(f"{os.getpid()}.unfinished")
    ask = [str(java / "bin" / "jcmd"), str(gateway.proc.pid)]
    with suppress(OSError, SubprocessError, Py4JError):
        archive.parent.mkdir(parents=True, exist_ok=True)
        others = sorted(archive.parent.glob("*.jsa"), key=lambda one: one.stat().st_mtime)
        for other in (*others[: 1 - MOST_ARCHIVES], *archive.parent.glob("*.unfinished")):
            other.unlink()
        loaded = run([*ask, "VM.class_hierarchy"], stdout=PIPE, check=True, text=True)
        compiler = gateway.jvm.org.codehaus.janino.SimpleCompiler()
        compiler.cook(LINK)
        link = compiler.getClassLoader().loadClass("Link").newInstance()
        link.accept(" ".join(re.findall(r"([\w.$]+)/0x", loaded.stdout)))
        dump = [*ask, "VM.cds", "dynamic_dump", str(part)]
        run(dump, stdout=DEVNULL, stderr=DEVNULL, check=True, timeout=STOP_SECONDS)
        part.replace(archive)


def _scratch() -> TemporaryDirectory[str]:
    """Make a folder for what a JVM writes on the way.

    Raises
    ------
    BadInput
        Where no folder can be made.
    """
    above = os.environ.get("SPARK_LOCAL_DIRS", "").split(",")[0] or gettempdir()
    try:
        return TemporaryDirectory(prefix="assay-spark-", dir=above, ignore_cleanup_errors=True)
    except OSError as error:
        raise BadInput(f"{above}: no scratch folder can be made: {error.strerror}") from None


def _quiet() -> None:
    """Keep to itself what py4j logs where its JVM ends: who runs this is told in one line."""
    from pyspark.accumulators import AccumulatorTCPServer

    logging.getLogger("py4j").setLevel(logging.CRITICAL)
    logging.getLogger().addFilter(_is_not_of_py4j)
    AccumulatorTCPServer.handle_error = lambda *_: None


def _is_not_of_py4j(record: logging.LogRecord) -> bool:
    return "py4j" not in Path(record.pathname).parts


@contextmanager
def _variables(variables: Mapping[str, str]) -> Iterator[None]:
    """Set variables of this process's environment, which a JVM starts with, and set them back."""
    before = {name: os.environ.get(name) for name in variables}
    os.environ.update(variables)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value
