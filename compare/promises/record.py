"""Record: what an assignor made of a finding's group, beside what is better, and with what."""

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
    """When a finding was found, as in 2026-11-22, and how, in one sentence."""

    date: Name
    how: Name

    @staticmethod
    def today(how: str) -> Found:
        """Return what was found today, by the clock in UTC."""
        return Found(datetime.now(UTC).date().isoformat(), how)


@dataclass(frozen=True)
class Record:
    """One run of an assignor on the group of a finding.

    Attributes
    ----------
    plan : members to topics to partition numbers as the assignor gave them; None where it gave no
        plan
    better : an optimal plan for ``balance > stickiness``; None where none is proved
    command : one line that runs it again
    environment : the client and what it ran on, names to versions
    again : what the promise's judge says of this run; None where that is what was measured when
        the promise broke
    """

    plan: Held | None
    better: Held | None
    command: str
    environment: Mapping[str, str]
    again: Judgement | None = None

    @staticmethod
    def of(trial: Trial, command: str, again: Judgement | None = None) -> Record:
        """Return what a trial came to; what it ran on is looked up on this machine."""
        outcome, optimum = trial.outcome, trial.optimum
        plan = None if outcome.plan is None else outcome.plan.assignment.to_dict()
        best = None if optimum is None else optimum.assignment
        better = None if best is None else best.to_dict()
        return Record(plan, better, command, environment_of(trial.run), again)


def environment_of(run: Runner) -> dict[str, str]:
    """Return an assignor's client and what it runs on here, names to versions.

    Of a client that joined a probe nothing is known but which probe that was.
    """
    here = {"kafka-assay": importlib.metadata.version("kafka-assay")}
    if run.is_guest:
        return here
    client, _, rest = run.assignor.partition("/")
    runs_on = _RUNS_ON.get(client)
    if runs_on is None:
        return {**here, "python": platform.python_version()}
    found = {ARTIFACTS.get(client, client): rest.partition("@")[2]}
    if client == "librdkafka":
        found["confluent-kafka"] = importlib.metadata.version("confluent-kafka")
    language, version = runs_on
    return {**found, language: version()}


def _java() -> str:
    home = java_home()
    try:
        said = "" if home is None else (home / "release").read_text("utf-8")
    except OSError:
        said = ""
    found = re.search(r'JAVA_VERSION="([^"]+)"', said)
    return found[1] if found else "unknown"


def _said(*command: str) -> str:
    """Return the version that a tool prints, without the letters in front of it."""
    try:
        said = run_tool(command[0], command, seconds=SECONDS).stdout
    except BadInput:
        return "unknown"
    return said.strip().lstrip("gov")


def _go() -> str:
    return _said("go", "env", "GOVERSION")


def _node() -> str:
    return _said("node", "--version")


_RUNS_ON: dict[str, tuple[str, Callable[[], str]]] = {
    "kafka-java": ("java", _java),
    "kafka-broker": ("java", _java),
    "kafka-python": ("python", platform.python_version),
    "aiokafka": ("python", platform.python_version),
    "librdkafka": ("python", platform.python_version),
    "sarama": ("go", _go),
    "franz-go": ("go", _go),
    "kafkajs": ("node", _node),
}
