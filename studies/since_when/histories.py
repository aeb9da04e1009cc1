"""Histories: which releases of each client break the promise of each finding.

``python -m studies since-when [ID...]`` asks each client's registry for its releases, fetches each
of them into a separate cache, runs it on the finding's group and writes
``docs/findings/since-when.json``. Verdicts on the same groups are cached.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from fnmatch import fnmatch
from hashlib import sha256
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any

from compare.promises.findings import read_findings
from compare.promises.record import ARTIFACTS
from groups import BadInput
from groups.documents.json_files import make_folder
from heuristics.shipped import client_named
from heuristics.shipped.cache import cache_folder
from heuristics.shipped.java import jars
from studies.page import FOLDER, read, table
from studies.shipped_findings import FINDINGS
from studies.since_when.releases import (
    OF_OLD,
    date_in_archive,
    date_of,
    library_in,
    releases_of,
    sarama_release,
    unpacked,
)
from studies.since_when.verdicts import AFFECTED, MOST_CHARACTERS, UNAFFECTED, UNTRIED, has_it

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from compare.promises.findings import Finding
    from studies.since_when.releases import Release

    Row = Mapping[str, Any]
    History = Mapping[str, Any]

HISTORIES = FOLDER / "since-when.json"
# Findings with larger groups, on which some releases hang that answer on the smallest group.
BESIDES = Path(__file__).with_name("besides.jsonl")
TOLD = Path(__file__).with_name("told.json")
DIED = "the process that tried it died"
IN_WHEELS = ("kafka-python", "aiokafka")


def run(ids: Sequence[str]) -> None:
    """Judge the releases on findings whose ids match some patterns, and write their histories.

    Parameters
    ----------
    ids : patterns; empty: all findings
    """
    # A separate cache, so that these releases are not listed, scored and hunted elsewhere.
    os.environ["KAFKA_ASSAY_CACHE"] = str(cache_folder("releases"))
    shipped = [f for f in read_findings(FINDINGS) if f.affected]
    others = [*shipped, *read_findings(BESIDES)]
    made = read(HISTORIES)
    chosen = [f for f in shipped if not ids or any(fnmatch(f.id, p) for p in ids)]
    clients = {finding.id: finding.assignor.partition("/")[0] for finding in chosen}
    for client in sorted({*clients.values()}):
        findings = [finding for finding in chosen if clients[finding.id] == client]
        try:
            rows = rows_of(client, findings, others)
            made |= {one.id: history(one.id, rows[one.id]) for one in findings}
        except BadInput as error:
            sys.stderr.write(f"{client}: {error}\n")
        kept = {f.id: made[f.id] for f in shipped if f.id in made}
        HISTORIES.write_text(json.dumps(kept, indent=1, sort_keys=True) + "\n", "utf-8")


def rows_of(
    client: str, findings: Sequence[Finding], others: Sequence[Finding]
) -> dict[str, list[Row]]:
    """Return the rows of each finding, one for each release: version, date, status, reason.

    Parameters
    ----------
    others : findings of all clients, whose groups may be tried too
    """
    each = [judged(client, release, findings, others) for release in releases_of(client)]
    # Two releases of confluent-kafka may hold the same librdkafka.
    return {
        finding.id: [*{str(row["version"]): row for row in of}.values()]
        for finding, of in zip(findings, zip(*each, strict=True), strict=True)
    }


def judged(
    client: str, release: Release, findings: Sequence[Finding], others: Sequence[Finding]
) -> list[Row]:
    """Return a release's row for each finding; verdicts that are not cached come from a process.

    In that process, an unpacked Python package comes first on the path.
    """
    try:
        version, day, folder = _fetch(client, release)
    except BadInput as error:
        reason = " ".join(str(error).split())[:MOST_CHARACTERS]
        return [_untried(release.version, release.date, reason)] * len(findings)
    asked = {
        "version": version,
        "folder": str(folder or ""),
        "findings": [finding.to_dict() for finding in findings],
        "others": [finding.to_dict() for finding in others],
    }
    text = json.dumps(asked, sort_keys=True)
    note = cache_folder("verdicts", f"{sha256(text.encode()).hexdigest()[:24]}.jsonl")
    if note.is_file():
        said = note.read_text("utf-8")
    else:
        package = folder if client in IN_WHEELS else None
        path = map(str, filter(None, (package, os.getcwd())))
        done = subprocess.run(
            [sys.executable, "-m", "studies.since_when.verdicts"],
            env={**os.environ, "PYTHONPATH": os.pathsep.join(path)},
            input=text, stdout=subprocess.PIPE, text=True, check=False,
        )  # fmt: skip
        said = done.stdout
        sys.stderr.write(f"{client} {version}\n{said}")
        if done.returncode == 0:
            make_folder(note.parent)
            note.write_text(said, "utf-8")
    told = {one.pop("id"): one for one in map(json.loads, said.splitlines())}
    return [
        {"version": version, "date": day, **told[finding.id]}
        if finding.id in told
        else _untried(version, day, DIED)
        for finding in findings
    ]


def _untried(version: str, date: str | None, reason: str) -> Row:
    return {"version": version, "date": date, "status": UNTRIED, "reason": reason}


def _fetch(client: str, release: Release) -> tuple[str, str | None, Path | None]:
    """Fetch a release; return its version, its date, and its folder if it has one.

    Raises
    ------
    BadInput
        If that fails.
    """
    if client in IN_WHEELS:
        folder = unpacked(client, release.version)
        return release.version, date_of(folder), folder
    if client == "librdkafka":
        folder = unpacked("confluent-kafka", release.version, ("", OF_OLD))
        return library_in(folder)[1], date_of(folder), folder
    if client == "sarama":
        return release.version, release.date, sarama_release(release)
    client_named(client).fetch(release.version)
    if client not in ARTIFACTS:
        return release.version, release.date, None
    name = f"{ARTIFACTS[client]}-{release.version}.jar"
    jar = next(
        path for path in jars.noted(ARTIFACTS[client], release.version) if path.name == name
    )
    return release.version, date_in_archive(jar), None


def history(
    finding: str,
    releases: Sequence[Mapping[str, object]],
    told: Mapping[str, Sequence[Mapping[str, object]]] | None = None,
) -> dict[str, object]:
    """Return the history of a finding.

    Parameters
    ----------
    finding : its id
    releases : version, date, status and reason of each, oldest first
    told : known changes and public reports; default: ``told.json``. A change is used if the
        release that it names is the first affected one
    """
    told = read(TOLD) if told is None else told
    affected = [row["version"] for row in releases if row["status"] == AFFECTED]
    first, last = (affected[0], affected[-1]) if affected else (None, None)
    changes = [
        one["text"] for one in told["changes"] if _is_of(one, finding) and one["first"] == first
    ]
    return {
        "releases": [*releases],
        "first": first,
        "last": last,
        "change": " ".join(map(str, changes)) or None,
        "reports": [
            {key: value for key, value in one.items() if key != "of"}
            for one in told["reports"]
            if _is_of(one, finding)
        ],
    }


def _is_of(one: Mapping[str, object], finding: str) -> bool:
    patterns = one["of"]
    return isinstance(patterns, list) and any(fnmatch(finding, pattern) for pattern in patterns)


HEAD = (
    "finding", "affected", "not affected on this group", "tried, of those that have it",
    "the change",
)  # fmt: skip


def page_of(found: Mapping[str, History]) -> str:
    """Return the tables of findings and of public reports."""
    findings = table(HEAD, (_row(finding, history) for finding, history in sorted(found.items())))
    reports = {one["where"]: one for history in found.values() for one in history["reports"]}
    rows = (
        (where, one["reported"], one["fixed"] or "-", one["remains"])
        for where, one in sorted(reports.items())
    )
    head = ("reported in", "what", "what was mended", "what remains")
    return f"{findings}\n\n{table(head, rows)}"


def ranges(releases: Sequence[Mapping[str, Any]], status: str) -> str:
    """Return the releases of a status, as "2.4.0 to 2.5.0, 3.0.0"; untried ones are skipped."""
    tried = [row for row in releases if row["status"] != UNTRIED]
    parts = []
    for of, some in groupby(tried, key=lambda row: row["status"]):
        versions = [row["version"] for row in some]
        if of == status:
            parts.append(" to ".join(dict.fromkeys((versions[0], versions[-1]))))
    return ", ".join(parts) or "-"


def _row(finding: str, history: History) -> tuple[str, ...]:
    releases = history["releases"]
    tried = sum(row["status"] != UNTRIED for row in releases)
    dates = {row["version"]: row["date"] for row in releases}
    since = dates.get(history["first"])
    return (
        f"`{finding}`",
        ranges(releases, AFFECTED) + (f", since {since[:7]}" if since else ""),
        ranges(releases, UNAFFECTED),
        f"{tried} of {sum(map(has_it, releases))}",
        history["change"] or "-",
    )
