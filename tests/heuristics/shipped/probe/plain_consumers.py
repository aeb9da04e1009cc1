"""Consumers as their users write them, with the command that starts each."""

import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from heuristics import assignor_named
from heuristics.shipped.consumers.consumer import missing_probe
from heuristics.shipped.consumers.go_driver import DRIVERS, go_variables
from heuristics.shipped.consumers.library import KAFKAJS
from heuristics.shipped.java import jars
from heuristics.shipped.java.jars import java_home

JAVA = "org.apache.kafka.clients.consumer"
PLAIN = Path(__file__).with_name("plain")


@dataclass(frozen=True)
class PlainConsumer:
    """A program in ``plain`` and how to start it.

    called : its client id
    shipped : the shipped assignor that its assignment must equal
    listed : the assignor that it lists; empty for its default
    options : more environment variables
    """

    called: str
    shipped: str
    topics: tuple[str, ...] = ("assay-probe",)
    listed: str = ""
    options: Mapping[str, str] = field(default_factory=dict, hash=False)

    @property
    def client(self):
        return self.shipped.partition("/")[0]

    def missing(self):
        reason = assignor_named(self.shipped).missing() or missing_probe()
        if reason is None and self.client in ("franz-go", "sarama") and shutil.which("go") is None:
            return "no Go toolchain on the PATH"
        return reason

    def start(self, bootstrap, folder):
        """Build the program in a folder if it must be built, and start it there."""
        command, variables = getattr(self, f"_{self.client.replace('-', '_')}")(folder)
        listed = {"ASSIGNOR": self.listed} if self.listed else {}
        with (folder / "stderr").open("wb") as errors:
            return subprocess.Popen(
                [*map(str, command), bootstrap, "assay-probe", *self.topics],
                cwd=folder,
                env={**os.environ, **variables, **self.options, **listed},
                stdout=subprocess.DEVNULL,
                stderr=errors,
            )

    def _librdkafka(self, _):
        return [sys.executable, PLAIN / "with_confluent_kafka.py"], {}

    def _kafka_python(self, _):
        return [sys.executable, PLAIN / "with_kafka_python.py"], {}

    def _aiokafka(self, _):
        return [sys.executable, PLAIN / "with_aiokafka.py"], {}

    def _franz_go(self, folder):
        return self._go(folder, "franz_go")

    def _sarama(self, folder):
        return self._go(folder, "sarama")

    def _go(self, folder, name):
        for source in (DRIVERS / name / "go.mod", DRIVERS / name / "go.sum"):
            shutil.copy(source, folder)
        shutil.copy(PLAIN / name / "main.go", folder)
        subprocess.run(
            ["go", "build", "-mod=mod", "-o", "plain", "."],
            cwd=folder,
            env={**os.environ, **go_variables()},
            check=True,
            capture_output=True,
            timeout=300,
        )
        return ["./plain"], {}

    def _kafkajs(self, _):
        version = assignor_named(self.shipped).version
        modules = {"NODE_PATH": str(KAFKAJS.modules(version))}
        return ["node", PLAIN / "kafkajs" / "main.js"], modules

    def _kafka_java(self, folder):
        places = jars.noted("kafka-clients", assignor_named(self.shipped).version)
        wrong = jars.compile_java([PLAIN / "Plain.java"], places, folder / "classes")
        assert wrong is None, wrong
        path = os.pathsep.join(map(str, [folder / "classes", *places]))
        return [java_home() / "bin" / "java", *jars.SHORT_LIVED, "-cp", path, "Plain"], {}


CONSUMERS = (
    PlainConsumer("rdkafka", "librdkafka/range"),
    PlainConsumer("kgo", "franz-go/cooperative-sticky"),
    PlainConsumer("sarama", "sarama/range"),
    PlainConsumer("my-app", "kafkajs/RoundRobinAssigner", ("t", "u")),
    PlainConsumer("my-app", "kafkajs/RoundRobinAssigner", (r"/^assay-probe-\d+$/",)),
    PlainConsumer("kafka-python", "kafka-python/range"),
    PlainConsumer("aiokafka", "aiokafka/roundrobin"),
    PlainConsumer("consumer-assay-probe-1", "kafka-java/range"),
    *(
        PlainConsumer(called, shipped, listed=listed or shipped.partition("/")[2])
        for called, shipped, listed in (
            ("rdkafka", "librdkafka/cooperative-sticky", ""),
            ("kgo", "franz-go/sticky", ""),
            ("sarama", "sarama/sticky", ""),
            ("kafka-python", "kafka-python/sticky", ""),
            ("kafka-python", "kafka-python/cooperative-sticky", ""),
            ("aiokafka", "aiokafka/sticky", ""),
            ("consumer-assay-probe-1", "kafka-java/sticky", f"{JAVA}.StickyAssignor"),
            (
                "consumer-assay-probe-1",
                "kafka-java/cooperative-sticky",
                f"{JAVA}.CooperativeStickyAssignor",
            ),
        )
    ),
)
