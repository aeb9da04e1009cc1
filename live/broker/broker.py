"""Broker: a Kafka of one node in a child process that ends with this one."""

from __future__ import annotations

import contextlib
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
import uuid
from pathlib import Path
from typing import TYPE_CHECKING

from groups.extras import require
from heuristics.shipped.consumers.driver_process import TETHER
from heuristics.shipped.java.jars import SHORT_LIVED
from live.broker import distribution, settings, tools

if TYPE_CHECKING:
    from collections.abc import Mapping
    from types import TracebackType
    from typing import Self

    from confluent_kafka.admin import AdminClient

START_SECONDS = 60.0
STOP_SECONDS = 20.0
TOOL_SECONDS = 90.0
ANSWER_SECONDS = 20.0
LOOK_SECONDS = 0.05
# A line of a Java stack trace says where in Kafka, not what is wrong.
FRAME = re.compile(r"\s+(at |\.\.\. \d+ more)")
STARTS = 3
HERE = Path(__file__).parent
LOGGING = (
    f"-Dlog4j2.configurationFile={HERE / 'log4j2.properties'}",
    f"-Dlog4j.configuration=file:{HERE / 'log4j.properties'}",
)
LAST_LINES = 12
TAKEN = ("Address already in use", "BindException")


class BrokerDied(OSError):
    """A broker that does not come up, or does not answer; with the end of its log."""


