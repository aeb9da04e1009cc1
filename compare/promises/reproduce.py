"""Reproduce: a finding as a program in the client's own language, for those who maintain it."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from importlib.resources import files
from pprint import pformat
from string import Template
from typing import TYPE_CHECKING, Any

from compare.promises.promise import PROMISES, optima
from groups import Assignment, BadInput

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from compare.promises.findings import Finding
    from groups import Group


@dataclass(frozen=True)
class Program:
    """A test that asks for what is promised, and fails where the finding is reproduced.

    Attributes
    ----------
    file : the name that it must have
    text : the whole of it
    """

    file: str
    text: str


def program(finding: Finding) -> Program:
    """Return a finding as a program.

    Raises
    ------
    BadInput
        Where there is none for its assignor.
    """
    client, _, rest = finding.assignor.partition("/")
    assignor, _, version = rest.partition("@")
    write = _WRITERS.get(client)
    if write is None or not version:
        known = ", ".join(_WRITERS)
        raise BadInput(f"{finding.id}: no program for {finding.assignor}, only for {known}")
    return write(finding, client, assignor, version)


@dataclass(frozen=True)
class _Language:
    """How a language writes down a group: what is in `programs/<name>.txt`, and its literals."""

    name: str
    numbers: Callable[[Mapping[str, int]], str]
    texts: Callable[[Mapping[str, list[str]]], str]
    held: Callable[[Mapping[str, Mapping[str, list[int]]]], str]

    def text(self, finding: Finding, what: str, needs: str, assign: str, **more: str) -> str:
        """Return a program: its head, the group, the promise's test, the call of the client."""
        parts, group = _sections(self.name), finding.group
        if finding.promise not in parts:
            raise BadInput(f"{finding.id}: no program for the promise {finding.promise}")
        members = group.to_dict()["members"]
        test = Template(parts[finding.promise]).substitute(
            better=self.held(_best(group)),
            held=self.held(Assignment(group, group.owner).to_dict()),
            next=int(group.generation.max(initial=0)) + 1,
        )
        return Template(parts["frame"] + "\n").substitute(
            _facts(finding, what),
            needs=needs,
            partitions=self.numbers(
                dict(zip(group.topics, group.partitions.tolist(), strict=True))
            ),
            reads=self.texts({m: said["subscription"] for m, said in members.items()}),
            owned=self.held({m: said["owned"] for m, said in members.items()}),
            generations=self.numbers(
                dict(zip(group.members, group.generation.tolist(), strict=True))
            ),
            test=test,
            assign=assign,
            **more,
        )


def _java_map(entries: Mapping[str, object]) -> str:
    rows = ",\n".join(f"        entry({_quoted(key)}, {value})" for key, value in entries.items())
    return f"Map.ofEntries(\n{rows})"


def _java_texts(texts: Mapping[str, list[str]]) -> str:
    return _java_map({m: f"List.of({', '.join(map(_quoted, of))})" for m, of in texts.items()})


def _java_held(held: Mapping[str, Mapping[str, list[int]]]) -> str:
    lists = {
        member: ", ".join(f"p({_quoted(t)}, {n})" for t, numbers in of.items() for n in numbers)
        for member, of in held.items()
    }
    return _java_map({member: f"List.of({held})" for member, held in lists.items()})


def _go_map(entries: Mapping[str, object]) -> str:
    rows = "".join(f"\t{_quoted(key)}: {value},\n" for key, value in entries.items())
    return f"{{\n{rows}}}"


def _go_texts(texts: Mapping[str, list[str]]) -> str:
    return _go_map({m: f"{{{', '.join(map(_quoted, of))}}}" for m, of in texts.items()})


def _go_held(held: Mapping[str, Mapping[str, list[int]]]) -> str:
    lists = {
        member: ", ".join(f"{_quoted(t)}: {{{', '.join(map(str, n))}}}" for t, n in of.items())
        for member, of in held.items()
    }
    return _go_map({member: f"{{{held}}}" for member, held in lists.items()})


_JAVA = _Language("java", _java_map, _java_texts, _java_held)
_PYTHON = _Language("python", pformat, pformat, pformat)
_GO = _Language("go", _go_map, _go_texts, _go_held)
_JAVASCRIPT = _Language("kafkajs", json.dumps, json.dumps, json.dumps)

