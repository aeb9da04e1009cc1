"""Program: a finding as a test in the client's own language, for the client's maintainers.

Each language has a template in `programs`.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from pprint import pformat
from typing import TYPE_CHECKING, TypeAlias

from jinja2 import Environment, FunctionLoader, StrictUndefined, Template

from compare.promises.description import head
from compare.promises.trial import optima
from groups import Assignment, BadInput
from heuristics.shipped import CLIENTS
from heuristics.shipped.client import joining
from heuristics.shipped.consumers.library import go_library_of
from heuristics.shipped.java.java_client import JavaClient
from heuristics.shipped.python_client import PythonClient

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from compare.promises.findings import Finding
    from groups import Group


# The files of a build, texts by name, and the command to run in their folder.
Build: TypeAlias = "tuple[dict[str, str], str]"


def maven(name: str, artifact: str, version: str) -> Build:
    """Return the build of a JUnit test against an artifact of Kafka."""
    pom = templates().get_template("pom").render(name=name, artifact=artifact, version=version)
    return {"pom.xml": pom}, "mvn -q test"


def _go_module(client: str, version: str) -> Build:
    """Return the module of a Go test, with checksums if they are recorded for the version."""
    driver = go_library_of(client)
    text = (driver.folder / "go.mod").read_text("utf-8")
    lines = ["module reproduction", *text.splitlines()[1:]]
    if driver.is_recorded(version):
        sums = (driver.folder / "go.sum").read_text("utf-8")
        return {"go.mod": "\n".join(lines) + "\n", "go.sum": sums}, "go test"
    asked = ["module reproduction", "", *(line for line in lines if line.startswith("go "))]
    asked += ["", f"require {driver.module} v{version}", ""]
    return {"go.mod": "\n".join(asked)}, "go mod tidy && go test"


_IN_JAVA = {name: one for name, one in CLIENTS.items() if isinstance(one, JavaClient)}
_IN_PYTHON = {name: one for name, one in CLIENTS.items() if isinstance(one, PythonClient)}
# Modules of the standard library that a program imports if it uses them.
PYTHON_MODULES = (
    *("contextlib", "io", "queue", "socketserver", "struct", "subprocess", "sys"),
    *("threading", "traceback", "warnings"),
)
GO_PACKAGES = ("fmt", "maps", "runtime", "slices", "strings", "testing", "time")


@dataclass(frozen=True)
class Program:
    """A test of a promise that fails if the finding is reproduced.

    Attributes
    ----------
    file : the name that the file must have
    text : the whole file
    beside : the other files of its folder, texts by name
    command : the command that runs it there
    """

    file: str
    text: str
    beside: Mapping[str, str]
    command: str

    @property
    def files(self) -> dict[str, str]:
        """All files of its folder, texts by name; the program comes first."""
        return {self.file: self.text, **self.beside}


def program(finding: Finding) -> Program:
    """Return a finding as a program.

    Raises
    ------
    BadInput
        If there is no program for its assignor, or for its promise.
    """
    client, _, rest = finding.assignor.partition("/")
    assignor, _, version = rest.partition("@")
    write = _WRITERS.get(client)
    if write is None or not version:
        known = ", ".join(_WRITERS)
        raise BadInput(
            f"{finding.id}: no program for {finding.assignor}, only for {known}; "
            "docs/how-to/test-my-assignor.md has the test of an assignor of your own"
        )
    return write(finding, client, assignor, version)


def _java(finding: Finding, client: str, assignor: str, version: str) -> Program:
    shipped, name = _IN_JAVA[client], f"{camel(finding.id)}Test"
    class_ = shipped.assignors[assignor]
    what = f"{class_} of {shipped.artifact} {version}"
    build = maven(finding.id, shipped.artifact, version)
    return _program("java", finding, f"{name}.java", what, build, name=name, class_=class_)


def _python(finding: Finding, client: str, assignor: str, version: str) -> Program:
    module, _, class_ = _IN_PYTHON[client].assignors[assignor].partition(":")
    what = f"{class_} of {client} {version}"
    return _pytest(finding, what, f"{client}=={version}", module=module, class_=class_)


def _librdkafka(finding: Finding, client: str, assignor: str, version: str) -> Program:
    recorded = {} if finding.record is None else finding.record.environment
    package = recorded.get("confluent-kafka")
    by = f", by confluent-kafka {package}" if package else ""
    needs = f"confluent-kafka=={package}" if package else "confluent-kafka"
    return _pytest(finding, f"{assignor} of {client} {version}{by}", needs)


def _pytest(finding: Finding, what: str, needs: str, **more: str) -> Program:
    requirements = {"requirements.txt": f"{needs}\npytest\n"}
    build = requirements, "pip install -q -r requirements.txt && pytest -q"
    file = f"test_{finding.id.replace('-', '_')}.py"
    return _program("python", finding, file, what, build, modules=PYTHON_MODULES, **more)


def _go(finding: Finding, client: str, assignor: str, version: str) -> Program:
    file, what = f"{finding.id.replace('-', '_')}_test.go", f"{assignor} of {client} {version}"
    class_ = camel(assignor).replace("Roundrobin", "RoundRobin")
    more = {"name": camel(finding.promise), "class_": class_, "packages": GO_PACKAGES}
    return _program("go", finding, file, what, _go_module(client, version), **more)


def _kafkajs(finding: Finding, client: str, assignor: str, version: str) -> Program:
    file, what = f"{finding.id}.test.js", f"{assignor} of {client} {version}"
    package = {
        "private": True,
        "scripts": {"test": f"node --test {file}"},
        "dependencies": {client: version},
    }
    build = {"package.json": json.dumps(package, indent=2) + "\n"}, "npm install-test"
    return _program("kafkajs", finding, file, what, build)


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


def templates() -> Environment:
    """Return the environment of the programs' templates."""
    return Environment(
        loader=FunctionLoader(_template),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        autoescape=False,
    )


