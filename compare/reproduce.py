"""Reproduce: a finding as a program in the client's own language, for those who maintain it."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from importlib.resources import files
from pprint import pformat
from string import Template
from typing import TYPE_CHECKING, Any

from compare.promises import PROMISES, optima
from groups import Assignment, BadInput

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from compare.findings import Finding
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
    return write(finding, assignor, version)


_JAVA_CLASSES = {
    "range": "RangeAssignor",
    "roundrobin": "RoundRobinAssignor",
    "sticky": "StickyAssignor",
    "cooperative-sticky": "CooperativeStickyAssignor",
    "uniform": "UniformAssignor",
}
_JUNIT = """\
import org.junit.jupiter.api.Test;

import static java.util.Map.entry;
import static org.junit.jupiter.api.Assertions.*;"""
_CLIENT_IMPORTS = f"""\
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.*;

import org.apache.kafka.clients.consumer.*;
import org.apache.kafka.clients.consumer.ConsumerPartitionAssignor.Assignment;
import org.apache.kafka.clients.consumer.ConsumerPartitionAssignor.GroupSubscription;
import org.apache.kafka.clients.consumer.ConsumerPartitionAssignor.Subscription;
import org.apache.kafka.common.*;
{_JUNIT}"""
_BROKER_IMPORTS = f"""\
import java.time.Duration;
import java.util.*;
import java.util.stream.Collectors;