_JAVA_CLASSES = {
    "range": "RangeAssignor",
    "roundrobin": "RoundRobinAssignor",
    "sticky": "StickyAssignor",
    "cooperative-sticky": "CooperativeStickyAssignor",
    "uniform": "UniformAssignor",
}
ARTIFACTS = {"kafka-java": "kafka-clients", "kafka-broker": "kafka-group-coordinator"}
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
    parts, class_ = _sections(client.replace("-", "_")), _JAVA_CLASSES[assignor]
    assign = parts["assign"] if "assign" in parts else parts[_rounds(assignor)]
    called = "\n\n".join(filter(None, (assign, parts.get("cluster"))))
    name = "".join(word.capitalize() for word in re.split(r"\W", finding.id)) + "Test"
    needs = f"{ARTIFACTS[client]} {version}"
    text = _JAVA.text(
        finding,
        f"{class_} of {needs}",
        needs,
        Template(called).substitute(class_=class_, name=name),
        imports=f"{parts['imports']}\n{_sections('java')['imports']}",
        name=name,
    )
    return Program(f"{name}.java", text)


def _python(finding: Finding, client: str, assignor: str, version: str) -> Program:
    parts, needs = _sections(client.replace("-", "_")), f"{client} {version}"
    module, _, class_ = _PYTHON_CLASSES[client, assignor].rpartition(".")
    module = f"{_PYTHON_MODULES[client]}.{module}"
    called = Template(f"{parts[_rounds(assignor)]}\n\n\n{parts['members']}")
    text = _PYTHON.text(
        finding,
        f"{class_} of {needs}",
        needs,
        called.substitute(class_=class_),
        imports=Template(parts["imports"]).substitute(module=module, class_=class_),
    )
    return Program(_python_file(finding), text)


def _librdkafka(finding: Finding, client: str, assignor: str, version: str) -> Program:
    parts = _sections(client)
    text = _PYTHON.text(
        finding,
        f"{assignor} of {client} {version}",
        f"{client} {version} and kafka-assay[clients]",
        Template(parts["assign"]).substitute(assignor=assignor, version=version),
        imports=parts["imports"],
    )
    return Program(_python_file(finding), text)


def _go(finding: Finding, client: str, assignor: str, version: str) -> Program:
    parts, needs = _sections("go"), f"{client} {version}"
    rebalance = _sections(client.replace("-", "_"))["rebalance"]
    constructor = "".join(word.capitalize() for word in assignor.split("-"))
    constructor = constructor.replace("Roundrobin", "RoundRobin")
    called = f"{parts[_rounds(assignor)]}\n\n{Template(rebalance).substitute(class_=constructor)}"
    used = parts[finding.promise] + called
    standard = [f'\t"{name}"' for name in ("maps", "slices", "time") if f"{name}." in used]
    text = _GO.text(
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
    text = _JAVASCRIPT.text(finding, f"{assignor} of {needs}", needs, "")
    return Program(f"{finding.id}.test.js", text)


def _rounds(assignor: str) -> str:
    return "cooperative" if assignor == "cooperative-sticky" else "eager"


def _python_file(finding: Finding) -> str:
    return f"test_{finding.id.replace('-', '_')}.py"


def _sections(language: str) -> dict[str, str]:
    """Return the parts of a language's texts, each under a line ``%% name``."""
    file = files("compare.promises").joinpath("programs", f"{language}.txt")
    text = file.read_text(encoding="utf-8")
    found = re.split(r"^%% (.+)\n", text, flags=re.MULTILINE)[1:]
    return {name: part.rstrip("\n") for name, part in zip(found[::2], found[1::2], strict=True)}


def _facts(finding: Finding, what: str) -> dict[str, str]:
    """Return what stands at the head of every program."""
    group = finding.group
    sizes = f"{len(group.members)} members x {group.n_partitions} partitions"
    measured = "; ".join(f"{key} {json.dumps(value)}" for key, value in finding.measured.items())
    versions = f"Affected of the versions tried: {', '.join(finding.affected)}"
    if finding.unaffected:
        versions += f"; not affected: {', '.join(finding.unaffected)}"
    return {
        "id": finding.id,
        "title": f"{what}, {sizes}",
        "says": f"Promised: {PROMISES[finding.promise].text}. Measured: {measured}.",
        "versions": f"{versions}.",
    }


def _best(group: Group) -> dict[str, dict[str, list[int]]]:
    """Return the optimum for balance > stickiness."""
    found = optima([group])[0].assignment
    return {} if found is None else found.to_dict()


def _quoted(text: str) -> str:
    """Return a name as a string literal: JSON's are those of every language here."""
    return json.dumps(text)


_WRITERS: dict[str, Callable[[Any, str, str, str], Program]] = {
    "kafka-java": _java,
    "kafka-broker": _java,
    "kafka-python": _python,
    "aiokafka": _python,
    "librdkafka": _librdkafka,
    "sarama": _go,
    "franz-go": _go,
    "kafkajs": _kafkajs,
}