class Broker:
    """A running broker; `start` makes one, and leaving its ``with`` block ends it.

    Attributes
    ----------
    version : release of Kafka
    bootstrap : ``host:port`` that clients are given
    inside : ``host:port`` without security, for who looks after the broker

    Examples
    --------
    >>> with Broker.start() as broker:  # doctest: +SKIP
    ...     broker.create_topic("t0", 6)
    ...     broker.produce("t0", {0: 100, 1: 5})
    ...     print(broker.tool("topics", "--describe").stdout)
    """

    def __init__(
        self, version: str, folder: tempfile.TemporaryDirectory[str], heap_mb: int
    ) -> None:
        self.version = version
        self.bootstrap = self.inside = ""
        self._folder = folder
        self._heap_mb = heap_mb
        self._process: subprocess.Popen[bytes] | None = None

    @classmethod
    def start(
        cls,
        version: str = distribution.NEWEST,
        *,
        properties: Mapping[str, str] | None = None,
        heap_mb: int = 384,
    ) -> Broker:
        """Start a broker on free ports of loopback, and return it when it answers.

        Parameters
        ----------
        version : release of Kafka whose jars are here
        properties : of the server, beside ours and before them
        heap_mb : greatest heap of its Java

        Raises
        ------
        BadInput
            Where its jars, a Java or a client to ask it are not here.
        BrokerDied
            Where it does not come up.
        """
        require("confluent_kafka", extra="clients")
        distribution.java(version)
        for last in (False,) * (STARTS - 1) + (True,):
            folder = tempfile.TemporaryDirectory(
                prefix="assay-broker-", ignore_cleanup_errors=True
            )
            broker = cls(version, folder, heap_mb)
            try:
                broker._run({**(properties or {})})
            except BaseException as error:
                broker.kill()
                # Between our look for a free port and its start another program took it.
                taken = isinstance(error, BrokerDied) and any(w in str(error) for w in TAKEN)
                if last or not taken:
                    raise
                continue
            return broker
        raise AssertionError("the last start returns or raises")

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.stop()

    def stop(self) -> None:
        """Shut the broker down as one should, and remove its folder."""
        if self._process is not None:
            self._process.send_signal(signal.SIGTERM)
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._process.wait(STOP_SECONDS)
        self.kill()

    def kill(self) -> None:
        """End the broker at once, as a machine that loses power; remove its folder."""
        process, self._process = self._process, None
        if process is not None:
            assert process.stdin is not None
            process.stdin.close()
            process.wait()
            end = time.monotonic() + STOP_SECONDS
            # The Java below is killed in the same moment, and gone a little later.
            while settings.listens(self.inside) and time.monotonic() < end:
                time.sleep(LOOK_SECONDS)
        self._folder.cleanup()

    def pause(self) -> None:
        """Let the broker stand still: it takes connections and answers nothing."""
        self._signal(signal.SIGSTOP)

    def resume(self) -> None:
        """Let a broker that stands still go on."""
        self._signal(signal.SIGCONT)

    def log(self) -> str:
        """Return what the broker has said so far: warnings and errors."""
        return self._path("log").read_text(encoding="utf-8", errors="replace")

    def create_topic(
        self, topic: str, partitions: int, config: Mapping[str, str] | None = None
    ) -> None:
        """Make a topic, and return when each of its partitions has a leader."""
        from confluent_kafka.admin import NewTopic

        admin = self._admin()
        new = NewTopic(topic, partitions, 1, config=dict(config or {}))
        admin.create_topics([new])[topic].result(ANSWER_SECONDS)
        end = time.monotonic() + ANSWER_SECONDS
        while time.monotonic() < end:
            known = admin.list_topics(topic, timeout=ANSWER_SECONDS).topics[topic].partitions
            if len(known) == partitions and all(each.leader >= 0 for each in known.values()):
                return
            time.sleep(LOOK_SECONDS)
        raise self._died(f"topic {topic} has no leaders {ANSWER_SECONDS:.0f} s after it was made")

    def produce(self, topic: str, records: Mapping[int, int]) -> None:
        """Write so many records to each partition, and return when all are in the log."""
        from confluent_kafka import Producer

        missing: list[str] = []
        producer = Producer(
            self._client() | {"acks": "all", "queue.buffering.max.messages": 1_000_000}
        )
        for partition, count in records.items():
            for number in range(count):
                producer.produce(
                    topic,
                    str(number).encode(),
                    partition=partition,
                    on_delivery=lambda error, _: missing.append(str(error)) if error else None,
                )
                producer.poll(0)
        left = producer.flush(ANSWER_SECONDS)
        if left or missing:
            reason = f": {missing[0]}" if missing else ""
            raise self._died(f"{left + len(missing)} records were not written to {topic}{reason}")

    def tool(self, name: str, *arguments: str) -> subprocess.CompletedProcess[str]:
        """Run a console tool of the broker's release against it, and return what it printed.

        Parameters
        ----------
        name : as the script is called: ``consumer-groups``, ``topics``, ``acls``, ...
        arguments : of the tool; ``--bootstrap-server`` is given where they do not have it
        """
        at = () if "--bootstrap-server" in arguments else ("--bootstrap-server", self.inside)
        java, classes = distribution.java(self.version)
        return subprocess.run(
            [
                *(str(java), *SHORT_LIVED, "-Xmx256m", *LOGGING),
                *(tools.main_class(name, classes), *at, *arguments),
            ],
            env=os.environ | {"CLASSPATH": classes},
            capture_output=True,
            text=True,
            timeout=TOOL_SECONDS,
            check=False,
        )

    def _run(self, properties: dict[str, str]) -> None:
        names = ("CONTROLLER", "INSIDE")
        ports = dict(zip(names, settings.free_ports(len(names)), strict=True))
        plain = dict.fromkeys(names, "PLAINTEXT")
        self.inside = f"{settings.HOST}:{ports['INSIDE']}"
        self.bootstrap = self.inside
        settings.write(
            self._path("server.properties"),
            settings.ALONE
            | settings.listeners(ports, plain)
            | {"log.dirs": str(self._path("data"))}
            | properties,
        )
        self._format()
        java, classes = distribution.java(self.version)
        with self._path("log").open("ab") as log:
            self._process = subprocess.Popen(
                [
                    *(sys.executable, "-I", "-S", TETHER),
                    *(java, *SHORT_LIVED, f"-Xmx{self._heap_mb}m", *LOGGING),
                    *("kafka.Kafka", self._path("server.properties")),
                ],
                env=os.environ | {"CLASSPATH": classes},
                stdin=subprocess.PIPE,
                stdout=subprocess.DEVNULL,
                stderr=log,
                cwd=self._folder.name,
            )
        self._wait()

    def _format(self) -> None:
        java, classes = distribution.java(self.version)
        # An id of its own making may begin with "-", which the tool takes for an option.
        done = subprocess.run(
            [
                *(java, *SHORT_LIVED, *LOGGING),
                *("kafka.tools.StorageTool", "format", "-t", f"A{uuid.uuid4().hex[:21]}"),
                *("-c", self._path("server.properties")),
            ],
            env=os.environ | {"CLASSPATH": classes},
            capture_output=True,
            text=True,
            timeout=START_SECONDS,
            check=False,
        )
        self._path("log").write_text(done.stdout + done.stderr)
        if done.returncode:
            raise self._died("its folder cannot be formatted")

    def _wait(self) -> None:
        assert self._process is not None
        end = time.monotonic() + START_SECONDS
        while time.monotonic() < end:
            if self._process.poll() is not None:
                raise self._died("it ended while it started")
            if self._answers():
                return
            time.sleep(LOOK_SECONDS)
        raise self._died(f"it does not answer after {START_SECONDS:.0f} s")

    def _answers(self) -> bool:
        from confluent_kafka import KafkaException

        if not settings.listens(self.inside):
            return False
        with contextlib.suppress(KafkaException):
            return len(self._admin().list_topics(timeout=1.0).brokers) == 1
        return False

    def _died(self, reason: str) -> BrokerDied:
        lines = [line for line in self.log().splitlines() if not FRAME.match(line)]
        last = [line for line in lines if line.strip()][-LAST_LINES:]
        said = "; the end of its log:\n" + "\n".join(last) if last else ""
        return BrokerDied(f"the Kafka {self.version} broker: {reason}{said}")

    def _admin(self) -> AdminClient:
        from confluent_kafka.admin import AdminClient

        return AdminClient(self._client())

    def _client(self) -> dict[str, object]:
        return {"bootstrap.servers": self.inside, "log_level": 0}

    def _path(self, name: str) -> Path:
        return Path(self._folder.name) / name

    def _signal(self, number: signal.Signals) -> None:
        if self._process is None:
            raise self._died("it is not running")
        os.killpg(self._process.pid, number)
