"""Releases: lists each client's releases, and fetches each into a folder of its own.

Registries are asked with their own tools. Wheels are unpacked into the cache. librdkafka is taken
from the wheels of confluent-kafka. sarama's sticky strategy is called by a small program that uses
only names that old releases have too.
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
from heuristics.shipped.java.java_client import KAFKA_JAVA

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from groups import Group

SECONDS = 300.0
# Older releases cannot be called: they lack the interface or a sticky assignor.
OLDEST = {
    KAFKA_JAVA.artifact: jars.release(KAFKA_JAVA.oldest),
    "kafka-python": (2, 0),
    "aiokafka": (0, 6),
    "confluent-kafka": (1, 6),
}
SARAMA = ("github.com/Shopify/sarama", "github.com/IBM/sarama")
# Reproducible builds put an old fixed date into archives; dates before this year are not real.
BUILT_THE_SAME = 2012


@dataclass(frozen=True)
class Release:
    """One release of a client.

    Attributes
    ----------
    version : as in its registry
    date : day of its build; None if unknown
    source : its Go module; empty for other clients
    """

    version: str
    date: str | None = None
    source: str = ""


def releases_of(client: str) -> list[Release]:
    """Return the releases of a client, oldest first, without candidates.

    Raises
    ------
    BadInput
        If its registry does not answer.
    """
    return _LISTS[client]()


def date_in_archive(archive: Path) -> str | None:
    """Return the day of the newest file in a jar or a wheel; None if it is not a real date."""
    with zipfile.ZipFile(archive) as opened:
        newest = max(one.date_time for one in opened.infolist())
    return date(*newest[:3]).isoformat() if newest[0] >= BUILT_THE_SAME else None


def oldest_first(versions: Iterable[str]) -> list[str]:
    """Return the releases among versions, without candidates."""
    found = [v for v in versions if v.replace(".", "").isdigit()]
    return list(reversed(newest_first(found)))


def asked(command: Sequence[str], folder: str | None = None) -> str:
    """Run a tool, and return what it prints.

    Raises
    ------
    BadInput
        If it fails.
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
    return _since(artifact, oldest_first(project.metadata.versions))


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
            times = asked(["go", "list", "-m", "-f", "{{.Time}}", *names], folder)
            dates = [line[:10] for line in times.splitlines()]
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
# A Python version for which the oldest releases of confluent-kafka have wheels.
OF_OLD = "3.8"
DATE = "made-on.txt"


def unpacked(package: str, version: str, pythons: Sequence[str] = ("",)) -> Path:
    """Return the folder of a release's unpacked wheel, which is fetched if needed.

    Parameters
    ----------
    pythons : Python versions to try, in this order; "" is the running one

    Raises
    ------
    BadInput
        If there is no wheel for any of them.
    """
    folder = cache_folder("wheels", f"{package}-{version}")
    if (folder / DATE).is_file():
        return folder
    for python in pythons:
        with TemporaryDirectory() as to:
            command = [sys.executable, "-m", "pip", "download", "-q", "--no-deps", "-d", to]
            command += ["--only-binary=:all:", f"{package}=={version}"]
            try:
                asked([*command, *(["--python-version", python] if python else [])])
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
    """Return the build day of the wheel in a folder; None if unknown."""
    return (folder / DATE).read_text("utf-8") or None


CONSUMER = Path(__file__).with_name("librdkafka_consumer.py")
VERSION = (
    "import ctypes, sys; told = ctypes.CDLL(sys.argv[1]).rd_kafka_version_str; "
    "told.restype = ctypes.c_char_p; print(told().decode())"
)


def library_in(folder: Path) -> tuple[Consumer, str]:
    """Return a client of the librdkafka in an unpacked wheel, and the library's own version.

    Raises
    ------
    BadInput
        If there is none, or it does not load here.
    """
    found = sorted(folder.glob("confluent_kafka.libs/librdkafka*"))
    if not found:
        raise BadInput("its wheel holds no librdkafka")
    command = [sys.executable, "-I", "-c", VERSION, str(found[0])]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise BadInput(f"its library does not load: {done.stderr.strip().splitlines()[-1]}")
    driven = Consumer((sys.executable, str(CONSUMER), str(found[0])))
    return driven, done.stdout.strip()


PROGRAM = Path(__file__).with_name("called_in_go.txt")
# Names in the program, and the names that they had under the module's first name.
BEFORE = {SARAMA[1]: SARAMA[0], "NewBalanceStrategySticky()": "BalanceStrategySticky"}
COOPERATIVE_SINCE = (1, 60, 1)


def sarama_release(release: Release) -> Path:
    """Return the folder of the program for a release, which is built if needed.

    Raises
    ------
    BadInput
        If that fails.
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
    """Return the outcome of sarama's sticky strategy on a group, within so many seconds."""
    try:
        done = subprocess.run(
            [program], input=json.dumps(group.to_dict()), capture_output=True, text=True,
            timeout=seconds, check=False,
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        return Outcome("timed-out", None, f"no answer within {seconds:g} s", seconds)
    if done.returncode:
        said = done.stderr.strip().splitlines() or ["failed"]
        return Outcome("failed", None, str(Failed(said[0])), 0.0)
    made = Assignment.from_dict(group, json.loads(done.stdout))
    return Outcome("planned", Plan(made), None, 0.0)
