import subprocess
import sys
from collections.abc import Callable, Iterator
from itertools import combinations, combinations_with_replacement, product
from pathlib import Path

import pytest

from compare.samples.enumerated import Small
from groups import Group
from heuristics.shipped.consumers.consumer import PROGRAM
from tests.optimal.small_groups import group_of


def every_small_group(topics: int, members: int, partitions: int) -> Iterator[Group]:
    """Yield each group of up to so many partitions, with every owner or none for each.

    Groups that differ only in the order of members or of a topic's partitions appear once.
    """
    choices = [c for size in range(1, topics + 1) for c in combinations(range(topics), size)]
    for counts in product(range(1, partitions + 1), repeat=topics):
        if sum(counts) > partitions:
            continue
        for rows in combinations_with_replacement(choices, members):
            readers = [[m for m in range(members) if t in rows[m]] for t in range(topics)]
            owners = [
                combinations_with_replacement([-1, *readers[t]], counts[t]) for t in range(topics)
            ]
            for owner in product(*owners):
                yield Small(counts, rows, tuple(m for held in owner for m in held)).group()


def note_jars(cache: Path, *versions: str) -> list[Path]:
    """Create empty jars of Kafka's clients in a cache, and the notes that name their paths."""
    jars = [cache / f"kafka-clients-{version}.jar" for version in versions]
    (cache / "jars").mkdir()
    for jar in jars:
        jar.touch()
        (cache / "jars" / f"{jar.stem}.txt").write_text(f"{jar}\n")
    return jars


@pytest.fixture
def empty_cache(tmp_path, monkeypatch) -> Path:
    monkeypatch.setenv("KAFKA_ASSAY_CACHE", str(tmp_path))
    return tmp_path


@pytest.fixture
def here(monkeypatch) -> None:
    """Work in the folder of assignors as users write them."""
    monkeypatch.chdir(Path(__file__).with_name("assignors"))


@pytest.fixture
def group() -> Group:
    return group_of({"t": 3, "u": 2}, {"a": ["t", "u"], "b": ["t"]}, {"a": {"t": [0]}})


@pytest.fixture
def client() -> Iterator[Callable[..., subprocess.Popen[bytes]]]:
    """Give a function that starts a librdkafka consumer; all are killed at the test's end."""
    started = []

    def connect(bootstrap: str, assignor: str = "range") -> subprocess.Popen[bytes]:
        command = [sys.executable, str(PROGRAM), bootstrap, "g", assignor]
        started.append(subprocess.Popen(command, stdin=subprocess.PIPE))
        return started[-1]

    yield connect
    for process in started:
        process.kill()
        process.communicate()