import org.apache.kafka.common.*;
import org.apache.kafka.coordinator.group.api.assignor.*;
import org.apache.kafka.coordinator.group.assignor.*;
import org.apache.kafka.coordinator.group.modern.*;
{_JUNIT}"""


def _java(finding: Finding, assignor: str, version: str) -> Program:
    parts = _sections("kafka_java")
    assign = parts["cooperative" if assignor == "cooperative-sticky" else "eager"]
    assign = f"{assign}\n\n{parts['cluster']}"
    return _java_program(
        finding, assignor, f"kafka-clients {version}", _CLIENT_IMPORTS, Template(assign)
    )


def _broker(finding: Finding, assignor: str, version: str) -> Program:
    assign = Template(_sections("kafka_broker")["assign"])
    needs = f"kafka-group-coordinator {version}"
    return _java_program(finding, assignor, needs, _BROKER_IMPORTS, assign)


def _java_program(
    finding: Finding, assignor: str, needs: str, imports: str, assign: Template
) -> Program:
    parts = _sections("java")
    name = "".join(word.capitalize() for word in re.split(r"\W", finding.id)) + "Test"
    group, javaclass = finding.group, _JAVA_CLASSES[assignor]
    test = Template(parts[finding.promise]).substitute(
        better=_java_held(_best(group)),
        held=_java_held(_held(group)),
        next=int(group.generation.max(initial=0)) + 1,
    )
    members = group.to_dict()["members"]
    text = Template(parts["frame"]).substitute(
        _facts(finding, f"{javaclass} of {needs}"),
        name=name,
        needs=needs,
        imports=imports,
        partitions=_java_map({t: str(n) for t, n in _counts(group).items()}),
        reads=_java_map({m: _java_texts(said["subscription"]) for m, said in members.items()}),
        owned=_java_held({m: said["owned"] for m, said in members.items()}),
        generations=_java_map({m: str(g) for m, g in _generations(group).items()}),
        test=test,
        assign=assign.substitute(class_=javaclass, name=name),
    )
    return Program(f"{name}.java", text)


def _java_map(entries: Mapping[str, str]) -> str:
    rows = ",\n".join(f"        entry({_quoted(key)}, {value})" for key, value in entries.items())
    return f"Map.ofEntries(\n{rows})"


def _java_texts(texts: list[str]) -> str:
    return f"List.of({', '.join(map(_quoted, texts))})"


def _java_held(held: Mapping[str, Mapping[str, list[int]]]) -> str:
    lists = {
        member: ", ".join(f"p({_quoted(t)}, {n})" for t, numbers in of.items() for n in numbers)
        for member, of in held.items()
    }
    return _java_map({member: f"List.of({held})" for member, held in lists.items()})


_PYTHON_CLASSES = {
    "kafka-python": {
        "range": ("kafka.coordinator.assignors.range", "RangePartitionAssignor"),
        "roundrobin": ("kafka.coordinator.assignors.roundrobin", "RoundRobinPartitionAssignor"),
        "sticky": (
            "kafka.coordinator.assignors.sticky.sticky_assignor",
            "StickyPartitionAssignor",
        ),
        "cooperative-sticky": (
            "kafka.coordinator.assignors.cooperative_sticky",
            "CooperativeStickyAssignor",
        ),
    },
    "aiokafka": {
        "range": ("aiokafka.coordinator.assignors.range", "RangePartitionAssignor"),
        "roundrobin": ("aiokafka.coordinator.assignors.roundrobin", "RoundRobinPartitionAssignor"),
        "sticky": (
            "aiokafka.coordinator.assignors.sticky.sticky_assignor",
            "StickyPartitionAssignor",
        ),
    },
}


def _python(finding: Finding, assignor: str, version: str) -> Program:
    client = finding.assignor.partition("/")[0]
    module, class_ = _PYTHON_CLASSES[client][assignor]
    parts = _sections(client.replace("-", "_"))
    rounds = parts["cooperative" if assignor == "cooperative-sticky" else "eager"]
    assign = Template(f"{rounds}\n\n\n{parts['members']}").substitute(class_=class_)
    imports = Template(parts["imports"]).substitute(module=module, class_=class_)
    needs = f"{client} {version}"
    text = _python_text(finding, f"{class_} of {needs}", needs, imports, assign)
    return Program(f"test_{finding.id.replace('-', '_')}.py", text)


def _librdkafka(finding: Finding, assignor: str, version: str) -> Program:
    parts = _sections("librdkafka")
    assign = Template(parts["assign"]).substitute(assignor=assignor, version=version)
    needs = f"librdkafka {version} and kafka-assay[clients]"
    what = f"{assignor} of librdkafka {version}"
    text = _python_text(finding, what, needs, parts["imports"], assign)
    return Program(f"test_{finding.id.replace('-', '_')}.py", text)


def _python_text(finding: Finding, what: str, needs: str, imports: str, assign: str) -> str:
    parts, group = _sections("python"), finding.group
    members = group.to_dict()["members"]
    test = Template(parts[finding.promise]).substitute(
        better=pformat(_best(group)),
        held=pformat(_held(group)),
        next=int(group.generation.max(initial=0)) + 1,
    )
    return Template(parts["frame"] + "\n").substitute(
        _facts(finding, what),
        needs=needs,
        imports=imports,
        partitions=pformat(_counts(group)),
        reads=pformat({m: said["subscription"] for m, said in members.items()}),
        owned=pformat({m: said["owned"] for m, said in members.items()}),
        generations=pformat(_generations(group)),
        test=test,
        assign=assign,
    )


_GO_NAMES = {
    "range": "Range",
    "roundrobin": "RoundRobin",
    "sticky": "Sticky",
    "cooperative-sticky": "CooperativeSticky",
}
_GO_MODULES = {
    "sarama": ("github.com/IBM/sarama",),
    "franz-go": ("github.com/twmb/franz-go/pkg/kgo", "github.com/twmb/franz-go/pkg/kmsg"),
}
_GO_STANDARD = ("maps", "slices", "time")


def _go(finding: Finding, assignor: str, version: str) -> Program:
    client, group = finding.assignor.partition("/")[0], finding.group
    parts = _sections("go")
    rebalance = _sections(client.replace("-", "_"))["rebalance"]
    rounds = parts["cooperative" if assignor == "cooperative-sticky" else "eager"]
    assign = f"{rounds}\n\n{Template(rebalance).substitute(class_=_GO_NAMES[assignor])}"
    members = group.to_dict()["members"]
    test = Template(parts[finding.promise]).substitute(
        better=_go_held(_best(group)),
        held=_go_held(_held(group)),
        next=int(group.generation.max(initial=0)) + 1,
    )
    used = [name for name in _GO_STANDARD if f"{name}." in test + assign]
    imports = [f'\t"{name}"' for name in used] + [""]
    imports += [f'\t"{module}"' for module in _GO_MODULES[client]]
    text = Template(parts["frame"] + "\n").substitute(
        _facts(finding, f"{assignor} of {client} {version}"),
        needs=f"{client} {version}",
        imports="\n".join(imports),
        partitions=_go_map({t: str(n) for t, n in _counts(group).items()}),
        reads=_go_map({m: _go_texts(said["subscription"]) for m, said in members.items()}),
        owned=_go_held({m: said["owned"] for m, said in members.items()}),
        generations=_go_map({m: str(g) for m, g in _generations(group).items()}),
        name="".join(word.capitalize() for word in finding.promise.split("-")),
        test=test,
        assign=assign,
    )
    return Program(f"{finding.id.replace('-', '_')}_test.go", text)


def _go_map(entries: Mapping[str, str]) -> str:
    rows = "".join(f"\t{_quoted(key)}: {value},\n" for key, value in entries.items())
    return f"{{\n{rows}}}"


def _go_texts(texts: Sequence[str]) -> str:
    return f"{{{', '.join(map(_quoted, texts))}}}"


def _go_held(held: Mapping[str, Mapping[str, list[int]]]) -> str:
    return _go_map(
        {
            m: _go_texts_of({t: ", ".join(map(str, n)) for t, n in of.items()})
            for m, of in held.items()
        }
    )


def _go_texts_of(numbers: Mapping[str, str]) -> str:
    return f"{{{', '.join(f'{_quoted(topic)}: {{{said}}}' for topic, said in numbers.items())}}}"


def _kafkajs(finding: Finding, assignor: str, version: str) -> Program:
    parts, group = _sections("kafkajs"), finding.group
    if finding.promise not in parts:
        raise BadInput(f"{finding.id}: no program for {finding.promise} of KafkaJS")
    members = group.to_dict()["members"]
    text = Template(parts["frame"] + "\n").substitute(
        _facts(finding, f"{assignor} of KafkaJS {version}"),
        needs=f"kafkajs {version}",
        partitions=json.dumps(_counts(group)),
        reads=json.dumps({m: said["subscription"] for m, said in members.items()}, indent=2),
        test=parts[finding.promise],
    )
    return Program(f"{finding.id}.test.js", text)


def _sections(language: str) -> dict[str, str]:
    """Return the parts of a language's texts, each under a line ``%% name``."""
    text = files("compare").joinpath("programs", f"{language}.txt").read_text(encoding="utf-8")
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


def _held(group: Group) -> dict[str, dict[str, list[int]]]:
    """Return the valid owners."""
    return Assignment(group, group.owner).to_dict()


def _counts(group: Group) -> dict[str, int]:
    return dict(zip(group.topics, group.partitions.tolist(), strict=True))


def _generations(group: Group) -> dict[str, int]:
    return dict(zip(group.members, group.generation.tolist(), strict=True))


def _quoted(text: str) -> str:
    """Return a name as a string literal: JSON's are those of every language here."""
    return json.dumps(text)


_WRITERS: dict[str, Callable[[Any, str, str], Program]] = {
    "kafka-java": _java,
    "kafka-broker": _broker,
    "kafka-python": _python,
    "aiokafka": _python,
    "librdkafka": _librdkafka,
    "sarama": _go,
    "franz-go": _go,
    "kafkajs": _kafkajs,
}
