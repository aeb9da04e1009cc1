"""Session: the Spark session of a run, either a new one or one that was already active."""

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

    from py4j.java_gateway import JavaGateway
    from pyspark.sql import SparkSession

# One task for each core that the JVM may use, within the limits of its container. A task is tried
# three times, so that the death of a Python worker does not end the job.
DEFAULT = "local[*,3]"
KINDS = re.compile(
    r"local(\[([0-9]+|\*)(,[0-9]+)?\])?|local-cluster\[.+\]|yarn|(spark|k8s|sc)://.+"
)
ADDRESS = re.compile(r"(?:spark|sc)://(?P<host>\[[^]]+\]|[^:/;,]+)(?::(?P<port>[0-9]+))?[^,]*")
PORTS = {"spark": 7077, "sc": 15002}
ANSWER_SECONDS = 10.0
# Long enough for the first session to archive its classes.
STOP_SECONDS = 90.0
# An archive has 190 MB, and there is one for each version of Spark and Java.
MOST_ARCHIVES = 3
GOES_ON = "what was done is kept; the same command goes on"
QUIET = Path(__file__).with_name("log4j2.properties")
JAVA = (
    f"-Dlog4j2.configurationFile={QUIET.resolve().as_uri()}",
    # A JVM that only passes rows on for seconds gains nothing from the optimising compiler.
    "-XX:TieredStopAtLevel=1",
    "-XX:+UseSerialGC",
    "-XX:-UsePerfData",
)
OF_ANY = {
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    # Recording the call site of each column takes longer than planning the query.
    "spark.python.sql.dataFrameDebugging.enabled": "false",
}
OF_LOCAL = {
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.memory": "2g",
    "spark.sql.adaptive.enabled": "false",
    "spark.sql.shuffle.partitions": "4",
    # Queries have some thousand rows: compiling code takes longer than interpreting it.
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
}

# With a limit on bytes, Spark measures the batch at each row, which takes ten times as long as
# passing the row on. For rows of tables a limit on their number is enough.
BATCH = "spark.sql.execution.arrow.maxBytesPerBatch"
ANY_BYTES = 2**31 - 1
# While tables are added up or checked against limits, a Python worker that is idle for this long
# hangs: it is killed, and its task is tried again.
FOR_ROWS = {
    BATCH: str(ANY_BYTES),
    "spark.sql.execution.pyspark.udf.idleTimeoutSeconds": "600",
    "spark.sql.execution.pyspark.udf.killOnIdleTimeout": "true",
}

# Java archives only linked classes. A quarter of the loaded ones are not linked, as only the
# verifier has asked for them. This class links them without initialising them.
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
    """Start a Spark session, and stop it at the end.

    If one is given, or ``spark-submit`` or a notebook has started one, that session is used. It is
    not stopped, and its settings are restored at the end.

    Parameters
    ----------
    master : as in :func:`master_of`
    conf : further settings, which win over the run's own
    given : a session to use

    Raises
    ------
    BadInput
        If there is no Java 17 or later, or the master does not exist.
    AssayError
        If Spark fails for another reason.
    KeyboardInterrupt
        After an interrupt; the session's processes have ended by then.
    """
    from py4j.protocol import Py4JError
    from pyspark.errors import PySparkException
    from pyspark.sql import SparkSession

    present = given or SparkSession.getActiveSession()
    if present is None and submitted():
        master_of(master)
        present = SparkSession.builder.appName("kafka-assay").getOrCreate()
    settings = dict(conf or {})
    if present is not None:
        opened = set_for_now(present, settings)
    else:
        where = master_of(master)
        assert where is not None
        _require_answer(where)
        opened = (_connected if where.startswith("sc://") else _started)(where, settings)
    with opened as one:
        try:
            yield one
        except (Py4JError, PySparkException, ConnectionError, EOFError) as error:
            raise as_assay_error(error) from error


@contextmanager
def set_for_now(session: SparkSession, settings: Mapping[str, str]) -> Iterator[SparkSession]:
    """Change settings of a session, and restore them at the end."""
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


