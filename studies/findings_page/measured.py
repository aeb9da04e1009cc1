"""Measured: the files that the studies leave, as far as they are there."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, NotRequired, TypedDict

from compare.promises.findings import Finding, read_findings
from heuristics import WRITTEN
from studies.how_often.page import KINDS
from studies.page import read as rows_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path


class Enumerated(TypedDict):
    """One assignor and promise in ``smallest.json``."""

    assignor: str
    promise: str
    holds: bool
    finding: str | None
    groups: int
    joins: NotRequired[int]
    enumerated: str


class Release(TypedDict):
    """One release in ``since-when.json``."""

    version: str
    date: str | None
    status: str
    reason: str | None


class Report(TypedDict):
    """One public report in ``since-when.json``."""

    where: str
    title: str
    reported: str | None
    fixed: str | None
    remains: str | None


class Since(TypedDict):
    """One finding in ``since-when.json``."""

    releases: list[Release]
    first: str | None
    last: str | None
    change: str | None
    reports: list[Report]


class Why(TypedDict, total=False):
    """One finding in ``why.json``."""

    cycle: list[object]
    rule: str | None
    case: list[str] | None
    chain: str | None
    change: str | None
    assignor: str | None


@dataclass(frozen=True)
class Measured:
    """What the studies measured; empty where a study left nothing.

    Attributes
    ----------
    findings : those on assignors as shipped
    smallest : what each assignor keeps on all groups that were enumerated
    joins : rows of ``joins.csv``: the joins on which assignors were called to see them end
    often, often_apart : rows of ``how-often.csv``; of ``how-often-parts.csv`` those on services
        that are not ordinary there, as no topic is read by all
    since, why : by id of a finding
    cluster : the sentence on what a hang does to a group, as it was seen on a cluster
    pages : those of the studies' own pages that are there
    """

    findings: Sequence[Finding]
    smallest: Sequence[Enumerated] = ()
    joins: Sequence[Mapping[str, str]] = ()
    often: Sequence[Mapping[str, str]] = ()
    often_apart: Sequence[Mapping[str, str]] = ()
    since: Mapping[str, Since] | None = None
    why: Mapping[str, Why] | None = None
    cluster: str | None = None
    pages: Sequence[str] = ()


def read(root: Path) -> Measured:
    """Read what there is under the root of the project."""
    folder = root / "docs" / "findings"
    every = read_findings(root / "corpus" / "findings.jsonl")
    on_cluster = _json(folder / "on-a-cluster.json") or {}
    said = on_cluster.get("sentence") if isinstance(on_cluster, dict) else None
    return Measured(
        findings=[finding for finding in every if finding.assignor not in WRITTEN],
        smallest=_json(folder / "smallest.json") or (),
        joins=_rows(folder / "joins.csv"),
        often=_rows(folder / "how-often.csv"),
        often_apart=[
            row
            for row in _rows(folder / "how-often-parts.csv")
            if row["of"] == KINDS["overlapping"]
        ],
        since=_json(folder / "since-when.json") or {},
        why=_json(folder / "why.json") or {},
        cluster=said if isinstance(said, str) else None,
        pages=sorted(page.name for page in folder.glob("*.md")),
    )


def _json(file: Path):  # type: ignore[no-untyped-def]
    return json.loads(file.read_text("utf-8")) if file.is_file() else None


def _rows(file: Path) -> list[dict[str, str]]:
    return rows_of(file) if file.is_file() else []
