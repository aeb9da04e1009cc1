"""Record: what an assignor made of a finding's group, beside what is better, and with what."""

from __future__ import annotations

import importlib.metadata
import platform
import re
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from compare.promises.promise import Judgement
from groups import BadInput
from groups.documents import fields
from heuristics.shipped import CLIENTS
from heuristics.shipped.cache import run_tool
from heuristics.shipped.java.jars import java_home
from heuristics.shipped.java.java_client import JavaClient

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from compare.promises.trial import Runner, Trial

    Held = Mapping[str, Mapping[str, list[int]]]

KEYS = ("plan", "better", "command", "environment")
AGAIN = "again"
SECONDS = 60.0
ARTIFACTS = {
    name: client.artifact for name, client in CLIENTS.items() if isinstance(client, JavaClient)
}


@dataclass(frozen=True)
class Found:
    """When a finding was found, as in 2026-11-22, and how, in one sentence."""

    date: str
    how: str

    @staticmethod
    def today(how: str) -> Found:
        """Return what was found today, by the clock in UTC."""
        return Found(datetime.now(UTC).date().isoformat(), how)

    @staticmethod
    def from_dict(value: object) -> Found:
        """Read the key ``found`` of a finding.

        Raises
        ------
        BadInput
            Where a rule of the format is broken.
        """
        keys = ("date", "how")
        said = fields.mapping(value, "found", allowed={*keys}, required=keys)
        date, how = (fields.name(said[key], f"found.{key}") for key in keys)
        if not re.fullmatch(r"\d{4}-\d{2}-\d{2}", date):
            fields.refuse("found.date", f"{fields.shown(date)}, expected a day as in 2026-11-22")
        return Found(date, how)

    def to_dict(self) -> dict[str, str]:
        """Return the key ``found`` of a finding."""
        return {"date": self.date, "how": self.how}


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

    @staticmethod
    def from_dict(document: Mapping[str, object]) -> Record | None:
        """Read the keys of a record out of a finding; None where it has none of them.

        Raises
        ------
        BadInput
            Where some are there and others not, or a rule of the format is broken.
        """
        if not any(key in document for key in (*KEYS, AGAIN)):
            return None
        for key in KEYS:
            if key not in document:
                fields.refuse("", f"key {key!r} is missing")
        versions = fields.mapping(document["environment"], "environment")
        return Record(
            _held(document["plan"], "plan"),
            _held(document["better"], "better"),
            fields.name(document["command"], "command"),
            {key: fields.name(value, f"environment.{key}") for key, value in versions.items()},
            _again(document[AGAIN]) if AGAIN in document else None,
        )

    def to_dict(self) -> dict[str, object]:
        """Return the keys of a finding."""
        return {
            "plan": self.plan,
            "better": self.better,
            "command": self.command,
            "environment": dict(self.environment),
            **({} if self.again is None else {AGAIN: _said_again(self.again)}),
        }


def _again(value: object) -> Judgement:
    keys = ("holds", "measured")
    said = fields.mapping(value, AGAIN, allowed={*keys}, required=keys)
    holds = said["holds"]
    if holds is not None and not isinstance(holds, bool):
        fields.refuse(f"{AGAIN}.holds", f"{fields.shown(holds)}, expected true, false or null")
    return Judgement(holds, fields.mapping(said["measured"], f"{AGAIN}.measured"))


def _said_again(found: Judgement) -> dict[str, object]:
    return {"holds": found.holds, "measured": dict(found.measured)}


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


def _held(value: object, at: str) -> Held | None:
    if value is None:
        return None
    return {
        member: {
            topic: fields.integers(numbers, f"{at}.{member}.{topic}")
            for topic, numbers in fields.mapping(topics, f"{at}.{member}").items()
        }
        for member, topics in fields.mapping(value, at).items()
    }


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
