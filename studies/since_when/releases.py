"""Releases: what the registry of each client has, and each release in a folder of its own.

Registries are asked by the clients' own tools. Wheels are unpacked into the cache. A librdkafka is
the library in a wheel of confluent-kafka. sarama's sticky strategy is called by a program of its
own, of the few names that old releases have as well.
"""

from __future__ import annotations

import json
import subprocess
import sys
import zipfile
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from groups import Assignment, BadInput, Failed
from groups.documents.json_files import make_folder
from heuristics.assignor import Outcome, Plan
from heuristics.shipped.cache import cache_folder, newest_first, run_tool
from heuristics.shipped.consumers import go_driver
from heuristics.shipped.consumers.consumer import Consumer
from heuristics.shipped.consumers.library import SARAMA as SARAMA_CLIENT
from heuristics.shipped.java import jars

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from groups import Group

SECONDS = 300.0
# Before these there is nothing to call: no such interface, or no sticky assignor.
OLDEST = {
    "kafka-clients": (2, 4),
    "kafka-python": (2, 0),
    "aiokafka": (0, 6),
    "confluent-kafka": (1, 6),
}
SARAMA = ("github.com/Shopify/sarama", "github.com/IBM/sarama")
# Archives that are built the same every time carry a date of long before.
BUILT_THE_SAME = 2012


@dataclass(frozen=True)
class Release:
    """One release of a client.

    Attributes
    ----------
    version : as its registry has it
    date : of the day it was made, where that can be told
    source : the Go module it is a version of; empty elsewhere
    """

    version: str
    date: str | None = None
    source: str = ""


def releases_of(client: str) -> list[Release]:
    """Return the releases of a client, oldest first, without candidates.

    Raises
    ------
    BadInput
        Where its registry does not answer.
    """
    return _LISTS[client]()


def date_in_archive(archive: Path) -> str | None:
    """Return the day of the newest file in a jar or a wheel, None where that is no real day."""
    with zipfile.ZipFile(archive) as opened:
        newest = max(one.date_time for one in opened.infolist())
    return date(*newest[:3]).isoformat() if newest[0] >= BUILT_THE_SAME else None


def oldest_first(versions: Iterable[str]) -> list[str]:
    """Return the releases among versions, without candidates."""
    found = [v for v in versions if v.replace(".", "").isdigit()]
    return list(reversed(newest_first(found)))


def asked(command: Sequence[str], folder: str | None = None) -> str:
    """Return what a tool prints.

    Raises
    ------
    BadInput
        Where it fails.
    """
    where = None if folder is None else Path(folder)
    done = run_tool(command[0], command, seconds=SECONDS, folder=where)
    if done.returncode:
        last = (done.stderr.strip().splitlines() or ["failed"])[-1]
        raise BadInput(last.removeprefix("ERROR: "))
    return done.stdout


def _of_maven(artifact: str) -> list[Release]:
    from jgo.maven import MavenContext

    project = MavenContext().project(jars.KAFKA, artifact)
    project.update()
    versions = oldest_first(project.metadata.versions)
    return _since(artifact, versions)


def _of_pip(package: str) -> list[Release]:
    said = asked([sys.executable, "-m", "pip", "index", "versions", package])
    listed = next(line for line in said.splitlines() if line.startswith("Available versions:"))
    return _since(package, oldest_first(listed.partition(":")[2].replace(",", " ").split()))


def _since(name: str, versions: Sequence[str]) -> list[Release]:
    return [Release(v) for v in versions if jars.release(v) >= OLDEST.get(name, (0, 0))]


def _of_go(*modules: str) -> list[Release]:
    found = []
    with TemporaryDirectory() as folder:
        asked(["go", "mod", "init", "listing"], folder)
        for module in modules:
            said = asked(["go", "list", "-m", "-versions", module], folder).split()[1:]
            versions = oldest_first(v.removeprefix("v") for v in said)
            names = [f"{module}@v{version}" for version in versions]
            told = asked(["go", "list", "-m", "-f", "{{.Time}}", *names], folder)
            dates = [line[:10] for line in told.splitlines()]
            found += [Release(v, d, module) for v, d in zip(versions, dates, strict=True)]
    return found


def _of_npm(package: str) -> list[Release]:
    said = json.loads(asked(["npm", "view", package, "versions", "--json"]))
    return [Release(version) for version in oldest_first(said)]


