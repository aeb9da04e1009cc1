"""Record: an assignor's plan for a finding's group, a better plan, and the environment."""

from __future__ import annotations

import importlib.metadata
import platform
import re
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from msgspec import Struct

from groups import BadInput
from groups.documents.assay_group import Name, Partitions
from heuristics.shipped import CLIENTS
from heuristics.shipped.cache import run_tool
from heuristics.shipped.java.jars import java_home
from heuristics.shipped.java.java_client import JavaClient

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from compare.promises.promise import Judgement
    from compare.promises.trial import Runner, Trial

# Members to topics to partition numbers.
Held = dict[Name, Partitions]
KEYS = ("plan", "better", "command", "environment")
SECONDS = 60.0
ARTIFACTS = {
    name: client.artifact for name, client in CLIENTS.items() if isinstance(client, JavaClient)
}


class Found(Struct, frozen=True, forbid_unknown_fields=True):
    """The date of a finding, as 2026-11-22, and how it was found, in one sentence."""

    date: Name
    how: Name

    @staticmethod
    def today(how: str) -> Found:
        """Return today's date in UTC, with how the finding was found."""
        return Found(datetime.now(UTC).date().isoformat(), how)


@dataclass(frozen=True)
class Record:
    """One run of an assignor on the group of a finding.

    Attributes
    ----------
    plan : members to topics to partition numbers, as the assignor gave them; None if it gave none
    better : an optimal plan for ``balance > stickiness``; None if none is proved
    command : one line that runs it again
    environment : versions of the client and of what it ran on, by name
    again : the judgement on this run; None if it is the one with which the promise broke first
    """

    plan: Held | None
    better: Held | None
    command: str
    environment: Mapping[str, str]
    again: Judgement | None = None

    @staticmethod
    def of(trial: Trial, command: str, again: Judgement | None = None) -> Record:
        """Return the record of a trial; the environment is looked up on this machine."""
        outcome, optimum = trial.outcome, trial.optimum
        plan = None if outcome.plan is None else outcome.plan.assignment.to_dict()
        best = None if optimum is None else optimum.assignment
        better = None if best is None else best.to_dict()
        return Record(plan, better, command, environment_of(trial.run), again)


def environment_of(run: Runner) -> dict[str, str]:
    """Return the versions of an assignor's client and of what it runs on here, by name.

    For a client that joined a probe, only the version of the probe is known.
    """
    versions = {"kafka-assay": importlib.metadata.version("kafka-assay")}
    if run.is_guest:
        return versions
    name, _, rest = run.assignor.partition("/")
    client = CLIENTS.get(name)
    if client is None:
        return {**versions, "python": platform.python_version()}
    found = {ARTIFACTS.get(name, name): rest.partition("@")[2]}
    if name == "librdkafka":
        found["confluent-kafka"] = importlib.metadata.version("confluent-kafka")
    return {**found, client.language: _VERSIONS[client.language]()}


def _java() -> str:
    home = java_home()
    try:
        release = "" if home is None else (home / "release").read_text("utf-8")
    except OSError:
        release = ""
    found = re.search(r'JAVA_VERSION="([^"]+)"', release)
    return found[1] if found else "unknown"


def _version_of(*command: str) -> str:
    """Return the version that a tool prints, without the letters before it."""
    try:
        printed = run_tool(command[0], command, seconds=SECONDS).stdout
    except BadInput:
        return "unknown"
    return printed.strip().lstrip("gov")


_VERSIONS: dict[str, Callable[[], str]] = {
    "java": _java,
    "python": platform.python_version,
    "go": lambda: _version_of("go", "env", "GOVERSION"),
    "node": lambda: _version_of("node", "--version"),
}