@cache
def _template_of(language: str) -> Template:
    environment = templates()
    environment.filters["literal"] = _LITERALS[language]
    environment.tests["using"] = lambda text, package: re.search(rf"\b{package}\.[A-Z]", text)
    return environment.get_template(language)


def _program(
    language: str, finding: Finding, file: str, what: str, build: Build, **more: object
) -> Program:
    """Return the program of its language's template, with the group as literals.

    A template has a branch for each promise that it tests.
    """
    if f'promise == "{finding.promise}"' not in _template(language):
        raise BadInput(f"{finding.id}: no program for the promise {finding.promise}")
    client, _, rest = finding.assignor.partition("/")
    assignor = rest.partition("@")[0]
    beside, command = build
    text = _template_of(language).render(
        _facts(finding.group),
        head=[*head(finding, what, command)],
        promise=finding.promise,
        client=client,
        assignor=assignor,
        cooperative=assignor == "cooperative-sticky",
        **more,
    )
    return Program(file, text, beside, command)


def _template(language: str) -> str:
    file = files("compare.promises").joinpath("programs", f"{language}.jinja")
    return file.read_text(encoding="utf-8")


def _facts(group: Group) -> dict[str, object]:
    """Return the values on a group that the templates use."""
    document, best = group.to_dict(), optima([group])[0].assignment
    members, partitions = document["members"], group.partitions.tolist()
    racks = {
        topic: details["racks"]
        for topic, details in document["topics"].items()
        if isinstance(details, dict) and details.get("racks")
    }
    counts = dict(zip(group.topics, partitions, strict=True))
    joins = joining(group)
    return {
        "partitions": counts,
        "reads": {name: member["subscription"] or [] for name, member in members.items()},
        "owned": {name: member["owned"] for name, member in members.items()},
        "held": Assignment(group, group.owner).to_dict(),
        "generation": dict(zip(group.members, group.generation.tolist(), strict=True)),
        "next": int(group.generation.max(initial=0)) + 1,
        "better": {} if best is None else best.to_dict(),
        "instances": {one.member_id: one.instance_id for one in joins if one.instance_id},
        "racks": {one.member_id: one.rack for one in joins if one.rack},
        # The racks of all topics if one topic has any.
        "replicas": {t: racks.get(t, [[]] * n) for t, n in counts.items()} if racks else {},
    }


def _java_literal(value: object) -> str:
    if isinstance(value, dict):
        rows = (f"        entry({json.dumps(key)}, {_java_item(of)})" for key, of in value.items())
        return "Map.ofEntries(\n" + ",\n".join(rows) + ")"
    return _java_item(value)


def _java_item(value: object) -> str:
    if isinstance(value, dict):
        held = [f"p({json.dumps(topic)}, {n})" for topic, of in value.items() for n in of]
        return f"List.of({', '.join(held)})"
    if isinstance(value, list):
        return f"List.of({', '.join(map(_java_item, value))})"
    return json.dumps(value)


def _go_literal(value: Mapping[str, object]) -> str:
    # Values in a column, as gofmt aligns them.
    width = max((len(json.dumps(key)) for key in value), default=0)
    rows = (
        f"\t{f'{json.dumps(key)}:':{width + 1}} {_go_item(of)},\n" for key, of in value.items()
    )
    return f"{{\n{''.join(rows)}}}"


def _go_item(value: object) -> str:
    if isinstance(value, dict):
        held = (f"{json.dumps(topic)}: {_go_item(of)}" for topic, of in value.items())
        return f"{{{', '.join(held)}}}"
    if isinstance(value, list):
        return f"{{{', '.join(map(_go_item, value))}}}"
    return json.dumps(value)


def _json_rows(value: Mapping[str, object]) -> str:
    rows = (f"  {json.dumps(key)}: {json.dumps(of)}" for key, of in value.items())
    return "{\n" + ",\n".join(rows) + "\n}"


_LITERALS: dict[str, Callable[..., str]] = {
    "java": _java_literal,
    "python": pformat,
    "go": _go_literal,
    "kafkajs": _json_rows,
}


def camel(name: str) -> str:
    """Return a name in camel case, as a class name begins."""
    return "".join(word.capitalize() for word in re.split(r"\W", name))
