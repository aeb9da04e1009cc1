"""Conformance: checks on the groups of ``corpus/conformance`` whether assignors keep promises.

The corpus has a file for each promise, for programs in any language; its README.md explains the
keys. ``python -m studies conformance`` makes the files.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from hashlib import sha256
from typing import TYPE_CHECKING

from compare.promises.findings import SHIPPED
from compare.promises.promise import NOT_TESTED, PROMISES, Judgement, Promise, promises_of
from compare.promises.trial import Trial, optima
from compare.samples.families import family_named
from groups import BadInput, Group, values
from groups.documents.json_files import parse_json
from optimal import solve

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from compare.promises.trial import Runner
    from groups.documents.assay_group import JsonObject

FORMAT = "assay-conformance/1"
FOLDER = SHIPPED.parent / "conformance"


def _near(trial: Trial) -> Judgement:
    if trial.assignment is None or trial.group.racks is None:
        return NOT_TESTED
    balance, racks = values(trial.assignment, ("balance", "racks"))
    best = solve(trial.group, "kip-881").terms
    if balance != best[0].value:
        return NOT_TESTED
    return Judgement(racks == best[1].value, {"racks": racks, "optimum": best[1].value})


RACKS = Promise(
    "racks",
    "of the assignments with the best balance, none has more partitions in their member's rack",
    "KIP-881, racks come after balance and before few moves",
    _near,
    # Other assignors ignore racks.
    of=(
        "java-optimal/optimal-racks@*",
        "kafka-java/sticky@*",
        "kafka-java/cooperative-sticky@*",
        "librdkafka/cooperative-sticky@*",
    ),
)
# Without `no-revert`, which is about the steps of one algorithm.
ASKED: dict[str, Promise] = {
    name: promise for name, promise in PROMISES.items() if name != "no-revert"
} | {RACKS.name: RACKS}


@dataclass(frozen=True)
class Conformity:
    """The ids of instances on which a promise is kept, broken or not tested.

    Attributes
    ----------
    not_tested : the assignor refused the group, or made no assignment to judge
    """

    promise: str
    kept: tuple[str, ...]
    broken: tuple[str, ...]
    not_tested: tuple[str, ...]


def file_of(promise: str) -> JsonObject:
    """Return the ``assay-conformance/1`` document of a promise."""
    found: JsonObject = parse_json((FOLDER / f"{promise}.json").read_text("utf-8"))
    return found


def group_of(instance: JsonObject) -> Group:
    """Return the group of an instance, made by its recipe if it has one.

    Raises
    ------
    BadInput
        If the group made here does not have the recipe's hash.
    """
    if "group" in instance:
        return Group.from_dict(instance["group"])
    recipe = instance["recipe"]
    group = family_named(recipe["family"]).group(recipe["seed"])
    if digest(group) != recipe["sha256"]:
        raise BadInput(f"{instance['id']}: its recipe makes another group here")
    return group


def digest(group: Group) -> str:
    """Return the SHA-256 of the group's JSON, without spaces and with sorted keys."""
    text = json.dumps(group.to_dict(), sort_keys=True, separators=(",", ":"))
    return sha256(text.encode()).hexdigest()


def in_full(promise: str) -> str:
    """Return the file of a promise with all groups in it, instead of recipes."""
    document = file_of(promise)
    for instance in document["instances"]:
        instance["group"] = group_of(instance).to_dict()
    return as_text(document)


def as_text(document: JsonObject) -> str:
    """Return a document as text with one instance in each line."""
    head = json.dumps({**document, "instances": []}, indent=1, ensure_ascii=False)
    lines = ",\n".join(json.dumps(one, ensure_ascii=False) for one in document["instances"])
    return f"{head.removesuffix('[]' + chr(10) + '}')}[\n{lines}\n]}}\n"


def asked_of(assignor: str) -> tuple[str, ...]:
    """Return the promises that an assignor makes; only a few make that of racks."""
    # A client that joined a probe has no version, which the patterns need.
    named = assignor if "@" in assignor or "/" not in assignor else f"{assignor}@"
    made = (*promises_of(named), *([RACKS.name] if RACKS.asked_of(named) else []))
    return tuple(name for name in ASKED if name in made)


def sampled(
    instances: Mapping[str, Sequence[JsonObject]], most: int
) -> dict[str, list[JsonObject]]:
    """Return instances of about `most` groups in all: findings first, then every n-th other."""
    ids = {
        one["id"]: one["source"] == "finding" for listed in instances.values() for one in listed
    }
    findings = [name for name, is_finding in ids.items() if is_finding][:most]
    rest = [name for name, is_finding in ids.items() if not is_finding]
    room = most - len(findings)
    kept = {*findings, *(rest[:: -(-len(rest) // room)] if room else ())}
    return {
        promise: [one for one in listed if one["id"] in kept]
        for promise, listed in instances.items()
    }


def trials_on(run: Runner, groups: Mapping[str, Group]) -> dict[str, Trial]:
    """Return a trial of an assignor on each group; it is called when a promise is judged first."""
    known = optima([*groups.values()])
    pairs = zip(groups.items(), known, strict=True)
    return {name: Trial(run, group, optimum) for (name, group), optimum in pairs}


def conformity(
    instances: Mapping[str, Sequence[JsonObject]], trials: Mapping[str, Trial]
) -> Iterator[Conformity]:
    """Yield the conformity to each promise on its instances, given the trial of each id."""
    for promise, listed in instances.items():
        held: dict[bool | None, list[str]] = {True: [], False: [], None: []}
        for one in listed:
            held[ASKED[promise].judge(trials[one["id"]]).holds].append(one["id"])
        yield Conformity(promise, *(tuple(held[holds]) for holds in (True, False, None)))
