"""Language: how a programming language writes down a group, and the promise's test of it."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from importlib.resources import files
from pprint import pformat
from string import Template
from typing import TYPE_CHECKING

from compare.promises.promise import PROMISES
from compare.promises.trial import optima
from groups import Assignment, BadInput
from groups.wording import counted

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from compare.promises.findings import Finding
    from groups import Group


@dataclass(frozen=True)
class Language:
    """How a language writes down a group: what is in `programs/<name>.txt`, and its literals."""

    name: str
    numbers: Callable[[Mapping[str, int]], str]
    subscriptions: Callable[[Mapping[str, list[str]]], str]
    held: Callable[[Mapping[str, Mapping[str, list[int]]]], str]

    def text(self, finding: Finding, what: str, needs: str, assign: str, **more: str) -> str:
        """Return a program: its head, the group, the promise's test, the call of the client."""
        parts, group = sections(self.name), finding.group
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
            reads=self.subscriptions(
                {m: said["subscription"] or [] for m, said in members.items()}
            ),
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


def _java_subscriptions(reads: Mapping[str, list[str]]) -> str:
    return _java_map({m: f"List.of({', '.join(map(_quoted, of))})" for m, of in reads.items()})


def _java_held(held: Mapping[str, Mapping[str, list[int]]]) -> str:
    lists = {
        member: ", ".join(f"p({_quoted(t)}, {n})" for t, numbers in of.items() for n in numbers)
        for member, of in held.items()
    }
    return _java_map({member: f"List.of({held})" for member, held in lists.items()})


def _go_map(entries: Mapping[str, object]) -> str:
    rows = "".join(f"\t{_quoted(key)}: {value},\n" for key, value in entries.items())
    return f"{{\n{rows}}}"


def _go_subscriptions(reads: Mapping[str, list[str]]) -> str:
    return _go_map({m: f"{{{', '.join(map(_quoted, of))}}}" for m, of in reads.items()})


def _go_held(held: Mapping[str, Mapping[str, list[int]]]) -> str:
    lists = {
        member: ", ".join(f"{_quoted(t)}: {{{', '.join(map(str, n))}}}" for t, n in of.items())
        for member, of in held.items()
    }
    return _go_map({member: f"{{{held}}}" for member, held in lists.items()})


def sections(language: str) -> dict[str, str]:
    """Return the parts of `programs/<language>.txt`; each stands under a line ``%% name``."""
    file = files("compare.promises").joinpath("programs", f"{language}.txt")
    text = file.read_text(encoding="utf-8")
    found = re.split(r"^%% (.+)\n", text, flags=re.MULTILINE)[1:]
    return {name: part.rstrip("\n") for name, part in zip(found[::2], found[1::2], strict=True)}


def _facts(finding: Finding, what: str) -> dict[str, str]:
    """Return what stands at the head of every program."""
    group = finding.group
    sizes = f"{counted(len(group.members), 'member')} x {counted(group.n_partitions, 'partition')}"
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


JAVA = Language("java", _java_map, _java_subscriptions, _java_held)
PYTHON = Language("python", pformat, pformat, pformat)
GO = Language("go", _go_map, _go_subscriptions, _go_held)
JAVASCRIPT = Language("kafkajs", json.dumps, json.dumps, json.dumps)
