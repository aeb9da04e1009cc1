"""Ask: what one release of a client makes of findings, in a process of its own, or from before."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from hashlib import sha256
from itertools import pairwise, product
from typing import TYPE_CHECKING

from compare.promises.record import ARTIFACTS
from groups import BadInput
from groups.documents.json_files import make_folder
from heuristics.shipped import client_named
from heuristics.shipped.cache import cache_folder
from heuristics.shipped.java import jars
from studies.since_when.releases import (
    date_in_archive,
    date_of,
    library_in,
    librdkafka_release,
    sarama_release,
    unpacked,
)
from studies.since_when.verdicts import AFFECTED, MOST_CHARACTERS, UNAFFECTED, UNTRIED, besides_of

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence
    from pathlib import Path

    from compare.promises.findings import Finding
    from studies.since_when.releases import Release

    Row = Mapping[str, object]

BUILT = ("franz-go", "sarama")
DIED = "the process that tried it died"
NOT_BUILT = "not built: the releases tried on both sides agree"
IN_WHEELS = ("kafka-python", "aiokafka")


def client_of(finding: Finding) -> str:
    """Return the client that a finding is about."""
    return finding.assignor.partition("/")[0]


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
        unknown = [
            one
            for one in releases
            if any(self._known(f, one.version) is None for f in self.findings)
        ]
        batches = [[one] for one in unknown] if self.client in IN_WHEELS else [unknown]
        for batch in batches:
            if batch:
                self._run(batch)

    def _run(self, releases: Sequence[Here]) -> None:
        by_id = {finding.id: finding for finding in self.findings}
        asked = [
            {"version": one.version, "folder": str(one.folder or ""), "finding": f.to_dict()}
            for one in releases
            for f in self.findings
            if self._known(f, one.version) is None
        ]
        given = {
            "client": self.client,
            "asked": asked,
            "others": [finding.to_dict() for finding in self.others],
        }
        path = [os.getcwd()]
        if self.client in IN_WHEELS:
            path = [str(releases[0].folder), *path]
        process = subprocess.Popen(
            [sys.executable, "-m", "studies.since_when.verdicts"],
            env={**os.environ, "PYTHONPATH": os.pathsep.join(path)},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        with process:
            if process.stdin is None or process.stdout is None:
                return
            process.stdin.write(json.dumps(given))
            process.stdin.close()
            for line in process.stdout:
                told = json.loads(line)
                name, version = told.pop("id"), told.pop("version")
                sys.stderr.write(f"{version} {name}: {told['status']} {told['reason'] or ''}\n")
                self._keep(by_id[name], version, told)

    def _known(self, finding: Finding, version: str) -> Row | None:
        """Return what is noted of a release; None where it is not, or not of all the groups."""
        besides = besides_of(finding, self.others)
        own = _noted(_note(finding, version, ()))
        if own is None or own["status"] != UNAFFECTED or not besides:
            return own
        return _noted(_note(finding, version, besides))

    def _keep(self, finding: Finding, version: str, told: Row) -> None:
        """Note a verdict, for the finding's own group and for all that were tried."""
        besides = besides_of(finding, self.others)
        elsewhere = told["status"] == AFFECTED and told["reason"] is not None
        own = {"status": UNAFFECTED, "reason": None} if elsewhere else told
        for note, kept in (
            (_note(finding, version, ()), own),
            (_note(finding, version, besides), told),
        ):
            make_folder(note.parent)
            note.write_text(json.dumps(kept), "utf-8")


def _note(finding: Finding, version: str, besides: Sequence[Finding]) -> Path:
    """Return where a verdict is kept: by all that it depends on."""
    asked = [finding.id, version, *(one.group.to_dict() for one in (finding, *besides))]
    key = sha256(json.dumps(asked, sort_keys=True).encode()).hexdigest()[:24]
    return cache_folder("verdicts", f"{key}.json")


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


def _noted(note: Path) -> Row | None:
    if not note.is_file():
        return None
    told: Row = json.loads(note.read_text("utf-8"))
    return told


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
        folder = librdkafka_release(release.version)
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
