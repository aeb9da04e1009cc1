"""Broker: a Kafka broker in a child process, alone or in a cluster with others."""

from __future__ import annotations

import contextlib
import os
import re
import signal
import subprocess
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING
from uuid import uuid4

from broker import distribution
from broker.distribution import with_end_of
from broker.server_properties import (
    ALONE,
    HOST,
    Security,
    free_ports,
    listeners,
    listens,
    write,
)
from groups.documents.json_files import make_folder
from groups.extras import require

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Self


START_SECONDS = 60.0
# A broker that writes an archive of its classes takes a while to stop.
STOP_SECONDS = 60.0
TOOL_SECONDS = 90.0
TOOL_HEAP_MB = 256
ANSWER_SECONDS = 20.0
# More records than any test writes, so that the producer's queue is never full.
QUEUE = 2_000_000
LOOK_SECONDS = 0.05
# Frames of Java stack traces, which are left out of messages.
FRAME = re.compile(r"\s+(at |\.\.\. \d+ more)")
STARTS = 3
TAKEN = ("Address already in use", "BindException")


class BrokerDied(OSError):
    """A broker does not start or does not answer; the message has the end of its log."""


class Broker:
    """A running broker; `start` makes one, and leaving its ``with`` block ends it.

    Attributes
    ----------
    version : release of Kafka
    bootstrap : ``host:port`` for clients
    inside : ``host:port`` without security, for administration
    certificate : PEM file that TLS clients have to trust; None without TLS
    node : its id in the cluster
    cluster_id, voters : the cluster's id, and its controller as ``id@host:port``

    Examples
    --------
    >>> with Broker.start() as broker:  # doctest: +SKIP
    ...     broker.create_topic("t0", 6)
    ...     broker.produce("t0", {0: 100, 1: 5})
    ...     print(broker.tool("topics", "--describe").stdout)
    """

    def __init__(
        self,
        version: str,
        folder: tempfile.TemporaryDirectory[str],
        heap_mb: int,
        beside: Broker | None = None,
        classes: Sequence[str | Path] = (),
        options: Sequence[str] = (),
    ) -> None:
        self.version = version
        self.node: int = 1 if beside is None else beside.node + 1
        # An id of Kafka's own may begin with "-", which the storage tool takes for an option.
        self.cluster_id: str = f"A{uuid4().hex[:21]}" if beside is None else beside.cluster_id
        self.voters: str = "" if beside is None else beside.voters
        self.bootstrap = self.inside = ""
        self.certificate: Path | None = None
        self._folder = folder
        self._heap_mb = heap_mb
        # Absolute, because its working directory is a folder of its own.
        self._classes = [*map(os.path.abspath, classes)]
        self._options = options
        self._process: subprocess.Popen[bytes] | None = None
        self._said = ""

    @classmethod
    def start(
        cls,
        version: str = distribution.BROKER_RELEASE,
        *,
        properties: Mapping[str, str] | None = None,
        heap_mb: int = 384,
        security: Security | None = None,
        beside: Broker | None = None,
        classes: Sequence[str | Path] = (),
        options: Sequence[str] = (),
    ) -> Broker:
        """Start a broker on free ports of loopback, and return it when it answers.

        Parameters
        ----------
        version : release of Kafka whose jars are here
        properties : properties of the server, which override ours
        heap_mb : greatest heap of its Java
        security : of `bootstrap`; None: no login and no TLS
        beside : the last started broker of the cluster to join, which ends when its first broker
            does; None: a new cluster
        classes : jars and folders of classes for its Java, after Kafka's
        options : options of its Java, after ours

        Raises
        ------
        BadInput
            If its jars, a Java or a client to ask it are missing.
        BrokerDied
            If it does not start.
        """
        require("confluent_kafka", extra="clients")
        distribution.java(version)
        for last in (False,) * (STARTS - 1) + (True,):
            folder = tempfile.TemporaryDirectory(
                prefix="assay-broker-", ignore_cleanup_errors=True
            )
            broker = cls(version, folder, heap_mb, beside, classes, options)
            try:
                broker._run(properties or {}, security or Security())
            except BaseException as error:
                broker.kill()
                # Another program took the port after we found it free, so try again.
                taken = isinstance(error, BrokerDied) and any(w in str(error) for w in TAKEN)
                if last or not taken:
                    raise
                continue
            return broker
        raise AssertionError("the last start returns or raises")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def stop(self) -> None:
        """Shut the broker down cleanly, and remove its folder."""
        if self._process is not None:
            self._process.send_signal(signal.SIGTERM)
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._process.wait(STOP_SECONDS)
        self.kill()

    def kill(self) -> None:
        """Kill the broker, and remove its folder."""
        self.crash()
        self._said = self.log()
        self._folder.cleanup()

    def crash(self) -> None:
        """Kill the broker, like a machine that loses power; its folder stays."""
        process, self._process = self._process, None
        if process is None:
            return
        assert process.stdin is not None
        process.stdin.close()
        process.wait()
        end = time.monotonic() + STOP_SECONDS
        # The tether has killed the broker's Java, which takes a moment to be gone.
        while listens(self.inside) and time.monotonic() < end:
            time.sleep(LOOK_SECONDS)

    def restart(self) -> None:
        """Start a broker that has crashed, at its old address and with its old folder.

        Raises
        ------
        BrokerDied
            If it does not start.
        """
        self.crash()
        if not self._path("").is_dir():
            raise self._died("it was ended, and its folder removed")
        self._launch()

    def pause(self) -> None:
        """Stop the broker with SIGSTOP: it accepts connections, but does not answer."""
        os.killpg(self.pid, signal.SIGSTOP)

    def resume(self) -> None:
        """Let a paused broker continue."""
        os.killpg(self.pid, signal.SIGCONT)

    def wait(self) -> None:
        """Wait while the broker runs.

        Raises
        ------
        BrokerDied
            When it ends by itself.
        """
        if self._process is not None:
            self._process.wait()
        raise self._died("it has ended")

    @property
    def pid(self) -> int:
        """The id of its process and of its process group.

        Raises
        ------
        BrokerDied
            If it does not run.
        """
        if self._process is None:
            raise self._died("it is not running")
        return self._process.pid

    def log(self) -> str:
        """Return the broker's log: warnings and errors."""
        try:
            return self._path("log").read_text(encoding="utf-8", errors="replace")
        except FileNotFoundError:
            return self._said

    def create_topic(
        self,
        topic: str,
        partitions: int,
        config: Mapping[str, str] | None = None,
        nodes: Sequence[Sequence[int]] = (),
    ) -> None:
        """Create a topic, and return when each of its partitions has a leader.

        Parameters
        ----------
        nodes : broker ids of each partition's replicas, leader first; empty: Kafka chooses
        """
        from confluent_kafka.admin import AdminClient, NewTopic

        admin = AdminClient(client(self.inside))
        where = {"replica_assignment": [[*each] for each in nodes]}
        new = NewTopic(
            topic,
            partitions,
            config={**(config or {})},
            **(where if nodes else {"replication_factor": 1}),
        )
        admin.create_topics([new])[topic].result(ANSWER_SECONDS)
        end = time.monotonic() + ANSWER_SECONDS
        while time.monotonic() < end:
            known = admin.list_topics(topic, timeout=ANSWER_SECONDS).topics[topic].partitions
            if len(known) == partitions and all(each.leader >= 0 for each in known.values()):
                return
            time.sleep(LOOK_SECONDS)
        raise self._died(f"topic {topic} was made and has no leaders")

    def produce(self, topic: str, records: Mapping[int, int]) -> None:
        """Write records to a topic, and return when all are in the log.

        Parameters
        ----------
        records : number of records for each partition
        """
        from confluent_kafka import Producer

        missing: list[str] = []
        queue = {"acks": "all", "queue.buffering.max.messages": QUEUE, "linger.ms": 1}
        producer = Producer(client(self.inside) | queue)
        for partition, count in records.items():
            for number in range(count):
                producer.produce(
                    topic,
                    str(number).encode(),
                    partition=partition,
                    on_delivery=lambda error, _: missing.append(str(error)) if error else None,
                )
                producer.poll(0)
        missing += ["no answer"] * producer.flush(ANSWER_SECONDS)
        if missing:
            raise self._died(f"{topic}: {len(missing)} records were not written: {missing[0]}")

    def allow(self, user: str, operation: str, kind: str, name: str = "*") -> None:
        """Allow a user an operation, as in ``allow("alice", "read", "topic", "t0")``.

        Kinds are ``topic``, ``group`` and ``broker``; the only name of the last is
        ``kafka-cluster``.
        """
        from confluent_kafka import admin

        # A variable, because the answer never comes if the client is garbage collected.
        asked = admin.AdminClient(client(self.inside))
        binding = admin.AclBinding(
            admin.ResourceType[kind.upper()],
            name,
            admin.ResourcePatternType.LITERAL,
            f"User:{user}",
            "*",
            admin.AclOperation[operation.upper()],
            admin.AclPermissionType.ALLOW,
        )
        asked.create_acls([binding])[binding].result(ANSWER_SECONDS)

    def tool(self, name: str, *arguments: str) -> subprocess.CompletedProcess[str]:
        """Run a console tool of the broker's release against it, and return what it printed.

        Parameters
        ----------
        name : name of the script: ``consumer-groups``, ``topics``, ``acls``, ...
        arguments : arguments of the tool; ``--bootstrap-server`` is added if it is missing

        Raises
        ------
        BadInput
            If the tool is unknown, or the release does not have it.
        BrokerDied
            If the tool does not end, for example because the broker does not run.
        """
        at = () if "--bootstrap-server" in arguments else ("--bootstrap-server", self.inside)
        _, classes = distribution.java(self.version)
        return self._java(distribution.main_class(name, classes), *at, *arguments)

    def _run(self, properties: Mapping[str, str], security: Security) -> None:
        joins = bool(self.voters)
        protocols = dict.fromkeys(("INSIDE",) if joins else ("CONTROLLER", "INSIDE"), "PLAINTEXT")
        outside = {} if security.plain else {"OUTSIDE": security.protocol}
        protocols |= outside
        ports = dict(zip(protocols, free_ports(len(protocols)), strict=True))
        self.inside = f"{HOST}:{ports['INSIDE']}"
        if not joins:
            self.voters = f"{self.node}@{HOST}:{ports['CONTROLLER']}"
        self.bootstrap = f"{HOST}:{ports['OUTSIDE']}" if outside else self.inside
        java, _ = distribution.java(self.version)
        folder = self._path("")
        self.certificate = security.certify(java.with_name("keytool"), folder)
        write(
            self._path("server.properties"),
            ALONE
            | listeners(ports, protocols)
            | security.properties("OUTSIDE", folder)
            | {
                "process.roles": "broker" if joins else "broker,controller",
                "node.id": str(self.node),
                "controller.quorum.voters": self.voters,
                "log.dirs": str(self._path("data")),
            }
            | dict(properties),
        )
        self._format(security)
        self._launch()

    def _launch(self) -> None:
        java, classes = self._runs_with()
        with self._path("log").open("ab") as log:
            options = (*distribution.kept_classes(self.version), *self._options)
            program = ("kafka.Kafka", self._path("server.properties"))
            command = distribution.command(java, self._heap_mb, *options, *program)
            self._process = distribution.tethered(command, classes, log, self._folder.name)
        self._wait()

    def _format(self, security: Security) -> None:
        asked = ["format", "-t", self.cluster_id, "-c"]
        asked += [str(self._path("server.properties")), *security.format_options()]
        done = self._java("kafka.tools.StorageTool", *asked)
        self._path("log").write_text(done.stdout + done.stderr)
        if done.returncode:
            raise self._died("its folder cannot be formatted")

    def _java(self, main: str, *arguments: str) -> subprocess.CompletedProcess[str]:
        java, classes = self._runs_with()
        told = (*distribution.kept_classes(self.version), main, *arguments)
        try:
            return subprocess.run(
                distribution.command(java, TOOL_HEAP_MB, *told),
                env=os.environ | {"CLASSPATH": classes},
                capture_output=True,
                text=True,
                timeout=TOOL_SECONDS,
                check=False,
            )
        except subprocess.TimeoutExpired:
            tool = main.rpartition(".")[2]
            raise self._died(f"{tool} has not ended after {TOOL_SECONDS:g} s") from None

    def _runs_with(self) -> tuple[Path, str]:
        """Return the Java program and the class path of the broker and its tools."""
        java, classes = distribution.java(self.version)
        return java, os.pathsep.join([classes, *self._classes])

    def _wait(self) -> None:
        assert self._process is not None
        end = time.monotonic() + START_SECONDS
        while time.monotonic() < end:
            if self._process.poll() is not None:
                raise self._died("it ended while it started")
            if listens(self.inside) and _answers(self.inside, self.node):
                return
            time.sleep(LOOK_SECONDS)
        raise self._died(f"it does not answer after {START_SECONDS:.0f} s")

    def _died(self, reason: str) -> BrokerDied:
        lines = (line for line in self.log().splitlines() if not FRAME.match(line))
        said = with_end_of(lines, reason)
        return BrokerDied(f"the Kafka {self.version} broker: {said}")

    def _path(self, name: str) -> Path:
        return Path(self._folder.name) / name