def master_of(given: str | None) -> str | None:
    """Return the master of a run; None if ``spark-submit`` has chosen one.

    Parameters
    ----------
    given : ``local[4]``, ``spark://HOST:PORT``, ``yarn``, ``k8s://...``, or ``sc://HOST:PORT``
        of a Spark Connect server; None: the value of ``SPARK_REMOTE``, else all cores of this
        machine

    Raises
    ------
    BadInput
        If it is not one of these, or ``spark-submit`` has chosen one.
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
    """Return the Spark settings in texts ``KEY=VALUE``.

    Raises
    ------
    BadInput
        If a text is not such a pair, its key does not begin with ``spark.``, or it is the master.
    """
    settings = {}
    for setting in given:
        key, equals, value = setting.partition("=")
        if not equals or not key.startswith("spark."):
            raise BadInput(f"conf: {setting!r}, expected spark.KEY=VALUE")
        if key == "spark.master":
            raise BadInput(f"conf: {setting!r}, but a master is given, too")
        settings[key] = value
    return settings


def submitted() -> bool:
    """Return whether ``spark-submit`` started this process."""
    return "PYSPARK_GATEWAY_PORT" in os.environ


def runs_here(master: str | None) -> bool:
    """Return whether all tasks run on this machine, as children of the session's own JVM.

    Raises
    ------
    BadInput
        As in :func:`master_of`.
    """
    found = master_of(master)
    return found is not None and found.startswith("local")


def as_assay_error(error: Exception) -> AssayError:
    """Return the error, with a message of one line, to raise instead of Spark's exception."""
    text = str(error)
    if connector := _NO_CONNECTOR.search(text):
        return BadInput(
            f"Spark cannot load {connector[1]}: it needs a connector for this address; "
            "docs/how-to/run-the-fleet-on-a-cluster.md has that for s3a"
        )
    if named := _WITH_COLON.search(text):
        return BadInput(f"{named[1]}: {NO_COLON}")
    of_files = _OF_FILES.findall(text)
    if of_files:
        return BadInput(f"{_short(of_files[-1])}; {GOES_ON}")
    for pattern, said in _ENDED:
        if pattern.search(text):
            return AssayError(f"{said}; {GOES_ON}")
    kind = BadInput if _REFUSAL.search(text) else AssayError
    return kind(f"Spark: {reason_in(error)}")


# What Spark's file systems say of a local name with a colon, such as a time.
_WITH_COLON = re.compile(r"Relative path in absolute URI: ([^\n]+)")
NO_COLON = "Spark reads and writes no file with a colon in its name: rename it"
# What Arrow says in Java of a Python worker that ended between its rows.
_CUT_OFF = "Unexpected end of input"
# Errors of files and folders, which stand in the middle of Spark's stack traces.
_OF_FILES = re.compile(
    r"(?:java\.n?io|org\.apache\.hadoop\.[\w.]+)\.[\w$]*(?:Exception|Error): "
    rf"(?!{_CUT_OFF})([^\n]+)"
)
_NO_CONNECTOR = re.compile(r"Class (org\.apache\.hadoop\.fs\.\S+) not found")
# The line of a Python traceback, and of a Java one, that names the exception.
_RAISED = re.compile(r"^\s*([\w.]+(?:Error|Exception|Exit|Interrupt|Warning)\b.*)", re.M)
_CAUSE = re.compile(
    r"^(?:Caused by: |: )?[\w.$]+(?<!java\.lang\.ClassNotFound)(?:Exception|Error): ([^\n]+)", re.M
)
# Spark's refusals of the tables, paths and formats that a user has named.
_REFUSAL = re.compile(
    r"\[((CATALOG|DATA_SOURCE|PATH|SCHEMA|TABLE_OR_VIEW)_NOT_FOUND|PARSE_SYNTAX_ERROR|"
    r"INVALID_IDENTIFIER|REQUIRES_SINGLE_PART_NAMESPACE|UNSUPPORTED_DATA_TYPE_FOR_DATASOURCE)\]"
)
# Bash's complaints on Spark's start scripts after Java has failed.
_OF_SCRIPTS = re.compile(r"/bin/spark-[a-z]+: line \d+: ")
# Messages of Spark and py4j after one of their processes has ended.
_ENDED = (
    (
        re.compile(
            rf"Python worker (exited unexpectedly|failed to connect back)|EOFException|{_CUT_OFF}"
        ),
        "a Python process of Spark's ended",
    ),
    (
        re.compile(
            r"Answer from Java side is empty|while (sending|trying to connect)|Connection"
            r" (refused|reset)|has been closed|SparkContext was shut down|stopped SparkContext"
            # Only at the end of the text: an exception raised in Java has more after it.
            r"|An error occurred while calling o\d+\.\w+\s*\Z"
        ),
        "Spark's Java process ended",
    ),
)
_LONGEST = 300


def reason_in(error: Exception) -> str:
    """Return the exception of a Python worker, else the innermost one of Java, in one line."""
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


