"""Program: a finding as a test in the client's own language, for those who maintain it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from string import Template
from typing import TYPE_CHECKING

from compare.promises.language import GO, JAVA, JAVASCRIPT, PYTHON, sections
from compare.promises.record import ARTIFACTS
from groups import BadInput

if TYPE_CHECKING:
    from collections.abc import Callable

    from compare.promises.findings import Finding


@dataclass(frozen=True)
class Program:
    """A test that asks for what is promised, and fails where the finding is reproduced.

    Attributes
    ----------
    file : the name that the file must have
    text : the whole file
    """

    file: str
    text: str


def program(finding: Finding) -> Program:
    """Return a finding as a program.

    Raises
    ------
    BadInput
        Where no program can be written for its assignor.
    """
    client, _, rest = finding.assignor.partition("/")
    assignor, _, version = rest.partition("@")
    write = _WRITERS.get(client)
    if write is None or not version:
        known = ", ".join(_WRITERS)
        raise BadInput(f"{finding.id}: no program for {finding.assignor}, only for {known}")
    return write(finding, client, assignor, version)


_JAVA_CLASSES = {
    "range": "RangeAssignor",
    "roundrobin": "RoundRobinAssignor",
    "sticky": "StickyAssignor",
    "cooperative-sticky": "CooperativeStickyAssignor",
    "uniform": "UniformAssignor",
}
_PYTHON_CLASSES = {
    ("kafka-python", "range"): "range.RangePartitionAssignor",
    ("kafka-python", "roundrobin"): "roundrobin.RoundRobinPartitionAssignor",
    ("kafka-python", "sticky"): "sticky.sticky_assignor.StickyPartitionAssignor",
    ("kafka-python", "cooperative-sticky"): "cooperative_sticky.CooperativeStickyAssignor",
    ("aiokafka", "range"): "range.RangePartitionAssignor",
    ("aiokafka", "roundrobin"): "roundrobin.RoundRobinPartitionAssignor",
    ("aiokafka", "sticky"): "sticky.sticky_assignor.StickyPartitionAssignor",
}
_PYTHON_MODULES = {
    "kafka-python": "kafka.coordinator.assignors",
    "aiokafka": "aiokafka.coordinator.assignors",
}
_GO_MODULES = {
    "sarama": ("github.com/IBM/sarama",),
    "franz-go": ("github.com/twmb/franz-go/pkg/kgo", "github.com/twmb/franz-go/pkg/kmsg"),
}


def _java(finding: Finding, client: str, assignor: str, version: str) -> Program:
    parts, class_ = sections(client.replace("-", "_")), _JAVA_CLASSES[assignor]
    assign = parts["assign"] if "assign" in parts else parts[_rounds(assignor)]
    called = "\n\n".join(filter(None, (assign, parts.get("cluster"))))
    name = "".join(word.capitalize() for word in re.split(r"\W", finding.id)) + "Test"
    needs = f"{ARTIFACTS[client]} {version}"
    text = JAVA.text(
        finding,
        f"{class_} of {needs}",
        needs,
        Template(called).substitute(class_=class_, name=name),
        imports=f"{parts['imports']}\n{sections('java')['imports']}",
        name=name,
    )
    return Program(f"{name}.java", text)


def _python(finding: Finding, client: str, assignor: str, version: str) -> Program:
    parts, needs = sections(client.replace("-", "_")), f"{client} {version}"
    module, _, class_ = _PYTHON_CLASSES[client, assignor].rpartition(".")
    module = f"{_PYTHON_MODULES[client]}.{module}"
    called = Template(f"{parts[_rounds(assignor)]}\n\n\n{parts['members']}")
    text = PYTHON.text(
        finding,
        f"{class_} of {needs}",
        needs,
        called.substitute(class_=class_),
        imports=Template(parts["imports"]).substitute(module=module, class_=class_),
    )
    return Program(_python_file(finding), text)


def _librdkafka(finding: Finding, client: str, assignor: str, version: str) -> Program:
    parts = sections(client)
    text = PYTHON.text(
        finding,
        f"{assignor} of {client} {version}",
        f"{client} {version} and kafka-assay with its extra clients",
        Template(parts["assign"]).substitute(assignor=assignor, version=version),
        imports=parts["imports"],
    )
    return Program(_python_file(finding), text)


def _go(finding: Finding, client: str, assignor: str, version: str) -> Program:
    parts, needs = sections("go"), f"{client} {version}"
    rebalance = sections(client.replace("-", "_"))["rebalance"]
    constructor = "".join(word.capitalize() for word in assignor.split("-"))
    constructor = constructor.replace("Roundrobin", "RoundRobin")
    called = f"{parts[_rounds(assignor)]}\n\n{Template(rebalance).substitute(class_=constructor)}"
    used = parts[finding.promise] + called
    standard = [f'\t"{name}"' for name in ("maps", "slices", "time") if f"{name}." in used]
    text = GO.text(
        finding,
        f"{assignor} of {needs}",
        needs,
        called,
        imports="\n".join([*standard, "", *(f'\t"{m}"' for m in _GO_MODULES[client])]),
        name="".join(word.capitalize() for word in finding.promise.split("-")),
    )
    return Program(f"{finding.id.replace('-', '_')}_test.go", text)


def _kafkajs(finding: Finding, client: str, assignor: str, version: str) -> Program:
    needs = f"{client} {version}"
    text = JAVASCRIPT.text(finding, f"{assignor} of {needs}", needs, "")
    return Program(f"{finding.id}.test.js", text)


def _rounds(assignor: str) -> str:
    return "cooperative" if assignor == "cooperative-sticky" else "eager"


def _python_file(finding: Finding) -> str:
    return f"test_{finding.id.replace('-', '_')}.py"


_WRITERS: dict[str, Callable[[Finding, str, str, str], Program]] = {
    "kafka-java": _java,
    "kafka-broker": _java,
    "kafka-python": _python,
    "aiokafka": _python,
    "librdkafka": _librdkafka,
    "sarama": _go,
    "franz-go": _go,
    "kafkajs": _kafkajs,
}
