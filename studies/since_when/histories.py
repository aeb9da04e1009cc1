"""Histories: which releases of each client break the promise of each finding.

``python -m studies since-when [ID...]`` asks each client's registry for its releases, fetches each
of them into a cache of its own, runs it on the finding's group and writes
``docs/findings/since-when.json``. What was judged before on the same groups is not judged again.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from fnmatch import fnmatch
from hashlib import sha256
from itertools import groupby, pairwise, product
from pathlib import Path
from typing import TYPE_CHECKING, Any

from compare.promises.findings import read_findings
from compare.promises.record import ARTIFACTS
from groups import BadInput
from groups.documents.json_files import make_folder
from heuristics.shipped import client_named
from heuristics.shipped.cache import cache_folder
from heuristics.shipped.java import jars
from studies.page import FOLDER, table
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
from studies.since_when.verdicts import (
    AFFECTED,
    MOST_CHARACTERS,
    UNAFFECTED,
    UNTRIED,
    besides_of,
    has_it,
)

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from compare.promises.findings import Finding
    from studies.since_when.releases import Release

    Row = Mapping[str, Any]
    History = Mapping[str, Any]

HISTORIES = FOLDER / "since-when.json"
# Larger groups after an ordinary join, on which releases hang that answer on the smallest.
BESIDES = Path(__file__).with_name("besides.jsonl")
TOLD = Path(__file__).with_name("told.json")
BUILT = ("franz-go", "sarama")
DIED = "the process that tried it died"
NOT_BUILT = "not built: the releases tried on both sides agree"
IN_WHEELS = ("kafka-python", "aiokafka")


def client_of(finding: Finding) -> str:
    """Return the client that a finding is about."""
    return finding.assignor.partition("/")[0]


def run(ids: Sequence[str]) -> None:
    """Judge the releases on findings whose ids match some patterns, and write it down.

    Parameters
    ----------
    ids : patterns; all findings if there are none
    """
    # Releases fetched here are not to be listed, scored and hunted elsewhere.
    os.environ["KAFKA_ASSAY_CACHE"] = str(cache_folder("releases"))
    shipped = [f for f in read_findings(FINDINGS) if f.affected]
    others = [*shipped, *read_findings(BESIDES)]
    made = json.loads(HISTORIES.read_text("utf-8"))
    chosen = [f for f in shipped if not ids or any(fnmatch(f.id, p) for p in ids)]
    for client, some in groupby(sorted(chosen, key=client_of), key=client_of):
        findings = [*some]
        try:
            rows = Asked(client, findings, others).rows(releases_of(client))
            made |= {one.id: history(one.id, rows[one.id]) for one in findings}
        except BadInput as error:
            sys.stderr.write(f"{client}: {error}\n")
        kept = {f.id: made[f.id] for f in shipped if f.id in made}
        HISTORIES.write_text(json.dumps(kept, indent=1, sort_keys=True) + "\n", "utf-8")


@dataclass(frozen=True)
class Here:
    """A release that can be run: its own version, its day, and its folder where it has one."""

    version: str
    date: str | None
    folder: Path | None = None


@dataclass(frozen=True)
class Asked:
    """Findings of one client, to be put to its releases.

    Attributes
    ----------
    others : findings of all clients, whose groups may serve
    """

    client: str
    findings: Sequence[Finding]
    others: Sequence[Finding]

    def rows(self, releases: Sequence[Release]) -> dict[str, list[Row]]:
        """Return what releases make of each finding: version, date, status and reason of each.

        A client that must be built for each release is tried in the last of each minor release,
        then wherever two that were tried do not agree.
        """
        chosen = set(first_tried(releases) if self.client in BUILT else releases)
        while True:
            rows = self._judged(releases, chosen)
            between = {release for of in rows.values() for release in in_doubt(releases, of)}
            if between <= chosen:
                return {name: _one_a_version(of) for name, of in rows.items()}
            chosen |= between

    def _judged(
        self, releases: Sequence[Release], chosen: Collection[Release]
    ) -> dict[str, list[Row]]:
        here: dict[Release, Here] = {}
        reasons: dict[Release, str] = {}
        for release in releases:
            if release not in chosen:
                reasons[release] = NOT_BUILT
                continue
            try:
                here[release] = _brought(self.client, release)
            except BadInput as error:
                reasons[release] = " ".join(str(error).split())[:MOST_CHARACTERS]
        self._judge([*here.values()])
        rows: dict[str, list[Row]] = {finding.id: [] for finding in self.findings}
        for release, finding in product(releases, self.findings):
            found = here.get(release)
            if found is None:
                made = {"version": release.version, "date": release.date}
                rows[finding.id].append({**made, **_untried(reasons[release])})
            else:
                made = {"version": found.version, "date": found.date}
                told = self._known(finding, found.version) or _untried(DIED)
                rows[finding.id].append({**made, **told})
        return rows

    def _judge(self, releases: Sequence[Here]) -> None:
        """Judge what is not noted; releases that one process can load go into one."""
        unknown = (
            (one, finding)
            for one, finding in product(releases, self.findings)
            if self._known(finding, one.version) is None
        )
        in_wheels = self.client in IN_WHEELS
        for folder, some in groupby(unknown, lambda each: each[0].folder if in_wheels else None):
            self._run(folder, [*some])

    def _run(self, package: Path | None, unknown: Sequence[tuple[Here, Finding]]) -> None:
        """Judge in one process, where a Python package comes first on its path if there is one."""
        by_id = {finding.id: finding for finding in self.findings}
        asked = [
            {"version": one.version, "folder": str(one.folder or ""), "finding": f.to_dict()}
            for one, f in unknown
        ]
        given = {"asked": asked, "others": [finding.to_dict() for finding in self.others]}
        path = map(str, filter(None, (package, os.getcwd())))
        with subprocess.Popen(
            [sys.executable, "-m", "studies.since_when.verdicts"],
            env={**os.environ, "PYTHONPATH": os.pathsep.join(path)},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        ) as process:
            assert process.stdin is not None
            assert process.stdout is not None
            process.stdin.write(json.dumps(given))
            process.stdin.close()
            for line in process.stdout:
                told = json.loads(line)
                name, version = told.pop("id"), told.pop("version")
                sys.stderr.write(f"{version} {name}: {told['status']} {told['reason'] or ''}\n")
                note = self._note(by_id[name], version)
                make_folder(note.parent)
                note.write_text(json.dumps(told), "utf-8")

    def _known(self, finding: Finding, version: str) -> Row | None:
        """Return the verdict that is kept of a release, None where there is none."""
        note = self._note(finding, version)
        return dict(json.loads(note.read_text("utf-8"))) if note.is_file() else None

    def _note(self, finding: Finding, version: str) -> Path:
        """Return where a verdict is kept: by all that it depends on."""
        groups = (one.group.to_dict() for one in (finding, *besides_of(finding, self.others)))
        asked = json.dumps([finding.id, version, *groups], sort_keys=True)
        return cache_folder("verdicts", f"{sha256(asked.encode()).hexdigest()[:24]}.json")


def first_tried(releases: Sequence[Release]) -> list[Release]:
    """Return the first release and the last of each minor one."""
    last = {jars.release(release.version): release for release in releases}
    return [*dict.fromkeys([*releases[:1], *last.values()])]


def in_doubt(releases: Sequence[Release], rows: Sequence[Row]) -> list[Release]:
    """Return the releases that were not built, between two whose verdicts differ."""
    tried = [i for i, row in enumerate(rows) if row["reason"] != NOT_BUILT]
    return [
        release
        for a, b in pairwise(tried)
        if rows[a]["status"] != rows[b]["status"]
        for release in releases[a + 1 : b]
    ]


def _one_a_version(rows: Sequence[Row]) -> list[Row]:
    """Return the rows without repeats: two releases may hold one library."""
    return [*{str(row["version"]): row for row in rows}.values()]


def _untried(reason: str) -> Row:
    return {"status": UNTRIED, "reason": reason}


def _brought(client: str, release: Release) -> Here:
    """Bring a release to this machine.

    Raises
    ------
    BadInput
        Where that cannot be done.
    """
    if client in IN_WHEELS:
        folder = unpacked(client, release.version)
        return Here(release.version, date_of(folder), folder)
    if client == "librdkafka":
        folder = unpacked("confluent-kafka", release.version, ("", OF_OLD))
        _, version = library_in(folder)
        return Here(version, date_of(folder), folder)
    if client == "sarama":
        return Here(release.version, release.date, sarama_release(release))
    client_named(client).fetch(release.version)
    if client not in ARTIFACTS:
        return Here(release.version, release.date)
    name = f"{ARTIFACTS[client]}-{release.version}.jar"
    jar = next(
        path for path in jars.noted(ARTIFACTS[client], release.version) if path.name == name
    )
    return Here(release.version, date_in_archive(jar))


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
    told : changes and reports, from ``told.json`` if left out: a change counts where the first
        affected release, or the first that is not any more, is the one that it names
    """
    told = json.loads(TOLD.read_text("utf-8")) if told is None else told
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


