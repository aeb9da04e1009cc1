"""Language: how a programming language writes down a group, and the promise's test of it."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from functools import cached_property
from importlib.resources import files
from pprint import pformat
from string import Template
from typing import TYPE_CHECKING

from compare.promises.trial import optima
from groups import Assignment, BadInput
from heuristics.shipped.client import joining

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from compare.promises.findings import Finding
    from compare.promises.told import Head
    from groups import Group
    from heuristics.shipped.client import Joining

    Held = Mapping[str, Mapping[str, list[int]]]
    Replicas = Mapping[str, list[list[str]]]


@dataclass(frozen=True)
class Language:
    """How a language writes down a group: what is in `programs/<name>.txt`, and its literals."""

    name: str
    numbers: Callable[[Mapping[str, int]], str]
    subscriptions: Callable[[Mapping[str, list[str]]], str]
    held: Callable[[Held], str]
    names: Callable[[Mapping[str, str]], str]
    replicas: Callable[[Replicas], str]
    comment: str = ""
    gap: str = "\n\n"

    def text(self, finding: Finding, head: Head, assign: str, **more: str) -> str:
        """Return a program: its head, the group, the promise's test, the call of the client."""
        parts, group = sections(self.name), finding.group
        if finding.promise not in parts:
            raise BadInput(f"{finding.id}: no program for the promise {finding.promise}")
        members = group.to_dict()["members"]
        test = Template(parts[finding.promise]).substitute(
            held=self.held(Assignment(group, group.owner).to_dict()),
            next=int(group.generation.max(initial=0)) + 1,
            name=more.get("name", ""),
        )
        return Template(parts["frame"] + "\n").substitute(
            head="\n".join(f"{self.comment}{line}".rstrip() for line in head.lines(finding)),
            partitions=self.numbers(
                dict(zip(group.topics, group.partitions.tolist(), strict=True))
            ),
            reads=self.subscriptions(
                {m: said["subscription"] or [] for m, said in members.items()}
            ),
            owned=self.held({m: said["owned"] for m, said in members.items()}),
            generations=self.numbers(
                dict(zip(group.members, group.generation.tolist(), strict=True))
            ),
            better=self.held(_best(group)),
            more=self._more(Extras(group), parts),
            broken=f"{parts['broken']}{self.gap}" if "broken(" in test else "",
            test=test,
            assign=assign,
            **more,
        )

    def _more(self, extras: Extras, parts: Mapping[str, str]) -> str:
        """Return the racks and instance ids, where the group has any and the client takes them."""
        found = (
            ("instance", extras.instances, self.names(extras.instances)),
            ("rack", extras.racks, self.names(extras.racks)),
            ("replicas", extras.replicas, self.replicas(extras.replicas)),
        )
        return "".join(
            f"\n{Template(parts[name]).substitute({name: literal})}\n"
            for name, there, literal in found
            if there and name in parts
        )


@dataclass(frozen=True)
class Extras:
    """The racks and instance ids of a group."""

    group: Group

    @cached_property
    def instances(self) -> dict[str, str]:
        """Members to instance ids."""
        return {said.member_id: said.instance_id for said in self._members if said.instance_id}

    @cached_property
    def racks(self) -> dict[str, str]:
        """Members to racks."""
        return {said.member_id: said.rack for said in self._members if said.rack}

    @cached_property
    def replicas(self) -> dict[str, list[list[str]]]:
        """Topics to the racks of each partition's replicas; all topics where one has any."""
        topics = self.group.to_dict()["topics"]
        racks = {
            topic: said["racks"]
            for topic, said in topics.items()
            if isinstance(said, dict) and said.get("racks")
        }
        count = dict(zip(self.group.topics, self.group.partitions.tolist(), strict=True))
        return {t: racks.get(t, [[]] * n) for t, n in count.items()} if racks else {}

    @cached_property
    def _members(self) -> list[Joining]:
        return joining(self.group)


def _java_map(entries: Mapping[str, object]) -> str:
    rows = ",\n".join(f"        entry({_quoted(key)}, {value})" for key, value in entries.items())
    return f"Map.ofEntries(\n{rows})"


def _java_list(items: list[str]) -> str:
    return f"List.of({', '.join(items)})"


def _java_subscriptions(reads: Mapping[str, list[str]]) -> str:
    return _java_map({m: _java_list([*map(_quoted, of)]) for m, of in reads.items()})


def _java_held(held: Held) -> str:
    lists = {
        member: [f"p({_quoted(t)}, {n})" for t, numbers in of.items() for n in numbers]
        for member, of in held.items()
    }
    return _java_map({member: _java_list(held) for member, held in lists.items()})


def _java_names(names: Mapping[str, str]) -> str:
    return _java_map({key: _quoted(value) for key, value in names.items()})


def _java_replicas(replicas: Replicas) -> str:
    return _java_map(
        {t: _java_list([_java_list([*map(_quoted, of)]) for of in n]) for t, n in replicas.items()}
    )


def _go_map(entries: Mapping[str, object]) -> str:
    # In columns, as gofmt does it.
    width = max((len(_quoted(key)) for key in entries), default=0)
    rows = (f"\t{_quoted(k)}:{' ' * (width - len(_quoted(k)))} {v},\n" for k, v in entries.items())
    return f"{{\n{''.join(rows)}}}"


def _go_subscriptions(reads: Mapping[str, list[str]]) -> str:
    return _go_map({m: f"{{{', '.join(map(_quoted, of))}}}" for m, of in reads.items()})


def _go_held(held: Held) -> str:
    lists = {
        member: ", ".join(f"{_quoted(t)}: {{{', '.join(map(str, n))}}}" for t, n in of.items())
        for member, of in held.items()
    }
    return _go_map({member: f"{{{held}}}" for member, held in lists.items()})


def _go_names(names: Mapping[str, str]) -> str:
    return _go_map({key: _quoted(value) for key, value in names.items()})


def _no_replicas(replicas: Replicas) -> str:
    """No client in this language looks at them by itself."""
    return ""


def sections(language: str) -> dict[str, str]:
    """Return the parts of `programs/<language>.txt`; each stands under a line ``%% name``."""
    file = files("compare.promises").joinpath("programs", f"{language}.txt")
    text = file.read_text(encoding="utf-8")
    found = re.split(r"^%% (.+)\n", text, flags=re.MULTILINE)[1:]
    return {name: part.rstrip("\n") for name, part in zip(found[::2], found[1::2], strict=True)}


def _best(group: Group) -> dict[str, dict[str, list[int]]]:
    """Return the optimum for balance > stickiness."""
    found = optima([group])[0].assignment
    return {} if found is None else found.to_dict()


def _quoted(text: str) -> str:
    """Return a name as a string literal: JSON's are those of every language here."""
    return json.dumps(text)


def _json_rows(entries: Mapping[str, object]) -> str:
    rows = (f"  {json.dumps(key)}: {json.dumps(value)}" for key, value in entries.items())
    return "{\n" + ",\n".join(rows) + "\n}"


JAVA = Language(
    "java", _java_map, _java_subscriptions, _java_held, _java_names, _java_replicas, "// "
)
PYTHON = Language("python", pformat, pformat, pformat, pformat, pformat, gap="\n\n\n")
GO = Language("go", _go_map, _go_subscriptions, _go_held, _go_names, _no_replicas, "// ")
JAVASCRIPT = Language(
    "kafkajs", _json_rows, _json_rows, _json_rows, _json_rows, _no_replicas, "// "
)
