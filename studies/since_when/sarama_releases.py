"""SaramaReleases: the sticky strategy of any release of sarama, called in memory.

The program that ships names Kafka 3.2 as the broker's version. Releases before 1.46, which do not
go by what a broker offers, then ask for a version of Metadata that the probe does not speak.
"""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from groups import Assignment, Failed
from groups.documents.json_files import make_folder
from heuristics.assignor import Outcome, Plan
from heuristics.shipped.cache import cache_folder
from heuristics.shipped.consumers import go_build, sarama
from studies.since_when.releases import SARAMA

if TYPE_CHECKING:
    from groups import Group
    from studies.since_when.releases import Release

PROGRAM = Path(__file__).with_name("called_in_go.txt")
# What the program says, and how that was said under the module's first name.
BEFORE = {SARAMA[1]: SARAMA[0], "NewBalanceStrategySticky()": "BalanceStrategySticky"}
COOPERATIVE_SINCE = (1, 60, 1)


def fetch(release: Release) -> Path:
    """Return the folder of the program for a release, built if it is not there.

    Raises
    ------
    BadInput
        Where that cannot be done.
    """
    if tuple(map(int, release.version.split("."))) >= COOPERATIVE_SINCE:
        sarama.CLIENT.fetch(release.version)
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
        go_build.require(Path(name), release.source, release.version)
        go_build.build_in(Path(name), folder / "called")
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
    index = {member: m for m, member in enumerate(group.members)}
    held = [
        (index[member], topic, number)
        for member, topics in json.loads(done.stdout).items()
        for topic, numbers in topics.items()
        for number in numbers
    ]
    return Outcome("planned", Plan(Assignment.from_holdings(group, sorted(held))), None, 0.0)