def page(found: Mapping[str, History]) -> str:
    """Return the tables: a row a finding, and a row a public report."""
    findings = table(HEAD, (_row(finding, history) for finding, history in sorted(found.items())))
    return f"{findings}\n\n{_reports(found)}"


def ranges(releases: Sequence[Mapping[str, Any]], status: str) -> str:
    """Return the releases of a status, as "2.4.0 to 2.5.0, 3.0.0"; those not tried are skipped."""
    tried = [row for row in releases if row["status"] != UNTRIED]
    parts = []
    for of, some in groupby(tried, key=lambda row: row["status"]):
        versions = [row["version"] for row in some]
        if of == status:
            parts.append(span(versions))
    return ", ".join(parts) or "-"


def span(versions: Sequence[str]) -> str:
    """Return the first and the last of some versions, as "2.4.0 to 2.5.0"."""
    return versions[0] if len(versions) == 1 else f"{versions[0]} to {versions[-1]}"


def _row(finding: str, history: History) -> tuple[str, ...]:
    releases = history["releases"]
    tried = sum(row["status"] != UNTRIED for row in releases)
    have = sum(map(has_it, releases))
    affected = ranges(releases, AFFECTED)
    dates = {row["version"]: row["date"] for row in releases}
    since = dates.get(history["first"])
    return (
        f"`{finding}`",
        affected + (f", since {since[:7]}" if since else ""),
        ranges(releases, UNAFFECTED),
        f"{tried} of {have}",
        history["change"] or "-",
    )


def _reports(found: Mapping[str, History]) -> str:
    reports = {one["where"]: one for history in found.values() for one in history["reports"]}
    head = ("reported in", "what", "what was mended", "what remains")
    return table(
        head,
        (
            (where, one["reported"], one["fixed"] or "-", one["remains"])
            for where, one in sorted(reports.items())
        ),
    )
