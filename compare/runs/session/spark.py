"""Spark: the session that a run is on, its own or one that was there before."""

from __future__ import annotations

import logging
import os
import signal
import subprocess
import sys
import tempfile
import warnings
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from threading import Thread, Timer, current_thread, main_thread
from typing import TYPE_CHECKING

from compare.runs.session.failed_session import did_not_start, one_line
from compare.runs.session.janitor import MARK, kill
from compare.runs.session.java import archive_is_missing, java_options, keep_archive
from compare.runs.session.master import (
    answers,
    environment,
    is_connect,
    is_local,
    master_of,
    of_own_session,
    submitted,
)
from compare.runs.session.scratch import above, scratch
from compare.runs.session.settings import set_for_now
from compare.runs.session.warm_up import import_meanwhile, start_workers
from groups.extras import require
from heuristics.shipped.java.runtime import spark_java_home

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from contextlib import AbstractContextManager
    from types import FrameType

    from py4j.clientserver import ClientServer
    from pyspark.sql import SparkSession

ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
START_SECONDS = 180.0
STOP_SECONDS = 30.0
# Some ten seconds of work, once; where it was cut short, every session would begin it anew.
ARCHIVE_SECONDS = 180.0
CANCEL_SECONDS = 10.0


@contextmanager
def spark_session(
    out: Path,
    *,
    master: str | None = None,
    conf: Mapping[str, str] | None = None,
    given: SparkSession | None = None,
) -> Iterator[SparkSession]:
    """Start a Spark session and end it, with all that it started and all that it wrote beside.

    A session that is there already is used and stays: one that is given, or that ``spark-submit``
    or a notebook has started. What a run must set on it is set back at the end.

    Parameters
    ----------
    out : folder that the session writes to
    master : as in :func:`~compare.runs.session.master.master_of`
    conf : further settings, which win over the run's own
    given : a session to use

    Raises
    ------
    BadInput
        Where there is no Java 17 or later, the folder can no longer be written, or there is no
        such master.
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
    with _present(present, conf or {}) if present is not None else _own(master, conf or {}) as one:
        try:
            yield one
        except (Py4JError, PySparkException, ConnectionError, EOFError) as error:
            raise one_line(error, out, above()) from error


def starts_here(master: str | None, given: SparkSession | None = None) -> bool:
    """Whether :func:`spark_session` would start a session of its own on this machine.

    Raises
    ------
    BadInput
        Where there is no such master.
    """
    # Where nobody has loaded it yet, there is no session.
    loaded = sys.modules.get("pyspark.sql")
    there = given or (loaded and loaded.SparkSession.getActiveSession())
    return there is None and is_local(master_of(master))


@contextmanager
def _present(session: SparkSession, conf: Mapping[str, str]) -> Iterator[SparkSession]:
    with set_for_now(session, conf):
        yield session


def _own(master: str | None, conf: Mapping[str, str]) -> AbstractContextManager[SparkSession]:
    where = master_of(master)
    assert where is not None
    answers(where)
    return _connected(where, conf) if is_connect(where) else _started(where, conf)


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
        raise did_not_start(master, error) from error
    try:
        yield session
    finally:
        with suppress(Exception):
            session.interruptAll()
        with suppress(PySparkException):
            session.stop()


@contextmanager
def _started(master: str, conf: Mapping[str, str]) -> Iterator[SparkSession]:
    """Start a JVM and a session in it; at the end neither they nor their scratch are left."""
    from pyspark import SparkConf, SparkContext
    from pyspark.java_gateway import launch_gateway
    from pyspark.sql import SparkSession

    java = spark_java_home()
    with _quiet(), scratch() as folder:
        options = java_options(java, folder)
        settings = SparkConf(loadDefaults=False).setMaster(master).setAppName("kafka-assay")
        for key, value in {**of_own_session(master, folder, options), **conf}.items():
            settings.set(key, value)
        log = folder / "jvm.log"
        variables = {"JAVA_HOME": str(java), **environment(master, folder), MARK: str(folder)}
        with log.open("wb") as said, _restored_handler(), _variables(variables):
            # A Java that hangs at its start would be waited for without an end.
            late = Timer(START_SECONDS, kill, [folder])
            late.daemon = True
            late.start()
            import_meanwhile()
            try:
                gateway = launch_gateway(
                    settings, {"stdout": said, "stderr": said, "start_new_session": True}
                )
                context = SparkContext(conf=settings, gateway=gateway)
                if is_local(master):
                    start_workers(context)
                session = SparkSession(context)
            except Exception as error:
                _forget()
                raise did_not_start(master, error, log.read_text(errors="replace")) from error
            finally:
                late.cancel()
        try:
            give_up = partial(kill if is_local(master) else partial(_cancel, session), folder)
            with _given_up_on_signals(give_up):
                yield session
            if archive_is_missing(folder, options) and _stop(session, gateway, ARCHIVE_SECONDS):
                keep_archive(java, folder)
        finally:
            # Nothing in the JVM is worth keeping once the work is done or given up: what tasks
            # have written is in files of their own.
            if is_local(master):
                kill(folder)
            _stop(session, gateway)
            _forget()


def _stop(session: SparkSession, gateway: ClientServer, seconds: float = STOP_SECONDS) -> bool:
    """Stop a session and its JVM, in good order where the JVM is still there; say if it ended."""
    from py4j.protocol import Py4JError

    with warnings.catch_warnings(), suppress(Py4JError, OSError):
        warnings.simplefilter("ignore")
        session.sparkContext.stop()
    with suppress(Exception):
        gateway.close()
    with suppress(OSError):
        gateway.proc.stdin.close()
    with suppress(subprocess.TimeoutExpired):
        gateway.proc.wait(seconds)
        return True
    return False


def _forget() -> None:
    """Let the next session of this process start a JVM of its own."""
    from pyspark import SparkContext

    # pyspark keeps the way to its JVM for good, also to one that is gone.
    for name in ("_gateway", "_jvm", "_active_spark_context"):
        setattr(SparkContext, name, None)


@contextmanager
def _quiet() -> Iterator[None]:
    """Keep to itself what pyspark prints where its JVM ends: who runs this is told in one line."""
    from pyspark.accumulators import AccumulatorTCPServer

    of_py4j, of_root = logging.getLogger("py4j"), logging.getLogger()
    level = of_py4j.level
    of_py4j.setLevel(logging.CRITICAL)
    of_root.addFilter(_is_not_of_py4j)
    AccumulatorTCPServer.handle_error = lambda *_: None
    try:
        yield
    finally:
        of_py4j.setLevel(level)
        of_root.removeFilter(_is_not_of_py4j)


def _is_not_of_py4j(record: logging.LogRecord) -> bool:
    return "py4j" not in Path(record.pathname).parts


@contextmanager
def _restored_handler() -> Iterator[None]:
    """Put back what Ctrl-C does: pyspark takes it over when a context starts."""
    if current_thread() is not main_thread():
        yield
        return
    before = signal.getsignal(signal.SIGINT)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def _cancel(session: SparkSession, folder: Path) -> None:
    """Cancel what a cluster still runs; pyspark waits for the end of a job whose rows it collects.

    It is asked from a thread of its own, whose way to the JVM nobody else is using. The JVM is
    killed where that does not help in time, as where the cluster's master is gone.
    """

    def cancel() -> None:
        with suppress(Exception):
            session.sparkContext.cancelAllJobs()

    Thread(target=cancel, daemon=True).start()
    late = Timer(CANCEL_SECONDS, kill, [folder])
    late.daemon = True
    late.start()


@contextmanager
def _given_up_on_signals(give_up: Callable[[], object]) -> Iterator[None]:
    """Give up what Spark does before a handler of this process's learns of a signal.

    What the handler raises may be lost on its way, in a destructor for one; a job that failed, or
    a JVM that is gone, is noticed.

    Parameters
    ----------
    give_up : kills the JVM and what is below it, or cancels its jobs

    Raises
    ------
    KeyboardInterrupt
        Where anything failed after a signal: that what was given up has failed is no failure.
    """
    if current_thread() is not main_thread():
        yield
        return
    found = {number: signal.getsignal(number) for number in ENDING}
    before = {number: handler for number, handler in found.items() if callable(handler)}

    asked: list[int] = []

    def end(number: int, frame: FrameType | None) -> None:
        asked.append(number)
        give_up()
        before[signal.Signals(number)](number, frame)

    for number in before:
        signal.signal(number, end)
    try:
        yield
    except Exception as error:
        if asked:
            raise KeyboardInterrupt from error
        raise
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


@contextmanager
def _variables(variables: Mapping[str, str]) -> Iterator[None]:
    """Set variables of this process's environment, which a JVM starts with, and set them back."""
    before = {name: os.environ.get(name) for name in variables}
    os.environ.update(variables)
    # pyspark makes a folder there for a moment, and a kill -9 leaves it.
    folder, tempfile.tempdir = tempfile.tempdir, variables["TMPDIR"]
    try:
        yield
    finally:
        tempfile.tempdir = folder
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value