def keep_classes(version: str = distribution.BROKER_RELEASE) -> None:
    """Make an archive of a release's loaded classes (``java -XX:SharedArchiveFile``).

    With it, a broker takes 2.6 processor seconds from start to end instead of 4.3, and a console
    tool 0.9 instead of 1.4.

    Raises
    ------
    BadInput, BrokerDied
        As `Broker.start` raises them.
    """
    kept = distribution.archive(version)
    if kept.is_file():
        return
    make_folder(kept.parent)
    with tempfile.TemporaryDirectory(dir=kept.parent) as folder:
        made = Path(folder) / kept.name
        with Broker.start(version, options=[f"-XX:ArchiveClassesAtExit={made}"]) as broker:
            broker.create_topic("kept", 1)
            broker.produce("kept", {0: 1})
        if made.is_file():
            made.replace(kept)


def _answers(inside: str, node: int) -> bool:
    """Return whether a broker answers and lists itself in the cluster."""
    from confluent_kafka import KafkaException
    from confluent_kafka.admin import AdminClient

    try:
        return node in AdminClient(client(inside)).list_topics(timeout=1.0).brokers
    except KafkaException:
        return False


def client(inside: str) -> dict[str, object]:
    """Return the settings of a confluent-kafka client that does not log."""
    return {"bootstrap.servers": inside, "log_level": 0}
