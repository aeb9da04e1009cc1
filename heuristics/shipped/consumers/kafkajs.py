"""KafkaJS: the JavaScript client, leading a group through the probe."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

from groups import BadInput
from heuristics.shipped.cache import cache_folder
from heuristics.shipped.client import Client, tiny
from heuristics.shipped.consumers.probed import missing_probe, probe_plan

if TYPE_CHECKING:
    from groups import Group
    from heuristics.assignor import Plan

PROGRAM = Path(__file__).parent / "drivers" / "kafkajs" / "driver.js"
COMMAND = "assay fetch kafkajs@{}"
INSTALL_SECONDS = 300.0
OLDEST_NODE = 14


def versions() -> tuple[str, ...]:
    """Return the newest release."""
    return ("2.2.4",)


def plan(group: Group, name: str, version: str) -> Plan:
    """Make the plan that a KafkaJS consumer makes as the leader of the group.

    It leads as the first member. The topics that this one reads are dealt out to everybody, those
    that it does not read to nobody: it takes all members to have the same subscription.

    Source: ``PartitionAssigners.roundRobin``.
    """
    return probe_plan(
        group,
        command=_command(version),
        assignor=name,
        protocol=name,
        cooperative=False,
    )


def missing(name: str, version: str) -> str | None:
    """Say that Node is not there, or the package."""
    command = COMMAND.format(version)
    if shutil.which("node") is None:
        return f"no Node on the PATH: install Node {OLDEST_NODE} or later, then: {command}"
    if _installed(version) != version:
        return f"not installed: {command}"
    return missing_probe()


def prepare(name: str, version: str) -> None:
    """Start a consumer."""
    plan(tiny(), name, version)


def fetch(version: str) -> None:
    """Install the package; its scripts do not run.

    The version that the driver's ``package.json`` names is held to its recorded checksum.

    Raises
    ------
    BadInput
        Where there is no npm, or no such version.
    """
    if _installed(version) == version:
        return
    npm = shutil.which("npm")
    if npm is None:
        raise BadInput(f"no npm on the PATH: install Node {OLDEST_NODE} or later")
    folder = cache_folder("drivers", "kafkajs", version)
    named = json.loads((PROGRAM.parent / "package.json").read_text("utf-8"))
    if named["dependencies"]["kafkajs"] == version:
        for file in ("package.json", "package-lock.json"):
            shutil.copy(PROGRAM.parent / file, folder)
        _npm(npm, folder, "ci")
    else:
        (folder / "package.json").write_text('{"private": true}\n', "utf-8")
        _npm(npm, folder, "install", "--no-save", f"kafkajs@{version}")
    if _installed(version) != version:
        raise BadInput(f"npm: it did not install kafkajs {version}")


def _npm(npm: str, folder: Path, *arguments: str) -> None:
    quiet = ("--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error")
    try:
        done = subprocess.run(
            [npm, *arguments, *quiet],
            cwd=folder,
            capture_output=True,
            text=True,
            timeout=INSTALL_SECONDS,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise BadInput(f"npm {arguments[0]}: {error}") from None
    if done.returncode:
        said = [line for line in done.stderr.splitlines() if line.startswith("npm error ")]
        reasons = [line for line in said if " code " not in line]
        raise BadInput(f"npm {arguments[0]}: {reasons[0][10:] if reasons else 'failed'}")


def modules(version: str) -> Path:
    """Return the folder that Node finds the package in, once it is fetched."""
    return cache_folder("drivers", "kafkajs") / version / "node_modules"


def _installed(version: str) -> str | None:
    """Return the version that is in the folder of a version."""
    try:
        said = json.loads((modules(version) / "kafkajs" / "package.json").read_text("utf-8"))
    except (OSError, ValueError):
        return None
    return str(said.get("version"))


def _command(version: str) -> tuple[str, ...]:
    return ("node", os.fspath(PROGRAM), os.fspath(modules(version)))


CLIENT = Client(
    "kafkajs",
    "KafkaJS's assigner, by the probe",
    ("RoundRobinAssigner",),
    versions,
    plan,
    missing,
    prepare,
    fetch,
)