_LISTS: dict[str, Callable[[], list[Release]]] = {
    "kafka-java": lambda: _of_maven("kafka-clients"),
    "kafka-broker": lambda: _of_maven("kafka-group-coordinator"),
    "kafka-streams": lambda: _of_maven("kafka-streams"),
    "kafka-python": lambda: _of_pip("kafka-python"),
    "aiokafka": lambda: _of_pip("aiokafka"),
    "librdkafka": lambda: _of_pip("confluent-kafka"),
    "franz-go": lambda: _of_go("github.com/twmb/franz-go"),
    "sarama": lambda: _of_go(*SARAMA),
    "kafkajs": lambda: _of_npm("kafkajs"),
}
# The newest Python for which the oldest release that matters here has a wheel.
OF_OLD = "3.8"
DATE = "made-on.txt"


def unpacked(package: str, version: str, pythons: Sequence[str] = ("",)) -> Path:
    """Return the folder of a release, whose wheel is fetched if it is not here.

    Parameters
    ----------
    pythons : versions of Python to look for a wheel for, one after the other; "" is this one

    Raises
    ------
    BadInput
        Where its registry has no wheel of it for any of them.
    """
    folder = cache_folder("wheels", f"{package}-{version}")
    if (folder / DATE).is_file():
        return folder
    for python in pythons:
        with TemporaryDirectory() as to:
            try:
                _download(f"{package}=={version}", python, to)
            except BadInput as error:
                reason = error
                continue
            (wheel,) = Path(to).glob("*.whl")
            make_folder(folder)
            with zipfile.ZipFile(wheel) as opened:
                opened.extractall(folder)
            (folder / DATE).write_text(date_in_archive(wheel) or "", "utf-8")
            return folder
    raise BadInput(f"no wheel: {reason}")


def date_of(folder: Path) -> str | None:
    """Return the day on which the wheel of a folder was made, None where that cannot be told."""
    return (folder / DATE).read_text("utf-8") or None


def _download(requirement: str, python: str, folder: str) -> None:
    of_python = ["--python-version", python] if python else []
    asked(
        [
            *(sys.executable, "-m", "pip", "download", "-q", "--no-deps"),
            *("--only-binary=:all:", *of_python, "-d", folder, requirement),
        ]
    )


CONSUMER = Path(__file__).with_name("librdkafka_consumer.py")
VERSION = (
    "import ctypes, sys; told = ctypes.CDLL(sys.argv[1]).rd_kafka_version_str; "
    "told.restype = ctypes.c_char_p; print(told().decode())"
)


def library_in(folder: Path) -> tuple[Consumer, str]:
    """Return the library in the folder of an unpacked wheel, and the version that it says it has.

    Raises
    ------
    BadInput
        Where there is none, or it does not load here.
    """
    found = sorted(folder.glob("confluent_kafka.libs/librdkafka*"))
    if not found:
        raise BadInput("its wheel holds no librdkafka")
    done = subprocess.run(
        [sys.executable, "-I", "-c", VERSION, str(found[0])],
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise BadInput(f"its library does not load: {done.stderr.strip().splitlines()[-1]}")
    driven = Consumer((sys.executable, str(CONSUMER), str(found[0])))
    return driven, done.stdout.strip()


PROGRAM = Path(__file__).with_name("called_in_go.txt")
# What the program says, and how that was said under the module's first name.
BEFORE = {SARAMA[1]: SARAMA[0], "NewBalanceStrategySticky()": "BalanceStrategySticky"}
COOPERATIVE_SINCE = (1, 60, 1)


def sarama_release(release: Release) -> Path:
    """Return the folder of the program for a release, built if it is not there.

    Raises
    ------
    BadInput
        Where that cannot be done.
    """
    if tuple(map(int, release.version.split("."))) >= COOPERATIVE_SINCE:
        SARAMA_CLIENT.fetch(release.version)
    folder = cache_folder("called", f"sarama-{release.version}")
    if (folder / "called").is_file():
        return folder
    make_folder(folder)
    source = PROGRAM.read_text("utf-8")
    if release.source == SARAMA[0]:
        for now, before in BEFORE.items():
            source = source.replace(now, before)
    with TemporaryDirectory() as name:
        (Path(name) / "main.go").write_text(source, "utf-8")
        go_driver.require(Path(name), release.source, release.version)
        go_driver.build_in(Path(name), folder / "called")
    return folder


def outcome_of(program: Path, group: Group, seconds: float) -> Outcome:
    """Return what the strategy makes of a group, within so many seconds."""
    try:
        done = subprocess.run(
            [program],
            input=json.dumps(group.to_dict()),
            capture_output=True,
            text=True,
            timeout=seconds,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return Outcome("timed-out", None, f"no answer within {seconds:g} s", seconds)
    if done.returncode:
        said = done.stderr.strip().splitlines() or ["failed"]
        return Outcome("failed", None, str(Failed(said[0])), 0.0)
    made = Assignment.from_dict(group, json.loads(done.stdout))
    return Outcome("planned", Plan(made), None, 0.0)