def _require_answer(master: str) -> None:
    """Raise BadInput if nobody listens at a master's address: Spark would try for minutes."""
    address = ADDRESS.fullmatch(master)
    # A list of several masters does not match: any but one may be down.
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
    """Open a session of a Spark Connect server; queries still running at its end are cancelled."""
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
    """Start a JVM with a session; at the end stop both and delete the JVM's scratch folder.

    The JVM also ends if this process is killed, as its standard input is a pipe from here.
    """
    from pyspark import SparkConf, SparkContext
    from pyspark.java_gateway import launch_gateway
    from pyspark.sql import SparkSession

    local = master.startswith("local")
    settings = SparkConf(loadDefaults=False).setMaster(master).setAppName("kafka-assay")
    # Local workers run this process's Python, others the one that the user has chosen.
    python = sys.executable if local else os.environ.get("PYSPARK_PYTHON", sys.executable)
    java = spark_java_home()
    variables = {"JAVA_HOME": str(java), "PYSPARK_PYTHON": python}
    if local:
        variables["SPARK_LOCAL_IP"] = os.environ.get("SPARK_LOCAL_IP", "127.0.0.1")
    _silence_py4j()
    archive = class_archive(java)
    with _scratch() as folder, TemporaryFile() as log:
        is_archived = archive.is_file()
        options = (
            *JAVA,
            f"-Djava.io.tmpdir={folder}",
            f"-XX:ErrorFile={folder}/error.log",
            f"-XX:SharedArchiveFile={archive}" if is_archived else "-XX:+RecordDynamicDumpInfo",
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
                # If this process is killed, the JVM deletes the folder, which Spark has emptied.
                gateway.jvm.java.io.File(folder).deleteOnExit()
                session = SparkSession(SparkContext(conf=settings, gateway=gateway))
        except Exception as error:
            log.seek(0)
            raise _did_not_start(master, error, log.read().decode(errors="replace")) from error
        # PySpark has replaced the handler of Ctrl-C. Only the main thread may restore it.
        with suppress(ValueError):
            signal.signal(signal.SIGINT, on_interrupt)
        try:
            yield session
            if not is_archived:
                _archive_classes(java, gateway, archive)
        finally:
            with warnings.catch_warnings(), suppress(Exception):
                warnings.simplefilter("ignore")
                session.stop()
            with suppress(Exception):
                gateway.shutdown()
                gateway.proc.stdin.close()
                gateway.proc.wait(STOP_SECONDS)
            # PySpark would go on using the gateway to the JVM that has ended.
            for name in ("_gateway", "_jvm", "_active_spark_context"):
                setattr(SparkContext, name, None)


def class_archive(java: Path) -> Path:
    """Return the path of the archive of Spark's classes for this Java; it may not exist yet.

    The first session on a machine makes it. Without it a run of 19 groups took 31 processor
    seconds, with it 21 to 25.
    """
    import pyspark

    home = Path(os.environ.get("SPARK_HOME") or Path(pyspark.__file__).parent)
    return archive_of_classes("spark", java, str(home.resolve()), version("pyspark"))


def _archive_classes(java: Path, gateway: JavaGateway, archive: Path) -> None:
    """Archive the classes that a JVM has loaded; errors are ignored, as the archive is optional.

    It is made only after a run that has succeeded. With Java's own ``ArchiveClassesAtExit``, a JVM
    whose parent was killed would live on for 20 s and more.
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
    """Make a folder for a JVM's temporary files.

    Raises
    ------
    BadInput
        If it cannot be made.
    """
    above = os.environ.get("SPARK_LOCAL_DIRS", "").split(",")[0] or gettempdir()
    try:
        return TemporaryDirectory(prefix="assay-spark-", dir=above, ignore_cleanup_errors=True)
    except OSError as error:
        raise BadInput(f"{above}: no scratch folder can be made: {error.strerror}") from None


def _silence_py4j() -> None:
    """Suppress what py4j logs when its JVM ends: the user gets a message of one line instead."""
    from pyspark.accumulators import AccumulatorTCPServer

    logging.getLogger("py4j").setLevel(logging.CRITICAL)
    logging.getLogger().addFilter(_is_not_of_py4j)
    AccumulatorTCPServer.handle_error = lambda *_: None


def _is_not_of_py4j(record: logging.LogRecord) -> bool:
    return "py4j" not in Path(record.pathname).parts


@contextmanager
def _variables(variables: Mapping[str, str]) -> Iterator[None]:
    """Set environment variables, which a JVM inherits, and restore them at the end."""
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
