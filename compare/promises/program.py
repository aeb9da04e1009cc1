"""Program: a finding as a test in the client's own language, for those who maintain it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from string import Template
from typing import TYPE_CHECKING

from compare.promises import build_files
from compare.promises.language import GO, JAVA, JAVASCRIPT, PYTHON, Extras, sections
from compare.promises.record import ARTIFACTS
from compare.promises.told import Head
from groups import BadInput

if TYPE_CHECKING:
    from collections.abc import Callable

    from compare.promises.build_files import BuildFiles
    from compare.promises.findings import Finding

NO_PLAN = ("terminates", "answers", "settles")


@dataclass(frozen=True)
class Program:
    """A test that asks for what is promised, and fails where the finding is reproduced.

    Attributes
    ----------
    file : the name that the file must have
    text : the whole file
    build : what is beside it in its folder, and the one command that runs it there
    """

    file: str
    text: str
    build: BuildFiles

    @property
    def files(self) -> dict[str, str]:
        """All files of its folder, names to texts; the program comes first."""
        return {self.file: self.text, **self.build.files}


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
_PYTHON_STANDARD = (
    *("contextlib", "io", "queue", "socketserver", "struct", "subprocess", "sys"),
    *("threading", "traceback", "warnings"),
)
_GO_MODULES = {
    "sarama": ("github.com/IBM/sarama",),
    "franz-go": ("github.com/twmb/franz-go/pkg/kgo", "github.com/twmb/franz-go/pkg/kmsg"),
}
_GO_STANDARD = ("fmt", "maps", "runtime", "slices", "strings", "testing", "time")


def _java(finding: Finding, client: str, assignor: str, version: str) -> Program:
    parts, class_ = sections(client.replace("-", "_")), _JAVA_CLASSES[assignor]
    extras = Extras(finding.group)
    if "assign" in parts:
        called = parts["assign"]
    else:
        cluster = parts["cluster-in-racks" if extras.replicas else "cluster"]
        called = f"{parts[_rounds(assignor)]}\n\n{cluster}"
    name = "".join(word.capitalize() for word in re.split(r"\W", finding.id)) + "Test"
    build = build_files.maven(finding.id, ARTIFACTS[client], version)
    text = JAVA.text(
        finding,
        Head(f"{class_} of {ARTIFACTS[client]} {version}", build.command),
        Template(Template(called).safe_substitute(_java_extras(client, extras))).substitute(
            class_=class_, name=name
        ),
        imports=f"{parts['imports']}\n{sections('java')['imports']}",
        name=name,
    )
    return Program(f"{name}.java", text, build)


def _java_extras(client: str, extras: Extras) -> dict[str, str]:
    """Return what the calls of a client say of racks and instance ids."""
    rack = "Optional.ofNullable(RACK.get(member))" if extras.racks else "Optional.empty()"
    instance = "Optional.ofNullable(INSTANCE.get(member))"
    if client == "kafka-broker":
        replicas = "new HashSet<>(REPLICAS.get(name(topic)).get(partition))"
        return {
            "of_rack": rack,
            "of_instance": instance if extras.instances else "Optional.empty()",
            "of_replicas": replicas if extras.replicas else "Set.of()",
        }
    named = (
        "\n        members.forEach((member, said) ->"
        f"\n            said.setGroupInstanceId({instance}));"
    )
    alone = "new Subscription(topics, said)"
    in_rack = (
        "new Subscription(\n                "
        f"topics, said, List.of(), generation.get(member), {rack})"
    )
    return {
        "of_rack": rack,
        "of_instance": named if extras.instances else "",
        "eager_subscription": in_rack if extras.racks else alone,
    }


def _python(finding: Finding, client: str, assignor: str, version: str) -> Program:
    parts = sections(client.replace("-", "_"))
    module, _, class_ = _PYTHON_CLASSES[client, assignor].rpartition(".")
    module = f"{_PYTHON_MODULES[client]}.{module}"
    instance = "INSTANCE.get(name)" if Extras(finding.group).instances else "None"
    called = Template(parts["rebalance"]).substitute(class_=class_, of_instance=instance)
    imports = Template(parts["imports"]).substitute(module=module, class_=class_)
    what = f"{class_} of {client} {version}"
    return _pytest(finding, what, assignor, called, imports, (f"{client}=={version}",))


def _librdkafka(finding: Finding, client: str, assignor: str, version: str) -> Program:
    parts, extras = sections(client), Extras(finding.group)
    called = Template(parts["rebalance"]).safe_substitute(
        metadata=parts["metadata-in-racks" if extras.replicas else "metadata"]
    )
    called = Template(f"{called}\n\n\n{parts['main']}").substitute(
        assignor=assignor,
        of_rack="RACK.get(member)" if extras.racks else "None",
        of_instance="INSTANCE.get(m)" if extras.instances else "None",
    )
    recorded = {} if finding.record is None else finding.record.environment
    package = recorded.get("confluent-kafka")
    needs = f"confluent-kafka=={package}" if package else "confluent-kafka"
    what = f"{assignor} of {client} {version}"
    if package:
        what += f", by confluent-kafka {package}"
    return _pytest(finding, what, assignor, called, parts["imports"], (needs,))


def _pytest(
    finding: Finding,
    what: str,
    assignor: str,
    called: str,
    imports: str,
    needs: tuple[str, ...],
) -> Program:
    """Return a program in Python, with those modules of the standard library that it uses."""
    build, parts = build_files.pip(needs), sections("python")
    assign = f"{parts[_rounds(assignor)]}\n\n\n{called}"
    # What starts the program as a consumer comes last, behind all functions.
    assign, main, rest = assign.partition('if __name__ == "__main__":')
    used = parts["frame"] + parts[finding.promise] + imports + assign + rest
    text = PYTHON.text(
        finding,
        Head(what, build.command),
        assign.rstrip("\n"),
        imports="\n".join(
            [
                *(f"import {name}" for name in _PYTHON_STANDARD if f"{name}." in used),
                "",
                "import pytest",
                imports,
            ]
        ).lstrip("\n"),
    )
    return Program(
        f"test_{finding.id.replace('-', '_')}.py",
        f"{text}\n\n{main}{rest}\n" if main else text,
        build,
    )


def _go(finding: Finding, client: str, assignor: str, version: str) -> Program:
    parts, build = sections("go"), build_files.go(client, version)
    rebalance = sections(client.replace("-", "_"))["rebalance"]
    constructor = "".join(word.capitalize() for word in assignor.split("-"))
    constructor = constructor.replace("Roundrobin", "RoundRobin")
    instance = (
        "\n\t\tif id, static := instance[name]; static {\n\t\t\tmember.InstanceID = &id\n\t\t}"
        if Extras(finding.group).instances
        else ""
    )
    planned = [] if finding.promise in NO_PLAN else [parts["assigned"]]
    rebalance = Template(rebalance).substitute(class_=constructor, of_instance=instance)
    called = "\n\n".join([*planned, parts[_rounds(assignor)], rebalance])
    used = parts["frame"] + parts[finding.promise] + called
    standard = [f'\t"{name}"' for name in _GO_STANDARD if re.search(rf"\b{name}\.[A-Z]", used)]
    text = GO.text(
        finding,
        Head(f"{assignor} of {client} {version}", build.command),
        called,
        imports="\n".join([*standard, "", *(f'\t"{m}"' for m in _GO_MODULES[client])]),
        name="".join(word.capitalize() for word in finding.promise.split("-")),
    )
    return Program(f"{finding.id.replace('-', '_')}_test.go", text, build)


def _kafkajs(finding: Finding, client: str, assignor: str, version: str) -> Program:
    file = f"{finding.id}.test.js"
    build = build_files.npm(client, version, file)
    head = Head(f"{assignor} of {client} {version}", build.command)
    return Program(file, JAVASCRIPT.text(finding, head, ""), build)


def _rounds(assignor: str) -> str:
    return "cooperative" if assignor == "cooperative-sticky" else "eager"


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
